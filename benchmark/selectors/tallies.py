"""Tallies of a whole set as arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection

from benchmark.models import PairSet

Ints = npt.NDArray[np.int64]
_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class TallyTable:
    """Votes of N pairs, ordered by their pair ids.

    ``pairs`` are the database's ids (N,), ``pair_ids`` the users'; ``counts`` has, for each
    criterion in its order, an array (N, 4) of votes for A, B, tie and skip.
    """

    pairs: Ints
    pair_ids: list[str]
    criterion_ids: dict[str, int]
    counts: dict[str, Ints]

    def digest(self) -> str:
        """SHA-256 over every count, in lines of pair id, criterion, A, B, tie, skip."""
        digest = hashlib.sha256()
        rows = {key: counts.tolist() for key, counts in self.counts.items()}
        for index, pair_id in enumerate(self.pair_ids):
            for key in rows:
                a, b, tie, skip = rows[key][index]
                digest.update(f"{pair_id}\t{key}\t{a}\t{b}\t{tie}\t{skip}\n".encode())
        return digest.hexdigest()


def tally_table(pair_set: PairSet) -> TallyTable:
    """All tallies of the set; pairs without votes have zeros. Two queries, read in chunks."""
    criterion_ids = dict(pair_set.criteria.order_by("position", "id").values_list("key", "id"))
    keys = {criterion: key for key, criterion in criterion_ids.items()}
    pairs: list[int] = []
    pair_ids: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, pair_id FROM benchmark_pair WHERE pair_set_id = %s"
            ' ORDER BY pair_id COLLATE "C"',
            [pair_set.pk],
        )
        while rows := cursor.fetchmany(_ROWS):
            pairs.extend(row[0] for row in rows)
            pair_ids.extend(row[1] for row in rows)
        table = TallyTable(
            pairs=np.array(pairs, dtype=np.int64),
            pair_ids=pair_ids,
            criterion_ids=criterion_ids,
            counts={key: np.zeros((len(pairs), 4), dtype=np.int64) for key in criterion_ids},
        )
        place = {pair: index for index, pair in enumerate(pairs)}
        cursor.execute(
            """
            SELECT tally.criterion_id, tally.pair_id, tally.a, tally.b, tally.tie, tally.skip
            FROM benchmark_tally tally JOIN benchmark_pair pair ON pair.id = tally.pair_id
            WHERE pair.pair_set_id = %s
            """,
            [pair_set.pk],
        )
        while rows := cursor.fetchmany(_ROWS):
            for criterion, pair, *counts in rows:
                table.counts[keys[criterion]][place[pair]] = counts
    return table
