"""Why two aggregations of the same pairs decide differently.

An aggregation takes three things: counts of votes, adjudications, and a policy. The cause of a
changed verdict is found by deciding again with some of them new and the others old: a set of them
that gives the new verdict, and no smaller part of which does, is a cause. That is exact, and needs
no votes beyond the counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import (
    DECIDED,
    STATUSES,
    TIERS,
    WINNERS,
    Bools,
    Ints,
    Status,
    Tier,
    Winner,
)
from benchmark.stats.policy import Policy
from benchmark.stats.verdicts import Tally, Verdicts, decide

Factor = Literal["votes", "adjudication", "policy"]
FACTORS: Final[tuple[Factor, ...]] = ("votes", "adjudication", "policy")

# Sets of factors as bits, in the order of `FACTORS`.
_SETS: Final = 1 << len(FACTORS)

# Of a pair that an aggregation did not see.
ABSENT: Final = "absent"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """What an aggregation decided on: counts of N pairs a criterion, and codes (N,) of
    `benchmark.stats.codes.ADJUDGED`."""

    policy: Policy
    tallies: Mapping[str, Tally]
    adjudged: npt.ArrayLike


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a verdict says of a pair; two that are equal are the same to whoever uses the set."""

    status: Status
    chosen: Winner | None
    tier: Tier | None

    @property
    def state(self) -> str:
        """The tier of a decided pair (``none`` without one), else the status."""
        return (self.tier or "none") if self.status == "decided" else self.status


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """Verdicts of N pairs before and after.

    ``changed`` (N,) where status, chosen response or tier differ. ``sufficient`` (N, 8): whether
    the new verdict comes of making the factors of each set new, the set's number being the sum of
    1 for votes, 2 for adjudication and 4 for the policy.
    """

    before: Verdicts
    after: Verdicts
    changed: Bools
    sufficient: Bools

    def causes(self, row: int) -> tuple[tuple[Factor, ...], ...]:
        """The causes of a change, each a set of factors; none where nothing changed.

        Several where each alone would have been enough; one of several factors where only together
        they were.
        """
        if not self.changed[row]:
            return ()
        enough = [number for number in range(1, _SETS) if self.sufficient[row, number]]
        least = [
            number
            for number in enough
            if not any(other != number and other & number == other for other in enough)
        ]
        return tuple(
            tuple(factor for bit, factor in enumerate(FACTORS) if number >> bit & 1)
            for number in sorted(least, key=lambda number: (number.bit_count(), number))
        )


def compare(before: Basis, after: Basis) -> Comparison:
    """Compare two decisions on N pairs; eight times the cost of `decide`.

    Raises ValueError where `decide` does, and for different numbers of pairs.
    """
    verdicts = [
        decide(
            (after if number & 4 else before).policy,
            (after if number & 1 else before).tallies,
            adjudged=(after if number & 2 else before).adjudged,
        )
        for number in range(_SETS)
    ]
    codes = [_outcome_codes(found) for found in verdicts]
    return Comparison(
        before=verdicts[0],
        after=verdicts[-1],
        changed=codes[0] != codes[-1],
        sufficient=np.column_stack([found == codes[-1] for found in codes]),
    )


def outcome(verdicts: Verdicts, row: int) -> Outcome:
    """What the verdict in a row says."""
    return Outcome(
        status=STATUSES[verdicts.status[row]],
        chosen=WINNERS[verdicts.chosen[row]],
        tier=TIERS[verdicts.tier[row]],
    )


def states(verdicts: Verdicts) -> list[str]:
    """`Outcome.state` of every pair."""
    return [
        (TIERS[tier] or "none") if status == DECIDED else STATUSES[status]
        for status, tier in zip(verdicts.status.tolist(), verdicts.tier.tolist(), strict=True)
    ]


def _outcome_codes(verdicts: Verdicts) -> Ints:
    """One number an outcome, shape (N,)."""
    status = verdicts.status.astype(np.int64)
    return (status * len(WINNERS) + verdicts.chosen) * len(TIERS) + verdicts.tier
