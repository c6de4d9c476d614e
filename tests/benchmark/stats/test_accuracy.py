import json

import numpy as np
import pytest

from benchmark.stats.accuracy import accuracy
from benchmark.stats.values import Reason
from tests.benchmark.stats.public_sets import public_votes
from tests.benchmark.stats.reference import load, needs_shared_data


@needs_shared_data
@pytest.mark.parametrize("name", ["rte", "temporal", "face_sentiment"])
def test_majority_of_public_sets(name):
    votes, truth = public_votes(name)
    found = accuracy(votes.counts(), truth=truth)
    expected = load("expected.json")["sets"][name]["majority"]
    assert found.items - found.ties == expected["decided"]
    for field in ("ties", "correct_decided", "truth_among_tied"):
        assert getattr(found, field) == expected[field]
    for field, value in (
        ("accuracy_fair_ties", found.fair),
        ("accuracy_decided_only", found.decided_only),
        ("accuracy_ties_wrong", found.ties_wrong),
    ):
        assert value.value == pytest.approx(expected[field], abs=1e-9)


def test_ties_by_hand():
    counts = [[3, 1, 0], [2, 2, 0], [2, 2, 0], [1, 1, 1], [0, 0, 4], [0, 0, 0]]
    found = accuracy(counts, truth=[0, 1, 2, 2, 0, 0])
    assert (found.items, found.unscored, found.ties) == (5, 1, 3)
    assert (found.correct_decided, found.truth_among_tied) == (1, 2)
    assert found.fair.value == pytest.approx((1 + 1 / 2 + 1 / 3) / 5)
    assert found.decided_only.value == 1 / 2
    assert found.ties_wrong.value == 1 / 5


def test_the_order_of_labels_breaks_no_tie():
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, size=(200, 4))
    truth = rng.integers(0, 4, size=200)
    other = rng.permutation(4)
    swapped = accuracy(counts[:, other], truth=np.argsort(other)[truth])
    assert swapped.as_json() == accuracy(counts, truth=truth).as_json()


def test_rounded_probabilities_may_tie():
    scores = [[0.5, 0.5 - 1e-12]]
    assert accuracy(scores, truth=[0]).ties == 0
    assert accuracy(scores, truth=[0], tolerance=1e-9).ties == 1


def test_nothing_and_nonsense():
    empty = accuracy(np.zeros((0, 2)), truth=[])
    assert empty.fair.reason is Reason.NO_VOTES
    tied = accuracy([[1, 1]], truth=[0])
    assert tied.decided_only.reason is Reason.NO_VOTES
    json.dumps(tied.as_json(), allow_nan=False)
    for scores, truth in (([[1]], [0]), ([[1, 2]], [2]), ([[1, 2]], [0, 1])):
        with pytest.raises(ValueError, match=r"gold labels|two or more"):
            accuracy(scores, truth=truth)
