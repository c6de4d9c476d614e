import json

import numpy as np
import pytest

from benchmark.stats.bias import length_bias, position_bias
from benchmark.stats.values import Reason
from tests.benchmark.stats.public_sets import random_votes, votes_of


def test_position_by_hand():
    votes = votes_of([(i, 0, c) for i, c in enumerate([0, 0, 1, 1, 0, 2])], k=3)
    found = position_bias(votes, left=[1, 2, 2, 1, 0, 1])
    # Left chosen with A there, and with B; then neither; one order is unknown, one vote a tie.
    assert (found.left, found.known, found.unknown) == (2, 4, 1)
    assert found.share.value == 0.5
    assert found.deviation.z == 0
    assert found.left_is["A"].value == found.left_is["B"].value == 0.5


def test_merit_is_not_position():
    """A is chosen nine times in ten, wherever it stands."""
    rng = np.random.default_rng(0)
    votes = votes_of([(i, 0, int(rng.random() < 0.1)) for i in range(4000)])
    left = rng.integers(1, 3, 4000)
    found = position_bias(votes, left=left)
    assert found.share.ci[0] < 0.5 < found.share.ci[1]
    assert abs(found.deviation.z) < 3
    assert found.left_is["A"].value == pytest.approx(0.9, abs=0.03)
    assert found.left_is["B"].value == pytest.approx(0.1, abs=0.03)


def test_a_set_that_leans_left():
    votes = random_votes(1, items=500, raters=9, per_item=9)
    rng = np.random.default_rng(2)
    left = rng.integers(1, 3, len(votes))
    leaning = np.where(rng.random(len(votes)) < 0.1, left - 1, votes.choice)
    table = zip(votes.item.tolist(), votes.rater.tolist(), leaning.tolist(), strict=True)
    found = position_bias(votes_of(list(table)), left=left)
    assert found.share.value == pytest.approx(0.55, abs=0.02)
    assert found.deviation.z == pytest.approx((found.left - 2250) / 1125**0.5)
    assert found.deviation.z > 4


def test_no_known_order():
    found = position_bias(votes_of([(0, 0, 0)]), left=[0])
    assert found.share.reason is found.deviation.reason is Reason.NO_VOTES
    json.dumps(found.as_json(), allow_nan=False)


def test_length_by_hand():
    found = length_bias(
        [[8, 1], [3, 6], [9, 0], [4, 5], [0, 0]],
        characters=[[200, 100], [100, 105], [100, 100], [300, 100], [10, 11]],
        winner=[1, 2, 1, 0, 0],
    )
    assert found.equal == 1
    assert (found.overall.pairs, found.overall.votes, found.overall.decided) == (4, 27, 2)
    assert found.overall.by_votes.value == pytest.approx((8 + 6 + 4) / 27)
    assert found.overall.by_majorities.value == 1
    pairs = {one.low: one.longer_wins.pairs for one in found.bins}
    assert pairs == {1.0: 1, 1.1: 1, 1.25: 0, 1.5: 0, 2.0: 2}  # 2.0 and 3.0; 1.05; 11/10
    assert found.bins[-1].high is None
    assert found.bins[2].longer_wins.by_votes.reason is Reason.NO_VOTES
    json.dumps(found.as_json(), allow_nan=False)


def test_exchanging_the_responses_changes_nothing():
    rng = np.random.default_rng(3)
    counts = rng.multinomial(9, [0.6, 0.4], size=300)
    characters = rng.integers(50, 500, size=(300, 2))
    winner = np.where(counts[:, 0] > counts[:, 1], 1, 2)
    found = length_bias(counts, characters=characters, winner=winner)
    other = length_bias(counts[:, ::-1], characters=characters[:, ::-1], winner=3 - winner)
    assert other == found
    assert sum(one.longer_wins.pairs for one in found.bins) == found.overall.pairs


def test_votes_on_one_pair_are_not_independent():
    """Unanimous panels hold one piece of information each: the interval is that of the pairs."""
    counts = [[9, 0]] * 60 + [[0, 9]] * 40
    found = length_bias(counts, characters=[[2, 1]] * 100, winner=[1] * 60 + [2] * 40)
    assert found.overall.by_votes.se == pytest.approx((0.6 * 0.4 / 99) ** 0.5)
    assert found.overall.by_majorities.value == 0.6


def test_refusals():
    for ratios in ((), (1.1, 2.0), (1.0, 1.5, 1.2)):
        with pytest.raises(ValueError, match="ascend from 1"):
            length_bias([[1, 0]], characters=[[1, 2]], winner=[1], ratios=ratios)
    with pytest.raises(ValueError, match="winners for 1 pairs"):
        length_bias([[1, 0]], characters=[[1, 2]], winner=[1, 2])
