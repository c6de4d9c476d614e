"""Krippendorff's alpha from count patterns, for every level of measurement.

alpha = 1 - D_o / D_e. A pair of votes on one item disagrees by the distance of its categories and
counts 1 / (n_i - 1); D_e is the mean distance of all pairs of votes, drawn without replacement.
Items with a single vote are left out. Alpha has no published standard error that holds here: use
the bootstrap.

Source: Krippendorff (2004), Content Analysis, chapter 11.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Floats, Ints
from benchmark.stats.counts import histogram
from benchmark.stats.values import Reason, Value

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def alpha(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    multiplicity: npt.ArrayLike | None = None,
    level: Level = "nominal",
    values: Sequence[float] | None = None,
) -> Value:
    """Alpha of a count table (N, K) at a level of measurement.

    "ordinal" takes the categories in the order given. "interval" and "ratio" need ``values`` (K,),
    distinct, for "ratio" none negative. Raises ValueError for a malformed table or values.
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    numbers = _numbers(values, level=level, k=len(table.categories))
    return alpha_of(table.patterns, table.multiplicity, level=level, values=numbers)


def alpha_of(
    patterns: Ints,
    multiplicity: Ints,
    *,
    level: Level = "nominal",
    values: Floats | None = None,
) -> Value:
    """Alpha of checked patterns (P, K); ``values`` (K,) where the level needs them."""
    variant = f"alpha_{level}"
    n_all = patterns.sum(axis=1)
    paired = n_all >= 2
    if not multiplicity[paired].any():
        return Value.undefined(Reason.NO_ITEM_WITH_TWO_VOTES, variant=variant)
    x, n, weight = patterns[paired], n_all[paired], multiplicity[paired]
    totals = weight @ x
    if np.count_nonzero(totals) == 1:
        return Value.undefined(Reason.SINGLE_CATEGORY, variant=variant)
    apart = _distance(level, totals, values)
    observed = float(weight @ (((x @ apart) * x).sum(axis=1) / (n - 1)))
    # As floats: the products of two totals may leave 64 bits.
    expected = float(totals.astype(np.float64) @ apart @ totals)
    return Value(
        value=1 - observed * (int(totals.sum()) - 1) / expected,
        se_reason=Reason.NO_SE_FOR_VARIANT,
        variant=variant,
    )


def nominal_distance(k: int) -> Floats:
    """Distances (k, k) of categories that are the same or not."""
    return 1 - np.eye(k)


def _distance(level: Level, totals: Ints, values: Floats | None) -> Floats:
    """Distances (K, K); those of ordered categories depend on how many votes lie between them."""
    if level == "nominal":
        return nominal_distance(len(totals))
    if level == "ordinal":
        # Krippendorff's sum of the votes between two categories is a difference of mid-ranks.
        values = np.cumsum(totals) - totals / 2
    assert values is not None
    difference = values[:, None] - values
    if level == "ratio":
        total = values[:, None] + values
        difference = difference / np.where(total > 0, total, 1.0)
    return np.square(difference)


def _numbers(values: Sequence[float] | None, *, level: Level, k: int) -> Floats | None:
    if level in ("nominal", "ordinal"):
        if values is not None:
            raise ValueError(f"the {level} level takes no values")
        return None
    if values is None or len(values) != k:
        raise ValueError(f"the {level} level needs one value for each of the {k} categories")
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all() or len(np.unique(numbers)) < k:
        raise ValueError(f"the values of the categories must be finite and distinct: {values}")
    if level == "ratio" and numbers.min() < 0:
        raise ValueError(f"the ratio level needs values from 0 on: {values}")
    return numbers
