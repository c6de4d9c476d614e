"""Strengths of systems from contests between two of them.

P(i beats j) = p_i / (p_i + p_j); a tie is half a win for each. It ranks systems across cases, and
says nothing about the label of a case. The maximum exists, and is unique, only where no group of
systems is unbeaten by the others: the graph of wins must be strongly connected.

Bradley and Terry (1952), Rank analysis of incomplete block designs, Biometrika 39; Hunter (2004),
MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Bools, Floats, Ints
from benchmark.stats.counts import whole_numbers
from benchmark.stats.proportions import LEVEL
from benchmark.stats.values import Reason, Value

REPLICATES: Final = 1_000
TIE: Final = 0
FIRST: Final = 1
SECOND: Final = 2

_TOLERANCE: Final = 1e-12
_MAX_ITERATIONS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BradleyTerry:
    """Strengths that sum to 1, with percentile intervals of a bootstrap over cases.

    Of the ``replicates`` drawn with ``seed``, ``dropped`` had no strengths and are in no interval;
    intervals from many dropped replicates are too narrow.
    """

    strengths: tuple[Value, ...]
    contests: int
    cases: int
    replicates: int
    dropped: int
    seed: int

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "model": "bradley_terry",
            "strengths": [strength.as_json() for strength in self.strengths],
            "contests": self.contests,
            "cases": self.cases,
            "interval": {
                "method": "bootstrap_percentile",
                "level": LEVEL,
                "unit": "case",
                "replicates": self.replicates,
                "dropped": self.dropped,
                "seed": self.seed,
            },
        }


def bradley_terry(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    case: npt.ArrayLike,
    systems: int,
    seed: int,
    replicates: int = REPLICATES,
) -> BradleyTerry:
    """Strengths of ``systems`` from contests, arrays of shape (C,).

    ``first`` and ``second`` are different systems, ``outcome`` 1 where the first wins, 2 where the
    second does, 0 for a tie. Contests of one ``case`` are drawn together. Raises ValueError.
    """
    one, other, result, cases = (
        whole_numbers(values, name=name, maximum=np.iinfo(np.int32).max)
        for name, values in (
            ("first systems", first),
            ("second systems", second),
            ("outcomes", outcome),
            ("cases", case),
        )
    )
    if not len(one) == len(other) == len(result) == len(cases):
        raise ValueError("systems, outcomes and cases differ in length")
    if systems < 2 or max(one.max(initial=0), other.max(initial=0)) >= systems:
        raise ValueError(f"contests need two or more systems, coded below {systems}")
    if (one == other).any() or result.max(initial=0) > SECOND:
        raise ValueError("a contest is between two systems and has outcome 0, 1 or 2")
    names, cases = np.unique(cases, return_inverse=True)
    half_wins = np.concatenate([np.where(result == FIRST, 2, 1), np.where(result == SECOND, 2, 1)])
    half_wins[np.concatenate([result == SECOND, result == FIRST])] = 0
    cells = np.concatenate([one * systems + other, other * systems + one])
    owners = np.concatenate([cases, cases])

    wins = _table(cells, half_wins, systems=systems)
    if strengths_reason(wins) is not None:
        values = tuple([Value.undefined(Reason.NOT_STRONGLY_CONNECTED)] * systems)
        return BradleyTerry(
            strengths=values,
            contests=len(one),
            cases=len(names),
            replicates=0,
            dropped=0,
            seed=seed,
        )
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(replicates):
        drawn = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        table = _table(cells, half_wins * drawn[owners], systems=systems)
        if strengths_reason(table) is None:
            tables.append(table)
    fitted = _fit(np.stack([wins, *tables]))
    return BradleyTerry(
        strengths=tuple(_value(column, cases=len(names)) for column in fitted.T),
        contests=len(one),
        cases=len(names),
        replicates=replicates,
        dropped=replicates - len(tables),
        seed=seed,
    )


def strengths(wins: npt.ArrayLike) -> tuple[Value, ...]:
    """Strengths, without intervals, from a table whose [i, j] are the wins of i over j.

    Halves are ties. Raises ValueError for a table that is not square, negative or not finite.
    """
    table = np.asarray(wins, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise ValueError(f"wins must be a square table of two or more systems: {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any() or np.diagonal(table).any():
        raise ValueError("wins must be finite, not negative, and none of a system over itself")
    reason = strengths_reason(table)
    if reason is not None:
        return tuple([Value.undefined(reason)] * len(table))
    return tuple(
        Value(value=value, se_reason=Reason.NO_SE_FOR_VARIANT)
        for value in _fit(table[None])[0].tolist()
    )


def strengths_reason(wins: Floats) -> Reason | None:
    """Why a table of wins has no strengths, if so."""
    reached: Bools = (wins > 0) | np.eye(len(wins), dtype=np.bool_)
    for _ in range(len(wins).bit_length()):  # squaring doubles the length of the paths
        reached = reached @ reached
    return None if reached.all() else Reason.NOT_STRONGLY_CONNECTED


def _table(cells: Ints, half_wins: Ints, *, systems: int) -> Floats:
    sums = np.bincount(cells, weights=half_wins, minlength=systems**2)
    return sums.reshape(systems, systems) / 2


def _fit(wins: Floats) -> Floats:
    """Strengths, shape (T, S), of tables of shape (T, S, S), each strongly connected.

    A table is left alone once its own strengths stand still, so that its values do not depend on
    the company it is fitted in.
    """
    n = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=2)
    p = np.full(won.shape, 1 / won.shape[1])
    open_tables = np.arange(len(wins))
    for _ in range(_MAX_ITERATIONS):
        current = p[open_tables]
        shared = n[open_tables] / (current[:, :, None] + current[:, None, :])
        following = won[open_tables] / shared.sum(axis=2)
        following /= following.sum(axis=1, keepdims=True)
        p[open_tables] = following
        moved = np.abs(np.log(following / current)).max(axis=1)
        open_tables = open_tables[moved > _TOLERANCE]
        if not len(open_tables):
            return p
    raise ArithmeticError(f"{len(open_tables)} tables moved after {_MAX_ITERATIONS} iterations")


def _value(column: Floats, *, cases: int) -> Value:
    """The first entry, with the spread of the others (the replicates)."""
    value, drawn = float(column[0]), column[1:]
    if cases == 1:
        return Value(value=value, se_reason=Reason.SINGLE_ITEM)
    if len(drawn) < 2:
        return Value(value=value, se_reason=Reason.NO_SE_FOR_VARIANT)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Value(value=value, se=float(drawn.std(ddof=1)), ci=(float(low), float(high)))
