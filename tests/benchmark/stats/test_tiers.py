import itertools
import json
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.codes import TIERS
from benchmark.stats.tiers import (
    DEFAULT_BANDS,
    MAX_VOTES,
    Bands,
    band,
    band_codes,
    combine,
    item_k,
    k_exact,
    pair_count_arrays,
    pair_counts,
    tier,
    tier_posterior,
    tiers,
)
from benchmark.stats.values import Reason
from tests.benchmark.stats.reference import load, needs_shared_data, untimed

SPLITS_TO_20 = [(a, n - a) for n in range(21) for a in range(n + 1)]
SPLITS_OF_9 = [(9, 0), (8, 1), (7, 2), (6, 3), (5, 4)]


def exact_k(a: int, b: int) -> F:
    n = a + b
    return 2 * (F(a, n) * F(a - 1, n - 1) + F(b, n) * F(b - 1, n - 1)) - 1


def exact_band(k: F, easy_above: F = F(3, 5), medium_from: F = F(2, 5)) -> str:
    return "easy" if k > easy_above else "medium" if k >= medium_from else "hard"


# --- One criterion ---


@pytest.mark.parametrize(
    ("a", "b", "k"),
    [
        (9, 0, F(1)),
        (8, 1, F(5, 9)),
        (7, 2, F(2, 9)),
        (6, 3, F(0)),
        (5, 4, F(-1, 9)),
        (7, 1, F(1, 2)),
        (6, 2, F(1, 7)),
        (5, 3, F(-1, 14)),
        (4, 4, F(-1, 7)),
        (6, 1, F(3, 7)),
        (5, 2, F(1, 21)),
        (4, 3, F(-1, 7)),
        (5, 1, F(1, 3)),
        (4, 2, F(-1, 15)),
        (3, 3, F(-1, 5)),
        (4, 1, F(1, 5)),
        (3, 2, F(-1, 5)),
        (3, 1, F(0)),
        (2, 2, F(-1, 3)),
        (2, 1, F(-1, 3)),
        (1, 1, F(-1)),
    ],
)
def test_k_by_hand(a, b, k):
    assert k_exact(*pair_counts(a, b)) == k_exact(*pair_counts(b, a)) == k


@needs_shared_data
def test_k_of_the_fixtures():
    for split, (p, k) in load("fixtures.json")["per_item_pe_half"].items():
        s, m = pair_counts(*map(int, split.split("-")))
        assert s / m == pytest.approx(p, abs=1e-9)
        assert float(k_exact(s, m)) == pytest.approx(k, abs=1e-9)


@pytest.mark.parametrize("n", [7, 8, 9])
def test_up_to_nine_votes_the_minority_decides(n):
    expected = {0: "easy", 1: "medium"}
    for a in range(n + 1):
        found = tier(a, n - a)
        assert found.tier == expected.get(min(a, n - a), "hard")
        assert found.provisional == (n < 9)
        assert found.reason is None


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(9, 1, "medium"), (10, 0, "easy"), (18, 2, "easy"), (17, 3, "medium"), (16, 4, "hard")],
)
def test_more_than_nine_votes(a, b, expected):
    """Nine to one is exactly .6: a float of 2 P - 1 would call it easy."""
    assert tier(a, b).tier == expected
    assert not tier(a, b).provisional


@pytest.mark.parametrize(("a", "b"), SPLITS_TO_20)
def test_the_integer_rule_is_the_exact_rule(a, b):
    found = tier(a, b)
    if a + b < 7:
        assert found.as_json() == {
            "tier": None,
            "provisional": False,
            "reason": "not_enough_votes",
        }
    else:
        assert found.tier == exact_band(exact_k(a, b))
    if a + b >= 2:
        s, m = pair_counts(a, b)
        assert k_exact(s, m) == exact_k(a, b)
        assert band(s, m) == exact_band(exact_k(a, b))
        by_hand = "easy" if 5 * s > 4 * m else "medium" if 10 * s >= 7 * m else "hard"
        assert band(s, m) == by_hand


def test_the_medium_band_is_empty_below_seven_votes():
    for n in range(3, 7):
        bands = {band(*pair_counts(a, n - a)) for a in range(n + 1)}
        assert bands == {"easy", "hard"}


def test_arrays_equal_the_scalar():
    a, b = (np.array(column) for column in zip(*SPLITS_TO_20, strict=True))
    found = tiers(a, b)
    for i, split in enumerate(SPLITS_TO_20):
        one = tier(*split)
        assert TIERS[found.tier[i]] == one.tier
        assert found.provisional[i] == one.provisional


edges = st.fractions(-1, 1, max_denominator=1000)


@untimed
@given(st.integers(0, 500), st.integers(0, 500), edges, edges)
def test_any_bands(a, b, first, second):
    low, high = sorted((first, second))
    bands = Bands(
        easy_above=(high.numerator, high.denominator),
        medium_from=(low.numerator, low.denominator),
    )
    found, arrays = tier(a, b, bands=bands), tiers([a], [b], bands=bands)
    assert found.tier == (None if a + b < 7 else exact_band(exact_k(a, b), high, low))
    assert TIERS[arrays.tier[0]] == found.tier


def test_k_is_published_from_seven_votes():
    assert item_k(8, 1).value == pytest.approx(5 / 9, abs=1e-15)
    assert item_k(3, 3).as_json() == {"value": None, "reason": "not_enough_votes"}


# --- Two criteria ---


def both(first: tuple[int, int], second: tuple[int, int], how: str) -> tuple[int, int]:
    arrays = [pair_count_arrays([a], [b])[:2] for a, b in (first, second)]
    s, m = combine(*arrays, how=how)
    return int(s[0]), int(m[0])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((9, 0), (9, 0), "easy"),
        ((9, 0), (8, 1), "easy"),
        ((9, 0), (7, 2), "easy"),
        ((9, 0), (6, 3), "medium"),
        ((9, 0), (5, 4), "medium"),
        ((8, 1), (8, 1), "medium"),
        ((8, 1), (7, 2), "hard"),
        ((8, 1), (6, 3), "hard"),
        ((7, 2), (7, 2), "hard"),
        ((5, 4), (5, 4), "hard"),
    ],
)
def test_mean_of_nine_and_nine(first, second, expected):
    assert band(*both(first, second, "mean")) == expected
    assert band(*both(second, first, "mean")) == expected


def test_mean_of_nine_and_nine_by_the_sum_of_s():
    for first, second in itertools.product(SPLITS_OF_9, repeat=2):
        total = pair_counts(*first)[0] + pair_counts(*second)[0]
        by_sum = "easy" if total >= 116 else "medium" if total >= 101 else "hard"
        assert band(*both(first, second, "mean")) == by_sum


@pytest.mark.parametrize(("second", "k"), [((3, 2), F(2, 5)), ((3, 3), F(2, 5)), ((4, 1), F(3, 5))])
@pytest.mark.parametrize("unanimous", [(5, 0), (7, 0), (9, 0)])
def test_both_edges_of_medium_are_closed(unanimous, second, k):
    s, m = both(unanimous, second, "mean")
    assert k_exact(s, m) == k
    assert band(s, m) == "medium"


def test_every_pair_of_splits_against_exact_fractions():
    splits = [split for split in SPLITS_TO_20 if 2 <= sum(split) <= 9]
    pairs = list(itertools.product(splits, repeat=2))
    columns = [np.array(column) for column in zip(*(p + q for p, q in pairs), strict=True)]
    first, second = pair_count_arrays(*columns[:2])[:2], pair_count_arrays(*columns[2:])[:2]
    for how in ("min", "mean"):
        s, m = combine(first, second, how=how)
        codes = band_codes(s, m)
        for i, (p, q) in enumerate(pairs):
            ks = (exact_k(*p), exact_k(*q))
            k = min(ks) if how == "min" else sum(ks) / 2
            assert k_exact(int(s[i]), int(m[i])) == k
            assert TIERS[codes[i]] == exact_band(k)


def test_min_is_the_harder_of_the_two_tiers():
    order = {"easy": 0, "medium": 1, "hard": 2}
    for p, q in itertools.product(SPLITS_OF_9, repeat=2):
        harder = max(tier(*p).tier, tier(*q).tier, key=order.__getitem__)
        assert band(*both(p, q, "min")) == harder


@pytest.mark.parametrize("how", ["min", "mean"])
def test_a_criterion_without_two_votes_combines_to_nothing(how):
    assert both((9, 0), (1, 0), how) == (0, 0)
    assert both((0, 0), (9, 0), how) == (0, 0)
    assert band_codes(np.array([0]), np.array([0])).tolist() == [0]


@untimed
@given(*[st.integers(0, MAX_VOTES // 2)] * 4, edges, edges)
def test_the_largest_counts_do_not_overflow(a, b, c, d, first, second):
    low, high = sorted((first, second))
    bands = Bands(
        easy_above=(high.numerator, high.denominator),
        medium_from=(low.numerator, low.denominator),
    )
    s, m = (np.array([value]) for value in both((a, b), (c, d), "mean"))
    if m[0]:
        k = (exact_k(a, b) + exact_k(c, d)) / 2
        assert TIERS[band_codes(s, m, bands=bands)[0]] == exact_band(k, high, low)


# --- Posterior ---


@pytest.mark.parametrize(
    ("a", "b", "easy", "medium", "hard"),
    [
        (9, 0, 0.6975, 0.1712, 0.1313),
        (8, 1, 0.3133, 0.2599, 0.4268),
        (7, 2, 0.0937, 0.1801, 0.7261),
        (6, 3, 0.0194, 0.0752, 0.9054),
        (5, 4, 0.0031, 0.0242, 0.9727),
        (8, 0, 0.6591, 0.1801, 0.1608),
        (7, 1, 0.2694, 0.2440, 0.4866),
        (7, 0, 0.6158, 0.1872, 0.1970),
        (6, 1, 0.2254, 0.2228, 0.5518),
    ],
)
def test_posterior_table(a, b, easy, medium, hard):
    for found in (tier_posterior(a, b), tier_posterior(b, a)):
        assert found.easy == pytest.approx(easy, abs=5.1e-5)
        assert found.medium == pytest.approx(medium, abs=5.1e-5)
        assert found.hard == pytest.approx(hard, abs=5.1e-5)


def test_posterior_under_the_jeffreys_prior():
    found = tier_posterior(8, 1, prior=0.5)
    assert (found.easy, found.medium, found.hard) == pytest.approx(
        (0.446, 0.239, 0.314), abs=5.1e-4
    )


def test_share_edges():
    assert DEFAULT_BANDS.share_edges() == pytest.approx((0.816228, 0.887298), abs=5e-7)
    assert Bands(easy_above=(1, 1), medium_from=(-1, 2)).share_edges() == (0.5, 1.0)


def test_posterior_against_simulation():
    draws = np.random.default_rng(3).beta(8, 3, size=400_000)
    k = (2 * draws - 1) ** 2
    found = tier_posterior(7, 2)
    assert found.easy == pytest.approx((k > 0.6).mean(), abs=0.005)
    assert found.hard == pytest.approx((k < 0.4).mean(), abs=0.005)


@untimed
@given(st.integers(0, 30), st.integers(0, 30), edges, edges)
def test_posteriors_are_probabilities(a, b, first, second):
    low, high = sorted((first, second))
    bands = Bands(
        easy_above=(high.numerator, high.denominator),
        medium_from=(low.numerator, low.denominator),
    )
    found = tier_posterior(a, b, bands=bands)
    json.dumps(found.as_json(), allow_nan=False)
    if a + b < 7:
        assert found.easy is found.medium is found.hard is None
        assert found.reason is Reason.NOT_ENOUGH_VOTES
    else:
        parts = (found.easy, found.medium, found.hard)
        assert all(0 <= part <= 1 for part in parts)
        assert sum(parts) == pytest.approx(1, abs=1e-12)


# --- Nonsense ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tier(-1, 9), "negative"),
        (lambda: tier_posterior(9, -1), "negative"),
        (lambda: band(0, 0), "two votes"),
        (lambda: tiers([1, 2], [3]), "2 pairs for A but of 1 for B"),
        (lambda: tiers([600], [600]), "1,200 votes; tiers take at most 1,000"),
        (lambda: tiers([9.0], [0]), "whole numbers"),
        (lambda: Bands(easy_above=(3, 0)), "easy_above: the denominator"),
        (lambda: Bands(easy_above=(3, 1001)), "easy_above: the denominator"),
        (lambda: Bands(easy_above=(6, 5)), "easy_above must lie between -1 and 1, not 6/5"),
        (lambda: Bands(medium_from=(4, 5)), "medium_from must not exceed easy_above: 4/5 > 3/5"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
