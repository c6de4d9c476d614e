"""How far does one rater stand out, and which of many do so by more than chance?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmark.stats.values import Reason

FALSE_DISCOVERIES: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A test of one rater: standardized distance from what was expected, and its p-value.

    ``z`` is positive where the rater lies above the expectation. ``p`` is two-sided. Both are None
    with a reason where nothing can be compared.
    """

    z: float | None
    p: float | None
    reason: Reason | None = None

    @classmethod
    def of(cls, z: float, *, p: float | None = None) -> "Deviation":
        """``z`` with ``p``, which comes from the normal distribution unless it is given."""
        return cls(z=z, p=math.erfc(abs(z) / math.sqrt(2)) if p is None else p)

    @classmethod
    def of_sum(cls, excess: float, variance: float, *, compared: int, none: Reason) -> "Deviation":
        """``excess`` over the square root of ``variance``, by the normal distribution.

        ``none`` is the reason where nothing was ``compared``; without variance it is zero_spread.
        """
        if compared == 0:
            return cls.undefined(none)
        if variance <= 0:
            return cls.undefined(Reason.ZERO_SPREAD)
        return cls.of(excess / math.sqrt(variance))

    @classmethod
    def undefined(cls, reason: Reason) -> "Deviation":
        """No test."""
        return cls(z=None, p=None, reason=reason)

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        if self.reason is not None:
            return {"z": None, "p": None, "reason": self.reason.value}
        return {"z": self.z, "p": self.p}


def false_discoveries(p: Sequence[float | None]) -> list[float | None]:
    """The q-value of each p-value; a None takes no part and stays None.

    Naming all with q below .05 leaves on average at most 5 % of the names wrong, however many are
    tested. Benjamini and Hochberg (1995), Controlling the false discovery rate, Journal of the
    Royal Statistical Society B 57. Raises ValueError for a p outside 0 to 1.
    """
    given = [value for value in p if value is not None]
    if not given:
        return [None] * len(p)
    # Imported here because it costs 0.7 s and 46 MB.
    from scipy.stats import false_discovery_control

    q = iter(np.minimum(false_discovery_control(given, method="bh"), 1.0).tolist())
    return [None if value is None else next(q) for value in p]


def flagged(p: Sequence[float | None], *, rate: float = FALSE_DISCOVERIES) -> list[bool]:
    """Whose q-value lies below ``rate``."""
    return [q is not None and q < rate for q in false_discoveries(p)]
