"""Agreement of votes that had no part in the choice of the pairs.

Agreement inside a tier that was selected on agreement means nothing: an 8-1 pair has k = 5/9 by
construction. So the votes of a pair are split, the first five assign the pair to a stratum by their
minority (0, 1 or 2; five votes have no medium band, hence no tiers), and the agreement of the
others is averaged. A split at random draws without replacement, so the expectation over all splits
is known from the count patterns: what is computed here is the limit of ever more random splits,
with neither seed nor replicates.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import TIERS, Floats, Ints
from benchmark.stats.counts import histogram
from benchmark.stats.proportions import ratio
from benchmark.stats.tiers import DEFAULT_BANDS, Bands, pair_count_arrays, tiers
from benchmark.stats.values import Reason, Value

FIRST: Final = 5
METHOD: Final = "expectation_over_all_splits"

# Two other votes are the fewest that can agree.
_REST_MINIMUM: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Pairs whose first votes have this minority.

    ``pairs`` is an expected number. ``agreement`` is the mean k of the other votes; its interval
    rests on the spread between pairs.
    """

    minority: int
    pairs: float
    agreement: Value

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "minority": self.minority,
            "pairs": self.pairs,
            "agreement": self.agreement.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSplit:
    """Pairs whose votes, all of them, give this tier.

    ``strata`` holds the expected number of them in each stratum. ``agreement`` is what other votes
    would show: the strata's agreement, weighted by these numbers.
    """

    pairs: int
    strata: tuple[float, ...]
    agreement: Value

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "pairs": self.pairs,
            "strata": list(self.strata),
            "agreement": self.agreement.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitHalf:
    """Agreement of held-out votes. ``left_out`` pairs have too few votes to be split."""

    first: int
    pairs: int
    left_out: int
    overall: Value
    strata: tuple[Stratum, ...]
    tiers: Mapping[str, TierSplit]

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "method": METHOD,
            "first": self.first,
            "pairs": self.pairs,
            "left_out": self.left_out,
            "overall": self.overall.as_json(),
            "strata": [stratum.as_json() for stratum in self.strata],
            "tiers": {name: split.as_json() for name, split in self.tiers.items()},
        }


def split_half(
    counts: npt.ArrayLike,
    *,
    multiplicity: npt.ArrayLike | None = None,
    first: int = FIRST,
    bands: Bands = DEFAULT_BANDS,
) -> SplitHalf:
    """Held-out agreement by stratum and by tier, from votes for A and B, shape (N, 2).

    With ``multiplicity`` (shape (N,)) row i stands for that many pairs. A pair takes part if at
    least two votes remain beside the ``first``. Raises ValueError for a malformed table and more
    than 1,000 votes on a pair.
    """
    if first < 1:
        raise ValueError(f"at least one vote must come first, not {first}")
    table = histogram(counts, categories=("A", "B"), multiplicity=multiplicity)
    enough = table.patterns.sum(axis=1) >= first + _REST_MINIMUM
    x, weight = table.patterns[enough], table.multiplicity[enough]
    chance, k = _splits(x, first=first, bands=bands)

    drawn = np.arange(first + 1)
    minority = np.minimum(drawn, first - drawn)
    strata, stratum_chance = [], []
    for level in range(first // 2 + 1):
        here = chance * (minority == level)
        share = here.sum(axis=1)
        stratum_chance.append(share)
        strata.append(
            Stratum(
                minority=level,
                pairs=float((weight * share).sum()),
                agreement=_mean((here * k).sum(axis=1), share, weight),
            )
        )
    overall = _mean((chance * k).sum(axis=1), np.ones(len(x)), weight)

    assigned = tiers(x[:, 0], x[:, 1], bands=bands).tier
    by_tier: dict[str, TierSplit] = {
        name: _tier_split(strata, stratum_chance, np.where(assigned == code, weight, 0))
        for code, name in enumerate(TIERS)
        if name is not None
    }
    return SplitHalf(
        first=first,
        pairs=int(weight.sum()),
        left_out=int(table.multiplicity[~enough].sum()),
        overall=overall,
        strata=tuple(strata),
        tiers=by_tier,
    )


def _splits(x: Ints, *, first: int, bands: Bands) -> tuple[Floats, Floats]:
    """For j = 0..first votes for A among the first: its probability, and k of the other votes.

    Both have shape (P, first + 1); k is 0 where the probability is.
    """
    chance = np.array(
        [
            [
                math.comb(a, j) * math.comb(b, first - j) / math.comb(a + b, first)
                for j in range(first + 1)
            ]
            for a, b in x.tolist()
        ],
        dtype=np.float64,
    ).reshape(len(x), first + 1)
    drawn = np.arange(first + 1)
    rest_a = np.maximum(x[:, :1] - drawn, 0)
    rest_b = np.maximum(x[:, 1:] - (first - drawn), 0)
    s, m, _ = pair_count_arrays(rest_a.ravel(), rest_b.ravel())
    above, whole = bands.excess(s, m)
    k = (above / np.maximum(whole, 1)).reshape(chance.shape)
    return chance, np.where(chance > 0, k, 0.0)


def _mean(sums: Floats, shares: Floats, weight: Ints) -> Value:
    return ratio(sums, shares, multiplicity=weight, reason=Reason.NO_ITEM_WITH_TWO_VOTES)


def _tier_split(strata: list[Stratum], chances: list[Floats], weight: Ints) -> TierSplit:
    expected = tuple(float((weight * chance).sum()) for chance in chances)
    if not weight.any():
        agreement = Value.undefined(Reason.NO_ITEM_WITH_TWO_VOTES)
    else:
        agreement = Value(
            value=sum(
                pairs * stratum.agreement.value
                for pairs, stratum in zip(expected, strata, strict=True)
                if stratum.agreement.value is not None
            )
            / sum(expected),
            se_reason=Reason.NO_SE_FOR_VARIANT,
        )
    return TierSplit(pairs=int(weight.sum()), strata=expected, agreement=agreement)
