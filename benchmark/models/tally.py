from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.pair import Pair
from benchmark.models.pair_set import Criterion

COLUMNS = {"A": "a", "B": "b", "tie": "tie", "skip": "skip"}


# Pair id, criterion id, choice.
CountedVote = tuple[int, int, str]


class TallyQuerySet(models.QuerySet["Tally"]):
    def count_votes(self, votes: Iterable[CountedVote]) -> None:
        """Count votes that have become current; one statement."""
        self._move(
            votes,
            "INSERT INTO benchmark_tally (pair_id, criterion_id, a, b, tie, skip)"
            f" SELECT * FROM {_ROWS}"
            " ON CONFLICT (pair_id, criterion_id) DO UPDATE SET"
            " a = benchmark_tally.a + excluded.a, b = benchmark_tally.b + excluded.b,"
            " tie = benchmark_tally.tie + excluded.tie,"
            " skip = benchmark_tally.skip + excluded.skip",
        )

    def uncount_votes(self, votes: Iterable[CountedVote]) -> None:
        """Take votes that have been counted out again; one statement."""
        # No upsert of negative numbers: its row is checked before it conflicts.
        self._move(
            votes,
            "UPDATE benchmark_tally SET a = benchmark_tally.a - former.a,"
            " b = benchmark_tally.b - former.b, tie = benchmark_tally.tie - former.tie,"
            " skip = benchmark_tally.skip - former.skip"
            f" FROM {_ROWS} former (pair_id, criterion_id, a, b, tie, skip)"
            " WHERE benchmark_tally.pair_id = former.pair_id"
            " AND benchmark_tally.criterion_id = former.criterion_id",
        )

    def _move(self, votes: Iterable[CountedVote], statement: str) -> None:
        rows: dict[tuple[int, int], list[int]] = {}
        order = list(COLUMNS)
        for pair_id, criterion_id, choice in votes:
            rows.setdefault((pair_id, criterion_id), [0, 0, 0, 0])[order.index(choice)] += 1
        if not rows:
            return
        # Rows in key order, so that two transactions never wait for each other.
        values = [[pair, criterion, *counts] for (pair, criterion), counts in sorted(rows.items())]
        with connection.cursor() as cursor:
            cursor.execute(statement, [list(column) for column in zip(*values, strict=True)])


_ROWS = "unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[], %s::int[], %s::int[])"


class Tally(models.Model):
    """Counts of the current votes on one pair and criterion; moves in their transaction."""

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="tallies")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="+")
    a = models.PositiveIntegerField(_("A"), default=0)
    b = models.PositiveIntegerField(_("B"), default=0)
    tie = models.PositiveIntegerField(_("tie"), default=0)
    skip = models.PositiveIntegerField(_("skip"), default=0)

    objects = TallyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair", "criterion"], name="tally_once_a_pair_and_criterion"
            ),
            models.CheckConstraint(
                condition=Q(a__gte=0, b__gte=0, tie__gte=0, skip__gte=0),
                name="tally_not_negative",
            ),
        ]
