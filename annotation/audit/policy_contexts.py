"""What the page about a campaign's policies is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Max
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.number_words import grouped
from annotation.audit.overview_tables import MIX
from annotation.audit.pair_words import STATES
from annotation.audit.policy_words import PolicyWords, policy_words
from annotation.domain.plots import StackedBars, StackRow, stacked
from annotation.domain.tables import Column, Row, Table
from annotation.models import Campaign, Membership
from annotation.templatetags.figures import share_of
from benchmark.models import PairSet, Run, SavedPolicy
from benchmark.selectors.tallies import live_patterns
from benchmark.services.policies import find_policy
from benchmark.stats.codes import Ints
from benchmark.stats.comparison import states
from benchmark.stats.patterns import Patterns
from benchmark.stats.policy import DEFAULT_POLICY, POLICIES, Policy, PolicyError
from benchmark.stats.verdicts import Verdicts, decide

Text = str | Promise


@dataclass(frozen=True, slots=True)
class PreviewView:
    """What rules that nobody has saved would do to the votes as they are now."""

    before: PolicyWords
    after: PolicyWords
    findings: Sequence[str]
    chart: StackedBars
    states: Table
    moves: Table


@dataclass(frozen=True, slots=True)
class PoliciesView:
    campaign: Campaign
    notice: Text
    error: Text
    policies: Table
    start: str  # whose rules the form began with, as name@version
    preview: PreviewView | None


def start_policy(pair_set: PairSet, asked: str) -> tuple[Policy, Text]:
    """The policy that a form begins with: the one asked for, else `current_policy`; and an error
    where there is none such."""
    if asked:
        try:
            return find_policy(pair_set, asked), ""
        except PolicyError:
            return current_policy(pair_set), _("There is no such policy in this campaign.")
    return current_policy(pair_set), ""


def current_policy(pair_set: PairSet) -> Policy:
    """That of the newest finished aggregation, or the default."""
    done = Run.objects.filter(pair_set=pair_set).aggregations().done()
    rules = done.newest_first().values_list("policy", flat=True).first()
    return Policy.from_json(rules) if rules else DEFAULT_POLICY


def policies_view(
    membership: Membership,
    *,
    start: Policy,
    previewed: Policy | None = None,
    notice: str = "",
    error: Text = "",
) -> PoliciesView:
    campaign = membership.campaign
    label = f"{start.name}@{start.version}"
    notices: dict[str, str] = {
        "saved": gettext("Saved as %(policy)s. Choose it where you aggregate the votes."),
        "unchanged": gettext(
            "%(policy)s has these rules already, so nothing has changed and no version was made."
        ),
    }
    return PoliciesView(
        campaign=campaign,
        notice=notices[notice] % {"policy": label} if notice in notices else "",
        error=error,
        policies=_policies_table(campaign),
        start=label,
        preview=None if previewed is None else _preview(campaign.pair_set, previewed),
    )


def _policies_table(campaign: Campaign) -> Table:
    """Two queries: the versions there are, and how often each was followed."""
    used = {
        (row["policy__name"], row["policy__version"]): (row["runs"], row["last"])
        for row in Run.objects.filter(pair_set=campaign.pair_set_id)
        .aggregations()
        .done()
        .values("policy__name", "policy__version")
        .annotate(runs=Count("pk"), last=Max("pk"))
        .order_by("policy__name", "policy__version")
    }
    saved = SavedPolicy.objects.filter(pair_set=campaign.pair_set_id)
    rows = [_policy_row(campaign, policy, used) for policy in POLICIES.values()]
    rows += [
        {
            **_policy_row(campaign, each.policy, used),
            "note": each.note,
            "by": each.by,
            "at": each.created_at,
        }
        for each in saved.order_by("name", "-version", "id")
    ]
    return Table(
        name="policies",
        title=_("Policies"),
        columns=(
            Column(key="policy", title=_("Policy")),
            Column(key="rules", title=_("Rules")),
            Column(key="note", title=_("Note")),
            Column(key="by", title=_("Made by")),
            Column(key="at", title=_("Made at"), kind="moment"),
            Column(key="runs", title=_("Runs"), kind="int"),
        ),
        rows=rows,
        note=_("A policy never changes: other rules under its name are its next version."),
    )


def _policy_row(
    campaign: Campaign, policy: Policy, used: dict[tuple[str, int], tuple[int, int]]
) -> Row:
    words = policy_words(policy.as_json())
    runs, last = used.get((policy.name, policy.version), (0, 0))
    return {
        "policy": words.label,
        "policy_href": f"?from={words.label}#rules",
        "rules": pgettext("between two rules", "; ").join(str(each) for each in words.sentences),
        "by": gettext("built in"),
        "runs": runs,
        "runs_href": reverse("run", args=[campaign.slug, last]) if runs else "",
    }


def _preview(pair_set: PairSet, policy: Policy) -> PreviewView:
    """One query for the policy that is followed now, one for the patterns."""
    patterns = live_patterns(pair_set)
    current = current_policy(pair_set)
    before, after = (
        decide(each, patterns.tallies(), adjudged=patterns.adjudged) for each in (current, policy)
    )
    old, new = states(before), states(after)
    labels = {
        "before": policy_words(current.as_json()),
        "after": policy_words(policy.as_json()),
    }
    return PreviewView(
        before=labels["before"],
        after=labels["after"],
        findings=_findings(patterns, before, after, old, new),
        chart=stacked(
            [
                StackRow(label=_("now"), parts=_mix(patterns.pairs, old)),
                StackRow(label=_("with these"), parts=_mix(patterns.pairs, new)),
            ],
            order=MIX,
            label=gettext("Decided pairs by tier, with the present rules and with these"),
        ),
        states=_states_table(patterns.pairs, old, new, labels["before"].label),
        moves=_moves_table(patterns.pairs, old, new),
    )


def _counted(pairs: Ints, found: Sequence[str]) -> dict[str, int]:
    """Pairs by state, in the order of `STATES`."""
    counts = dict.fromkeys(STATES, 0)
    for number, state in zip(pairs.tolist(), found, strict=True):
        counts[state] += number
    return counts


def _mix(pairs: Ints, found: Sequence[str]) -> dict[str, float]:
    counts = _counted(pairs, found)
    return {tier: counts[tier] for tier in MIX}


def _findings(
    patterns: Patterns, before: Verdicts, after: Verdicts, old: Sequence[str], new: Sequence[str]
) -> list[str]:
    total = patterns.total
    if not total:
        return [gettext("There are no pairs yet, so these rules decide nothing.")]
    weight = patterns.pairs
    moved = int(weight[np.array(old, dtype=object) != np.array(new, dtype=object)].sum())
    turned = int(
        weight[(before.chosen > 0) & (after.chosen > 0) & (before.chosen != after.chosen)].sum()
    )
    sentences = [
        ngettext(
            "%(moved)s of %(total)s pair would get another tier or status (%(share)s).",
            "%(moved)s of %(total)s pairs would get another tier or status (%(share)s).",
            total,
        )
        % grouped(moved=moved, total=total, share=share_of(moved, total))
    ]
    if turned:
        sentences.append(
            ngettext(
                "On %(n)s the other response would be chosen.",
                "On %(n)s the other response would be chosen.",
                turned,
            )
            % grouped(n=turned)
        )
    else:
        sentences.append(gettext("On none would the other response be chosen."))
    return sentences


def _states_table(pairs: Ints, old: Sequence[str], new: Sequence[str], label: str) -> Table:
    before, after = _counted(pairs, old), _counted(pairs, new)
    return Table(
        name="preview-states",
        title=_("Pairs by tier and status"),
        columns=(
            Column(key="state", title=_("Tier or status")),
            Column(key="before", title=label, kind="int"),
            Column(key="after", title=_("These rules"), kind="int"),
            Column(key="difference", title=_("Difference"), kind="int"),
        ),
        rows=[
            {
                "state": STATES[state],
                "before": before[state],
                "after": after[state],
                "difference": after[state] - before[state],
            }
            for state in STATES
            if before[state] or after[state]
        ],
        note=_("The votes, exclusions and adjudications as they are now. Nothing is changed."),
        empty=_("There are no pairs yet."),
    )


def _moves_table(pairs: Ints, old: Sequence[str], new: Sequence[str]) -> Table:
    counts: dict[tuple[str, str], int] = {}
    for number, before, after in zip(pairs.tolist(), old, new, strict=True):
        counts[before, after] = counts.get((before, after), 0) + number
    olds = [state for state in STATES if any(before == state for before, _after in counts)]
    news = [state for state in STATES if any(after == state for _before, after in counts)]
    return Table(
        name="preview-moves",
        title=_("Which pairs would move"),
        columns=(
            Column(key="before", title=_("Now ↓ with these rules →")),
            *(Column(key=state, title=STATES[state], kind="int") for state in news),
        ),
        rows=[
            {"before": STATES[before], **{after: counts.get((before, after), 0) for after in news}}
            for before in olds
        ],
        note=_("On the diagonal are pairs that keep their tier or status."),
        empty=_("There are no pairs yet."),
    )
