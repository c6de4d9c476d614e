"""Percentile intervals by resampling: a check on the formulas, and all there is where none exists.

Over items: every figure depends on the histogram of count patterns alone, so a replicate is one
draw from a multinomial and not N rows drawn one by one. The raters are held fixed.

Over items and raters: how far the figures might move with other raters too. A rater weighs in as
often as drawn, and only votes of different raters form a pair. Conservative: noise within a cell of
the table counts twice.

Replicates without a value (say, all votes in one category) are left out and counted. A seed gives
the same replicates with the same release of NumPy.

Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.agreement import (
    LEVEL,
    Sample,
    ac1_of,
    fleiss_of,
    percent_agreement_of,
    randolph_of,
)
from benchmark.stats.alpha import alpha_of, nominal_distance
from benchmark.stats.codes import Bools, Floats
from benchmark.stats.counts import histogram
from benchmark.stats.values import Caution, Reason, Value
from benchmark.stats.votes import Votes

REPLICATES: Final = 10_000

# Numbers held at a time in one array: 4 MB, whatever the data.
_BLOCK: Final = 1 << 19

# Replicates that differ by less are equal but for rounding.
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What the replicates of one coefficient say; without ``se`` and ``ci`` there is a reason.

    ``ci`` are the 2.5 and 97.5 percentiles, ``dropped`` the replicates that had no value.
    """

    dropped: int
    se: float | None = None
    ci: tuple[float, float] | None = None
    reason: Reason | None = None
    warning: Caution | None = None

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        result: dict[str, object] = {
            "se": self.se,
            "ci": None if self.ci is None else list(self.ci),
            "dropped": self.dropped,
        }
        if self.reason is not None:
            result["reason"] = self.reason.value
        if self.warning is not None:
            result["warning"] = self.warning.value
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """Intervals by coefficient, and what it takes to compute them again."""

    replicates: int
    seed: str
    intervals: Mapping[str, Interval]

    def as_json(self) -> dict[str, object]:
        """JSON form: one level, the coefficients beside ``replicates`` and ``seed``."""
        intervals = {name: interval.as_json() for name, interval in self.intervals.items()}
        return {"replicates": self.replicates, "seed": self.seed, **intervals}


def bootstrap(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    seed: str,
    multiplicity: npt.ArrayLike | None = None,
    replicates: int = REPLICATES,
) -> Bootstrap:
    """Intervals over items for percent_agreement, fleiss, randolph, ac1 and alpha.

    ``counts`` is a table (N, K); items without a vote are no part of the draw. The cost depends on
    the number of patterns only. Raises ValueError for a malformed table or too few replicates.
    """
    _check(replicates)
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    sample = Sample.of(table.patterns, table.multiplicity)
    estimates = _estimates(sample) | {"alpha": alpha_of(sample.x, sample.weight)}
    blocks = [
        _item_block(sample, drawn)
        for drawn in _multinomials(
            _generator(seed),
            weight=sample.weight.astype(np.float64),
            draws=sample.items,
            replicates=replicates,
            block=max(1, _BLOCK // max(len(sample.weight), 1)),
        )
    ]
    return _summary(estimates, blocks, items=sample.items, replicates=replicates, seed=seed)


def two_way_bootstrap(votes: Votes, *, seed: str, replicates: int = 1_000) -> Bootstrap:
    """Intervals over items and raters for percent_agreement, fleiss, randolph and ac1.

    O(votes x replicates): on demand. Raises ValueError for too few replicates.
    """
    # Imported here for the reason given in distributions.py.
    from scipy.sparse import csr_array  # type: ignore[import-untyped, unused-ignore]

    _check(replicates)
    counts = votes.counts()
    voted = counts.sum(axis=1) > 0
    sample = Sample.of(counts, np.ones(len(counts), dtype=np.int64))
    raters, rater = np.unique(votes.rater, return_inverse=True)
    place = np.cumsum(voted) - 1
    shape = (sample.items, len(raters))
    chose = [
        csr_array((np.ones(int(of.sum())), (place[votes.item[of]], rater[of])), shape=shape)
        for of in (votes.choice == category for category in range(len(votes.categories)))
    ]
    generator = _generator(seed)
    block = max(1, _BLOCK // max(sample.items, 1))
    items = _multinomials(
        generator,
        weight=np.ones(sample.items),
        draws=sample.items,
        replicates=replicates,
        block=block,
    )
    people = _multinomials(
        generator,
        weight=np.ones(len(raters)),
        draws=len(raters),
        replicates=replicates,
        block=block,
    )
    blocks = []
    for item_weight, rater_weight in zip(items, people, strict=True):
        x = np.stack([matrix @ rater_weight.T for matrix in chose], axis=2)
        n = x.sum(axis=2)
        squares = sum(matrix @ np.square(rater_weight.T) for matrix in chose)
        # Ordered pairs of votes by different raters, and those of them that disagree.
        pairs = np.square(n) - squares
        disagreeing = np.square(n) - np.square(x).sum(axis=2)
        of_items = item_weight.T
        paired = (of_items * (pairs > 0)).sum(axis=0)
        observed = (of_items * disagreeing / np.maximum(pairs, 1)).sum(axis=0)
        shares = (of_items[:, :, None] * x / np.maximum(n, 1)[:, :, None]).sum(axis=0)
        totals = shares.sum(axis=1, keepdims=True)
        blocks.append(
            _kappas(
                paired=paired > 0,
                observed=observed / np.maximum(paired, 1),
                shares=shares / np.where(totals > 0, totals, 1),
            )
        )
    return _summary(
        _estimates(sample), blocks, items=sample.items, replicates=replicates, seed=seed
    )


def _estimates(sample: Sample) -> dict[str, Value]:
    randolph = randolph_of(sample)
    return {
        "percent_agreement": percent_agreement_of(sample, randolph),
        "fleiss": fleiss_of(sample),
        "randolph": randolph,
        "ac1": ac1_of(sample),
    }


def _check(replicates: int) -> None:
    if replicates < 2:
        raise ValueError(f"a standard error needs at least two replicates, not {replicates}")


def _generator(seed: str) -> np.random.Generator:
    digest = hashlib.sha256(seed.encode()).digest()
    # By name: a new default of NumPy must not change published intervals.
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest)))


def _multinomials(
    generator: np.random.Generator, *, weight: Floats, draws: int, replicates: int, block: int
) -> Iterator[Floats]:
    """Blocks (B, len(weight)) of how often each was drawn, ``replicates`` rows in all."""
    if not draws:
        return
    share = weight / weight.sum()
    for start in range(0, replicates, block):
        rows = min(block, replicates - start)
        yield generator.multinomial(draws, share, size=rows).astype(np.float64)


def _item_block(sample: Sample, drawn: Floats) -> dict[str, Floats]:
    """Coefficients (B,) of replicates in which pattern p was drawn ``drawn`` (B, P) times."""
    n = sample.x.sum(axis=1)
    paired = drawn @ sample.paired.astype(np.float64)
    found = _kappas(
        paired=paired > 0,
        observed=drawn @ sample.disagreement / np.maximum(paired, 1),
        shares=drawn @ sample.item_shares / sample.items,
    )
    totals = drawn @ (sample.x * sample.paired[:, None]).astype(np.float64)
    votes = totals.sum(axis=1)
    coincidences = drawn @ (sample.disagreement * n)
    expected = ((totals @ sample.distance) * totals).sum(axis=1)
    found["alpha"] = _quotient(coincidences * (votes - 1), expected, defined=expected > 0)
    return found


def _kappas(*, paired: Bools, observed: Floats, shares: Floats) -> dict[str, Floats]:
    """Coefficients (B,), NaN where undefined, from 1 - P_o (B,) and category shares (B, K)."""
    k = shares.shape[1]
    # 1 - P_e of Fleiss; 0 only where all votes fall into one category.
    expected = ((shares @ nominal_distance(k)) * shares).sum(axis=1)
    return {
        "percent_agreement": np.where(paired, 1 - observed, np.nan),
        "fleiss": _quotient(observed, expected, defined=paired & (expected > 0)),
        "randolph": _quotient(observed, np.full(len(observed), 1 - 1 / k), defined=paired),
        "ac1": _quotient(observed, 1 - expected / (k - 1), defined=paired),
    }


def _quotient(observed: Floats, expected: Floats, *, defined: Bools) -> Floats:
    """1 - observed / expected, NaN where not defined."""
    return np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)


def _summary(
    estimates: Mapping[str, Value],
    blocks: Sequence[Mapping[str, Floats]],
    *,
    items: int,
    replicates: int,
    seed: str,
) -> Bootstrap:
    return Bootstrap(
        replicates=replicates,
        seed=seed,
        intervals={
            name: _interval(
                estimate,
                np.concatenate([block[name] for block in blocks]) if blocks else np.zeros(0),
                items=items,
            )
            for name, estimate in estimates.items()
        },
    )


def _interval(estimate: Value, drawn: Floats, *, items: int) -> Interval:
    kept = drawn[~np.isnan(drawn)]
    dropped = len(drawn) - len(kept)
    if estimate.reason is not None:
        return Interval(dropped=dropped, reason=estimate.reason)
    if items == 1:
        return Interval(dropped=dropped, reason=Reason.SINGLE_ITEM)
    if len(kept) < 2:
        # A rare vote or pair was in no draw, although the sample itself has a value.
        return Interval(dropped=dropped, reason=Reason.NOT_ENOUGH_VOTES)
    tail = 100 * (1 - LEVEL) / 2
    low, high = (float(edge) for edge in np.percentile(kept, (tail, 100 - tail)))
    se = float(kept.std(ddof=1))
    if np.ptp(kept) <= _ROUNDING:
        return Interval(
            dropped=dropped, se=0.0, ci=(low, high), warning=Caution.DEGENERATE_VARIANCE
        )
    return Interval(dropped=dropped, se=se, ci=(low, high))
