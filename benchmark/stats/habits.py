"""Answers that follow something other than the responses: a side, length, or habit.

The first two categories of the votes must be the responses A and B; others, such as tie, name no
response and take no part.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import A, B, Bools, Codes, Floats, Ints
from benchmark.stats.counts import whole_numbers
from benchmark.stats.discovery import Deviation
from benchmark.stats.proportions import proportion
from benchmark.stats.raters import sums_by_rater
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes

_LEFT: Final = 1
_RIGHT: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """How often a rater chose the response with some property (left, or longer).

    ``chosen`` of ``asked`` votes. ``expected`` is the share of it among the other raters' votes on
    the same items, over ``compared`` votes. ``even`` tests the share against one half, exactly
    (binomial); its z is (L - m/2) / sqrt(m/4). ``mix`` tests it against the others, so that the
    content of the items does not pass for a habit.
    """

    chosen: int
    asked: int
    compared: int
    share: Value
    expected: Value
    even: Deviation
    mix: Deviation

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "chosen": self.chosen,
            "asked": self.asked,
            "compared": self.compared,
            "share": self.share.as_json(),
            "expected": self.expected.as_json(),
            "even": self.even.as_json(),
            "mix": self.mix.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The longest run of votes for one side, among ``sided`` votes in their order.

    ``probability`` that fair coins give a run as long or longer; None without such votes.
    """

    longest: int
    sided: int
    probability: float | None
    reason: Reason | None = None

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "longest": self.longest,
            "sided": self.sided,
            "probability": self.probability,
            **({} if self.reason is None else {"reason": self.reason.value}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class IdenticalAnswers:
    """How often a rater gave both criteria the same answer, against the rate of all the others."""

    same: int
    asked: int
    share: Value
    others: Value
    deviation: Deviation

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "same": self.same,
            "asked": self.asked,
            "share": self.share.as_json(),
            "others": self.others.as_json(),
            "deviation": self.deviation.as_json(),
        }


def side_preference(votes: Votes, *, left: npt.ArrayLike) -> tuple[Preference, ...]:
    """Each rater's choice of the left response.

    ``left`` (V,) says which response stood there: 0 unknown, 1 A, 2 B. Only where the order was
    drawn at random does the comparison with one half mean anything; elsewhere pass 0, or read
    ``mix``. Raises ValueError.
    """
    return _preferences(votes, marked_of_votes(votes, left, name="left"))


def length_preference(votes: Votes, *, longer: npt.ArrayLike) -> tuple[Preference, ...]:
    """Each rater's choice of the longer response.

    ``longer`` (n_items,) says which that is: 0 neither, 1 A, 2 B. Read ``mix``: longer responses
    may be better ones. Raises ValueError.
    """
    marked = whole_numbers(longer, name="longer", maximum=B)
    if len(marked) != votes.n_items:
        raise ValueError(f"the longer response of {len(marked)} items for {votes.n_items}")
    return _preferences(votes, marked[votes.item].astype(np.int8))


def marked_of_votes(votes: Votes, marked: npt.ArrayLike, *, name: str) -> Codes:
    """``marked`` as codes of shape (V,): 0 neither response, 1 A, 2 B. Raises ValueError."""
    codes = whole_numbers(marked, name=name, maximum=B)
    if len(codes) != len(votes):
        raise ValueError(f"{name} of {len(codes)} votes for {len(votes)}")
    return codes.astype(np.int8)


def sides(votes: Votes, marked: Codes) -> Codes:
    """1 where a vote chose the marked response, 2 where the other, 0 where neither can be said."""
    chosen = votes.choice + 1
    known = (marked > 0) & (chosen <= B)
    return np.where(known, np.where(chosen == marked, _LEFT, _RIGHT), 0).astype(np.int8)


def _preferences(votes: Votes, marked: Codes) -> tuple[Preference, ...]:
    side = sides(votes, marked)
    asked = side > 0
    counts = votes.counts()[votes.item, :B]
    n = counts.sum(axis=1)
    target = np.where(marked == A, counts[:, 0], counts[:, 1])
    others = (target - (side == _LEFT)) / np.maximum(n - 1, 1)
    # Given the votes on an item, the rater's is any of its n with equal chance.
    variance = target * (n - target) / np.maximum(n - 1, 1) ** 2
    compared = asked & (n >= 2)

    chosen = _whole(votes, asked & (side == _LEFT))
    total, shared = _whole(votes, asked), _whole(votes, compared)
    expected = sums_by_rater(votes, others, where=compared)
    excess = sums_by_rater(votes, (side == _LEFT) - others, where=compared)
    spread = sums_by_rater(votes, variance, where=compared)
    p = _binomial_p(chosen, total)
    return tuple(
        Preference(
            chosen=int(chosen[r]),
            asked=int(total[r]),
            compared=int(shared[r]),
            share=proportion(int(chosen[r]), int(total[r])),
            expected=proportion(
                min(float(expected[r]), float(shared[r])),
                int(shared[r]),
                reason=Reason.NO_OVERLAP,
            ),
            even=(
                Deviation.of(float((2 * chosen[r] - total[r]) / total[r] ** 0.5), p=float(p[r]))
                if total[r]
                else Deviation.undefined(Reason.NO_VOTES)
            ),
            mix=Deviation.of_sum(
                float(excess[r]), float(spread[r]), compared=int(shared[r]), none=Reason.NO_OVERLAP
            ),
        )
        for r in range(votes.n_raters)
    )


def _whole(votes: Votes, where: Bools) -> Ints:
    return np.bincount(votes.rater[where], minlength=votes.n_raters).astype(np.int64)


def _binomial_p(chosen: Ints, asked: Ints) -> Floats:
    """Two-sided p of fair coins, exact: twice the smaller tail, at most 1."""
    from scipy.special import bdtr

    tail = bdtr(np.minimum(chosen, asked - chosen).astype(float), asked, 0.5)
    p: Floats = np.minimum(1.0, 2 * tail)
    return p


def side_runs(votes: Votes, *, left: npt.ArrayLike) -> tuple[Run, ...]:
    """Each rater's longest run of choices of one side; ``left`` as in `side_preference`.

    The rows of a rater must be in the order of voting. A vote for no side ends a run.
    """
    side = sides(votes, marked_of_votes(votes, left, name="left"))
    order = np.argsort(votes.rater, kind="stable")
    rater, side = votes.rater[order], side[order]
    starts = np.flatnonzero(np.diff(rater, prepend=-1) | np.diff(side, prepend=-1))
    lengths = np.diff(starts, append=len(side))
    longest = np.zeros(votes.n_raters, dtype=np.int64)
    counted = side[starts] > 0
    np.maximum.at(longest, rater[starts][counted], lengths[counted])
    sided = np.bincount(rater[side > 0], minlength=votes.n_raters)
    return tuple(
        Run(longest=run, sided=m, probability=run_probability(run, m))
        if m
        else Run(longest=0, sided=0, probability=None, reason=Reason.NO_VOTES)
        for run, m in zip(longest.tolist(), sided.tolist(), strict=True)
    )


def run_probability(run: int, flips: int) -> float:
    """P(``flips`` fair coins show ``run`` or more equal sides in a row).

    By recursion on the end of the first such run: it is reached at flip k, without one before, when
    a new side begins at flip k - run + 1. Only positive terms are summed: small values
    keep their digits.
    """
    if run <= 1:
        return float(flips >= run)
    reached = [0.0] * (flips + 1)
    for k in range(run, flips + 1):
        first = 2.0 ** (1 - run) if k == run else (1 - reached[k - run]) * 2.0**-run
        reached[k] = reached[k - 1] + first
    return reached[flips]


def identical_answers(first: Votes, second: Votes) -> tuple[IdenticalAnswers, ...]:
    """Each rater's rate of equal answers on two criteria.

    Both sets must number items, raters and categories alike (ValueError); a pair counts for a rater
    who answered both. The expectation is the rate over all other raters' pairs.
    """
    if (first.n_items, first.n_raters, first.categories) != (
        second.n_items,
        second.n_raters,
        second.categories,
    ):
        raise ValueError("the votes on two criteria must share items, raters and categories")
    _, rows, others = np.intersect1d(
        _places(first), _places(second), assume_unique=True, return_indices=True
    )
    rater = first.rater[rows]
    equal = first.choice[rows] == second.choice[others]
    asked = np.bincount(rater, minlength=first.n_raters)
    same = np.bincount(rater[equal], minlength=first.n_raters)
    pairs = zip(same.tolist(), asked.tolist(), strict=True)
    return tuple(_identical(s, m, int(same.sum()) - s, int(asked.sum()) - m) for s, m in pairs)


def _places(votes: Votes) -> Ints:
    """One number for the item and the rater of each vote."""
    return votes.item * max(votes.n_raters, 1) + votes.rater


def _identical(same: int, asked: int, others_same: int, others_asked: int) -> IdenticalAnswers:
    others = proportion(others_same, others_asked, reason=Reason.NO_OVERLAP)
    rate = 0.0 if others.value is None else others.value
    if asked == 0:
        deviation = Deviation.undefined(Reason.NO_VOTES)
    else:
        deviation = Deviation.of_sum(
            same - asked * rate,
            asked * rate * (1 - rate),
            compared=others_asked,
            none=Reason.NO_OVERLAP,
        )
    return IdenticalAnswers(
        same=same, asked=asked, share=proportion(same, asked), others=others, deviation=deviation
    )
