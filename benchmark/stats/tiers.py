"""How hard is one pair, judged by its votes?

Item agreement is k = (P - c) / (1 - c) with P = S / M, S = a(a-1) + b(b-1) and M = n(n-1): kappa
with chance c fixed at one half, k = 2 P - 1, unless a policy fixes it elsewhere. Fleiss' kappa of a
single item is degenerate (-1/(n-1) or 0/0), and a chance agreement pooled over the study would let
a skewed share of A remove a tier altogether, so c is never taken from the votes.

Tiers are decided on whole numbers. Only votes for A or B count, so n = a + b.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import EASY, HARD, MEDIUM, NONE, Bools, Codes, Ints, Tier
from benchmark.stats.counts import whole_numbers
from benchmark.stats.distributions import beta_cdf, beta_sf
from benchmark.stats.values import Reason, Value

_Whole = TypeVar("_Whole", int, Ints)

# With three to six votes no split falls into the medium band, so there is nothing to tell apart.
TIER_MINIMUM: Final = 7
TIER_FINAL: Final = 9

# With these bounds every product of counts and band edges stays far inside 64 bits, also for the
# mean of two criteria, whose M is of the order of n to the fourth.
MAX_VOTES: Final = 1_000
MAX_DENOMINATOR: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """Edges of the tiers in k, and the chance agreement in k: (numerator, denominator) each.

    Easy lies above ``easy_above``, medium from ``medium_from`` up to and including
    ``easy_above``, hard below. Raises ValueError unless -1 <= medium_from <= easy_above <= 1 and
    0 <= chance < 1.
    """

    easy_above: tuple[int, int] = (3, 5)
    medium_from: tuple[int, int] = (2, 5)
    chance: tuple[int, int] = (1, 2)

    def __post_init__(self) -> None:
        for name in ("easy_above", "medium_from", "chance"):
            numerator, denominator = getattr(self, name)
            if not 1 <= denominator <= MAX_DENOMINATOR:
                raise ValueError(
                    f"{name}: the denominator must lie between 1 and {MAX_DENOMINATOR:,}, "
                    f"not {denominator}"
                )
            if not -denominator <= numerator <= denominator:
                raise ValueError(f"{name} must lie between -1 and 1, not {numerator}/{denominator}")
        if not 0 <= self.chance[0] < self.chance[1]:
            raise ValueError(
                f"chance must be at least 0 and below 1, not {self.chance[0]}/{self.chance[1]}"
            )
        if Fraction(*self.medium_from) > Fraction(*self.easy_above):
            raise ValueError(
                "medium_from must not exceed easy_above: "
                f"{Fraction(*self.medium_from)} > {Fraction(*self.easy_above)}"
            )

    def share_edges(self) -> tuple[float, float]:
        """The majority shares (low, high) at which a population's k crosses the edges.

        A population with that share has P = (1 + (2 share - 1)^2) / 2. An edge that lies below the
        least P there is, one half, is crossed by no share and counts as one half.
        """
        chance = Fraction(*self.chance)
        observed = (
            chance + Fraction(*edge) * (1 - chance) for edge in (self.medium_from, self.easy_above)
        )
        low, high = ((1 + math.sqrt(max(float(2 * p - 1), 0.0))) / 2 for p in observed)
        return low, high

    def excess(self, s: _Whole, m: _Whole) -> tuple[_Whole, _Whole]:
        """k of S agreeing pairs among M as numerator and denominator, both whole."""
        numerator, denominator = self.chance
        return denominator * s - numerator * m, (denominator - numerator) * m


DEFAULT_BANDS: Final = Bands()


@dataclass(frozen=True, slots=True, kw_only=True)
class TierResult:
    """The tier of one pair. ``provisional`` with seven or eight votes; no tier with fewer."""

    tier: Tier | None
    provisional: bool
    reason: Reason | None

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "tier": self.tier,
            "provisional": self.provisional,
            "reason": None if self.reason is None else self.reason.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TierPosterior:
    """Probabilities that the population's k lies in each band; all None below seven votes.

    Nine votes place a pair loosely: an 8-1 pair is truly medium about one time in four. Show these
    next to a tier.
    """

    easy: float | None
    medium: float | None
    hard: float | None
    reason: Reason | None

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "easy": self.easy,
            "medium": self.medium,
            "hard": self.hard,
            "reason": None if self.reason is None else self.reason.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TierArrays:
    """`TierResult` of N pairs, arrays of shape (N,): tier codes (0 is none) and flags."""

    tier: Codes
    provisional: Bools


def pair_counts(a: int, b: int) -> tuple[int, int]:
    """(S, M): ordered pairs of votes that agree, and all ordered pairs."""
    if min(a, b) < 0:
        raise ValueError(f"votes cannot be negative: a={a}, b={b}")
    n = a + b
    return a * (a - 1) + b * (b - 1), n * (n - 1)


def k_exact(s: int, m: int, *, bands: Bands = DEFAULT_BANDS) -> Fraction:
    """k as an exact fraction, for M > 0."""
    return Fraction(*bands.excess(s, m))


def item_k(a: int, b: int, *, bands: Bands = DEFAULT_BANDS) -> Value:
    """Item agreement k of one pair, for the seven votes and more that a tier needs."""
    s, m = pair_counts(a, b)
    if a + b < TIER_MINIMUM:
        return Value.undefined(Reason.NOT_ENOUGH_VOTES)
    return Value(value=float(k_exact(s, m, bands=bands)), se_reason=Reason.SINGLE_ITEM)


def band(s: int, m: int, *, bands: Bands = DEFAULT_BANDS) -> Tier:
    """The band of k, for M > 0; an edge belongs to medium."""
    if m <= 0:
        raise ValueError(f"item agreement needs two votes; M is {m}")
    return band_of(k_exact(s, m, bands=bands), bands=bands)


def band_of(k: Fraction, *, bands: Bands = DEFAULT_BANDS) -> Tier:
    """The band of an exact k; an edge belongs to medium."""
    if k > Fraction(*bands.easy_above):
        return "easy"
    return "medium" if k >= Fraction(*bands.medium_from) else "hard"


def band_codes(s: Ints, m: Ints, *, bands: Bands = DEFAULT_BANDS) -> Codes:
    """`band` of arrays of shape (N,) as codes, 0 where M = 0."""
    above, whole = bands.excess(s, m)
    numerator, denominator = bands.easy_above
    easy = denominator * above > numerator * whole
    numerator, denominator = bands.medium_from
    medium = denominator * above >= numerator * whole
    codes = np.where(easy, EASY, np.where(medium, MEDIUM, HARD))
    return np.where(m > 0, codes, NONE).astype(np.int8)


def tier(a: int, b: int, *, bands: Bands = DEFAULT_BANDS) -> TierResult:
    """The tier of a pair with ``a`` and ``b`` votes on one criterion."""
    s, m = pair_counts(a, b)
    if a + b < TIER_MINIMUM:
        return TierResult(tier=None, provisional=False, reason=Reason.NOT_ENOUGH_VOTES)
    return TierResult(tier=band(s, m, bands=bands), provisional=a + b < TIER_FINAL, reason=None)


def tiers(a: npt.ArrayLike, b: npt.ArrayLike, *, bands: Bands = DEFAULT_BANDS) -> TierArrays:
    """`tier` of N pairs at once. Raises ValueError for unequal lengths or over 1,000 votes."""
    s, m, n = pair_count_arrays(a, b)
    return gated(band_codes(s, m, bands=bands), votes=n)


def gated(codes: Codes, *, votes: Ints) -> TierArrays:
    """Band codes as tiers: none below seven votes (the fewer, of two criteria), then flagged."""
    enough = votes >= TIER_MINIMUM
    return TierArrays(
        tier=np.where(enough, codes, NONE).astype(np.int8),
        provisional=enough & (votes < TIER_FINAL),
    )


def pair_count_arrays(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Ints, Ints, Ints]:
    """(S, M, n) of N pairs, each of shape (N,). Raises ValueError as `tiers` does."""
    votes_a = whole_numbers(a, name="votes for A", maximum=MAX_VOTES)
    votes_b = whole_numbers(b, name="votes for B", maximum=MAX_VOTES)
    if len(votes_a) != len(votes_b):
        raise ValueError(f"votes of {len(votes_a)} pairs for A but of {len(votes_b)} for B")
    n = votes_a + votes_b
    if n.max(initial=0) > MAX_VOTES:
        raise ValueError(f"a pair has {n.max():,} votes; tiers take at most {MAX_VOTES:,}")
    return votes_a * (votes_a - 1) + votes_b * (votes_b - 1), n * (n - 1), n


def combine(
    first: tuple[Ints, Ints], second: tuple[Ints, Ints], *, how: Literal["min", "mean"]
) -> tuple[Ints, Ints]:
    """(S, M) whose k is the smaller or the mean of the k of two criteria, without rounding.

    All arrays have shape (N,). The mean of two k is the k of S = S1 M2 + S2 M1 and M = 2 M1 M2.
    Where either criterion has no pair of votes the result is (0, 0).
    """
    (s1, m1), (s2, m2) = first, second
    if how == "mean":
        s, m = s1 * m2 + s2 * m1, 2 * m1 * m2
    else:
        lower = s1 * m2 <= s2 * m1
        s, m = np.where(lower, s1, s2), np.where(lower, m1, m2)
    defined = (m1 > 0) & (m2 > 0)
    return np.where(defined, s, 0), np.where(defined, m, 0)


def tier_posterior(
    a: int, b: int, *, bands: Bands = DEFAULT_BANDS, prior: float = 1.0
) -> TierPosterior:
    """Tier probabilities when the share of A has a Beta(prior + a, prior + b) posterior.

    A population with share p of votes for A has P = (1 + (2 p - 1)^2) / 2.
    """
    pair_counts(a, b)
    if a + b < TIER_MINIMUM:
        return TierPosterior(easy=None, medium=None, hard=None, reason=Reason.NOT_ENOUGH_VOTES)
    alpha, beta = prior + a, prior + b
    low, high = bands.share_edges()
    tails = beta_sf(high, alpha=alpha, beta=beta) + beta_cdf(1 - high, alpha=alpha, beta=beta)
    easy = min(1.0, tails)  # two rounded tails can exceed 1 where they meet
    hard = beta_cdf(low, alpha=alpha, beta=beta) - beta_cdf(1 - low, alpha=alpha, beta=beta)
    return TierPosterior(easy=easy, medium=max(0.0, 1 - easy - hard), hard=hard, reason=None)
