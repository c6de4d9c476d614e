"""Agreement on ordered categories, where a near miss counts as part agreement.

Two votes for categories k and l agree by w_kl, 1 on the diagonal. The coefficients are those of
`benchmark.stats.agreement` with the disagreement 1 - w_kl in place of 0 or 1: P_i is the mean
agreement of an item's pairs of votes; chance is p'Wp (Fleiss), sum(W) / K^2 (Brennan and Prediger,
with equal weights Randolph) and sum(W) sum p_j (1 - p_j) / (K (K - 1)) (AC2, with equal weights
AC1).

Source: Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 3.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from benchmark.stats.agreement import (
    Sample,
    ac1_of,
    fleiss_of,
    percent_agreement_of,
    randolph_of,
)
from benchmark.stats.alpha import alpha_of, nominal_distance
from benchmark.stats.codes import Floats, Ints
from benchmark.stats.counts import histogram
from benchmark.stats.values import Value

Weights = Literal["identity", "linear", "quadratic"]

# A tie lies between the two responses.
ORDER_WITH_TIE: Final = ("A", "tie", "B")


def distances(weights: Weights, *, k: int) -> Floats:
    """1 - w (k, k) for k ordered categories: the share of the greatest distance, or its square."""
    if weights == "identity":
        return nominal_distance(k)
    steps = np.abs(np.arange(k)[:, None] - np.arange(k))
    power = 1 if weights == "linear" else 2
    return np.asarray((steps / (k - 1)) ** power, dtype=np.float64)


def weighted(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    weights: Weights,
    multiplicity: npt.ArrayLike | None = None,
) -> dict[str, Value]:
    """``percent_agreement``, ``fleiss``, ``brennan_prediger`` and ``ac2`` of a count table (N, K).

    The categories are ordered as given. Standard errors as in `agreement`. Raises ValueError for a
    malformed table.
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    return _coefficients(table.patterns, table.multiplicity, weights)


def readings_with_ties(
    counts: npt.ArrayLike, *, categories: Sequence[str], multiplicity: npt.ArrayLike | None = None
) -> dict[str, dict[str, Value]]:
    """Three ways to read votes that may be ties, by name; each has the same five coefficients.

    ``nominal``: a tie is a third category like the others; ``linear``: half way between A and B;
    ``ab_only``: no vote. Raises ValueError unless the categories are A, B and tie, in any order.
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    if sorted(table.categories) != sorted(ORDER_WITH_TIE):
        raise ValueError(f"the categories must be A, B and tie, not {', '.join(table.categories)}")
    ordered = table.patterns[:, [table.categories.index(name) for name in ORDER_WITH_TIE]]
    weight = table.multiplicity
    ab = ordered[:, [0, 2]]
    return {
        "nominal": _coefficients(ordered, weight, "identity")
        | {"alpha": alpha_of(ordered, weight)},
        "linear": _coefficients(ordered, weight, "linear")
        | {"alpha": alpha_of(ordered, weight, level="ordinal")},
        "ab_only": _coefficients(ab, weight, "identity") | {"alpha": alpha_of(ab, weight)},
    }


def _coefficients(x: Ints, multiplicity: Ints, weights: Weights) -> dict[str, Value]:
    sample = Sample.of(x, multiplicity, distance=distances(weights, k=x.shape[1]))
    brennan_prediger = randolph_of(sample)
    found = {
        "percent_agreement": percent_agreement_of(sample, brennan_prediger),
        "fleiss": fleiss_of(sample),
        "brennan_prediger": brennan_prediger,
        "ac2": ac1_of(sample),
    }
    if weights == "identity":
        return found
    return {name: replace(value, variant=f"{name}_{weights}") for name, value in found.items()}
