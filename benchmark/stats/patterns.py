"""Pairs whose votes look the same, counted together.

A verdict, and every figure about verdicts, depends on a pair only through its counts on all
criteria and what was adjudicated. There are few such patterns (at most 100 for two criteria with
nine binary votes each), so whatever is asked of them costs the same for a hundred pairs and for a
million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Ints
from benchmark.stats.counts import whole_numbers
from benchmark.stats.verdicts import Tally

# Votes for A, B, tie, and skips.
COLUMNS = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Patterns:
    """P distinct patterns in ascending order.

    ``counts`` has for each criterion, in the set's order, an array (P, 4) of votes for A, B, tie
    and skip; ``adjudged`` (P,) holds codes of `benchmark.stats.codes.ADJUDGED`; ``pairs`` (P,) how
    many pairs show the pattern.
    """

    counts: Mapping[str, Ints]
    adjudged: Ints
    pairs: Ints

    @property
    def total(self) -> int:
        """All pairs."""
        return int(self.pairs.sum())

    def tallies(self) -> dict[str, Tally]:
        """What `benchmark.stats.verdicts.decide` takes."""
        return {key: Tally(*counts.T) for key, counts in self.counts.items()}

    def as_json(self) -> dict[str, object]:
        """``rows`` hold the counts of each criterion in turn, the adjudication, and the pairs."""
        table = np.column_stack([*self.counts.values(), self.adjudged, self.pairs])
        return {"criteria": list(self.counts), "rows": table.tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Patterns:
        """What `as_json` wrote. Raises ValueError for anything else."""
        criteria, rows = data.get("criteria"), data.get("rows")
        if not isinstance(criteria, list) or not isinstance(rows, list):
            raise ValueError("patterns must hold criteria and rows")
        width = COLUMNS * len(criteria) + 2
        table = whole_numbers(
            np.asarray(rows, dtype=np.int64).reshape(len(rows), width),
            name="patterns",
            dimensions=2,
            maximum=np.iinfo(np.int64).max,
        )
        return cls.of_table(criteria, table)

    @classmethod
    def of_table(cls, criteria: Sequence[str], table: Ints) -> Patterns:
        """From rows as in `as_json`, distinct ones in any order: what a grouped query gives."""
        table = table[np.lexsort(table[:, :-1].T[::-1])]
        return cls(
            counts={
                key: table[:, COLUMNS * n : COLUMNS * (n + 1)] for n, key in enumerate(criteria)
            },
            adjudged=table[:, -2],
            pairs=table[:, -1],
        )


def patterns_of(
    counts: Mapping[str, Ints], *, adjudged: npt.ArrayLike
) -> tuple[Patterns, npt.NDArray[np.intp]]:
    """The patterns of N pairs, and for each pair the row of its pattern, shape (N,).

    ``counts`` has for each criterion an array (N, 4), ``adjudged`` has shape (N,).
    """
    columns = [*counts.values(), np.asarray(adjudged, dtype=np.int64)[:, None]]
    table = np.concatenate(columns, axis=1)
    base = int(table.max(initial=0)) + 1
    if base ** table.shape[1] < 2**63:
        # One number a row, which sorts many times faster than rows.
        keys = np.zeros(len(table), dtype=np.int64)
        for column in table.T:
            keys = keys * base + column
        _, first, rows, pairs = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        distinct = table[first]
    else:
        distinct, rows, pairs = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    found = Patterns.of_table(list(counts), np.column_stack([distinct, pairs]))
    return found, rows.reshape(-1)
