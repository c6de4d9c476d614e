"""Pairs whose voting ended early, by a rule that looked at the votes.

A rule says at which counts (a, b) voting stops; it stops anyway at ``maximum`` votes. Such a rule
biases item agreement upwards, since unanimous beginnings end sooner. But whatever the population's
share, all orders of votes that lead to one stop are equally likely, so the share of them whose
first two votes agree is unbiased (the Rao-Blackwell estimator from the first pair of votes).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Bools, Ints
from benchmark.stats.counts import agreeing_pairs, count_table, whole_numbers
from benchmark.stats.proportions import ratio
from benchmark.stats.tiers import DEFAULT_BANDS, Bands, TierResult, tier
from benchmark.stats.values import Reason, Value

StopRule = Callable[[int, int], bool]


def majority_reached(*, maximum: int) -> StopRule:
    """Stop once the outcome of ``maximum`` votes is certain; it never changes the majority."""
    return lambda a, b: 2 * max(a, b) > maximum


def tier_reached(*, maximum: int) -> StopRule:
    """Stop once the majority is certain and two votes already stand against it, hence hard."""
    return lambda a, b: 2 * max(a, b) > maximum and min(a, b) >= 2


def margin_reached(margin: int) -> StopRule:
    """Stop once one response leads by ``margin`` votes."""
    return lambda a, b: abs(a - b) >= margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The orders of votes that end at one (a, b), and those of them whose first two votes agree."""

    orders: int
    agreeing: int

    @property
    def agreement(self) -> Fraction:
        """The unbiased P."""
        return Fraction(self.agreeing, self.orders)


def stops(rule: StopRule, *, maximum: int) -> dict[tuple[int, int], Stop]:
    """Where voting can end, by (a, b). Raises ValueError if that may be before two votes."""
    if maximum < 2:
        raise ValueError(f"agreement needs two votes; at most {maximum} are allowed")
    if any(rule(*counts) for counts in ((0, 0), (1, 0), (0, 1))):
        raise ValueError("the rule ends voting before two votes, which leaves no agreement")
    found: dict[tuple[int, int], Stop] = {}
    # Orders that are still open after n votes, as (all, those that began with agreement).
    open_orders = {(2, 0): (1, 1), (1, 1): (2, 0), (0, 2): (1, 1)}
    for n in range(2, maximum + 1):
        following: dict[tuple[int, int], tuple[int, int]] = {}
        for (a, b), (orders, agreeing) in open_orders.items():
            if n == maximum or rule(a, b):
                found[a, b] = Stop(orders=orders, agreeing=agreeing)
                continue
            for counts in ((a + 1, b), (a, b + 1)):
                other_orders, other_agreeing = following.get(counts, (0, 0))
                following[counts] = (orders + other_orders, agreeing + other_agreeing)
        open_orders = following
    return found


def expected_votes(rule: StopRule, *, maximum: int, share: float) -> float:
    """Mean number of votes where each is for A with probability ``share``."""
    return sum(
        stop.orders * share**a * (1 - share) ** b * (a + b)
        for (a, b), stop in stops(rule, maximum=maximum).items()
    )


def stopped_tier(a: int, b: int, *, maximum: int, bands: Bands = DEFAULT_BANDS) -> TierResult:
    """The tier of a pair under a stop rule: none, with reason, unless it has all its votes."""
    if a + b < maximum:
        return TierResult(tier=None, provisional=False, reason=Reason.EARLY_STOPPED)
    return tier(a, b, bands=bands)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedAgreement:
    """Observed agreement of a set in which a rule may have ended the voting on a pair.

    ``stopped`` pairs ended early. ``left_out`` pairs stand at counts where the rule cannot have
    ended: voting goes on, or went on in spite of it.
    """

    percent_agreement: Value
    items: int
    stopped: int
    left_out: int

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "percent_agreement": self.percent_agreement.as_json(),
            "items": self.items,
            "stopped": self.stopped,
            "left_out": self.left_out,
            "tier_reason": Reason.EARLY_STOPPED.value if self.stopped else None,
        }


def stopped_agreement(
    counts: npt.ArrayLike,
    *,
    ruled: npt.ArrayLike,
    rule: StopRule,
    maximum: int,
    multiplicity: npt.ArrayLike | None = None,
) -> StoppedAgreement:
    """P_o from votes for A and B, shape (N, 2), of which those ``ruled`` (N,) were under the rule.

    A ruled pair enters with the unbiased P of its stop, also where it has all its votes: to have
    come that far is as much the rule's doing. The others enter with their own P if they have two
    votes. The interval rests on the spread between pairs. Raises ValueError.
    """
    x = count_table(counts, categories=("A", "B"))
    under: Bools = np.asarray(ruled, dtype=np.bool_)
    weight: Ints = (
        np.ones(len(x), dtype=np.int64)
        if multiplicity is None
        else whole_numbers(multiplicity, name="multiplicity", maximum=np.iinfo(np.int32).max)
    )
    if not len(x) == len(under) == len(weight):
        raise ValueError(f"{len(x)} pairs, {len(under)} flags and {len(weight)} multiplicities")
    ends = stops(rule, maximum=maximum)
    unbiased = np.full((maximum + 1, maximum + 1), np.nan)
    for (a, b), stop in ends.items():
        unbiased[a, b] = float(stop.agreement)
    inside = x.sum(axis=1) <= maximum
    at = np.where(inside[:, None], x, 0)
    s, m = agreeing_pairs(x)
    own = np.where(m > 0, s / np.maximum(m, 1), np.nan)
    p = np.where(under, np.where(inside, unbiased[at[:, 0], at[:, 1]], np.nan), own)
    known = ~np.isnan(p)
    return StoppedAgreement(
        percent_agreement=ratio(
            np.where(known, p, 0.0),
            known.astype(np.float64),
            multiplicity=weight,
            reason=Reason.NO_ITEM_WITH_TWO_VOTES,
        ),
        items=int(weight[known].sum()),
        stopped=int(weight[known & under & (x.sum(axis=1) < maximum)].sum()),
        left_out=int(weight[~known & under].sum()),
    )
