"""Agreement that depends on who gave which vote.

Conger's kappa is Fleiss' with the chance of two different raters, each of whom keeps to their own
category shares; Light's is the mean of the kappas of Cohen over the pairs of raters.

Sources: Conger (1980), Integration and generalization of kappas for multiple raters, Psychological
Bulletin 88; Light (1971), Measures of response agreement for qualitative data, Psychological
Bulletin 76; Gwet (2021), Large-sample variance of Fleiss generalized kappa, Educational and
Psychological Measurement 81, for the standard error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.stats.agreement import Sample, linearized
from benchmark.stats.alpha import nominal_distance
from benchmark.stats.codes import Bools, Floats, Ints
from benchmark.stats.counts import count_table, histogram
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairwiseAgreement:
    """The Q pairs of raters with shared items, in order of their codes; all arrays (Q,).

    ``first`` < ``second`` are rater codes, ``shared`` the items both judged (1 or more) and
    ``agreeing`` those on which they chose alike. ``chance`` / ``shared``^2 is their chance
    agreement on these items.
    """

    first: Ints
    second: Ints
    shared: Ints
    agreeing: Ints
    chance: Ints

    def cohen_defined(self) -> Bools:
        """Whether a pair has a kappa of Cohen: not both kept to one and the same category."""
        return np.asarray(self.chance < self.shared**2)

    def cohen(self) -> Floats:
        """Kappa of Cohen of the pairs that have one, in order."""
        kept = self.cohen_defined()
        expected = self.shared[kept] ** 2 - self.chance[kept]
        disagreeing = (self.shared[kept] - self.agreeing[kept]) * self.shared[kept]
        return np.asarray(1 - disagreeing / expected, dtype=np.float64)


def conger(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    by_rater: npt.ArrayLike | None,
    multiplicity: npt.ArrayLike | None = None,
) -> Value:
    """Conger's kappa from the count table (N, K) and the raters' own totals ``by_rater`` (R, K).

    Chance is the mean over all pairs of raters, shared items or not, in O(R K). The standard error
    needs the votes: see `conger_of_votes`. Raises ValueError for a malformed table, and where the
    raters' votes are not those of the items.
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    sample = Sample.of(table.patterns, table.multiplicity)
    if by_rater is None:
        return Value.undefined(Reason.NO_RATER_IDS)
    totals = count_table(by_rater, categories=table.categories)
    if not np.array_equal(totals.sum(axis=0), sample.pooled):
        raise ValueError("the votes by rater are not the votes by item")
    reason = _undefined(sample, totals)
    if reason is not None:
        return Value.undefined(reason)
    value = 1 - sample.observed / _expected(_shares(totals))
    return Value(value=value, se_reason=Reason.NO_SE_FOR_VARIANT)


def conger_of_votes(votes: Votes) -> Value:
    """Conger's kappa with Gwet's standard error, in O(votes).

    The raters' shares are estimated too, so an item's linearized chance agreement has one term for
    each of its votes: how much that vote moves its rater's shares, times the shares of the others.
    """
    counts, totals = votes.counts(), votes.counts_by_rater()
    sample = Sample.of(counts, np.ones(len(counts), dtype=np.int64))
    reason = _undefined(sample, totals)
    if reason is not None:
        return Value.undefined(reason)
    present = totals.sum(axis=1) > 0
    raters = int(present.sum())
    expected = _expected(_shares(totals[present]))
    kappa = 1 - sample.observed / expected
    if sample.items == 1:
        return Value(value=kappa, se_reason=Reason.SINGLE_ITEM)

    # (R, K): a rater's shares, and how far each category lies from the votes of all the others.
    own = totals / np.maximum(totals.sum(axis=1), 1)[:, None]
    apart = (own.sum(axis=0) - own) @ nominal_distance(own.shape[1])
    term = apart[votes.rater, votes.choice] - (own * apart).sum(axis=1)[votes.rater]
    term = term * sample.items / totals.sum(axis=1)[votes.rater]
    by_item = np.bincount(votes.item, weights=term, minlength=votes.n_items)
    moved = by_item[counts.sum(axis=1) > 0] / (raters * (raters - 1) * expected)

    ratio = sample.items / sample.paired_items
    linear = np.where(sample.paired, ratio * (1 - sample.disagreement / expected), 0.0)
    return linearized(kappa, linear + 2 * (1 - kappa) * moved, sample=sample)


def light(votes: Votes) -> Value:
    """Light's kappa: the mean of Cohen's over the pairs of raters with shared items.

    Every pair counts alike, however many items it shares, as Light defined it. A pair that kept to
    one and the same category has no kappa and is left out; `pairwise` tells how many there are.
    """
    sample = Sample.of(votes.counts(), np.ones(votes.n_items, dtype=np.int64))
    if not sample.paired_items and len(np.unique(votes.rater)) > 1:
        return Value.undefined(Reason.NO_RATER_OVERLAP)
    reason = _undefined(sample, votes.counts_by_rater())
    if reason is not None:
        return Value.undefined(reason)
    kappas = pairwise(votes).cohen()
    if not len(kappas):
        return Value.undefined(Reason.SINGLE_CATEGORY)
    return Value(value=float(kappas.mean()), se_reason=Reason.NO_SE_FOR_VARIANT)


def pairwise(votes: Votes) -> PairwiseAgreement:
    """How every pair of raters with shared items agrees, in O(sum of n_i^2) and little memory."""
    order = np.lexsort((votes.rater, votes.item))
    item, rater, choice = votes.item[order], votes.rater[order], votes.choice[order]
    key = rater * votes.n_raters
    pairs = np.unique(
        np.concatenate(
            [
                np.zeros(0, dtype=np.int64),
                *(np.unique(key[left] + rater[right]) for left, right in _met(item)),
            ]
        )
    )
    k = len(votes.categories)
    # (Q, K, K): items on which the first of a pair chose the one category, the second the other.
    table = np.zeros(len(pairs) * k * k, dtype=np.int64)
    for left, right in _met(item):
        place = np.searchsorted(pairs, key[left] + rater[right])
        table += np.bincount((place * k + choice[left]) * k + choice[right], minlength=len(table))
    crossed = table.reshape(len(pairs), k, k)
    first, second = np.divmod(pairs, max(votes.n_raters, 1))
    return PairwiseAgreement(
        first=first,
        second=second,
        shared=crossed.sum(axis=(1, 2)),
        agreeing=np.trace(crossed, axis1=1, axis2=2),
        chance=(crossed.sum(axis=1) * crossed.sum(axis=2)).sum(axis=1),
    )


def _met(item: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Places (left, right) of all pairs of votes on one item, in blocks; ``item`` is sorted."""
    lag = 1
    while len(left := np.flatnonzero(item[lag:] == item[:-lag])):
        yield left, left + lag
        lag += 1


def _undefined(sample: Sample, totals: Ints) -> Reason | None:
    """Why there is no coefficient between raters with these ``totals`` (R, K), if so."""
    if np.count_nonzero(totals.sum(axis=1)) == 1:
        return Reason.NO_RATER_IDS
    if not sample.paired_items:
        return Reason.NO_ITEM_WITH_TWO_VOTES
    if np.count_nonzero(sample.pooled) == 1:
        return Reason.SINGLE_CATEGORY
    return None


def _shares(totals: Ints) -> Floats:
    """Category shares (R, K) of the raters who voted."""
    voted = totals[totals.sum(axis=1) > 0]
    shares: Floats = voted / voted.sum(axis=1)[:, None]
    return shares


def _expected(shares: Floats) -> float:
    """1 - P_e: mean over the pairs of different raters, of whom there are two or more."""
    others = shares @ nominal_distance(shares.shape[1])
    same_rater = float((shares * others).sum())
    raters = len(shares)
    return (float(shares.sum(axis=0) @ others.sum(axis=0)) - same_rater) / (raters * (raters - 1))
