"""Two aggregations of a set side by side: which pairs moved, and what happened to their votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection

from benchmark.models import Exclusion, Run
from benchmark.models.run import RunQuerySet
from benchmark.selectors.pair_rows import QUERY_CHARACTERS, Decided, decided
from benchmark.stats.codes import Bools, Ints
from benchmark.stats.comparison import Basis, Comparison, compare
from benchmark.stats.verdicts import Tally

# The pattern of a pair that an aggregation has not.
NOWHERE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moves:
    """Pairs by their patterns before and after, M distinct moves.

    ``before`` and ``after`` (M,) are numbers of patterns, `NOWHERE` where that run has not the
    pairs; ``pairs`` (M,) how many made the move. ``compared`` has the row of ``comparison`` for
    each move, -1 for those that are in one run alone.
    """

    first: Decided
    second: Decided
    before: Ints
    after: Ints
    pairs: Ints
    compared: Ints
    comparison: Comparison

    def changed(self) -> Bools:
        """Moves (M,) to another status, response or tier, or into or out of the set."""
        result = np.ones(len(self.pairs), dtype=np.bool_)
        both = self.compared >= 0
        result[both] = self.comparison.changed[self.compared[both]]
        return result


def other_runs(run: Run) -> RunQuerySet:
    """Finished aggregations of the same set, newest first."""
    runs = Run.objects.filter(pair_set=run.pair_set_id).exclude(pk=run.pk)
    return runs.aggregations().done().newest_first()


def in_order(one: Run, other: Run) -> tuple[Run, Run]:
    """The run that counted the votes of an earlier moment first."""

    def moment(run: Run) -> tuple[int, int]:
        return run.last_judgement or 0, run.pk

    return (one, other) if moment(one) <= moment(other) else (other, one)


def moves(before: Run, after: Run) -> Moves:
    """One grouped query over both runs' verdicts; what it gives does not grow with the set."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT coalesce(first.pattern, -1), coalesce(second.pattern, -1), count(*)
            FROM (SELECT pair_id, pattern FROM benchmark_verdict WHERE run_id = %s) first
            FULL JOIN (SELECT pair_id, pattern FROM benchmark_verdict WHERE run_id = %s) second
                USING (pair_id)
            GROUP BY 1, 2 ORDER BY 1, 2
            """,
            [before.pk, after.pk],
        )
        table = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 3)
    first, second = decided(before), decided(after)
    both = (table[:, 0] >= 0) & (table[:, 1] >= 0)
    compared = np.full(len(table), NOWHERE, dtype=np.int64)
    compared[both] = np.arange(int(both.sum()))
    return Moves(
        first=first,
        second=second,
        before=table[:, 0],
        after=table[:, 1],
        pairs=table[:, 2],
        compared=compared,
        comparison=compare(_basis(first, table[both, 0]), _basis(second, table[both, 1])),
    )


def _basis(found: Decided, patterns: Ints) -> Basis:
    return Basis(
        policy=found.policy,
        tallies={key: Tally(*counts[patterns].T) for key, counts in found.patterns.counts.items()},
        adjudged=found.patterns.adjudged[patterns],
    )


@dataclass(frozen=True, slots=True)
class MovedPair:
    id: int
    pair_id: str
    query: str  # its beginning
    before: int
    after: int


def moved_pairs(
    found: Moves, chosen: Bools, *, past: int | None = None, limit: int | None = None
) -> list[MovedPair]:
    """Pairs that made one of the ``chosen`` moves (M,), by pair id, after the pair ``past``."""
    if not chosen.any():
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT pair.id, pair.pair_id, left(pair.query, {QUERY_CHARACTERS + 1}),
                moved.before, moved.after
            FROM (
                SELECT pair_id, coalesce(first.pattern, -1) AS before,
                    coalesce(second.pattern, -1) AS after
                FROM (SELECT pair_id, pattern FROM benchmark_verdict WHERE run_id = %(first)s) first
                FULL JOIN (
                    SELECT pair_id, pattern FROM benchmark_verdict WHERE run_id = %(second)s
                ) second USING (pair_id)
            ) moved
            JOIN unnest(%(before)s::int[], %(after)s::int[]) AS wanted (before, after)
                USING (before, after)
            JOIN benchmark_pair pair ON pair.id = moved.pair_id
            WHERE %(past)s::bigint IS NULL OR pair.pair_id
                > (SELECT place.pair_id FROM benchmark_pair place WHERE place.id = %(past)s::bigint)
            ORDER BY pair.pair_id, pair.id LIMIT %(limit)s
            """,
            {
                "first": found.first.run.pk,
                "second": found.second.run.pk,
                "before": found.before[chosen].tolist(),
                "after": found.after[chosen].tolist(),
                "past": past,
                "limit": limit,
            },
        )
        return [MovedPair(*row) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteChanges:
    """Judgements whose counting differs between two runs: new ones, corrected ones, those that the
    later run leaves out, and those that count again."""

    new: int = 0
    corrected: int = 0
    left_out: int = 0
    back: int = 0

    def __bool__(self) -> bool:
        return bool(self.new or self.corrected or self.left_out or self.back)


def _excluded(run: str) -> str:
    return f"""EXISTS (
        SELECT FROM benchmark_run_exclusions of_run
        JOIN benchmark_exclusion exclusion ON exclusion.id = of_run.exclusion_id
        WHERE of_run.run_id = %({run})s AND exclusion.rater_id = judgement.rater_id
          AND (exclusion.pair_id IS NULL OR exclusion.pair_id = judgement.pair_id))"""


def _as_of(last: str) -> str:
    return (
        f"judgement.id <= %({last})s AND (judgement.superseded_by_id IS NULL"
        f" OR judgement.superseded_by_id > %({last})s)"
    )


# What a run left out is found from its exclusions, of which there are few.
_OF_EXCLUSIONS = """
    FROM (
        SELECT DISTINCT judgement.id, judgement.pair_id, judgement.rater_id,
            judgement.superseded_by_id
        FROM benchmark_run_exclusions of_run
        JOIN benchmark_exclusion leaving ON leaving.id = of_run.exclusion_id
        JOIN benchmark_judgement judgement ON judgement.rater_id = leaving.rater_id
            AND (leaving.pair_id IS NULL OR leaving.pair_id = judgement.pair_id)
        WHERE of_run.run_id = %({run})s
    ) judgement
"""
_JUDGED_BEFORE = """EXISTS (
    SELECT FROM benchmark_judgement former
    WHERE former.pair_id = judgement.pair_id AND former.rater_id = judgement.rater_id
      AND former.id <= %(first_last)s)"""

# Rows of a pair and 1 for each kind of change; a judgement is in one row of the first part at most.
_CHANGES = f"""
    SELECT judgement.pair_id, (NOT {_JUDGED_BEFORE})::int AS new,
        ({_JUDGED_BEFORE})::int AS corrected, 0 AS left_out, 0 AS back
    FROM benchmark_judgement judgement
    WHERE judgement.id > %(first_last)s AND {_as_of("second_last")} AND NOT {_excluded("second")}
    UNION ALL
    SELECT judgement.pair_id, 0, 0, 1, 0 {_OF_EXCLUSIONS.format(run="second")}
    WHERE {_as_of("first_last")} AND NOT {_excluded("first")}
    UNION ALL
    SELECT judgement.pair_id, 0, 0, 0, 1 {_OF_EXCLUSIONS.format(run="first")}
    WHERE {_as_of("second_last")} AND NOT {_excluded("second")} AND {_JUDGED_BEFORE}
"""


def vote_changes(before: Run, after: Run) -> VoteChanges:
    """Of the whole set; one query over the judgements between the two and those left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT coalesce(sum(new), 0), coalesce(sum(corrected), 0), coalesce(sum(left_out), 0),
                coalesce(sum(back), 0)
            FROM ({_CHANGES}) change
            JOIN benchmark_verdict verdict
                ON verdict.pair_id = change.pair_id AND verdict.run_id = %(second)s
            """,
            _runs(before, after),
        )
        new, corrected, left_out, back = cursor.fetchone()
    return VoteChanges(new=new, corrected=corrected, left_out=left_out, back=back)


def vote_changes_of(before: Run, after: Run, pairs: Sequence[int]) -> dict[int, VoteChanges]:
    """By pair, those without any left out; one query."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT pair_id, sum(new), sum(corrected), sum(left_out), sum(back)
            FROM ({_CHANGES}) change WHERE pair_id = ANY(%(pairs)s) GROUP BY pair_id
            """,
            {**_runs(before, after), "pairs": list(pairs)},
        )
        return {
            pair: VoteChanges(new=new, corrected=corrected, left_out=left_out, back=back)
            for pair, new, corrected, left_out, back in cursor.fetchall()
        }


def _runs(before: Run, after: Run) -> dict[str, int]:
    return {
        "first": before.pk,
        "first_last": before.last_judgement or 0,
        "second": after.pk,
        "second_last": after.last_judgement or 0,
    }


@dataclass(frozen=True, slots=True)
class ExclusionChanges:
    """Exclusions that only the later, or only the earlier, of two runs followed."""

    added: list[Exclusion]
    lifted: list[Exclusion]


def exclusion_changes(before: Run, after: Run) -> ExclusionChanges:
    """By their ids; two queries."""

    def only(run: Run, other: Run) -> list[Exclusion]:
        return list(
            run.exclusions.exclude(runs=other).select_related("rater", "pair").order_by("id")
        )

    return ExclusionChanges(added=only(after, before), lifted=only(before, after))
