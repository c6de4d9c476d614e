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


_DIFFERENCES = """
    SELECT pair.id, pair.pair_id, criterion.id, criterion.key,
        coalesce(stored.a, 0), coalesce(stored.b, 0), coalesce(stored.tie, 0),
        coalesce(stored.skip, 0), coalesce(counted.a, 0), coalesce(counted.b, 0),
        coalesce(counted.tie, 0), coalesce(counted.skip, 0)
    FROM benchmark_pair pair
    CROSS JOIN benchmark_criterion criterion
    LEFT JOIN benchmark_tally stored
        ON stored.pair_id = pair.id AND stored.criterion_id = criterion.id
    LEFT JOIN (
        SELECT judgement.pair_id, vote.criterion_id,
            count(*) FILTER (WHERE vote.choice = 'A') AS a,
            count(*) FILTER (WHERE vote.choice = 'B') AS b,
            count(*) FILTER (WHERE vote.choice = 'tie') AS tie,
            count(*) FILTER (WHERE vote.choice = 'skip') AS skip
        FROM benchmark_vote vote
        JOIN benchmark_judgement judgement ON judgement.id = vote.judgement_id
        JOIN benchmark_pair pair ON pair.id = judgement.pair_id
        WHERE judgement.superseded_by_id IS NULL AND pair.pair_set_id = %s
        GROUP BY judgement.pair_id, vote.criterion_id
    ) counted ON counted.pair_id = pair.id AND counted.criterion_id = criterion.id
    WHERE pair.pair_set_id = %s AND criterion.pair_set_id = %s
      AND (coalesce(stored.a, 0), coalesce(stored.b, 0), coalesce(stored.tie, 0),
           coalesce(stored.skip, 0))
        <> (coalesce(counted.a, 0), coalesce(counted.b, 0), coalesce(counted.tie, 0),
            coalesce(counted.skip, 0))
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
        cursor.execute(_DIFFERENCES, [pair_set.pk] * 3)
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
