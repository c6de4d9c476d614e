"""What the list of a run's pairs is given, and the tables of pairs as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from annotation.audit.adjudication_contexts import adjudications_table
from annotation.audit.comparison_contexts import changes_table
from annotation.audit.pair_cells import KINDS, PatternCells, file_columns, list_columns
from annotation.audit.pair_words import (
    ADJUDICATED,
    PROVISIONAL,
    STATES,
    RunHead,
    read_id,
    run_head,
    shortened,
    split_words,
    status_tag,
    tier_words,
)
from annotation.contexts import OptionView
from annotation.domain.tables import Pager, Row, Table, Tag
from annotation.models import Campaign, Membership
from annotation.selectors.adjudication import flagged_pairs
from annotation.templatetags.figures import criterion_name
from benchmark.models import Analysis, Run, Status
from benchmark.selectors.comparison import other_runs
from benchmark.selectors.pair_rows import (
    Decided,
    Order,
    PairFilter,
    PairRow,
    Sort,
    all_pairs,
    decided,
    median_seconds,
    pair_page,
)
from benchmark.stats.codes import STATUSES, TIERS

Text = str | Promise

ROWS = 50

_SORTS: dict[str, Sort] = {"pair": "pair", "margin": "margin", "k": "k", "skips": "skips"}
_SWITCHES: dict[str, Text] = {
    "flagged": _("with an open flag"),
    "adjudicated": _("adjudicated"),
    "provisional": _("provisional tier"),
    "skips": _("with skips"),
}
_SEARCH_CHARACTERS = 200
_SPLIT = re.compile(r"([0-9]{1,4})-([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class SelectView:
    name: str
    label: Text
    options: list[OptionView]


@dataclass(frozen=True, slots=True)
class PairsView:
    head: RunHead
    selects: list[SelectView]
    switches: list[OptionView]
    search: str
    is_filtered: bool
    query: QueryDict  # what this page is asked for, without its place in the list
    sort: str
    table: Table
    pager: Pager


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query asks for, as far as it can be understood; ``query`` says that again."""

    wanted: PairFilter
    order: Order
    query: QueryDict


def read_query(query: QueryDict, *, campaign: Campaign, found: Decided) -> Asked:
    """Names: status, tier, split-<criterion> (8-1), kind, sources, changed (a run), flagged,
    adjudicated, provisional and skips (1), q, sort (-key for descending). The rest is not looked
    at."""
    kept: dict[str, str] = {}

    def one_of(name: str, values: Sequence[str]) -> str:
        value = query.get(name, "")
        if value in values and value:
            kept[name] = value
            return value
        return ""

    splits = {}
    for key in found.patterns.counts:
        match = _SPLIT.fullmatch(query.get(f"split-{key}", ""))
        if match:
            votes = int(match[1]), int(match[2])
            splits[key] = (max(votes), min(votes))
            kept[f"split-{key}"] = f"{max(votes)}-{min(votes)}"
    former = read_id(query.get("changed", ""))
    if former is not None and not other_runs(found.run).filter(pk=former).exists():
        former = None
    if former is not None:
        kept["changed"] = str(former)
    texts = {name: _text(query.get(name, "")) for name in ("sources", "q")}
    kept |= {name: text for name, text in texts.items() if text}
    switched = {name: one_of(name, ("1",)) == "1" for name in _SWITCHES}
    wanted = PairFilter(
        status=one_of("status", STATUSES),
        tier=one_of("tier", [tier or "none" for tier in TIERS]),
        splits=splits,
        query_kind=one_of("kind", tuple(KINDS)),
        sources=texts["sources"],
        search=texts["q"],
        changed_since=former,
        only=flagged_pairs(campaign) if switched["flagged"] else None,
        is_adjudicated=switched["adjudicated"],
        is_provisional=switched["provisional"],
        has_skips=switched["skips"],
    )
    sort = query.get("sort", "")
    by = _SORTS.get(sort.removeprefix("-"))
    if by is not None and sort != "pair":
        kept["sort"] = sort
    clean = QueryDict(mutable=True)
    clean.update(kept)
    order = Order(by=by or "pair", descending=by is not None and sort.startswith("-"))
    return Asked(wanted=wanted, order=order, query=clean)


def _text(text: str) -> str:
    """What PostgreSQL can be asked for."""
    return text.replace("\0", "").strip()[:_SEARCH_CHARACTERS]


def pairs_view(membership: Membership, run: Run, query: QueryDict) -> PairsView:
    """A page of the list; a fixed number of queries, whatever the number of pairs."""
    found = decided(run)
    asked = read_query(query, campaign=membership.campaign, found=found)
    before, after = read_id(query.get("before", "")), read_id(query.get("after", ""))
    page = pair_page(
        found,
        asked.wanted,
        order=asked.order,
        past=after if after is not None else before,
        backwards=after is None and before is not None,
        limit=ROWS,
    )
    cells = PatternCells(found)
    seconds = median_seconds(run, [row.id for row in page.rows])
    is_placed = after is not None or before is not None
    has_more_after = page.has_more if after is not None or not is_placed else bool(page.rows)
    has_more_before = page.has_more if before is not None and after is None else is_placed
    address = reverse("run_pairs", args=[membership.campaign.slug, run.pk])
    filters = asked.query.copy()
    filters.pop("sort", None)
    return PairsView(
        head=run_head(membership, run, "pairs"),
        selects=_selects(found, asked),
        switches=[
            OptionView(name, label, asked.query.get(name) == "1")
            for name, label in _SWITCHES.items()
        ],
        search=asked.wanted.search,
        is_filtered=bool(filters),
        query=asked.query,
        sort=asked.query.get("sort", "pair"),
        table=Table(
            name="pairs",
            title=_count_words(
                found, asked.wanted, None if is_placed or page.has_more else len(page.rows)
            ),
            columns=list_columns(found),
            rows=[
                _page_row(row, cells, seconds.get(row.id), membership.campaign, run, asked.query)
                for row in page.rows
            ],
            note=_(
                "Votes are given as A–B, with ties as a third number. k is item agreement with"
                " chance fixed by the policy; it needs seven votes. P(tier) is the probability that"
                " the pair truly belongs to its tier, given its votes."
            ),
            empty=_("No pair is like this."),
        ),
        pager=Pager(
            previous=_address(address, asked.query, "before", page.rows[0].id)
            if page.rows and has_more_before
            else "",
            next=_address(address, asked.query, "after", page.rows[-1].id)
            if page.rows and has_more_after
            else "",
        ),
    )


def _address(address: str, query: QueryDict, name: str, pair: int) -> str:
    placed = query.copy()
    placed[name] = str(pair)
    return f"{address}?{placed.urlencode()}"


def _count_words(found: Decided, wanted: PairFilter, shown: int | None) -> str:
    """``shown`` is the number on the page where it is the only one."""
    total = found.patterns.total
    number = shown
    if wanted.is_of_patterns:
        number = int(found.patterns.pairs[wanted.patterns(found)].sum())
    words = {"n": number_format(number or 0), "total": number_format(total)}
    if number is None:
        return ngettext("Some of %(total)s pair", "Some of %(total)s pairs", total) % words
    if number == total:
        return ngettext("%(total)s pair", "%(total)s pairs", total) % words
    return ngettext("%(n)s of %(total)s pair", "%(n)s of %(total)s pairs", total) % words


def _selects(found: Decided, asked: Asked) -> list[SelectView]:
    run, query = found.run, asked.query

    def select(name: str, label: Text, options: Sequence[tuple[str, Text]]) -> SelectView:
        chosen = query.get(name, "")
        return SelectView(
            name,
            label,
            [
                OptionView("", pgettext_lazy("filter", "any"), not chosen),
                *(OptionView(value, words, value == chosen) for value, words in options),
            ],
        )

    splits = run.result.get("splits", {})
    sources = _source_pairs(run)
    if asked.wanted.sources and asked.wanted.sources not in sources:
        sources.append(asked.wanted.sources)
    runs = list(other_runs(run).for_list()[:20])
    selects = [
        select("status", _("Status"), [(s, Status(s).label) for s in STATUSES]),
        select("tier", _("Tier"), [(t or "none", STATES[t or "none"]) for t in (*TIERS[1:], None)]),
        *(
            select(
                f"split-{key}",
                criterion_name(key),
                [(f"{top}-{low}", split_words(top, low)) for top, low, _pairs in splits[key]],
            )
            for key in found.patterns.counts
            if key in splits
        ),
        select("kind", _("Question"), list(KINDS.items())),
    ]
    if sources:
        selects.append(select("sources", _("Sources"), [(each, each) for each in sources]))
    if runs:
        changed = query.get("changed")
        if changed and changed not in {str(each.pk) for each in runs}:
            runs.append(Run(pk=int(changed)))
        selects.append(
            select(
                "changed",
                _("Changed since"),
                [(str(each.pk), _("run %(n)s") % {"n": each.pk}) for each in runs],
            )
        )
    return selects


def _source_pairs(run: Run) -> list[str]:
    """From the run's analysis: looking through a million pairs would take seconds."""
    found = Analysis.objects.filter(run=run, subject=Analysis.Subject.BREAKDOWNS)
    dimensions = found.values_list("data__dimensions", flat=True).first() or []
    return [
        group["key"]
        for dimension in dimensions
        if dimension["key"] == "source_pair"
        for group in dimension["groups"]
        if group["key"]
    ]


def _page_row(
    row: PairRow,
    cells: PatternCells,
    seconds: float | None,
    campaign: Campaign,
    run: Run,
    query: QueryDict,
) -> Row:
    found = cells.of(row.pattern)
    address = reverse("run_pair", args=[campaign.slug, run.pk, row.id])
    tier: list[Tag] = [Tag(words=tier_words(str(found["tier"])))] if found["tier"] else []
    if found["provisional"]:
        tier.append(PROVISIONAL)
    status = [status_tag(str(found["status"]))]
    if found["adjudicated"]:
        status.append(ADJUDICATED)
    return {
        **found,
        "pair": row.pair_id,
        "pair_href": f"{address}?{query.urlencode()}" if query else address,
        "persona": row.persona,
        "query": shortened(row.query),
        "kind": KINDS.get(row.query_kind, row.query_kind),
        "status": status,
        "tier": tier,
        "seconds": seconds,
    }


def pairs_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """All pairs that the query asks for, by pair id, with every count: for a file."""
    found = decided(run)
    asked = read_query(query, campaign=membership.campaign, found=found)
    return Table(
        name="pairs",
        title=_("Pairs"),
        columns=file_columns(found),
        rows=list(_file_rows(found, asked.wanted)),
    )


def _file_rows(found: Decided, wanted: PairFilter) -> Iterator[Row]:
    cells = PatternCells(found)
    for rows in all_pairs(found, wanted):
        seconds = median_seconds(found.run, [row.id for row in rows])
        for row in rows:
            yield {
                **cells.of(row.pattern),
                "pair": row.pair_id,
                "persona_id": row.persona_id,
                "query": shortened(row.query),
                "kind": row.query_kind,
                "source_a": row.source_a,
                "source_b": row.source_b,
                "seconds": seconds.get(row.id),
            }


# By name, for the files of a run.
TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {
    "pairs": pairs_table,
    "changes": changes_table,
    "adjudications": adjudications_table,
}
