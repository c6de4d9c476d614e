import json

import numpy as np
import pytest

from benchmark.stats.speed import rater_speeds
from benchmark.stats.values import Reason
from tests.benchmark.stats.public_sets import random_votes, votes_of


def timed_set(seed: int = 0):
    """Twelve raters whose times follow length and their own level, with noise."""
    rng = np.random.default_rng(seed)
    votes = random_votes(seed, items=300, raters=12, per_item=6)
    characters = rng.integers(200, 4000, 300)
    level = rng.normal(0, 0.3, 12)
    seconds = np.exp(
        level[votes.rater]
        + 0.8 * np.log(characters[votes.item] / 5)
        + rng.normal(0, 0.25, len(votes))
    )
    return votes, seconds, characters


def test_an_ordinary_set_has_next_to_no_hasty_votes():
    votes, seconds, characters = timed_set()
    found = rater_speeds(votes, seconds=seconds, characters=characters)
    assert sum(one.timed for one in found) == len(votes)
    assert max(one.rushed.value for one in found) < 0.02
    assert all(one.unread.value == 0 for one in found)
    assert found[3].median_seconds == pytest.approx(np.median(seconds[votes.rater == 3]))


def test_hasty_votes_are_found_within_a_rater():
    votes, seconds, characters = timed_set()
    mine = np.flatnonzero(votes.rater == 5)
    hasty = mine[: len(mine) // 5]
    seconds[hasty] = 1.0
    found = rater_speeds(votes, seconds=seconds, characters=characters)
    assert found[5].rushed.value == pytest.approx(len(hasty) / len(mine), abs=0.02)
    assert found[5].unread.value == pytest.approx(len(hasty) / len(mine), abs=0.01)
    assert max(one.rushed.value for one in found if one is not found[5]) < 0.02


def test_a_rater_who_is_fast_throughout_shows_in_pace_and_not_as_rushed():
    votes, seconds, characters = timed_set()
    seconds[votes.rater == 2] /= 20
    found = rater_speeds(votes, seconds=seconds, characters=characters)
    assert found[2].pace.z < -3.5
    assert found[2].rushed.value < 0.03
    assert min(one.pace.z for one in found if one is not found[2]) > -3.5


def test_length_is_allowed_for():
    """Times that follow length exactly leave no residual: there is nothing to compare with."""
    votes = random_votes(4, items=50, raters=5, per_item=3)
    characters = np.arange(100, 5100, 100)
    found = rater_speeds(votes, seconds=characters[votes.item] / 20, characters=characters)
    assert all(one.rushed.reason is Reason.ZERO_SPREAD for one in found)
    assert all(one.pace.reason is Reason.ZERO_SPREAD for one in found)


def test_the_unit_of_time_does_not_matter():
    votes, seconds, characters = timed_set(3)
    found = rater_speeds(votes, seconds=seconds, characters=characters)
    other = rater_speeds(votes, seconds=seconds * 1000, characters=characters)
    for one, same in zip(found, other, strict=True):
        assert one.rushed == same.rushed
        assert one.pace.z == pytest.approx(same.pace.z)


def test_robust_z_by_hand():
    """Equal texts; residuals of log2 seconds -5 -1 -1 0 0 1 1 around the median: MAD 1."""
    seconds = 2.0 ** np.array([-5, -1, -1, 0, 0, 1, 1]) * 60
    votes = votes_of([(i, 0, 0) for i in range(7)])
    (one,) = rater_speeds(votes, seconds=seconds, characters=[100] * 7)
    # z = .6745 * -5 = -3.37: not below -3.5, while -6 would be.
    assert one.rushed.value == 0
    seconds[0] /= 2
    (one,) = rater_speeds(votes, seconds=seconds, characters=[100] * 7)
    assert one.rushed.value == pytest.approx(1 / 7)
    assert one.median_seconds == 60


def test_the_median_of_an_even_number():
    votes = votes_of([(i, 0, 0) for i in range(4)])
    (one,) = rater_speeds(votes, seconds=[30, 10, 40, 20], characters=[100] * 4)
    assert one.median_seconds == 25


def test_times_that_are_none():
    votes = votes_of([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 1), (0, 2, 1)], n_raters=4)
    found = rater_speeds(votes, seconds=[10, np.nan, 0, -3, np.inf], characters=[100, 0])
    assert [one.timed for one in found] == [1, 0, 0, 0]
    assert found[0].rushed.reason is Reason.ZERO_SPREAD
    assert found[1].median_seconds is None
    assert found[1].rushed.reason is found[1].pace.reason is Reason.NO_VOTES
    json.dumps([one.as_json() for one in found], allow_nan=False)
    assert rater_speeds(votes_of([]), seconds=[], characters=[]) == ()
    with pytest.raises(ValueError, match="seconds"):
        rater_speeds(votes, seconds=[1.0], characters=[1, 1])
