"""What the page about an exclusion is given: what it would change, before it is done."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.audit.pair_words import PROVISIONAL, STATES
from annotation.domain.tables import Column, Row, Table, Tag
from annotation.models import Campaign, Membership
from annotation.templatetags.figures import criterion_name
from annotation.templatetags.tables import kind_words
from benchmark.models import Exclusion, Judgement, Pair, Rater, Run
from benchmark.selectors.exclusion_effect import Effect, Outcome, exclusion_effect
from benchmark.stats.policy import DEFAULT_POLICY, Policy

Text = str | Promise


@dataclass(frozen=True, slots=True)
class ExclusionView:
    campaign: Campaign
    rater: Rater
    pair: Pair | None  # of one judgement; None for all of the rater's
    run: Run | None  # the newest finished aggregation, whose policy the effect is worked out with
    policy: Policy
    effect: Effect
    finding: str
    exclusion: Exclusion | None  # in force: then the effect is that of lifting it
    covered_by: Exclusion | None  # of all votes, which leaves this judgement out as well
    has_judged: bool
    is_member: bool
    history: list[Exclusion]
    moves: Table
    counts: Table
    agreement: Table
    examples: Table
    notice: Text
    error: Text


NOTICES: dict[str, Text] = {
    "excluded": _("Done. The next aggregation leaves these votes out."),
    "lifted": _("Done. From the next aggregation on these votes count again."),
    "nothing": _("Nothing was changed: the exclusion had been lifted already."),
}
ERRORS: dict[str, Text] = {
    "already": _("These votes were excluded already: nothing was done."),
    "changed_meanwhile": _(
        "This person's standing has changed meanwhile: nothing was done. Look at it again."
    ),
    "not_judged": _("This rater has not judged the pair: there is nothing to exclude."),
}


def newest_run(campaign: Campaign) -> Run | None:
    """The newest finished aggregation, without what may be large."""
    runs = Run.objects.filter(pair_set=campaign.pair_set_id).aggregations().done()
    return runs.for_list().newest_first().first()


def rater_of(campaign: Campaign, rater_id: int) -> Rater:
    """Raises Http404."""
    rater = Rater.objects.filter(pair_set=campaign.pair_set_id, pk=rater_id).first()
    if rater is None:
        raise Http404
    rater.pair_set = campaign.pair_set
    return rater


def pair_of(campaign: Campaign, pair_id: int) -> Pair:
    """Without its large texts. Raises Http404."""
    pairs = Pair.objects.filter(pair_set=campaign.pair_set_id, pk=pair_id)
    pair = pairs.for_list().first()
    if pair is None:
        raise Http404
    return pair


def exclusion_view(
    campaign: Campaign,
    rater: Rater,
    pair: Pair | None = None,
    *,
    notice: str = "",
    error: str = "",
) -> ExclusionView:
    """A fixed number of queries, of which one groups all of the set's tallies."""
    run = newest_run(campaign)
    policy = Policy.from_json(run.policy) if run else DEFAULT_POLICY
    history = list(
        Exclusion.objects.filter(rater=rater, pair=pair).select_related("rater").order_by("-id")
    )
    exclusion = next((row for row in history if row.lifted_at is None), None)
    covered_by = None
    if pair is not None:
        covered_by = Exclusion.objects.in_force().filter(rater=rater, pair=None).first()
    judged = Judgement.objects.filter(rater=rater)
    effect = exclusion_effect(rater=rater, pair=pair, policy=policy, lifted=exclusion)
    return ExclusionView(
        campaign=campaign,
        rater=rater,
        pair=pair,
        run=run,
        policy=policy,
        effect=effect,
        finding=_finding(effect),
        exclusion=exclusion,
        covered_by=covered_by,
        has_judged=pair is None or judged.filter(pair=pair).exists(),
        is_member=Membership.objects.filter(campaign=campaign, rater=rater).exists(),
        history=history,
        moves=_moves(effect),
        counts=_counts(effect),
        agreement=_agreement(effect),
        examples=_examples(effect, campaign, run),
        notice=NOTICES.get(notice, ""),
        error=ERRORS.get(error, ""),
    )


def _finding(effect: Effect) -> str:
    if not effect.judgements:
        return gettext("No counted vote is concerned, so nothing would change.")
    if effect.judgements == 1:
        if effect.changed:
            return gettext("The pair would change its status, chosen response or tier.")
        return gettext("The pair would keep its status, chosen response and tier.")
    if not effect.changed:
        return gettext("All %(n)s pairs would keep their status, chosen response and tier.") % {
            "n": effect.judgements
        }
    return ngettext(
        "%(changed)s of %(n)s pairs would change its status, chosen response or tier.",
        "%(changed)s of %(n)s pairs would change their status, chosen response or tier.",
        effect.changed,
    ) % {"changed": effect.changed, "n": effect.judgements}


def _moves(effect: Effect) -> Table:
    """Pairs touched, by state before and after: a row for each state that any was in."""
    states = [name for name in STATES if any(name in step for step in effect.moves)]
    rows: list[Row] = []
    for before in states:
        numbers = {after: effect.moves.get((before, after), 0) for after in states}
        if any(numbers.values()):
            rows.append({"before": str(STATES[before]), **numbers})
    return Table(
        name="moves",
        title=_("Pairs touched: now in rows, then in columns"),
        columns=(
            Column(key="before", title=_("Now")),
            *(Column(key=after, title=STATES[after], kind="int") for after in states),
        ),
        rows=rows,
        empty=_("No pair is touched."),
    )


def _counts(effect: Effect) -> Table:
    before, after = effect.before, effect.after
    rows: list[Row] = []
    for name in STATES:
        if name in ("easy", "medium", "hard", "none"):
            now, then = before.tiers.get(name, 0), after.tiers.get(name, 0)
        else:
            now, then = before.statuses.get(name, 0), after.statuses.get(name, 0)
        if now or then:
            rows.append(
                {"state": str(STATES[name]), "now": now, "then": then, "change": then - now}
            )
    rows.append(
        {
            "state": gettext("among them provisional"),
            "now": before.provisional,
            "then": after.provisional,
            "change": after.provisional - before.provisional,
        }
    )
    return Table(
        name="counts",
        title=_("All pairs of the set"),
        columns=(
            Column(key="state", title=_("Tier or status")),
            Column(key="now", title=_("Now"), kind="int"),
            Column(key="then", title=_("Then"), kind="int"),
            Column(key="change", title=pgettext_lazy("of a number", "Change"), kind="int"),
        ),
        rows=rows,
    )


def _agreement(effect: Effect) -> Table:
    rows: list[Row] = []
    for key, (percent, fleiss) in effect.before.agreement.items():
        then_percent, then_fleiss = effect.after.agreement[key]
        rows.append(
            {
                "criterion": str(criterion_name(key)),
                "percent": percent.as_json(),
                "then_percent": then_percent.as_json(),
                "fleiss": fleiss.as_json(),
                "then_fleiss": then_fleiss.as_json(),
            }
        )
    return Table(
        name="agreement",
        title=_("Agreement of the whole set"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="percent", title=_("Agreement now"), kind="value_share"),
            Column(key="then_percent", title=_("Agreement then"), kind="value_share"),
            Column(key="fleiss", title=_("Fleiss' kappa now"), kind="value"),
            Column(key="then_fleiss", title=_("Fleiss' kappa then"), kind="value"),
        ),
        rows=rows,
        note=_(
            "Agreement rises whenever somebody who disagrees is left out, whether they were wrong"
            " or the others: a rise alone is no reason."
        ),
    )


def _examples(effect: Effect, campaign: Campaign, run: Run | None) -> Table:
    more = effect.changed - len(effect.examples)
    return Table(
        name="changed-pairs",
        title=_("Pairs that would change"),
        columns=(
            Column(key="pair", title=_("Pair")),
            Column(key="now", title=_("Now"), kind="tags"),
            Column(key="then", title=_("Then"), kind="tags"),
        ),
        rows=[
            {
                "pair": each.pair_id,
                "pair_href": reverse("run_pair", args=[campaign.slug, run.pk, each.id])
                if run
                else "",
                "now": _outcome_tags(each.before),
                "then": _outcome_tags(each.after),
            }
            for each in effect.examples
        ],
        note=ngettext("%(n)s more is not listed.", "%(n)s more are not listed.", more) % {"n": more}
        if more
        else "",
        empty=_("None."),
    )


def _outcome_tags(outcome: Outcome) -> list[Tag]:
    tags = [Tag(words=STATES[outcome.state])]
    if outcome.chosen:
        tags.append(Tag(words=gettext("chosen: %(side)s") % {"side": kind_words(outcome.chosen)}))
    if outcome.is_provisional:
        tags.append(PROVISIONAL)
    return tags
