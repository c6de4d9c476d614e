import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmark.stats.discovery import flagged
from benchmark.stats.habits import (
    identical_answers,
    length_preference,
    run_probability,
    side_preference,
    side_runs,
)
from benchmark.stats.values import Reason
from tests.benchmark.stats.public_sets import public_votes, random_votes, votes_of
from tests.benchmark.stats.reference import needs_shared_data


def sides_drawn(votes, seed: int):
    return np.random.default_rng(seed).integers(1, 3, len(votes))


# --- Sides and lengths ---


def test_side_by_hand():
    votes = votes_of([(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 0, 2), (4, 0, 0), (0, 1, 1)], k=3)
    first, second = side_preference(votes, left=[1, 2, 1, 1, 0, 2])
    # A left and chosen, B left and chosen, A left and B chosen; a tie, and an unknown order.
    assert (first.chosen, first.asked, first.compared) == (2, 3, 1)
    assert first.share.value == pytest.approx(2 / 3)
    assert first.even.z == pytest.approx((2 - 1.5) / 0.75**0.5)
    # The other rater chose B on the first item, where A stood on this one's left.
    assert first.expected.value == 0
    assert (second.chosen, second.asked) == (1, 1)
    assert second.expected.value == 0


def test_the_band_of_five_hundred_votes():
    """At m = 500 a share within .456 to .544 is no deviation, one just outside is."""
    for left, inside in ((228, True), (272, True), (227, False), (273, False)):
        votes = votes_of([(i, 0, int(i >= left)) for i in range(500)])
        (found,) = side_preference(votes, left=np.ones(500, dtype=int))
        assert found.even.z == pytest.approx((left - 250) / 125**0.5)
        assert (abs(found.even.z) <= 1.97) == inside
        assert found.even.p == pytest.approx(binomtest(left, 500).pvalue)


@pytest.mark.parametrize("m", [1, 2, 9, 40])
def test_the_exact_p(m):
    for left in range(m + 1):
        votes = votes_of([(i, 0, int(i >= left)) for i in range(m)])
        (found,) = side_preference(votes, left=np.ones(m, dtype=int))
        assert found.even.p == pytest.approx(binomtest(left, m).pvalue)


@needs_shared_data
def test_the_label_rate_of_rte_raters_mimics_a_bias():
    votes, _ = public_votes("rte")
    found = side_preference(votes, left=np.ones(len(votes), dtype=int))
    assert sum(abs(one.even.z) > 3 for one in found) == 17


def test_the_mix_tells_content_from_habit():
    """All items favor A, which always stands left: nobody is biased. One rater then turns left."""
    rng = np.random.default_rng(6)
    votes = random_votes(2, items=800, raters=20, per_item=9)
    votes = replace(votes, choice=(rng.random(len(votes)) < 0.2).astype(np.int64))
    content = side_preference(votes, left=np.ones(len(votes), dtype=int))
    assert all(one.even.z > 3 for one in content)
    assert not any(flagged([one.mix.p for one in content]))

    left = sides_drawn(votes, 3)
    drawn = side_preference(votes, left=left)
    assert not any(flagged([one.even.p for one in drawn]))
    habit = replace(votes, choice=np.where(votes.rater == 4, left - 1, votes.choice))
    for field in ("even", "mix"):
        p = [getattr(one, field).p for one in side_preference(habit, left=left)]
        assert np.flatnonzero(flagged(p)).tolist() == [4]


def test_the_mix_by_hand():
    """Alone against three for the left, and one of two against two, among four votes each."""
    rows = [(0, 0, 1), *((0, r, 0) for r in (1, 2, 3)), (1, 0, 0), (1, 1, 0), (1, 2, 1), (1, 3, 1)]
    found = side_preference(votes_of(rows), left=[1] * 8)[0]
    assert found.expected.value == pytest.approx((1 + 1 / 3) / 2)
    # Share of A times share of B, over what leaving out the own vote costs: x (n - x) / (n - 1)^2.
    assert found.mix.z == pytest.approx((0 - 1 + 1 - 1 / 3) / (3 / 9 + 4 / 9) ** 0.5)


def test_swapping_the_labels_or_the_sides():
    votes = random_votes(9, items=60, raters=6, per_item=5)
    left = sides_drawn(votes, 1)
    found = side_preference(votes, left=left)
    same = side_preference(replace(votes, choice=1 - votes.choice), left=3 - left)
    assert same == found
    mirrored = side_preference(votes, left=3 - left)
    for one, other in zip(found, mirrored, strict=True):
        assert one.share.value + other.share.value == pytest.approx(1)
        assert one.even.p == pytest.approx(other.even.p)
        assert one.mix.z == pytest.approx(-other.mix.z)


def test_length_against_the_others():
    votes = votes_of([(i, r, int(r == 2)) for i in range(10) for r in range(5)])
    found = length_preference(votes, longer=[1] * 8 + [2, 0])
    assert (found[0].chosen, found[0].asked) == (8, 9)
    assert found[0].expected.value == pytest.approx((8 * 3 / 4 + 1 / 4) / 9)
    assert found[2].share.value == pytest.approx(1 / 9)
    assert found[2].mix.z < -2
    with pytest.raises(ValueError, match="3 items for 10"):
        length_preference(votes, longer=[1, 2, 0])


def test_nothing_to_prefer():
    votes = votes_of([(0, 0, 0), (0, 1, 0), (1, 1, 0)])
    unknown = side_preference(votes, left=[0, 0, 0])[0]
    assert unknown.share.reason is unknown.even.reason is Reason.NO_VOTES
    assert unknown.mix.reason is Reason.NO_OVERLAP
    unanimous = side_preference(votes, left=[1, 1, 1])
    assert unanimous[0].mix.reason is Reason.ZERO_SPREAD
    json.dumps([one.as_json() for one in unanimous], allow_nan=False)
    assert side_preference(votes_of([]), left=[]) == ()
    for left in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="left"):
            side_preference(votes, left=left)


# --- Runs ---


def longest_run(flips) -> int:
    return max(len(list(run)) for _, run in itertools.groupby(flips))


@pytest.mark.parametrize("flips", [1, 2, 5, 10])
def test_run_probability_by_every_sequence(flips):
    longest = [longest_run(bits) for bits in itertools.product((0, 1), repeat=flips)]
    for run in range(flips + 2):
        expected = sum(length >= run for length in longest) / 2**flips
        assert run_probability(run, flips) == pytest.approx(expected, abs=1e-12)


def test_an_extreme_run_keeps_its_digits():
    assert run_probability(300, 300) == 2.0**-299


def test_runs_by_hand():
    rows = [(i, 0, c) for i, c in enumerate([0, 0, 1, 2, 1, 1])] + [(0, 1, 0), (1, 1, 0)]
    votes = votes_of(rows, k=3, n_raters=3)
    # Sides chosen: left, left, left; a tie; right, right. The other rater: unknown, left.
    first, second, idle = side_runs(votes, left=[1, 1, 2, 1, 1, 1, 0, 1])
    assert (first.longest, first.sided) == (3, 5)
    assert first.probability == run_probability(3, 5)
    assert (second.longest, second.sided, second.probability) == (1, 1, 1)
    assert (idle.longest, idle.reason) == (0, Reason.NO_VOTES)
    json.dumps(idle.as_json(), allow_nan=False)


def test_a_run_ends_with_its_rater():
    votes = votes_of([(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)])
    first, second = side_runs(votes, left=[1, 1, 1, 1])
    assert (first.longest, second.longest) == (2, 1)


# --- The same answer twice ---


def test_identical_answers_by_hand():
    first = votes_of([(0, 0, 0), (1, 0, 1), (2, 0, 0), (0, 1, 0), (1, 1, 0)], k=3)
    second = votes_of([(1, 1, 0), (0, 0, 0), (1, 0, 2), (2, 1, 1), (0, 1, 1)], k=3)
    one, other = identical_answers(first, second)
    # Item 2 was answered on one criterion only by either rater.
    assert (one.same, one.asked, one.share.value) == (1, 2, 0.5)
    assert (other.same, other.asked, other.others.value) == (1, 2, 0.5)
    assert one.deviation.z == 0


def test_a_rater_who_copies():
    rng = np.random.default_rng(3)
    first = random_votes(1, items=400, raters=10, per_item=5)
    differ = rng.random(len(first)) < 0.3
    second = replace(
        first, choice=np.where(differ & (first.rater != 7), 1 - first.choice, first.choice)
    )
    found = identical_answers(first, second)
    assert found[7].share.value == 1
    assert np.flatnonzero(flagged([one.deviation.p for one in found])).tolist() == [7]


def test_nobody_to_compare():
    votes = votes_of([(0, 0, 0)], n_raters=2)
    alone, idle = identical_answers(votes, votes)
    assert alone.deviation.reason is alone.others.reason is Reason.NO_OVERLAP
    assert idle.share.reason is idle.deviation.reason is Reason.NO_VOTES
    same = votes_of([(0, 0, 0), (0, 1, 0)])
    assert identical_answers(same, same)[0].deviation.reason is Reason.ZERO_SPREAD
    with pytest.raises(ValueError, match="must share"):
        identical_answers(same, votes_of([(0, 0, 0), (0, 1, 0)], k=3))
