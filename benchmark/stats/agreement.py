"""Agreement of the raters of a set of items, from the histogram of count patterns.

Notation: x_ij votes of item i for category j, n_i = sum_j x_ij, p_j the mean over items of x_ij /
n_i, P_i item agreement, P_o observed and P_e chance agreement. All coefficients but alpha are
(P_o - P_e) / (1 - P_e). The code works with disagreements (d = 1 - P_o, 1 - P_i and 1 - P_e),
because 1 - P_e loses all its digits where nearly all votes fall into one category.

Sources:
Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76;
Randolph (2005), Free-marginal multirater kappa (Brennan and Prediger 1981; Bennett et al. 1954);
Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement,
British Journal of Mathematical and Statistical Psychology 61;
Gwet (2021), Large-sample variance of Fleiss generalized kappa, Educational and Psychological
Measurement 81, which also shows why the 1979 formula, true only for kappa = 0, gives no interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from benchmark.stats.alpha import alpha_of, nominal_distance
from benchmark.stats.codes import Bools, Floats, Ints
from benchmark.stats.counts import agreeing_pairs, histogram
from benchmark.stats.distributions import t_quantile
from benchmark.stats.values import Caution, Reason, Value

# With unequal numbers of votes "Fleiss' kappa" has several meanings. This one, Gwet's, gives each
# item the same weight and has a published standard error; with equal numbers all coincide.
FLEISS_VARIANT: Final = "fleiss_gwet"
LEVEL: Final = 0.95

# Linearized values that differ by less, relative to their size, are equal but for rounding.
_ROUNDING: Final = 1e-12

Engine = Literal["statsmodels", "own"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatersPerItem:
    """Votes per item over all items, those without a vote included; None where there is no item."""

    minimum: int | None
    median: float | None
    maximum: int | None
    histogram: Mapping[int, int]

    def as_json(self) -> dict[str, object]:
        """JSON form; the histogram's keys are the numbers of votes, as text."""
        return {
            "min": self.minimum,
            "median": self.median,
            "max": self.maximum,
            "histogram": {str(n): items for n, items in self.histogram.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport:
    """The figures that are only ever published together.

    ``shares`` are the p_j of the coefficients (mean of the items' own shares), ``pooled_shares``
    count every vote once; they differ only where items have unequal numbers of votes.
    ``kappa_engine`` says whether Fleiss and Randolph come from statsmodels (equal numbers of
    votes) or from this module.
    """

    categories: tuple[str, ...]
    items: int
    items_with_votes: int
    items_with_two_votes: int
    votes: int
    raters_per_item: RatersPerItem
    shares: Mapping[str, Value]
    pooled_shares: Mapping[str, Value]
    percent_agreement: Value
    fleiss: Value
    randolph: Value
    ac1: Value
    alpha: Value
    kappa_engine: Engine

    def as_json(self) -> dict[str, object]:
        """JSON form, without NaN or Infinity whatever the data."""
        return {
            "categories": list(self.categories),
            "items": self.items,
            "items_with_votes": self.items_with_votes,
            "items_with_two_votes": self.items_with_two_votes,
            "votes": self.votes,
            "raters_per_item": self.raters_per_item.as_json(),
            "shares": {name: share.as_json() for name, share in self.shares.items()},
            "pooled_shares": {name: share.as_json() for name, share in self.pooled_shares.items()},
            "percent_agreement": self.percent_agreement.as_json(),
            "fleiss": self.fleiss.as_json(),
            "randolph": self.randolph.as_json(),
            "ac1": self.ac1.as_json(),
            "alpha": self.alpha.as_json(),
            "kappa_engine": self.kappa_engine,
            # Raters are held fixed: the interval says nothing about other raters.
            "interval": {
                "method": "gwet_linearization",
                "level": LEVEL,
                "scope": "this_rater_pool",
            },
        }


def agreement(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    multiplicity: npt.ArrayLike | None = None,
    engine: Engine = "statsmodels",
) -> AgreementReport:
    """All agreement figures of one criterion.

    ``counts`` has shape (N, K) with one column per category of the schema; with ``multiplicity``
    (shape (N,)) row i stands for that many items. Undefined figures carry a reason. Raises
    ValueError for a malformed table.

    ``engine`` chooses who computes Fleiss and Randolph where every item has the same number of
    votes. statsmodels takes one row per item, hence O(N); "own" needs only the patterns, gives the
    same to rounding, and spares a live page the import. With unequal numbers, which statsmodels
    does not take, the engine is always "own".
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    sample = Sample.of(table.patterns, table.multiplicity)
    fleiss, randolph = fleiss_of(sample), randolph_of(sample)
    percent_agreement = percent_agreement_of(sample, randolph)
    used = engine if sample.equal_n else "own"
    if used == "statsmodels":
        rows = np.repeat(sample.x, sample.weight, axis=0)
        fleiss = _by_statsmodels(fleiss, rows, method="fleiss")
        randolph = _by_statsmodels(randolph, rows, method="randolph")
    return AgreementReport(
        categories=table.categories,
        items=int(table.multiplicity.sum()),
        items_with_votes=sample.items,
        items_with_two_votes=sample.paired_items,
        votes=int(sample.pooled.sum()),
        raters_per_item=_raters_per_item(table.patterns.sum(axis=1), table.multiplicity),
        shares=_named_shares(table.categories, sample, sample.shares),
        pooled_shares=_named_shares(
            table.categories, sample, sample.pooled / max(int(sample.pooled.sum()), 1)
        ),
        percent_agreement=percent_agreement,
        fleiss=fleiss,
        randolph=randolph,
        ac1=ac1_of(sample),
        alpha=alpha_of(sample.x, sample.weight),
        kappa_engine=used,
    )


def item_agreement(counts: Sequence[int]) -> Value:
    """P_i of one item with ``counts`` votes per category: the share of its pairs that agree."""
    s, m = agreeing_pairs(np.asarray([counts], dtype=np.int64))
    if m[0] == 0:
        return Value.undefined(Reason.FEWER_THAN_TWO_VOTES)
    return Value(value=int(s[0]) / int(m[0]), se_reason=Reason.SINGLE_ITEM)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The patterns with at least one vote and what all coefficients share.

    ``distance`` (K, K) says how far two categories disagree: 0 on the diagonal, and 1 elsewhere
    unless the categories are ordered and weighted (then 1 - w). P patterns: ``x`` (P, K),
    ``weight`` (P,) items of each, ``paired`` (P,) whether n_i >= 2, ``item_shares`` (P, K) x_ij /
    n_i, ``disagreement`` (P,) 1 - P_i and 0 where undefined. ``shares`` and ``pooled`` have shape
    (K,); ``observed`` is 1 - P_o, and 0 where undefined.
    """

    x: Ints
    weight: Ints
    paired: Bools
    distance: Floats
    item_shares: Floats
    disagreement: Floats
    shares: Floats
    pooled: Ints
    observed: float
    items: int
    paired_items: int
    equal_n: bool

    @classmethod
    def of(cls, patterns: Ints, multiplicity: Ints, *, distance: Floats | None = None) -> "Sample":
        """The sample of a histogram, or of any checked table (P, K) with its multiplicities."""
        n_all = patterns.sum(axis=1)
        used = n_all > 0
        x, weight, n = patterns[used], multiplicity[used], n_all[used]
        apart = nominal_distance(x.shape[1]) if distance is None else distance
        paired = n >= 2
        items, paired_items = int(weight.sum()), int(weight[paired].sum())
        disagreement = ((x @ apart) * x).sum(axis=1) / np.maximum(n * (n - 1), 1)
        item_shares = x / n[:, None]
        return cls(
            x=x,
            weight=weight,
            paired=paired,
            distance=apart,
            item_shares=item_shares,
            disagreement=disagreement,
            shares=weight @ item_shares / max(items, 1),
            pooled=weight @ x,
            observed=float(weight @ disagreement) / max(paired_items, 1),
            items=items,
            paired_items=paired_items,
            equal_n=paired_items > 0 and int(n.min()) == int(n.max()),
        )


def percent_agreement_of(sample: Sample, randolph: Value) -> Value:
    """P_o, with the standard error of Randolph's kappa, of which it is a linear function."""
    if randolph.value is None:
        return randolph
    value = 1 - sample.observed
    if randolph.se is None:
        return Value(value=value, se_reason=randolph.se_reason)
    return with_interval(
        value,
        se=float(sample.distance.mean()) * randolph.se,
        items=sample.items,
        warning=randolph.warning,
    )


def fleiss_of(sample: Sample) -> Value:
    """Chance: two votes drawn from the category shares agree."""
    if sample.paired_items and np.count_nonzero(sample.pooled) == 1:
        return Value.undefined(Reason.SINGLE_CATEGORY, variant=FLEISS_VARIANT)
    # A sum over the other shares: no cancellation where one share is near 1.
    apart = sample.shares @ sample.distance
    return chance_corrected(
        sample,
        expected=float(sample.shares @ apart),
        expected_of_item=sample.item_shares @ apart,
        variant=FLEISS_VARIANT,
    )


def randolph_of(sample: Sample) -> Value:
    """Chance: every category is equally likely."""
    return chance_corrected(sample, expected=float(sample.distance.mean()))


def ac1_of(sample: Sample) -> Value:
    """Chance: Gwet's, the larger the more evenly the categories are used. AC2 where weighted."""
    k = sample.x.shape[1]
    q = sample.shares @ nominal_distance(k)
    scale = (k * k - float(sample.distance.sum())) / (k * (k - 1))
    return chance_corrected(
        sample,
        expected=1 - scale * float(sample.shares @ q),
        expected_of_item=1 - scale * (sample.item_shares @ q),
    )


def chance_corrected(
    sample: Sample,
    *,
    expected: float,
    expected_of_item: Floats | None = None,
    variant: str | None = None,
) -> Value:
    """1 - (1 - P_o) / (1 - P_e) with Gwet's standard error.

    ``expected`` is 1 - P_e and ``expected_of_item`` (P,) is 1 - Pe_i, None where chance does not
    depend on the votes. In these terms the linearized value of an item (Gwet 2021) is
    k*_i = (N/N2) (1 - d_i/d_e) [n_i >= 2] - 2 (1 - kappa) (1 - de_i/d_e).
    """
    if not sample.paired_items:
        return Value.undefined(Reason.NO_ITEM_WITH_TWO_VOTES, variant=variant)
    kappa = 1 - sample.observed / expected
    if sample.items == 1:
        return Value(value=kappa, se_reason=Reason.SINGLE_ITEM, variant=variant)
    ratio = sample.items / sample.paired_items
    linear = np.where(sample.paired, ratio * (1 - sample.disagreement / expected), 0.0)
    if expected_of_item is not None:
        linear = linear - 2 * (1 - kappa) * (1 - expected_of_item / expected)
    return linearized(kappa, linear, sample=sample, variant=variant)


def linearized(
    kappa: float, linear: Floats, *, sample: Sample, variant: str | None = None
) -> Value:
    """``kappa`` with the standard error that its linearized values ``linear`` (P,) give."""
    deviation = linear - kappa
    if np.abs(deviation).max() <= _ROUNDING * max(1.0, float(np.abs(linear).max())):
        return with_interval(
            kappa,
            se=0.0,
            items=sample.items,
            warning=Caution.DEGENERATE_VARIANCE,
            variant=variant,
        )
    variance = float(sample.weight @ deviation**2) / (sample.items * (sample.items - 1))
    return with_interval(kappa, se=math.sqrt(variance), items=sample.items, variant=variant)


def with_interval(
    value: float,
    *,
    se: float,
    items: int,
    warning: Caution | None = None,
    variant: str | None = None,
) -> Value:
    """``value`` with its 95 % interval, from Student's t with one degree less than ``items``."""
    half = t_quantile((1 + LEVEL) / 2, degrees=items - 1) * se
    return Value(
        value=value, se=se, ci=(value - half, value + half), warning=warning, variant=variant
    )


def _by_statsmodels(own: Value, rows: Ints, *, method: Literal["fleiss", "randolph"]) -> Value:
    """``own`` with its value replaced by that of statsmodels; the interval keeps its width.

    Undefined values are left alone, for statsmodels would answer nan.
    """
    if own.value is None:
        return own
    # Imported here because it brings pandas along: 1.0 s and 111 MB on top of NumPy and
    # scipy.special, which web processes (they show stored figures) must not pay.
    from statsmodels.stats.inter_rater import (  # type: ignore[import-untyped, unused-ignore]
        fleiss_kappa,
    )

    value = float(fleiss_kappa(rows, method=method))
    ci = None
    if own.ci is not None:
        ci = (own.ci[0] - own.value + value, own.ci[1] - own.value + value)
    return replace(own, value=value, ci=ci)


def _named_shares(categories: tuple[str, ...], sample: Sample, shares: Floats) -> dict[str, Value]:
    if not sample.items:
        return dict.fromkeys(categories, Value.undefined(Reason.NO_VOTES))
    return {
        name: Value(value=float(share), se_reason=Reason.NO_SE_FOR_VARIANT)
        for name, share in zip(categories, shares, strict=True)
    }


def _raters_per_item(n: Ints, multiplicity: Ints) -> RatersPerItem:
    if not len(n):
        return RatersPerItem(minimum=None, median=None, maximum=None, histogram={})
    values, inverse = np.unique(n, return_inverse=True)
    items = np.bincount(inverse, weights=multiplicity).astype(np.int64)
    reached, total = np.cumsum(items), int(items.sum())
    lower, upper = (
        int(values[np.searchsorted(reached, rank, side="right")])
        for rank in ((total - 1) // 2, total // 2)
    )
    return RatersPerItem(
        minimum=int(values[0]),
        median=(lower + upper) / 2,
        maximum=int(values[-1]),
        histogram=dict(zip(values.tolist(), items.tolist(), strict=True)),
    )
