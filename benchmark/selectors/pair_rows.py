"""The pairs of an aggregation, filtered, sorted and page by page.

What a verdict says depends on a pair's pattern of counts alone, so filters and orders that are
about verdicts are worked out on the run's patterns, and the database looks for their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from django.db import connection

from benchmark.models import PatternVerdict, Run, Verdict
from benchmark.selectors.run_votes import AS_OF, is_counted, parameters
from benchmark.stats import codes
from benchmark.stats.codes import Bools, Ints
from benchmark.stats.patterns import COLUMNS, Patterns
from benchmark.stats.policy import Policy
from benchmark.stats.verdicts import Verdicts, decide

Sort = Literal["pair", "margin", "k", "skips"]

# One more is read than shown, so that it is known whether the text goes on.
QUERY_CHARACTERS = 120

_AT_ONCE = 2_000


def patterns_of_run(run: Run) -> Patterns:
    """The patterns that the run decided on, in the order of their numbers.

    A run from before patterns were kept as a whole has them in its rows; it knew no adjudications.
    """
    if run.patterns:
        return Patterns.from_json(run.patterns)
    criteria = run.pair_set.criteria_in_order
    pairs: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pattern, count(*) FROM benchmark_verdict WHERE run_id = %s GROUP BY 1", [run.pk]
        )
        pairs.update(cursor.fetchall())
    length = max(pairs, default=-1) + 1
    counts = {each.pk: np.zeros((length, COLUMNS), dtype=np.int64) for each in criteria}
    rows = PatternVerdict.objects.filter(run=run, pattern__lt=length)
    for pattern, criterion, *numbers in rows.values_list(
        "pattern", "criterion_id", "a", "b", "tie", "skip"
    ):
        counts[criterion][pattern] = numbers
    return Patterns(
        counts={each.key: counts[each.pk] for each in criteria},
        adjudged=np.zeros(length, dtype=np.int64),
        pairs=np.array([pairs.get(pattern, 0) for pattern in range(length)], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """A run's patterns with what its policy makes of them."""

    run: Run
    policy: Policy
    patterns: Patterns
    verdicts: Verdicts


def decided(run: Run) -> Decided:
    """No query, but for runs from before patterns were kept as a whole."""
    policy, patterns = Policy.from_json(run.policy), patterns_of_run(run)
    return Decided(
        run=run,
        policy=policy,
        patterns=patterns,
        verdicts=decide(policy, patterns.tallies(), adjudged=patterns.adjudged),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFilter:
    """Which pairs; what is empty does not restrict them.

    ``tier`` may be "none" for decided pairs without one. ``splits`` has for criteria the larger and
    the smaller number of votes for A and B. ``sources`` are both, joined as in
    `benchmark.selectors.pair_traits`. ``changed_since`` is another run's id. ``only`` are ids of
    pairs. ``search`` is looked for in pair ids, persona ids, names and queries.
    """

    status: str = ""
    tier: str = ""
    splits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    is_provisional: bool = False
    is_adjudicated: bool = False
    has_skips: bool = False
    query_kind: str = ""
    sources: str = ""
    changed_since: int | None = None
    only: Sequence[int] | None = None
    search: str = ""

    @property
    def is_of_patterns(self) -> bool:
        """Whether a pair's pattern tells if it is meant."""
        return not (
            self.query_kind
            or self.sources
            or self.search
            or self.changed_since is not None
            or self.only is not None
        )

    def patterns(self, found: Decided) -> Bools:
        """The patterns whose pairs may be meant, shape (P,)."""
        verdicts = found.verdicts
        meant = np.ones(len(verdicts), dtype=np.bool_)
        if self.status:
            meant &= verdicts.status == codes.STATUSES.index(self.status)
        if self.tier:
            tier = None if self.tier == "none" else self.tier
            meant &= verdicts.status == codes.DECIDED
            meant &= verdicts.tier == codes.TIERS.index(tier)
        for key, split in self.splits.items():
            votes = np.sort(found.patterns.counts[key][:, :2], axis=1)
            meant &= (votes[:, 1] == split[0]) & (votes[:, 0] == split[1])
        if self.is_provisional:
            meant &= verdicts.provisional
        if self.is_adjudicated:
            meant &= verdicts.is_adjudicated
        if self.has_skips:
            meant &= skips(found.patterns) > 0
        return meant


def skips(patterns: Patterns) -> Ints:
    """Skips of each pattern on all criteria together, shape (P,)."""
    columns = [counts[:, 3] for counts in patterns.counts.values()]
    return np.sum(columns, axis=0, dtype=np.int64) if columns else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """By pair id, the margin, the agreement that the tier rests on, or skips; ends in the id."""

    by: Sort = "pair"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair of the run without its large texts; ``query`` is its beginning."""

    id: int
    pair_id: str
    persona_id: str
    persona: str
    query: str
    query_kind: str
    source_a: str
    source_b: str
    pattern: int


@dataclass(frozen=True, slots=True)
class PairPage:
    """``has_more`` in the direction that was asked for."""

    rows: list[PairRow]
    has_more: bool


def pair_page(
    found: Decided,
    wanted: PairFilter,
    *,
    order: Order,
    past: int | None = None,
    backwards: bool = False,
    limit: int = 50,
) -> PairPage:
    """Pairs after the one with the id ``past`` in the order, or, ``backwards``, before it.

    Two queries at most, whatever the number of pairs, and no page is counted out. Nothing is after
    a pair that the run has not.
    """
    meant = np.flatnonzero(wanted.patterns(found))
    if not len(meant):
        return PairPage([], has_more=False)
    conditions, values = _conditions(wanted)
    joins = []
    if order.by == "pair":
        place, down = "pair.pair_id", order.descending != backwards
        if len(meant) < len(found.verdicts):
            conditions.append("verdict.pattern = ANY(%(patterns)s)")
    else:
        # Ranks grow in the order that is wanted, and equal ones stand by id.
        place, down = "shape.rank", backwards
        joins.append(
            "JOIN unnest(%(patterns)s::int[], %(ranks)s::bigint[]) AS shape (pattern, rank)"
            " ON shape.pattern = verdict.pattern"
        )
        values["ranks"] = _ranks(found, order)[meant].tolist()
    if order.by == "pair" or conditions:
        joins.append(
            "JOIN benchmark_pair pair ON pair.id = verdict.pair_id"
            " AND pair.pair_set_id = %(pair_set)s"
        )
    if wanted.search:
        joins.append("JOIN benchmark_persona persona ON persona.id = pair.persona_id")
    sign, direction = ("<", "DESC") if down else (">", "ASC")
    if past is not None:
        at = _place(found, past, order=order)
        if at is None:
            return PairPage([], has_more=False)
        values |= {"at": at, "past": past}
        conditions.append(
            f"pair.pair_id {sign} %(at)s"
            if order.by == "pair"
            else f"(shape.rank, verdict.pair_id) {sign} (%(at)s, %(past)s)"
        )
    values |= {
        "run": found.run.pk,
        "pair_set": found.run.pair_set_id,
        "patterns": meant.tolist(),
        "limit": limit + 1,
    }
    where = " AND ".join(["verdict.run_id = %(run)s", *conditions])
    with connection.cursor() as cursor:
        # What is shown is looked up only for the page: a million texts are never read or sorted.
        cursor.execute(
            f"""
            SELECT pair.id, pair.pair_id, persona.persona_id, persona.name,
                left(pair.query, {QUERY_CHARACTERS + 1}), pair.query_kind, pair.source_a,
                pair.source_b, found.pattern
            FROM (
                SELECT verdict.pair_id AS id, verdict.pattern, {place} AS place
                FROM benchmark_verdict verdict {" ".join(joins)} WHERE {where}
                ORDER BY {place} {direction}, verdict.pair_id {direction} LIMIT %(limit)s
            ) found
            JOIN benchmark_pair pair ON pair.id = found.id
            JOIN benchmark_persona persona ON persona.id = pair.persona_id
            ORDER BY found.place {direction}, found.id {direction}
            """,
            values,
        )
        rows = [PairRow(*row) for row in cursor.fetchall()]
    shown, has_more = rows[:limit], len(rows) > limit
    return PairPage(shown[::-1] if backwards else shown, has_more=has_more)


def all_pairs(found: Decided, wanted: PairFilter) -> Iterator[list[PairRow]]:
    """All of them by pair id, some thousands at a time: memory does not grow with the set."""
    past: int | None = None
    while True:
        page = pair_page(found, wanted, order=Order(), past=past, limit=_AT_ONCE)
        if page.rows:
            yield page.rows
            past = page.rows[-1].id
        if not page.has_more:
            return


def median_seconds(run: Run, pairs: Sequence[int]) -> dict[int, float]:
    """Of the judgements that the run counted: active seconds, else all; pairs without any are left
    out."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT judgement.pair_id, percentile_cont(0.5) WITHIN GROUP (
                ORDER BY coalesce(judgement.active_seconds, judgement.seconds))
            FROM benchmark_judgement judgement
            WHERE judgement.pair_id = ANY(%(pairs)s) AND {AS_OF} AND {is_counted(run)}
                AND coalesce(judgement.active_seconds, judgement.seconds) IS NOT NULL
            GROUP BY 1
            """,
            parameters(run) | {"pairs": list(pairs)},
        )
        return dict(cursor.fetchall())


def _ranks(found: Decided, order: Order) -> Ints:
    """Whole numbers (P,) that grow in the order; patterns whose k is not defined stand last."""
    verdicts = found.verdicts
    if order.by == "k":
        k = np.array([np.nan if value is None else value for value in verdicts.k()])
        ranks = np.unique(k, return_inverse=True)[1].reshape(-1).astype(np.int64)
        unknown = np.isnan(k)
    else:
        ranks = verdicts.margin if order.by == "margin" else skips(found.patterns)
        unknown = np.zeros(len(ranks), dtype=np.bool_)
    ranks = -ranks if order.descending else ranks
    return np.where(unknown, np.iinfo(np.int64).max, ranks)


def _place(found: Decided, pair: int, *, order: Order) -> str | int | None:
    """Where a pair stands in the order; None for one that the run has not."""
    row = Verdict.objects.filter(run=found.run, pair=pair).values_list("pair__pair_id", "pattern")
    at = row.first()
    if at is None:
        return None
    return at[0] if order.by == "pair" else int(_ranks(found, order)[at[1]])


def _conditions(wanted: PairFilter) -> tuple[list[str], dict[str, Any]]:
    """What only the database can tell, in SQL with its parameters."""
    conditions: list[str] = []
    values: dict[str, Any] = {}
    if wanted.query_kind:
        conditions.append("pair.query_kind = %(query_kind)s")
        values["query_kind"] = wanted.query_kind
    if wanted.sources:
        one, other = "nullif(pair.source_a, '')", "nullif(pair.source_b, '')"
        conditions.append(
            f"%(sources)s IN (concat_ws(' · ', {one}, {other}), concat_ws(' · ', {other}, {one}))"
        )
        values["sources"] = wanted.sources
    if wanted.only is not None:
        conditions.append("verdict.pair_id = ANY(%(only)s)")
        values["only"] = list(wanted.only)
    if wanted.changed_since is not None:
        conditions.append(
            "NOT EXISTS (SELECT FROM benchmark_verdict former"
            " WHERE former.run_id = %(former)s AND former.pair_id = verdict.pair_id"
            " AND (former.status, former.chosen, former.tier)"
            " = (verdict.status, verdict.chosen, verdict.tier))"
        )
        values["former"] = wanted.changed_since
    if wanted.search:
        columns = ("pair.pair_id", "persona.persona_id", "persona.name", "pair.query")
        like = " OR ".join(f"{column} ILIKE %(search)s" for column in columns)
        conditions.append(f"({like})")
        values["search"] = f"%{_literally(wanted.search)}%"
    return conditions, values


def _literally(text: str) -> str:
    """Without what LIKE takes for a pattern."""
    return re.sub(r"([\\%_])", r"\\\1", text)
