"""What "Fleiss' kappa" may mean besides the default: other variants, and one category at a time.

Where items have unequal numbers of votes, variants differ in how much an item counts in P_o and in
how the category shares p_j are taken:

================  =============================  =============================================
variant           weight of an item in P_o       category shares
================  =============================  =============================================
fleiss_gwet       1 where n_i >= 2               mean of the items' own shares
fleiss_pooled     1 where n_i >= 2               all votes pooled
fleiss_nweighted  n_i where n_i >= 2             votes pooled over the items with n_i >= 2
fleiss_pairs      n_i (n_i - 1)                  all votes pooled
================  =============================  =============================================

With equal numbers all four coincide. Only the first has a published standard error. The third is
Krippendorff's alpha without its small-sample term.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmark.stats.agreement import FLEISS_VARIANT, Sample, fleiss_of
from benchmark.stats.codes import Floats, Ints
from benchmark.stats.counts import histogram
from benchmark.stats.values import Reason, Value

VARIANTS = (FLEISS_VARIANT, "fleiss_pooled", "fleiss_nweighted", "fleiss_pairs")


def fleiss_variants(
    counts: npt.ArrayLike, *, categories: Sequence[str], multiplicity: npt.ArrayLike | None = None
) -> dict[str, Value]:
    """Fleiss' kappa by variant, for a count table (N, K). Raises ValueError as `agreement` does."""
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    sample = Sample.of(table.patterns, table.multiplicity)
    n = sample.x.sum(axis=1)
    flat = sample.paired.astype(np.float64)
    of_paired = (sample.weight * sample.paired) @ sample.x
    return {
        FLEISS_VARIANT: fleiss_of(sample),
        "fleiss_pooled": _variant(sample, "fleiss_pooled", flat, sample.pooled),
        "fleiss_nweighted": _variant(sample, "fleiss_nweighted", n * flat, of_paired),
        "fleiss_pairs": _variant(sample, "fleiss_pairs", n * (n - 1.0), sample.pooled),
    }


def kappa_by_category(
    counts: npt.ArrayLike, *, categories: Sequence[str], multiplicity: npt.ArrayLike | None = None
) -> dict[str, Value]:
    """Agreement on each category against all others: Fleiss' kappa of the table (x_ij, n_i - x_ij).

    With n votes on every item this is the kappa_j of Fleiss (1971). The same collapsed table serves
    for unequal numbers, because there too the mean of the kappa_j weighted by p_j (1 - p_j) is the
    kappa of the whole (variant fleiss_gwet), and because it brings a standard error.
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    n = table.patterns.sum(axis=1)
    found = {}
    for column, name in enumerate(table.categories):
        votes = table.patterns[:, column]
        kappa = fleiss_of(Sample.of(np.stack((votes, n - votes), axis=1), table.multiplicity))
        if kappa.reason is Reason.SINGLE_CATEGORY:
            kappa = Value.undefined(Reason.CATEGORY_UNUSED_OR_UNIVERSAL, variant=kappa.variant)
        found[name] = kappa
    return found


def _variant(sample: Sample, variant: str, item_weight: Floats, totals: Ints) -> Value:
    """Kappa with items weighted by ``item_weight`` (P,) and the shares of ``totals`` (K,) votes."""
    if not sample.paired_items:
        return Value.undefined(Reason.NO_ITEM_WITH_TWO_VOTES, variant=variant)
    if np.count_nonzero(totals) == 1:
        return Value.undefined(Reason.SINGLE_CATEGORY, variant=variant)
    weight = sample.weight * item_weight
    observed = float(weight @ sample.disagreement) / float(weight.sum())
    shares = totals / totals.sum()
    expected = float(shares @ sample.distance @ shares)
    return Value(value=1 - observed / expected, se_reason=Reason.NO_SE_FOR_VARIANT, variant=variant)
