"""Does a whole set of votes favor a side, or the longer response?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import A, B, Bools, Ints
from benchmark.stats.counts import count_table, whole_numbers
from benchmark.stats.discovery import Deviation
from benchmark.stats.habits import marked_of_votes, sides
from benchmark.stats.proportions import proportion, ratio
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes

# Longer over shorter, from which a bin begins.
LENGTH_RATIOS: Final = (1.0, 1.1, 1.25, 1.5, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """Choices of the left response among the votes whose order is known.

    With an order drawn at random for each vote the expectation is one half whatever the responses
    are, and ``deviation`` tests it: z = (L - m/2) / sqrt(m/4). ``left_is`` splits the share by
    which response stood on the left: the two differ by the responses' merits, and their mean does
    not. ``unknown`` votes name a response, but not where it stood.
    """

    left: int
    known: int
    unknown: int
    share: Value
    deviation: Deviation
    left_is: Mapping[str, Value]

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "left": self.left,
            "known": self.known,
            "unknown": self.unknown,
            "share": self.share.as_json(),
            "deviation": self.deviation.as_json(),
            "left_is": {name: share.as_json() for name, share in self.left_is.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LongerWins:
    """How often the longer response wins, over pairs of which one is longer.

    ``by_votes`` is its share of the votes; those on one pair are not independent, so the interval
    rests on the spread between pairs. ``by_majorities`` is its share of the ``decided`` pairs, with
    Wilson's interval.
    """

    pairs: int
    votes: int
    decided: int
    by_votes: Value
    by_majorities: Value

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "pairs": self.pairs,
            "votes": self.votes,
            "decided": self.decided,
            "by_votes": self.by_votes.as_json(),
            "by_majorities": self.by_majorities.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBin:
    """Pairs whose ratio of lengths lies from ``low`` up to, not including, ``high``."""

    low: float
    high: float | None
    longer_wins: LongerWins

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {"low": self.low, "high": self.high, **self.longer_wins.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias:
    """`LongerWins` of all pairs and of pairs with like ratios; ``equal`` pairs are in neither."""

    overall: LongerWins
    bins: tuple[LengthBin, ...]
    equal: int

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "overall": self.overall.as_json(),
            "bins": [one.as_json() for one in self.bins],
            "equal": self.equal,
        }


def position_bias(votes: Votes, *, left: npt.ArrayLike) -> PositionBias:
    """Position bias of one criterion; categories and ``left`` as in `benchmark.stats.habits`."""
    marked = marked_of_votes(votes, left, name="left")
    side = sides(votes, marked)
    known, chosen = side > 0, side == 1
    m, chosen_left = int(known.sum()), int(chosen.sum())
    return PositionBias(
        left=chosen_left,
        known=m,
        unknown=int(((marked == 0) & (votes.choice < B)).sum()),
        share=proportion(chosen_left, m),
        deviation=Deviation.of_sum(chosen_left - m / 2, m / 4, compared=m, none=Reason.NO_VOTES),
        left_is={
            name: proportion(
                int((chosen & (marked == code)).sum()), int((known & (marked == code)).sum())
            )
            for name, code in (("A", A), ("B", B))
        },
    )


def length_bias(
    counts: npt.ArrayLike,
    *,
    characters: npt.ArrayLike,
    winner: npt.ArrayLike,
    ratios: tuple[float, ...] = LENGTH_RATIOS,
) -> LengthBias:
    """Length bias of one criterion of N pairs.

    ``counts`` (N, 2) votes for A and B, ``characters`` (N, 2) their lengths, ``winner`` (N,) codes
    of the majorities, 0 where there is none. ``ratios`` are the lower ends of the bins, ascending
    from 1. Raises ValueError.
    """
    if ratios[:1] != (1.0,) or list(ratios) != sorted(set(ratios)):
        raise ValueError(f"ratios of lengths must ascend from 1, not {ratios}")
    x = count_table(counts, categories=("A", "B"))
    length = whole_numbers(
        characters, name="characters", dimensions=2, maximum=np.iinfo(np.int32).max
    )
    won = whole_numbers(winner, name="winners", maximum=B)
    if length.shape != x.shape or len(won) != len(x):
        raise ValueError(f"lengths {length.shape} and {len(won)} winners for {len(x)} pairs")
    longer = np.where(length[:, 0] > length[:, 1], A, np.where(length[:, 0] < length[:, 1], B, 0))
    unequal = longer > 0
    relative = length.max(axis=1) / np.maximum(length.min(axis=1), 1)
    highs = (*ratios[1:], None)
    return LengthBias(
        overall=_longer_wins(x, longer, won, where=unequal),
        bins=tuple(
            LengthBin(
                low=low,
                high=high,
                longer_wins=_longer_wins(
                    x,
                    longer,
                    won,
                    where=unequal
                    & (relative >= low)
                    & (np.True_ if high is None else relative < high),
                ),
            )
            for low, high in zip(ratios, highs, strict=True)
        ),
        equal=int((~unequal).sum()),
    )


def _longer_wins(x: Ints, longer: Ints, won: Ints, *, where: Bools) -> LongerWins:
    x, longer, won = x[where], longer[where], won[where]
    n = x.sum(axis=1)
    decided = won > 0
    return LongerWins(
        pairs=len(x),
        votes=int(n.sum()),
        decided=int(decided.sum()),
        by_votes=ratio(
            np.where(longer == A, x[:, 0], x[:, 1]).astype(np.float64),
            n.astype(np.float64),
            multiplicity=np.ones(len(x), dtype=np.int64),
        ),
        by_majorities=proportion(int((decided & (won == longer)).sum()), int(decided.sum())),
    )
