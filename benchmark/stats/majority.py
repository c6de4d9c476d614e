"""Which response do the votes on one criterion name?

Nothing here breaks a tie: not the order of labels, of rows, nor of identifiers.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import (
    DECIDED,
    INSUFFICIENT,
    NONE,
    TIED,
    A,
    B,
    Codes,
    Ints,
    Winner,
)
from benchmark.stats.counts import whole_numbers
from benchmark.stats.values import Reason, Value

DEFAULT_MINIMUM: Final = 7

# "ties_can_win": more tie votes than votes for either response make a pair tied.
# "ties_never_win": a pair is tied only where A and B have equally many votes.
TieRule = Literal["ties_can_win", "ties_never_win"]
TIE_RULES: Final[tuple[TieRule, ...]] = get_args(TieRule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """The majority on one criterion of one pair.

    ``n`` = a + b, ``margin`` = |a - b|, ``share`` = max(a, b) / n. ``posterior`` is the
    probability that the response with more votes has the majority of the population, under a
    uniform prior on its share; it is also given where no winner is named.
    """

    winner: Winner | None
    margin: int
    share: Value
    n: int
    ties: int
    skips: int
    status: Literal["decided", "tied", "insufficient"]
    posterior: float

    def as_json(self) -> dict[str, object]:
        """JSON form; a missing winner has the status as its reason."""
        return {
            "winner": self.winner,
            "margin": self.margin,
            "share": self.share.as_json(),
            "n": self.n,
            "ties": self.ties,
            "skips": self.skips,
            "status": self.status,
            "reason": None if self.winner else self.status,
            "posterior": self.posterior,
        }


def majority(
    a: int,
    b: int,
    *,
    ties: int = 0,
    skips: int = 0,
    minimum: int = DEFAULT_MINIMUM,
    tie_rule: TieRule = "ties_can_win",
) -> Majority:
    """Majority of ``a`` votes for A and ``b`` for B.

    Insufficient: fewer than ``minimum`` votes (A, B and tie; a skip is none) or no A or B at all.
    Tied: see `TieRule`. Raises ValueError for a negative count or an unknown rule.
    """
    if min(a, b, ties, skips) < 0:
        raise ValueError(f"votes cannot be negative: a={a}, b={b}, ties={ties}, skips={skips}")
    _check_rule(tie_rule)
    n, top = a + b, max(a, b)
    status: Literal["decided", "tied", "insufficient"]
    if n + ties < minimum or n == 0:
        status = "insufficient"
    elif a == b or (tie_rule == "ties_can_win" and ties > top):
        status = "tied"
    else:
        status = "decided"
    return Majority(
        winner=None if status != "decided" else "A" if a > b else "B",
        margin=abs(a - b),
        share=(
            Value(value=top / n, se_reason=Reason.SINGLE_ITEM)
            if n
            else Value.undefined(Reason.NO_VOTES)
        ),
        n=n,
        ties=ties,
        skips=skips,
        status=status,
        posterior=majority_posterior(top, n),
    )


def majority_posterior(top: int, n: int) -> float:
    """P(share > 1/2) after ``top`` of ``n`` votes, from Beta(1 + top, 1 + n - top).

    Equals sum_{j=0}^{top} C(n + 1, j) / 2^(n + 1), summed here in whole numbers.
    """
    if not 0 <= top <= n:
        raise ValueError(f"{top} of {n} votes is impossible")
    return sum(math.comb(n + 1, j) for j in range(top + 1)) / (1 << (n + 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Majorities:
    """`Majority` of N pairs; every array has shape (N,).

    ``winner`` and ``status`` are codes of `benchmark.stats.codes`. The share is ``top / n``, left
    as integers because it does not exist where n = 0.
    """

    winner: Codes
    margin: Ints
    top: Ints
    n: Ints
    status: Codes


def majorities(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    ties: npt.ArrayLike,
    minimum: int = DEFAULT_MINIMUM,
    tie_rule: TieRule = "ties_can_win",
) -> Majorities:
    """`majority` of N pairs at once, from three arrays of shape (N,). Raises ValueError."""
    _check_rule(tie_rule)
    votes_a = whole_numbers(a, name="votes for A")
    votes_b = whole_numbers(b, name="votes for B")
    votes_tie = whole_numbers(ties, name="tie votes")
    if not len(votes_a) == len(votes_b) == len(votes_tie):
        raise ValueError(
            f"votes of {len(votes_a)} (A), {len(votes_b)} (B) and {len(votes_tie)} (tie) pairs"
        )
    n, top = votes_a + votes_b, np.maximum(votes_a, votes_b)
    tied = votes_a == votes_b
    if tie_rule == "ties_can_win":
        tied |= votes_tie > top
    insufficient = (n + votes_tie < minimum) | (n == 0)
    status = np.where(insufficient, INSUFFICIENT, np.where(tied, TIED, DECIDED)).astype(np.int8)
    leader = np.where(votes_a > votes_b, A, B)
    return Majorities(
        winner=np.where(status == DECIDED, leader, NONE).astype(np.int8),
        margin=np.abs(votes_a - votes_b),
        top=top,
        n=n,
        status=status,
    )


def _check_rule(tie_rule: str) -> None:
    if tie_rule not in TIE_RULES:
        raise ValueError(f"tie rule must be {' or '.join(TIE_RULES)}, not {tie_rule!r}")
