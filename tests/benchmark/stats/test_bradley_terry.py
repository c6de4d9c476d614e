import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.bradley_terry import bradley_terry, strengths
from benchmark.stats.values import Reason
from tests.benchmark.stats.reference import load, needs_shared_data, untimed

WINS = [[0, 7, 8, 9], [2, 0, 6, 7], [1, 3, 0, 5], [0, 2, 4, 0]]
STRENGTHS = [0.7205772975, 0.1635500307, 0.0705968921, 0.0452757797]


def contests() -> tuple[list[int], list[int], list[int]]:
    """The wins one by one; every other contest is written the other way round."""
    rows = []
    for i, j in itertools.permutations(range(4), 2):
        for n in range(WINS[i][j]):
            rows.append((i, j, 1) if n % 2 else (j, i, 2))
    first, second, outcome = map(list, zip(*rows, strict=True))
    return first, second, outcome


def test_four_systems():
    assert [one.value for one in strengths(WINS)] == pytest.approx(STRENGTHS, abs=1e-9)


@needs_shared_data
def test_the_fixture():
    fixture = load("fixtures.json")["bradley_terry_4"]
    found = [one.value for one in strengths(fixture["wins"])]
    assert found == pytest.approx(fixture["mle_sum1"], abs=1e-9)
    logs = np.log(found)
    assert logs - logs.mean() == pytest.approx(fixture["log_centered"], abs=1e-8)


@untimed
@given(
    st.integers(2, 5).flatmap(
        lambda s: st.lists(
            st.lists(st.integers(1, 9), min_size=s, max_size=s), min_size=s, max_size=s
        )
    )
)
def test_expected_wins_are_the_wins(rows):
    """The equations of the maximum: each system is expected to win as often as it did."""
    wins = np.array(rows, dtype=float)
    np.fill_diagonal(wins, 0)
    p = np.array([one.value for one in strengths(wins)])
    n = wins + wins.T
    expected = (n * p[:, None] / (p[:, None] + p)).sum(axis=1)
    assert expected == pytest.approx(wins.sum(axis=1), rel=1e-6)
    assert p.sum() == pytest.approx(1)
    turned = [one.value for one in strengths(wins[::-1, ::-1])]
    assert turned[::-1] == pytest.approx(p, rel=1e-6)


def test_contests_and_their_intervals():
    first, second, outcome = contests()
    found = bradley_terry(first, second, outcome, case=range(54), systems=4, seed=7, replicates=300)
    assert [one.value for one in found.strengths] == pytest.approx(STRENGTHS, abs=1e-9)
    for one in found.strengths:
        assert one.ci[0] < one.value < one.ci[1]
    assert (found.contests, found.cases, found.replicates) == (54, 54, 300)
    assert 0 < found.dropped < 60
    again = bradley_terry(first, second, outcome, case=range(54), systems=4, seed=7, replicates=300)
    assert again == found
    json.dumps(found.as_json(), allow_nan=False)


def test_the_spread_of_two_systems_is_that_of_a_share():
    """With two systems p is the share of wins, so the bootstrap is binomial."""
    outcome = [1] * 60 + [2] * 40
    found = bradley_terry(
        [0] * 100, [1] * 100, outcome, case=range(100), systems=2, seed=1, replicates=2000
    )
    assert found.strengths[0].value == pytest.approx(0.6)
    assert found.strengths[0].se == pytest.approx((0.6 * 0.4 / 100) ** 0.5, rel=0.1)


def test_contests_of_a_case_are_drawn_together():
    outcome = ([1] * 60 + [2] * 40) * 4
    case = list(range(100)) * 4
    found = bradley_terry(
        [0] * 400, [1] * 400, outcome, case=case, systems=2, seed=1, replicates=500
    )
    assert found.strengths[0].se == pytest.approx((0.6 * 0.4 / 100) ** 0.5, rel=0.15)


def test_a_tie_is_half_a_win_each():
    first, second = [0, 0, 0, 0], [1, 1, 1, 1]
    found = bradley_terry(first, second, [0, 0, 1, 1], case=range(4), systems=2, seed=1)
    assert found.strengths[0].value == pytest.approx(3 / 4)
    assert strengths([[0, 3], [1, 0]])[0].value == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    "wins",
    [
        [[0, 5], [0, 0]],  # unbeaten
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]],  # never met
        [[0, 2, 1, 0], [2, 0, 0, 1], [0, 0, 0, 3], [0, 0, 3, 0]],  # two groups, one way
        [[0, 0], [0, 0]],
    ],
)
def test_not_strongly_connected(wins):
    assert {one.reason for one in strengths(wins)} == {Reason.NOT_STRONGLY_CONNECTED}


def test_a_long_ring_is_connected():
    ring = np.roll(np.eye(9), 1, axis=1)
    assert [one.value for one in strengths(ring)] == pytest.approx([1 / 9] * 9)


def test_no_strengths_no_intervals():
    found = bradley_terry([0], [1], [1], case=[0], systems=3, seed=1)
    assert [one.reason for one in found.strengths] == [Reason.NOT_STRONGLY_CONNECTED] * 3
    assert found.replicates == 0
    none = bradley_terry([], [], [], case=[], systems=2, seed=1)
    assert none.strengths[0].value is None
    one_case = bradley_terry([0, 0], [1, 1], [1, 2], case=[5, 5], systems=2, seed=1, replicates=3)
    assert one_case.strengths[0].se_reason is Reason.SINGLE_ITEM


def test_refusals():
    for wins in ([[0, 1]], [[0]], [[1, 2], [2, 0]], [[0, -1], [1, 0]]):
        with pytest.raises(ValueError, match="wins must"):
            strengths(wins)
    for first, second, outcome, message in (
        ([0], [0], [1], "between two"),
        ([0], [1], [3], "between two"),
        ([0], [2], [1], "coded below 2"),
        ([0, 1], [1], [1], "differ in length"),
    ):
        with pytest.raises(ValueError, match=message):
            bradley_terry(first, second, outcome, case=[0] * len(first), systems=2, seed=1)
