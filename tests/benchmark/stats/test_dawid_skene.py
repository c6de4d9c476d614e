import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.stats.accuracy import accuracy
from benchmark.stats.dawid_skene import TIED_WITHIN, dawid_skene
from benchmark.stats.votes import Votes
from tests.benchmark.stats.public_sets import public_votes, random_votes, votes_of
from tests.benchmark.stats.reference import needs_shared_data


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "expected"), [("rte", 0.9275), ("temporal", 0.941558), ("face_sentiment", 0.640411)]
)
@pytest.mark.parametrize("smoothing", [0, 0.01])
def test_public_sets(name, expected, smoothing):
    votes, truth = public_votes(name)
    found = dawid_skene(votes, smoothing=smoothing)
    assert found.converged
    assert found.iterations > 10
    score = accuracy(found.posterior, truth=truth, tolerance=TIED_WITHIN)
    assert score.fair.value == pytest.approx(expected, abs=1e-6)


@needs_shared_data
@pytest.mark.parametrize(("name", "expected"), [("rte", 0.88), ("temporal", 0.93)])
def test_rater_accuracy_goes_with_gold_accuracy(name, expected):
    votes, truth = public_votes(name)
    found = dawid_skene(votes)
    gold = np.bincount(votes.rater, weights=votes.choice == truth[votes.item]) / found.rater_votes
    enough = found.rater_votes >= 20
    correlation = np.corrcoef(gold[enough], found.rater_accuracy[enough])[0, 1]
    assert correlation == pytest.approx(expected, abs=0.005)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0, 0.01, 1]))
def test_the_objective_never_falls_and_rows_are_probabilities(seed, k, smoothing):
    votes = random_votes(seed, items=25, raters=6, per_item=3, k=k)
    found = dawid_skene(votes, smoothing=smoothing, max_iterations=60)
    steps = np.diff(found.objective)
    assert (steps >= -1e-9 * np.abs(found.objective[:-1])).all()
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(25))
    assert found.confusion.sum(axis=2) == pytest.approx(np.ones((6, k)))
    assert found.prevalence.sum() == pytest.approx(1)
    assert np.isfinite(found.log_likelihood)


def test_the_likelihood_by_hand():
    """One round from the vote shares, in plain loops."""
    votes = random_votes(7, items=12, raters=5, per_item=3)
    found = dawid_skene(votes, smoothing=0.5, max_iterations=1)
    rows = list(zip(votes.item, votes.rater, votes.choice, strict=True))
    share = votes.counts() / 3
    pi = np.full((5, 2, 2), 0.5)
    for i, r, c in rows:
        pi[r, :, c] += share[i]
    pi /= pi.sum(axis=2, keepdims=True)
    joint = np.tile(share.mean(axis=0), (12, 1))
    for i, r, c in rows:
        joint[i] *= pi[r, :, c]
    assert found.confusion == pytest.approx(pi)
    assert found.posterior == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    assert found.log_likelihood == pytest.approx(np.log(joint.sum(axis=1)).sum())
    assert found.objective[0] == pytest.approx(found.log_likelihood + 0.5 * np.log(pi).sum())
    assert not found.converged


def test_rows_raters_and_labels_in_another_order():
    votes = random_votes(11, items=60, raters=8, per_item=4)
    found = dawid_skene(votes)
    order = np.random.default_rng(2).permutation(len(votes))
    mixed = replace(
        votes,
        item=votes.item[order],
        rater=7 - votes.rater[order],
        choice=1 - votes.choice[order],
    )
    other = dawid_skene(mixed)
    assert other.posterior[:, ::-1] == pytest.approx(found.posterior, abs=1e-5)
    assert other.rater_accuracy[::-1] == pytest.approx(found.rater_accuracy, abs=1e-5)
    assert dawid_skene(votes).objective == found.objective


def test_biased_raters_are_seen_through():
    """Three of ten raters always say A: the majority follows them, the model does not."""
    rng = np.random.default_rng(4)
    items, raters = 1500, 60
    truth = rng.integers(0, 2, items)
    rater = rng.permuted(np.tile(np.arange(raters), (items, 1)), axis=1)[:, :9]
    right = rng.random(rater.shape) < 0.75
    choice = np.where(rater < 18, 0, np.where(right, truth[:, None], 1 - truth[:, None]))
    votes = Votes.of(
        np.repeat(np.arange(items), 9),
        rater.ravel(),
        choice.ravel(),
        n_items=items,
        n_raters=raters,
        categories=["A", "B"],
    )
    majority = accuracy(votes.counts(), truth=truth).fair.value
    model = accuracy(dawid_skene(votes).posterior, truth=truth).fair.value
    assert majority < 0.82
    assert model > 0.9
    assert dawid_skene(votes).rater_accuracy[:18] == pytest.approx(np.full(18, 0.5), abs=0.06)


@pytest.mark.parametrize("smoothing", [0, 0.01])
def test_degenerate_sets(smoothing):
    unanimous = dawid_skene(
        votes_of([(i, r, 0) for i in range(3) for r in range(2)]), smoothing=smoothing
    )
    assert unanimous.labels().tolist() == [0, 0, 0]
    tied = dawid_skene(votes_of([(0, 0, 0), (0, 1, 1)]), smoothing=smoothing)
    assert tied.labels().tolist() == [-1]
    lone = dawid_skene(votes_of([(0, 0, 1), (2, 0, 0)], n_raters=2), smoothing=smoothing)
    # Nobody voted on the second item. Of a rater alone nothing is known, and the prior says so.
    assert lone.labels().tolist() == ([-1, -1, -1] if smoothing else [1, -1, 0])
    assert lone.posterior[1].tolist() == [0, 0]
    decoded = json.loads(json.dumps(lone.as_json(), allow_nan=False))
    assert decoded["raters"][1] == {"votes": 0, "accuracy": None, "confusion": None}


def test_refusals():
    with pytest.raises(ValueError, match="needs votes"):
        dawid_skene(votes_of([]))
    with pytest.raises(ValueError, match="negative"):
        dawid_skene(votes_of([(0, 0, 0)]), smoothing=-1)
