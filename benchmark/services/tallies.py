"""Tallies counted again from the votes."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, transaction

from benchmark.models import PairSet


@dataclass(frozen=True, slots=True)
class TallyDifference:
    """A counter that does not say what the votes say; counts are (A, B, tie, skip)."""

    pair_id: str
    criterion: str
    stored: tuple[int, int, int, int]
    counted: tuple[int, int, int, int]


# Summed side by side rather than joined: linear under whatever plan.
_DIFFERENCES = """
    SELECT pair.id, pair.pair_id, criterion.id, criterion.key,
        a, b, tie, skip, counted_a, counted_b, counted_tie, counted_skip
    FROM (
        SELECT pair_id, criterion_id, sum(a) AS a, sum(b) AS b, sum(tie) AS tie, sum(skip) AS skip,
            sum(counted_a) AS counted_a, sum(counted_b) AS counted_b,
            sum(counted_tie) AS counted_tie, sum(counted_skip) AS counted_skip
        FROM (
            SELECT tally.pair_id, criterion_id, a, b, tie, skip,
                0 AS counted_a, 0 AS counted_b, 0 AS counted_tie, 0 AS counted_skip
            FROM benchmark_tally tally JOIN benchmark_pair pair ON pair.id = tally.pair_id
            WHERE pair.pair_set_id = %s
            UNION ALL
            SELECT judgement.pair_id, vote.criterion_id, 0, 0, 0, 0,
                (choice = 'A')::int, (choice = 'B')::int,
                (choice = 'tie')::int, (choice = 'skip')::int
            FROM benchmark_vote vote
            JOIN benchmark_judgement judgement ON judgement.id = vote.judgement_id
            JOIN benchmark_pair pair ON pair.id = judgement.pair_id
            WHERE judgement.superseded_by_id IS NULL AND pair.pair_set_id = %s
        ) stored_and_counted
        GROUP BY pair_id, criterion_id
        HAVING (sum(a), sum(b), sum(tie), sum(skip))
            <> (sum(counted_a), sum(counted_b), sum(counted_tie), sum(counted_skip))
    ) different
    JOIN benchmark_pair pair ON pair.id = different.pair_id
    JOIN benchmark_criterion criterion ON criterion.id = different.criterion_id
    ORDER BY pair.pair_id COLLATE "C", criterion.position
"""


def rebuild_tallies(*, pair_set: PairSet, repair: bool) -> list[TallyDifference]:
    """Compare every counter with the votes, and set the wrong ones right if ``repair``.

    One statement reads votes and counters, so what is being submitted meanwhile is in both or in
    neither; repairing waits for writers and keeps them out until it is done.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if repair:
            cursor.execute("LOCK TABLE benchmark_tally IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(_DIFFERENCES, [pair_set.pk] * 2)
        rows = cursor.fetchall()
        if repair:
            cursor.executemany(
                "INSERT INTO benchmark_tally (pair_id, criterion_id, a, b, tie, skip)"
                " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (pair_id, criterion_id) DO UPDATE"
                " SET a = excluded.a, b = excluded.b, tie = excluded.tie, skip = excluded.skip",
                [(row[0], row[2], *row[8:]) for row in rows],
            )
    return [
        TallyDifference(pair_id=row[1], criterion=row[3], stored=row[4:8], counted=row[8:])
        for row in rows
    ]
