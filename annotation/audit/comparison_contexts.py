"""What the comparison of two runs is given: what differs, which pairs moved, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.comparison_words import (
    CAME,
    FIELDS,
    Move,
    Wanted,
    cause_words,
    policy_cells,
    told_moves,
)
from annotation.audit.pair_words import STATES, RunHead, read_id, run_head, shortened
from annotation.contexts import OptionView
from annotation.domain.tables import Column, Pager, Row, Table
from annotation.models import Membership
from annotation.templatetags.figures import criterion_name
from benchmark.models import Run
from benchmark.selectors.comparison import (
    ExclusionChanges,
    MovedPair,
    Moves,
    VoteChanges,
    exclusion_changes,
    in_order,
    moved_pairs,
    moves,
    other_runs,
    vote_changes,
    vote_changes_of,
)
from benchmark.stats.comparison import ABSENT

Text = str | Promise

ROWS = 50
RUNS_OFFERED = 50

_MEASURES: dict[str, Text] = {
    "percent_agreement": _("Percent agreement"),
    "fleiss": _("Fleiss' kappa"),
    "randolph": _("Randolph's kappa"),
    "ac1": _("Gwet's AC1"),
    "alpha": _("Krippendorff's alpha"),
}


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """``before`` and ``after`` are None while there is nothing to compare with."""

    head: RunHead
    runs: list[OptionView]
    before: Run | None = None
    after: Run | None = None
    reading: Sequence[Text] = ()
    policy: Table | None = None
    inputs: Sequence[tuple[Text, int]] = ()
    exclusions: Table | None = None
    causes: Table | None = None
    matrix: Table | None = None
    agreement: Table | None = None
    changes: Table | None = None
    chosen: Text = ""  # which changes are listed, where not all are
    all_address: str = ""
    file_query: str = ""
    pager: Pager = field(default_factory=Pager)


def comparison_view(membership: Membership, run: Run, query: QueryDict) -> ComparisonView:
    """A fixed number of queries, of which one looks at all verdicts of both runs."""
    head = run_head(membership, run, "compare")
    other = _other(run, query)
    offered = list(other_runs(run).for_list()[:RUNS_OFFERED])
    if other is None:
        return ComparisonView(head=head, runs=[])
    if other not in offered:
        offered.append(other)
    before, after = in_order(run, other)
    found = moves(before, after)
    told = told_moves(found)
    wanted = Wanted.of(query, told)
    listed = wanted.moves(found, told)
    rows = moved_pairs(found, listed, past=read_id(query.get("after", "")), limit=ROWS + 1)
    page, has_more = rows[:ROWS], len(rows) > ROWS
    base = QueryDict(mutable=True)
    base.update({"with": str(other.pk), **wanted.query})
    address = reverse("run_compare", args=[head.campaign.slug, run.pk])
    all_address = f"{address}?with={other.pk}#changes"
    return ComparisonView(
        head=head,
        runs=[OptionView(str(each.pk), _run_words(each), each == other) for each in offered],
        before=before,
        after=after,
        reading=_reading(found, told),
        policy=_policy_table(before, after),
        inputs=_inputs(found, vote_changes(before, after), told),
        exclusions=_exclusions_table(exclusion_changes(before, after)),
        causes=_causes_table(found, told, address, other),
        matrix=_matrix(found, told, address, other),
        agreement=_agreement_table(before, after),
        changes=_page_table(found, told, page, head),
        chosen=wanted.words,
        all_address=all_address if wanted.query else "",
        file_query=base.urlencode(),
        pager=Pager(
            previous=f"{address}?{base.urlencode()}#changes" if query.get("after") else "",
            next=_after(address, base, page[-1]) if has_more else "",
        ),
    )


def _other(run: Run, query: QueryDict) -> Run | None:
    """The run asked for; else the one before this, else the newest other one."""
    runs = other_runs(run)
    pk = read_id(query.get("with", ""))
    asked = runs.filter(pk=pk).first() if pk is not None else None
    return asked or runs.filter(pk__lt=run.pk).first() or runs.first()


def _after(address: str, base: QueryDict, last: MovedPair) -> str:
    placed = base.copy()
    placed["after"] = str(last.id)
    return f"{address}?{placed.urlencode()}#changes"


def _run_words(run: Run) -> Text:
    return format_lazy("{} · {}", _("run %(n)s") % {"n": run.pk}, run.policy.get("name", ""))


def _reading(found: Moves, told: Sequence[Move]) -> list[Text]:
    total, changed = int(found.pairs.sum()), int(found.pairs[found.changed()].sum())
    if not changed:
        return [_("Every pair has the same status, response and tier in both runs.")]
    sentences = [
        ngettext(
            "%(changed)s of %(total)s pair has another status, response or tier.",
            "%(changed)s of %(total)s pairs have another status, response or tier.",
            total,
        )
        % {"changed": number_format(changed), "total": number_format(total)}
    ]
    turned = sum(
        int(pairs)
        for move, pairs in zip(told, found.pairs, strict=True)
        if move.before
        and move.after
        and move.before.chosen
        and move.after.chosen
        and move.before.chosen != move.after.chosen
    )
    if turned:
        sentences.append(
            ngettext(
                "In %(n)s of them the other response is chosen.",
                "In %(n)s of them the other response is chosen.",
                turned,
            )
            % {"n": number_format(turned)}
        )
    else:
        sentences.append(gettext("In none of them is the other response chosen."))
    return [*sentences]


def _inputs(found: Moves, changes: VoteChanges, told: Sequence[Move]) -> list[tuple[Text, int]]:
    adjudged = sum(
        int(pairs) for move, pairs in zip(told, found.pairs, strict=True) if move.adjudged
    )
    came = sum(int(p) for move, p in zip(told, found.pairs, strict=True) if move.cause == CAME)
    return [
        (_("new judgements"), changes.new),
        (_("judgements corrected"), changes.corrected),
        (_("judgements left out since"), changes.left_out),
        (_("judgements that count again"), changes.back),
        (_("pairs adjudicated otherwise"), adjudged),
        (_("pairs added"), came),
    ]


def _policy_table(before: Run, after: Run) -> Table:
    old, new = policy_cells(before.policy), policy_cells(after.policy)
    return Table(
        name="policy-fields",
        title=_("Policy"),
        columns=(
            Column(key="field", title=_("Rule")),
            Column(key="before", title=_("Before")),
            Column(key="after", title=_("After")),
        ),
        rows=[
            {"field": title, "before": old[name], "after": new[name]}
            for name, title in FIELDS.items()
            if old[name] != new[name]
        ],
        empty=_("Both runs follow the same rules."),
    )


def _exclusions_table(changes: ExclusionChanges) -> Table | None:
    rows: list[Row] = [
        {
            "change": words,
            "rater": each.rater.pseudonym,
            "pair": each.pair.pair_id if each.pair else gettext("all pairs"),
            "reason": each.reason,
            "by": each.by,
            "at": each.created_at,
        }
        for words, exclusions in (
            (_("left out since"), changes.added),
            (_("counted again"), changes.lifted),
        )
        for each in exclusions
    ]
    if not rows:
        return None
    return Table(
        name="exclusion-changes",
        title=_("Votes left out"),
        columns=(
            Column(key="rater", title=_("Rater")),
            Column(key="change", title=_("Change")),
            Column(key="pair", title=_("Pair")),
            Column(key="reason", title=_("Reason")),
            Column(key="by", title=_("By")),
            Column(key="at", title=_("Made at"), kind="moment"),
        ),
        rows=rows,
    )


def _causes_table(found: Moves, told: Sequence[Move], address: str, other: Run) -> Table:
    sums: dict[str, int] = {}
    for move, pairs, changed in zip(told, found.pairs, found.changed(), strict=True):
        if changed:
            sums[move.cause] = sums.get(move.cause, 0) + int(pairs)
    return Table(
        name="causes",
        title=_("Why pairs changed"),
        columns=(
            Column(key="cause", title=_("Cause")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
        ),
        rows=[
            {
                "cause": cause_words(cause),
                "pairs": pairs,
                "pairs_href": _to_changes(address, other, cause=cause),
            }
            for cause, pairs in sorted(sums.items(), key=lambda item: (-item[1], item[0]))
        ],
        note=_(
            "Each changed pair is decided again with some of votes, adjudication and policy new"
            " and the others old: a cause is what gives the new verdict, and nothing less does."
        ),
        empty=_("No pair changed."),
    )


def _to_changes(address: str, other: Run, **named: str) -> str:
    query = QueryDict(mutable=True)
    query.update({"with": str(other.pk), **{name.rstrip("_"): v for name, v in named.items()}})
    return f"{address}?{query.urlencode()}#changes"


def _matrix(found: Moves, told: Sequence[Move], address: str, other: Run) -> Table:
    counts: dict[tuple[str, str], int] = {}
    moved: set[tuple[str, str]] = set()
    for move, pairs, changed in zip(told, found.pairs, found.changed(), strict=True):
        counts[move.states] = counts.get(move.states, 0) + int(pairs)
        if changed:
            moved.add(move.states)
    olds = [state for state in STATES if any(old == state for old, _new in counts)]
    news = [state for state in STATES if any(new == state for _old, new in counts)]
    rows: list[Row] = []
    for old in olds:
        row: dict[str, object] = {"before": STATES[old]}
        for new in news:
            row[f"to-{new}"] = counts.get((old, new), 0)
            if (old, new) in moved:
                row[f"to-{new}_href"] = _to_changes(address, other, from_=old, to=new)
        row["all"] = sum(number for (each, _new), number in counts.items() if each == old)
        rows.append(row)
    return Table(
        name="transitions",
        title=_("From which state to which"),
        columns=(
            Column(key="before", title=_("Before ↓ after →")),
            *(Column(key=f"to-{new}", title=STATES[new], kind="int") for new in news),
            Column(key="all", title=_("all before"), kind="int"),
        ),
        rows=rows,
        note=_(
            "Pairs by tier, or by status where they have none. A number that is a link holds pairs"
            " that changed; on the diagonal these are pairs whose chosen response is another."
        ),
        empty=_("Neither run has any pairs."),
    )


def _agreement_table(before: Run, after: Run) -> Table:
    old, new = (run.result.get("agreement", {}) for run in (before, after))
    rows: list[Row] = []
    for key in old:
        if key not in new:
            continue
        for measure, title in _MEASURES.items():
            first, second = old[key].get(measure, {}), new[key].get(measure, {})
            numbers = first.get("value"), second.get("value")
            rows.append(
                {
                    "measure": format_lazy("{}: {}", criterion_name(key), title),
                    "before": first,
                    "after": second,
                    "difference": None if None in numbers else numbers[1] - numbers[0],
                }
            )
    return Table(
        name="agreement-changes",
        title=_("Agreement before and after"),
        columns=(
            Column(key="measure", title=_("Measure")),
            Column(key="before", title=_("Before"), kind="value"),
            Column(key="after", title=_("After"), kind="value"),
            Column(key="difference", title=_("Difference"), kind="real"),
        ),
        rows=rows,
        note=_(
            "95% intervals for this rater pool. The runs share most of their votes, so intervals"
            " that overlap do not say that nothing changed."
        ),
        empty=_("The runs hold no agreement to compare."),
    )


def _page_table(
    found: Moves, told: Sequence[Move], page: Sequence[MovedPair], head: RunHead
) -> Table:
    latest = found.second.run
    rows = []
    for pair, row in zip(page, _rows(found, told, page), strict=True):
        shown = found.first.run if row["after"] == STATES[ABSENT] else latest
        rows.append(
            {
                **row,
                "query": shortened(pair.query),
                "before": _outcome_words(row["before"], row["chosen_before"]),
                "after": _outcome_words(row["after"], row["chosen_after"]),
                "happened": _happened(row),
                "pair_href": reverse("run_pair", args=[head.campaign.slug, shown.pk, pair.id]),
            }
        )
    return Table(
        name="changes",
        title=_("Pairs that changed"),
        columns=(
            Column(key="pair", title=_("Pair")),
            Column(key="query", title=_("Question")),
            Column(key="before", title=_("Before")),
            Column(key="after", title=_("After")),
            Column(key="cause", title=_("Because of")),
            Column(key="happened", title=_("What happened to its votes")),
        ),
        rows=rows,
        empty=_("No pair changed in this way."),
    )


def _outcome_words(state: object, chosen: object) -> str:
    # The response stays beside its tier where the column is narrow.
    return f"{state}\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}{chosen}" if chosen else str(state)


def _happened(row: Mapping[str, Any]) -> str:
    parts = []
    for name, words in (
        ("new", ngettext("%(n)s new judgement", "%(n)s new judgements", row["new"])),
        ("corrected", ngettext("%(n)s corrected", "%(n)s corrected", row["corrected"])),
        ("left_out", ngettext("%(n)s left out", "%(n)s left out", row["left_out"])),
        ("back", ngettext("%(n)s counted again", "%(n)s counted again", row["back"])),
    ):
        if row[name]:
            parts.append(words % {"n": number_format(row[name])})
    if row["adjudicated"]:
        parts.append(gettext("adjudicated otherwise"))
    return pgettext("between the items of a list", ", ").join(parts)


def _rows(
    found: Moves, told: Sequence[Move], pairs: Sequence[MovedPair]
) -> Iterator[dict[str, Any]]:
    """Cells of the changed pairs, one query for what happened to their votes."""
    patterns = zip(found.before.tolist(), found.after.tolist(), strict=True)
    by_patterns = dict(zip(patterns, told, strict=True))
    happened = vote_changes_of(found.first.run, found.second.run, [pair.id for pair in pairs])
    for pair in pairs:
        move = by_patterns[pair.before, pair.after]
        votes = happened.get(pair.id, VoteChanges())
        old, new = move.states
        yield {
            "pair": pair.pair_id,
            "before": STATES[old],
            "after": STATES[new],
            "chosen_before": move.before.chosen if move.before else None,
            "chosen_after": move.after.chosen if move.after else None,
            "cause": cause_words(move.cause),
            "new": votes.new,
            "corrected": votes.corrected,
            "left_out": votes.left_out,
            "back": votes.back,
            "adjudicated": move.adjudged,
        }


def changes_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """All pairs that changed between this run and ``with``, in the order of their ids."""
    columns = (
        Column(key="pair", title=_("Pair")),
        Column(key="before", title=_("Before")),
        Column(key="chosen_before", title=_("Chosen before")),
        Column(key="after", title=_("After")),
        Column(key="chosen_after", title=_("Chosen after")),
        Column(key="cause", title=_("Because of")),
        Column(key="new", title=_("New judgements"), kind="int"),
        Column(key="corrected", title=_("Judgements corrected"), kind="int"),
        Column(key="left_out", title=_("Judgements left out since"), kind="int"),
        Column(key="back", title=_("Judgements that count again"), kind="int"),
        Column(key="adjudicated", title=_("Adjudicated otherwise"), kind="flag"),
    )
    other = _other(run, query)
    if other is None:
        return Table(name="changes", title=_("Pairs that changed"), columns=columns)
    before, after = in_order(run, other)
    found = moves(before, after)
    told = told_moves(found)
    pairs = moved_pairs(found, Wanted.of(query, told).moves(found, told))
    return Table(
        name="changes",
        title=_("Pairs that changed"),
        columns=columns,
        rows=list(_rows(found, told, pairs)),
        note=_("From run %(before)s to run %(after)s.") % {"before": before.pk, "after": after.pk},
    )
