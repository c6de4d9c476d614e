"""How far the judging of a set is."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from benchmark.models import Judgement, PairSet


@dataclass(frozen=True, slots=True)
class Coverage:
    """Pairs by their number of judgements."""

    raters_per_pair: int
    # pairs_with[n] is the number of pairs that have n judgements; n = 0..raters_per_pair
    pairs_with: list[int]

    @property
    def pairs(self) -> int:
        return sum(self.pairs_with)

    @property
    def judgements(self) -> int:
        return sum(n * pairs for n, pairs in enumerate(self.pairs_with))

    @property
    def wanted(self) -> int:
        return self.pairs * self.raters_per_pair

    @property
    def complete_pairs(self) -> int:
        return self.pairs_with[self.raters_per_pair]

    @property
    def percent(self) -> int:
        """Of the judgements wanted; 100 only when none is missing."""
        return 100 * self.judgements // self.wanted if self.wanted else 0


def coverage(pair_set: PairSet) -> Coverage:
    """One grouped query over pairs and judgements."""
    pairs_with = [0] * (pair_set.raters_per_pair + 1)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT coalesce(judged.n, 0) AS judgements, count(*) FROM benchmark_pair pair
            LEFT JOIN (
                SELECT tally.pair_id, max(a + b + tie + skip) AS n
                FROM benchmark_tally tally
                JOIN benchmark_criterion criterion ON criterion.id = tally.criterion_id
                WHERE criterion.pair_set_id = %s GROUP BY tally.pair_id
            ) judged ON judged.pair_id = pair.id
            WHERE pair.pair_set_id = %s GROUP BY 1
            """,
            [pair_set.pk, pair_set.pk],
        )
        for judgements, pairs in cursor.fetchall():
            pairs_with[judgements] = pairs
    return Coverage(raters_per_pair=pair_set.raters_per_pair, pairs_with=pairs_with)


def raters_active(pair_set: PairSet) -> int:
    """People and simulated raters with at least one judgement."""
    return (
        Judgement.objects.current()
        .filter(pair__pair_set=pair_set)
        .values("rater")
        .distinct()
        .count()
    )
