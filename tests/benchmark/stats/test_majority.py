import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from benchmark.stats.codes import STATUSES, WINNERS
from benchmark.stats.majority import TIE_RULES, majorities, majority, majority_posterior
from benchmark.stats.values import Reason
from tests.benchmark.stats.reference import untimed

SMALL = list(itertools.product(range(11), range(11), range(11)))


def test_a_decided_pair():
    found = majority(7, 2, skips=1)
    assert found.as_json() == {
        "winner": "A",
        "margin": 5,
        "share": {"value": 7 / 9, "se": None, "ci": None, "se_reason": "single_item"},
        "n": 9,
        "ties": 0,
        "skips": 1,
        "status": "decided",
        "reason": None,
        "posterior": pytest.approx(0.9453125),
    }
    assert majority(2, 7).winner == "B"


@pytest.mark.parametrize(
    ("a", "b", "ties", "minimum", "status"),
    [
        (4, 4, 0, 7, "tied"),
        (4, 4, 1, 7, "tied"),
        (3, 2, 4, 7, "tied"),  # more tie votes than votes for either
        (4, 1, 4, 7, "decided"),  # as many tie votes as votes for A
        (5, 1, 0, 7, "insufficient"),
        (4, 2, 1, 7, "decided"),  # a tie vote counts toward the minimum
        (0, 0, 9, 7, "insufficient"),  # no A or B at all
        (0, 0, 0, 7, "insufficient"),
        (0, 0, 0, 0, "insufficient"),
        (1, 1, 0, 7, "insufficient"),  # too few votes come before a tie
        (2, 1, 0, 3, "decided"),
        (0, 1, 0, 1, "decided"),
    ],
)
def test_status(a, b, ties, minimum, status):
    found = majority(a, b, ties=ties, minimum=minimum)
    assert found.status == status
    assert found.as_json()["reason"] == (None if status == "decided" else status)
    assert (found.winner is None) == (status != "decided")


def test_skips_are_no_votes():
    assert majority(5, 1, skips=20).status == "insufficient"


def test_ties_may_be_told_never_to_win():
    assert majority(3, 2, ties=4, tie_rule="ties_never_win").winner == "A"
    assert majority(4, 4, ties=1, tie_rule="ties_never_win").status == "tied"


def test_a_share_without_votes_is_undefined():
    share = majority(0, 0, ties=9).share
    assert (share.value, share.reason) == (None, Reason.NO_VOTES)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (9, 0, 0.9990),
        (8, 1, 0.9893),
        (7, 2, 0.9453),
        (6, 3, 0.8281),
        (5, 4, 0.6230),
        (7, 1, 0.9805),
        (6, 2, 0.9102),
        (5, 3, 0.7461),
        (6, 1, 0.9648),
        (5, 2, 0.8555),
        (4, 3, 0.6367),
        (5, 0, 0.9844),
        (4, 1, 0.8906),
        (3, 2, 0.6563),
        (4, 4, 0.5),
        (0, 0, 0.5),
    ],
)
def test_posterior(a, b, expected):
    assert majority(a, b).posterior == pytest.approx(expected, abs=5.1e-5)
    assert majority(b, a).posterior == majority(a, b).posterior


@untimed
@given(st.integers(0, 60), st.integers(0, 60))
def test_the_posterior_is_a_beta_tail(a, b):
    top = max(a, b)
    expected = beta.sf(0.5, 1 + top, 1 + a + b - top)
    assert majority_posterior(top, a + b) == pytest.approx(expected, abs=1e-12)


def test_impossible_posteriors_are_refused():
    with pytest.raises(ValueError, match="10 of 9 votes"):
        majority_posterior(10, 9)


@pytest.mark.parametrize("tie_rule", TIE_RULES)
@pytest.mark.parametrize("minimum", [0, 1, 7, 9])
def test_arrays_equal_the_scalar_on_all_small_inputs(tie_rule, minimum):
    a, b, ties = (np.array(column) for column in zip(*SMALL, strict=True))
    found = majorities(a, b, ties=ties, minimum=minimum, tie_rule=tie_rule)
    for i, (votes_a, votes_b, votes_tie) in enumerate(SMALL):
        one = majority(votes_a, votes_b, ties=votes_tie, minimum=minimum, tie_rule=tie_rule)
        assert WINNERS[found.winner[i]] == one.winner
        assert STATUSES[found.status[i]] == one.status
        assert (found.margin[i], found.n[i]) == (one.margin, one.n)
        if one.n:
            assert one.share.value == float(Fraction(int(found.top[i]), one.n))


@untimed
@given(*[st.integers(0, 20)] * 3, st.sampled_from(TIE_RULES))
def test_swapping_the_labels_swaps_the_winner_and_nothing_else(a, b, ties, tie_rule):
    one = majority(a, b, ties=ties, tie_rule=tie_rule)
    other = majority(b, a, ties=ties, tie_rule=tie_rule)
    assert other.winner == {"A": "B", "B": "A", None: None}[one.winner]
    assert (other.status, other.margin, other.share) == (one.status, one.margin, one.share)
    json.dumps(one.as_json(), allow_nan=False)


def test_no_pairs():
    found = majorities([], [], ties=[])
    assert found.winner.shape == found.status.shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: majority(-1, 3), "negative"),
        (lambda: majority(1, 3, ties=-1), "negative"),
        (lambda: majority(1, 3, tie_rule="first_label"), "tie rule must be"),
        (lambda: majorities([1], [2], ties=[0], tie_rule="coin"), "tie rule must be"),
        (lambda: majorities([1], [2, 3], ties=[0]), "votes of 1 .A., 2 .B. and 1 .tie. pairs"),
        (lambda: majorities([1.5], [2], ties=[0]), "votes for A must be whole"),
        (lambda: majorities([1], [-2], ties=[0]), "votes for B must lie between 0"),
        (lambda: majorities([[1]], [2], ties=[0]), "1 dimension"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
