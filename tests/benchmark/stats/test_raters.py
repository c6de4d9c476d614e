import json
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.stats.raters import rater_agreement
from benchmark.stats.values import Reason
from benchmark.stats.votes import Votes
from tests.benchmark.stats.public_sets import public_votes, random_votes, votes_of
from tests.benchmark.stats.reference import needs_shared_data


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "pair", "majority"), [("rte", 0.73, 0.78), ("temporal", 0.87, 0.94)]
)
def test_agreement_goes_with_gold_accuracy(name, pair, majority):
    votes, truth = public_votes(name)
    found = rater_agreement(votes)
    n = np.array([one.votes for one in found])
    gold = np.bincount(votes.rater, weights=votes.choice == truth[votes.item]) / n
    enough = n >= 20
    for field, expected in (("pair_agreement", pair), ("majority_agreement", majority)):
        values = np.array([getattr(one, field).value for one in found])
        assert np.corrcoef(gold[enough], values[enough])[0, 1] == pytest.approx(expected, abs=0.005)


def plain(votes: Votes, rater: int) -> dict[str, float]:
    """The same, vote by vote; the variance by putting each vote of an item in the rater's place."""
    rows = list(zip(votes.item.tolist(), votes.rater.tolist(), votes.choice.tolist(), strict=True))
    pair, majority, expected, excess, variance = [], [], [], F(0), F(0)

    def among(others: list[int]) -> F:
        same = sum(others.count(c) * (others.count(c) - 1) for c in set(others))
        return F(same, len(others) * (len(others) - 1))

    for i, r, c in rows:
        others = [d for j, s, d in rows if j == i and s != r]
        if r != rater or not others:
            continue
        pair.append(F(others.count(c), len(others)))
        top = max(others.count(d) for d in others)
        leaders = {d for d in others if others.count(d) == top}
        majority.append(F(0) if c not in leaders else F(1, 2) if len(leaders) > 1 else F(1))
        if len(others) < 2:
            continue
        expected.append(among(others))
        excess += pair[-1] - expected[-1]
        everyone = [c, *others]
        differences = [
            F(everyone.count(d) - 1, len(others)) - among(everyone[:at] + everyone[at + 1 :])
            for at, d in enumerate(everyone)
        ]
        assert sum(differences) == 0  # the comparison is fair
        variance += sum(d**2 for d in differences) / len(everyone)
    return {
        "pair_agreement": float(sum(pair) / len(pair)),
        "majority_agreement": float(sum(majority) / len(majority)),
        "expected": float(sum(expected) / len(expected)),
        "z": float(excess) / math.sqrt(variance),
    }


@pytest.mark.parametrize("k", [2, 3])
def test_vote_by_vote(k):
    votes = random_votes(5, items=40, raters=5, per_item=4, k=k)
    for rater, one in enumerate(rater_agreement(votes)):
        expected = plain(votes, rater)
        assert one.pair_agreement.value == pytest.approx(expected["pair_agreement"])
        assert one.majority_agreement.value == pytest.approx(expected["majority_agreement"])
        assert one.expected.value == pytest.approx(expected["expected"])
        assert one.deviation.z == pytest.approx(expected["z"])


def test_by_hand():
    """Nine raters; the first dissents on the first item and is one of a 5-4 on the second."""
    votes = votes_of(
        [(0, 0, 1), *((0, r, 0) for r in range(1, 9))]
        + [(1, r, 0) for r in range(5)]
        + [(1, r, 1) for r in range(5, 9)]
    )
    found = rater_agreement(votes)
    assert found[0].pair_agreement.value == pytest.approx((0 + 4 / 8) / 2)
    assert found[0].majority_agreement.value == pytest.approx((0 + 0.5) / 2)  # 4-4 among the others
    assert found[0].expected.value == pytest.approx((1 + 24 / 56) / 2)
    assert found[0].deviation.z < -2
    assert found[8].majority_agreement.value == pytest.approx((1 + 0) / 2)


def test_own_votes_never_count_for_oneself():
    """Two raters who always differ agree never, whatever the majority with ties would say."""
    votes = votes_of([(i, r, r) for i in range(20) for r in range(2)])
    for one in rater_agreement(votes):
        assert one.pair_agreement.value == one.majority_agreement.value == 0
        assert (one.shared, one.compared) == (20, 0)
        assert one.expected.reason is one.deviation.reason is Reason.NO_OVERLAP


def test_a_careless_rater_stands_out_and_the_others_do_not():
    votes = random_votes(8, items=900, raters=30, per_item=9)
    rng = np.random.default_rng(1)
    coins = rng.integers(0, 2, len(votes))
    careless = replace(votes, choice=np.where(votes.rater == 3, coins, votes.choice))
    z = np.array([one.deviation.z for one in rater_agreement(careless)])
    assert z[3] < -6
    honest = np.delete(z, 3)
    # Raters drawn alike: standard normal, up to the little that the careless one spoils.
    assert abs(honest.mean()) < 0.7
    assert 0.6 < honest.std() < 1.5


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(2, 4))
def test_order_and_names_do_not_matter(seed, per_item, k):
    votes = random_votes(seed, items=12, raters=9, per_item=per_item, k=k)
    order = np.random.default_rng(seed).permutation(len(votes))
    mixed = replace(
        votes,
        item=11 - votes.item[order],
        rater=8 - votes.rater[order],
        choice=k - 1 - votes.choice[order],
    )
    for one, other in zip(rater_agreement(votes), reversed(rater_agreement(mixed)), strict=True):
        json.dumps(one.as_json(), allow_nan=False)
        assert (one.votes, one.shared, one.compared) == (other.votes, other.shared, other.compared)
        for field in ("pair_agreement", "majority_agreement", "expected"):
            assert getattr(one, field).value == pytest.approx(getattr(other, field).value)
        # Sums in another order may leave a variance of zero, or of a rounding error.
        if one.deviation.z is not None and other.deviation.z is not None:
            assert one.deviation.z == pytest.approx(other.deviation.z)


def test_degenerate_sets():
    assert rater_agreement(votes_of([])) == ()
    (alone,) = rater_agreement(votes_of([(0, 0, 1)]))
    assert alone.votes == 1
    assert alone.pair_agreement.reason is Reason.NO_OVERLAP
    idle = rater_agreement(votes_of([(0, 0, 1)], n_raters=2))[1]
    assert (idle.votes, idle.deviation.reason) == (0, Reason.NO_OVERLAP)
    for one in rater_agreement(votes_of([(i, r, 0) for i in range(9) for r in range(9)])):
        assert one.pair_agreement.value == 1
        assert one.deviation.reason is Reason.ZERO_SPREAD


def test_many_raters():
    votes = random_votes(0, items=8298, raters=300, per_item=9)
    found = rater_agreement(votes)
    assert len(found) == 300
    assert sum(one.votes for one in found) == 8298 * 9
