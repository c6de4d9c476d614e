"""Shares and ratios with their intervals."""

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from benchmark.stats.codes import Floats, Ints
from benchmark.stats.distributions import t_quantile
from benchmark.stats.values import Caution, Reason, Value

LEVEL: Final = 0.95
WILSON: Final = "wilson"

_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)
_ROUNDING: Final = 1e-12


def proportion(successes: float, trials: int, *, reason: Reason = Reason.NO_VOTES) -> Value:
    """The share ``successes / trials`` with Wilson's interval; ``reason`` where there is no trial.

    ``successes`` may be a sum of scores between 0 and 1, for which the interval is too wide rather
    than too narrow. The standard error is sqrt(p (1 - p) / m), and 0 for a share of 0 or 1, where
    the interval still has its width. Raises ValueError for an impossible share.

    Wilson (1927), Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22. statsmodels has it, for an import of one second.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")
    if trials == 0:
        return Value.undefined(reason, variant=WILSON)
    share = successes / trials
    spread = share * (1 - share) / trials
    square = _Z**2 / trials
    center = (share + square / 2) / (1 + square)
    half = _Z * math.sqrt(spread + square / (4 * trials)) / (1 + square)
    return Value(
        value=share,
        se=math.sqrt(spread),
        # The ends at 0 and 1 are exact; rounding would put them a hair beyond.
        ci=(center - half if share > 0 else 0.0, center + half if share < 1 else 1.0),
        variant=WILSON,
    )


def ratio(
    numerators: Floats,
    denominators: Floats,
    *,
    multiplicity: Ints,
    reason: Reason = Reason.NO_VOTES,
) -> Value:
    """sum(numerators) / sum(denominators) over items, with the items' own spread.

    Arrays of shape (P,); row i stands for ``multiplicity[i]`` items. What is counted within an item
    (its votes, or the ways to split them) need not be independent: the interval rests on items
    alone, by linearization (Cochran 1977, Sampling Techniques, chapter 6), with Student's t.
    ``reason`` where the denominators sum to zero.
    """
    items = int(multiplicity[denominators > 0].sum())
    total = float((multiplicity * denominators).sum())
    if items == 0 or total <= 0:
        return Value.undefined(reason)
    value = float((multiplicity * numerators).sum()) / total
    if items == 1:
        return Value(value=value, se_reason=Reason.SINGLE_ITEM)
    deviation = numerators - value * denominators
    scale = max(float(np.abs(numerators).max()), float(denominators.max()))
    if float(np.abs(deviation).max()) <= _ROUNDING * scale:
        se, warning = 0.0, Caution.DEGENERATE_VARIANCE
    else:
        squares = float((multiplicity * deviation**2).sum())
        se, warning = math.sqrt(squares * items / (items - 1)) / total, None
    half = t_quantile((1 + LEVEL) / 2, degrees=items - 1) * se
    return Value(value=value, se=se, ci=(value - half, value + half), warning=warning)
