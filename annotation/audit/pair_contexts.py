"""What the page of one pair in a run is given: the texts, every vote, the verdict, its history."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.audit.pair_texts import TextsView, flags_table, texts_view, vote_dots
from annotation.audit.pair_words import (
    ADJUDICATED,
    PROVISIONAL,
    RunHead,
    run_head,
    status_tag,
    tier_words,
)
from annotation.audit.pairs_contexts import read_query
from annotation.contexts import CONFIDENCE_LABELS, REASON_LABELS, SKIP_LABELS
from annotation.domain.plots.marks import VoteDots
from annotation.domain.tables import Column, Row, Table, Tag
from annotation.models import Membership
from annotation.selectors.adjudication import flags_of
from annotation.templatetags.figures import coefficient, criterion_name, reason_words, share
from annotation.templatetags.tables import kind_words
from benchmark.models import Adjudication, Exclusion, Pair, Run, Verdict
from benchmark.selectors.pair_history import (
    Counted,
    PairJudgement,
    pair_adjudications,
    pair_judgements,
    pair_of,
    verdict_of,
    verdicts_elsewhere,
)
from benchmark.selectors.pair_rows import Decided, decided, pair_page
from benchmark.stats.codes import STATUSES, WINNERS
from benchmark.stats.majority import majority_posterior
from benchmark.stats.tiers import tier_posterior

Text = str | Promise

RUNS_SHOWN = 20

_COUNTED: dict[Counted, Tag] = {
    "counted": Tag(words=pgettext_lazy("judgement", "counted"), kind="ok"),
    "left_out": Tag(words=pgettext_lazy("judgement", "left out"), kind="warn"),
    "later": Tag(words=_("after this run")),
    "superseded": Tag(words=_("corrected before this run")),
}


@dataclass(frozen=True, slots=True)
class LeftOutView:
    """An exclusion in force that concerns the pair."""

    exclusion: Exclusion
    rater: str


@dataclass(frozen=True, slots=True)
class PairView:
    head: RunHead
    pair: Pair
    texts: TextsView
    verdict: Verdict | None
    tags: list[Tag]
    reading: list[Text]
    criteria: Table | None
    dots: list[tuple[Text, VoteDots]]
    votes: Table
    earlier: Table | None
    left_out: list[LeftOutView]
    priors: Table | None
    flags: Table | None
    adjudications: Table | None
    elsewhere: Table | None
    meta: list[tuple[str, str]]
    list_address: str
    previous_address: str
    next_address: str


def pair_view(membership: Membership, run: Run, pair_id: int, query: QueryDict) -> PairView:
    """Raises Http404 for a pair of another set. ``query`` is that of the list it was found in."""
    campaign = membership.campaign
    pair = pair_of(campaign.pair_set, pair_id)
    if pair is None:
        raise Http404
    found = decided(run)
    verdict = verdict_of(run, pair)
    judgements = pair_judgements(run, pair)
    asked = read_query(query, campaign=campaign, found=found)
    suffix = f"?{asked.query.urlencode()}" if asked.query else ""
    before, after = (
        pair_page(
            found, asked.wanted, order=asked.order, past=pair.pk, backwards=backwards, limit=1
        ).rows
        for backwards in (True, False)
    )

    def address(rows: Sequence[Any]) -> str:
        if not rows:
            return ""
        return reverse("run_pair", args=[campaign.slug, run.pk, rows[0].id]) + suffix

    return PairView(
        head=run_head(membership, run, "pairs"),
        pair=pair,
        texts=texts_view(pair, chosen=verdict.chosen if verdict else ""),
        verdict=verdict,
        tags=_tags(verdict),
        reading=_reading(found, verdict),
        criteria=_criteria_table(found, verdict) if verdict else None,
        dots=[(criterion_name(key), vote_dots(key, judgements)) for key in found.patterns.counts],
        votes=_votes_table(membership, run, pair, found, judgements),
        earlier=_earlier_table(run, found, judgements, campaign.slug),
        left_out=_left_out(judgements),
        priors=_priors_table(pair, verdict),
        flags=flags_table(flags_of(campaign, pair.pk)),
        adjudications=_adjudications_table(pair_adjudications(pair)),
        elsewhere=_elsewhere_table(run, pair, campaign.slug),
        meta=[(key, _meta_words(value)) for key, value in pair.meta.items()],
        list_address=reverse("run_pairs", args=[campaign.slug, run.pk]) + suffix,
        previous_address=address(before),
        next_address=address(after),
    )


def _meta_words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tags(verdict: Verdict | None) -> list[Tag]:
    if verdict is None:
        return []
    tags = [status_tag(verdict.status)]
    if verdict.adjudication_id:
        tags.append(ADJUDICATED)
    if verdict.tier:
        tags.append(Tag(words=tier_words(verdict.tier)))
    if verdict.is_provisional:
        tags.append(PROVISIONAL)
    return tags


def _reading(found: Decided, verdict: Verdict | None) -> list[Text]:
    """The verdict in sentences, what matters most first."""
    if verdict is None:
        return [_("This run has no verdict on the pair: it came into the set later.")]
    verdicts, row = found.verdicts, verdict.pattern
    winners = [
        (str(criterion_name(key)), WINNERS[one.winner[row]])
        for key, one in verdicts.criteria.items()
        if key in found.policy.criteria
    ]
    named = pgettext("between the items of a list", ", ").join(
        gettext("%(criterion)s: %(response)s")
        % {"criterion": name, "response": winner or gettext("neither")}
        for name, winner in winners
    )
    sentences: list[Text] = []
    if verdict.status == "withdrawn":
        sentences.append(_("A lead left the pair out: it is no case, whatever its votes say."))
    elif verdict.status == "decided" and verdict.adjudication_id:
        sentences.append(
            gettext("A lead decided for %(response)s, since the votes do not (%(named)s).")
            % {"response": verdict.chosen, "named": named}
        )
    elif verdict.status == "decided":
        sentences.append(
            gettext("The votes decide for %(response)s.") % {"response": verdict.chosen}
        )
    else:
        sentences.append(
            gettext("The votes leave the pair open: %(reason)s (%(named)s).")
            % {"reason": reason_words(verdict.status), "named": named}
        )
    return [*sentences, *_tier_reading(found, verdict)]


def _tier_reading(found: Decided, verdict: Verdict) -> list[Text]:
    k = found.verdicts.k()[verdict.pattern]
    if verdict.status == "decided" and not verdict.tier:
        return [_("It has no tier: that takes seven votes for A or B.")]
    if not verdict.tier or k is None:
        return []
    sentences: list[Text] = [
        gettext("Its tier is %(tier)s, since k is %(k)s.")
        % {"tier": tier_words(verdict.tier), "k": coefficient({"value": k})}
    ]
    if found.policy.combine == "criterion":
        a, b = found.patterns.counts[found.policy.criterion][verdict.pattern, :2].tolist()
        posterior = getattr(tier_posterior(a, b, bands=found.policy.bands), verdict.tier)
        sentences.append(
            gettext("With votes as these, a pair truly belongs there with a probability of %(p)s.")
            % {"p": share({"value": posterior})}
        )
    return sentences


def _criteria_table(found: Decided, verdict: Verdict) -> Table:
    rows: list[Row] = []
    pattern = verdict.pattern
    for key, one in found.verdicts.criteria.items():
        a, b, tie, skip = found.patterns.counts[key][pattern].tolist()
        posterior = tier_posterior(a, b, bands=found.policy.bands)
        winner = WINNERS[one.winner[pattern]]
        rows.append(
            {
                "criterion": criterion_name(key),
                **{"a": a, "b": b, "tie": tie, "skip": skip},
                "says": winner or status_tag(STATUSES[one.status[pattern]]).words,
                "majority": majority_posterior(max(a, b), a + b) if a + b else None,
                "k": one.k()[pattern],
                **{name: getattr(posterior, name) for name in ("easy", "medium", "hard")},
            }
        )
    return Table(
        name="verdict",
        title=_("Verdict by criterion"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="a", title="A", kind="int"),
            Column(key="b", title="B", kind="int"),
            Column(key="tie", title=pgettext_lazy("vote", "tie"), kind="int"),
            Column(key="skip", title=pgettext_lazy("vote", "skip"), kind="int"),
            Column(key="says", title=_("Majority")),
            Column(
                key="majority",
                title=_("P(majority)"),
                kind="share",
                help=_("Probability that most people would choose the response with more votes."),
            ),
            Column(
                key="k",
                title="k",
                kind="real",
                help=_("Item agreement with chance fixed by the policy; from seven votes on."),
            ),
            *(
                Column(
                    key=name,
                    title=f"P({tier_words(name)})",
                    kind="share",
                    help=_("Probability that the pair truly belongs to this tier."),
                )
                for name in ("easy", "medium", "hard")
            ),
        ),
        rows=rows,
        note=_("Votes counted in this run. Probabilities under a uniform prior."),
    )


def _judgement_row(each: PairJudgement, run: Run, slug: str) -> dict[str, object]:
    judgement = each.judgement
    tags = [_COUNTED[each.counted]]
    if each.counted in ("counted", "left_out") and judgement.superseded_by_id:
        tags.append(Tag(words=_("corrected since")))
    if each.exclusion is not None and each.counted != "left_out":
        tags.append(Tag(words=_("left out from the next run on"), kind="warn"))
    elif each.exclusion is None and each.counted == "left_out":
        tags.append(Tag(words=_("counted again from the next run on")))
    return {
        "rater": judgement.rater.pseudonym,
        "rater_href": reverse("run_rater", args=[slug, run.pk, judgement.rater_id]),
        **{f"{key}_choice": kind_words(choice) for key, choice in each.choices.items()},
        "left": judgement.shown_left,
        "state": tags,
        "seconds": judgement.seconds,
        "active": judgement.active_seconds,
        "at": judgement.submitted_at,
        "confidence": CONFIDENCE_LABELS.get(str(judgement.confidence), ""),
        "reasons": [REASON_LABELS.get(reason, reason) for reason in judgement.reasons],
        "skipped": SKIP_LABELS.get(each.skip_reason, each.skip_reason),
        "comment": judgement.comment,
        "revision": judgement.revision,
    }


def _judgement_columns(found: Decided, rows: Sequence[Row]) -> tuple[Column, ...]:
    """Without columns of what nobody gave."""
    columns = (
        Column(key="rater", title=_("Rater")),
        *(Column(key=f"{key}_choice", title=criterion_name(key)) for key in found.patterns.counts),
        Column(key="left", title=_("Shown left")),
        Column(key="state", title=_("In this run"), kind="tags"),
        Column(key="seconds", title=_("Time"), kind="seconds"),
        Column(key="active", title=_("Active"), kind="seconds"),
        Column(key="at", title=_("Submitted"), kind="moment"),
        Column(key="confidence", title=_("Confidence")),
        Column(key="reasons", title=_("What decided"), kind="tags"),
        Column(key="skipped", title=_("Why skipped")),
        Column(key="comment", title=_("Comment")),
    )
    return tuple(
        column
        for column in columns
        if column.key not in _OPTIONAL or any(row.get(column.key) for row in rows)
    )


_OPTIONAL = frozenset({"active", "confidence", "reasons", "skipped", "comment"})


def _votes_table(
    membership: Membership,
    run: Run,
    pair: Pair,
    found: Decided,
    judgements: Sequence[PairJudgement],
) -> Table:
    slug = membership.campaign.slug
    rows = []
    for each in judgements:
        if each.counted == "superseded":
            continue
        row = _judgement_row(each, run, slug)
        if membership.may_lead and each.exclusion is None and not each.judgement.superseded_by_id:
            row["leave"] = _("Leave out")
            row["leave_href"] = reverse(
                "exclude_judgement", args=[slug, each.judgement.rater_id, pair.pk]
            )
        rows.append(row)
    columns = _judgement_columns(found, rows)
    if any("leave" in row for row in rows):
        columns += (Column(key="leave", title=_("Change")),)
    return Table(
        name="votes",
        title=_("Every vote"),
        columns=columns,
        rows=rows,
        empty=_("Nobody has judged this pair."),
    )


def _earlier_table(
    run: Run, found: Decided, judgements: Sequence[PairJudgement], slug: str
) -> Table | None:
    rows = [_judgement_row(each, run, slug) for each in judgements if each.counted == "superseded"]
    if not rows:
        return None
    return Table(
        name="earlier-votes",
        title=_("Earlier answers, corrected by their raters"),
        columns=(
            *_judgement_columns(found, rows),
            Column(key="revision", title=_("Revision"), kind="int"),
        ),
        rows=rows,
    )


def _left_out(judgements: Sequence[PairJudgement]) -> list[LeftOutView]:
    found: dict[int, LeftOutView] = {}
    for each in judgements:
        if each.exclusion is not None:
            pseudonym = each.judgement.rater.pseudonym
            found[each.exclusion.pk] = LeftOutView(each.exclusion, pseudonym)
    return list(found.values())


def _priors_table(pair: Pair, verdict: Verdict | None) -> Table | None:
    if not pair.priors:
        return None
    rows: list[Row] = []
    for prior in pair.priors:
        label, tier = prior.get("label") or "", prior.get("tier") or ""
        is_decided = verdict is not None and verdict.status == "decided"
        rows.append(
            {
                "origin": prior.get("origin") or "",
                "label": label,
                "same_label": label == verdict.chosen if verdict and is_decided and label else None,
                "tier": tier_words(tier) if tier in ("easy", "medium", "hard") else tier,
                "same_tier": tier == verdict.tier if verdict and verdict.tier and tier else None,
            }
        )
    return Table(
        name="priors",
        title=_("Published before"),
        columns=(
            Column(key="origin", title=_("Where")),
            Column(key="label", title=_("Label")),
            Column(key="same_label", title=_("Same response"), kind="flag"),
            Column(key="tier", title=_("Tier")),
            Column(key="same_tier", title=_("Same tier"), kind="flag"),
        ),
        rows=rows,
    )


def _adjudications_table(adjudications: Sequence[Adjudication]) -> Table | None:
    if not adjudications:
        return None
    return Table(
        name="adjudications-of-pair",
        title=_("Adjudications"),
        columns=(
            Column(key="decision", title=_("Decision")),
            Column(key="reason", title=_("Reason")),
            Column(key="by", title=_("By")),
            Column(key="at", title=_("At"), kind="moment"),
            Column(key="revoked_by", title=_("Undone by")),
            Column(key="revoked_at", title=_("Undone at"), kind="moment"),
        ),
        rows=[
            {
                "decision": each.get_decision_display(),
                "reason": each.reason,
                "by": each.by,
                "at": each.created_at,
                "revoked_by": each.revoked_by,
                "revoked_at": each.revoked_at,
            }
            for each in adjudications
        ],
        note=_("What is in force now applies from the next aggregation on."),
    )


def _elsewhere_table(run: Run, pair: Pair, slug: str) -> Table | None:
    verdicts = verdicts_elsewhere(run, pair, limit=RUNS_SHOWN)
    if not verdicts:
        return None
    return Table(
        name="other-runs",
        title=_("The same pair in other runs"),
        columns=(
            Column(key="run", title=_("Run")),
            Column(key="policy", title=_("Policy")),
            Column(key="at", title=_("Finished"), kind="moment"),
            Column(key="status", title=_("Status"), kind="tags"),
            Column(key="chosen", title=_("Chosen")),
            Column(key="tier", title=_("Tier")),
        ),
        rows=[
            {
                "run": gettext("Run %(n)s") % {"n": each.run_id},
                "run_href": reverse("run_pair", args=[slug, each.run_id, pair.pk]),
                "policy": each.run.policy.get("name", ""),
                "at": each.run.finished_at,
                "status": [status_tag(each.status)],
                "chosen": each.chosen,
                "tier": tier_words(each.tier),
            }
            for each in verdicts
        ],
    )
