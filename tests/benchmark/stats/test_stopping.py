import itertools
import json
from fractions import Fraction as F

import numpy as np
import pytest

from benchmark.stats.stopping import (
    StopRule,
    expected_votes,
    majority_reached,
    margin_reached,
    stopped_agreement,
    stopped_tier,
    stops,
    tier_reached,
)
from benchmark.stats.values import Reason
from tests.benchmark.stats.reference import load, needs_shared_data

RULES = [
    majority_reached(maximum=9),
    tier_reached(maximum=9),
    margin_reached(3),
    margin_reached(4),
    lambda a, b: False,
]


def by_enumeration(rule: StopRule, maximum: int) -> dict[tuple[int, int], list[tuple[int, ...]]]:
    """Every order of votes that ends at each stop, found by walking all 2^maximum of them."""
    found: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    for votes in itertools.product((0, 1), repeat=maximum):
        n = next((n for n in range(maximum) if rule(n - sum(votes[:n]), sum(votes[:n]))), maximum)
        b = sum(votes[:n])
        found.setdefault((n - b, b), set()).add(votes[:n])
    return {stop: sorted(orders) for stop, orders in found.items()}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("maximum", [2, 3, 9])
def test_stops_by_walking_every_order(rule, maximum):
    expected = by_enumeration(rule, maximum)
    found = stops(rule, maximum=maximum)
    assert found.keys() == expected.keys()
    for counts, orders in expected.items():
        agreeing = sum(order[0] == order[1] for order in orders)
        assert (found[counts].orders, found[counts].agreeing) == (len(orders), agreeing)


def test_unbiased_agreement_by_the_table():
    found = stops(majority_reached(maximum=9), maximum=9)
    table = {(5, 0): F(1), (5, 1): F(3, 5), (5, 2): F(7, 15), (5, 3): F(3, 7), (5, 4): F(3, 7)}
    for (a, b), p in table.items():
        assert found[a, b].agreement == found[b, a].agreement == p


@needs_shared_data
def test_unbiased_agreement_of_the_fixture():
    found = stops(majority_reached(maximum=9), maximum=9)
    for split, p in load("fixtures.json")["curtailed_5of9_unbiased_P"].items():
        a, b = map(int, split.split("-"))
        assert float(found[a, b].agreement) == pytest.approx(p, abs=1e-12)


def test_without_a_rule_it_is_item_agreement():
    for (a, b), stop in stops(lambda a, b: False, maximum=9).items():
        assert stop.agreement == F(a * (a - 1) + b * (b - 1), 72)


def test_half_of_an_even_number_is_no_majority():
    assert (4, 0) not in stops(majority_reached(maximum=8), maximum=8)
    assert not tier_reached(maximum=10)(5, 2)


def test_expected_votes_by_the_table():
    table = {0.5: 7.54, 0.6: 7.35, 0.7: 6.86, 0.8: 6.20, 0.9: 5.55, 1: 5.00}
    for share, votes in table.items():
        found = expected_votes(majority_reached(maximum=9), maximum=9, share=share)
        assert found == pytest.approx(votes, abs=0.005)


@pytest.mark.parametrize("share", [0, 0.3, 0.5, 0.8, 1])
def test_the_tier_safe_rule_saves_little_and_changes_no_tier(share):
    rule = tier_reached(maximum=9)
    assert 8.0 <= expected_votes(rule, maximum=9, share=share) <= 9.0
    for (a, b), _ in stops(rule, maximum=9).items():
        if a + b < 9:  # whatever comes, the tier is hard and the majority stays
            assert min(a, b) >= 2
            assert max(a, b) >= 5


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("rule", RULES)
def test_it_is_unbiased_and_the_naive_figure_is_not(share, rule):
    found = stops(rule, maximum=9)
    chance = {s: stop.orders * share ** s[0] * (1 - share) ** s[1] for s, stop in found.items()}
    assert sum(chance.values()) == pytest.approx(1)
    true = share**2 + (1 - share) ** 2
    unbiased = sum(p * float(found[s].agreement) for s, p in chance.items())
    assert unbiased == pytest.approx(true)


def test_the_bias_of_the_naive_figure_by_the_table():
    rule = majority_reached(maximum=9)
    for share, expected in ((0.5, 0.538), (0.7, 0.620), (0.9, 0.846)):
        naive = sum(
            stop.orders
            * share**a
            * (1 - share) ** b
            * (a * (a - 1) + b * (b - 1))
            / ((a + b) * (a + b - 1))
            for (a, b), stop in stops(rule, maximum=9).items()
        )
        assert naive == pytest.approx(expected, abs=0.0005)


def test_a_rule_must_leave_two_votes():
    with pytest.raises(ValueError, match="before two votes"):
        stops(margin_reached(1), maximum=9)
    with pytest.raises(ValueError, match="needs two votes"):
        stops(majority_reached(maximum=1), maximum=1)


def test_stopped_pairs_have_no_tier():
    assert stopped_tier(5, 0, maximum=9).reason is Reason.EARLY_STOPPED
    assert stopped_tier(5, 2, maximum=9).as_json() == {
        "tier": None,
        "provisional": False,
        "reason": "early_stopped",
    }
    assert stopped_tier(5, 4, maximum=9).tier == "hard"


def test_agreement_of_a_mixed_set():
    found = stopped_agreement(
        [[5, 0], [2, 5], [5, 4], [8, 1], [4, 3], [7, 1], [1, 0]],
        ruled=[True, True, True, False, True, True, False],
        rule=majority_reached(maximum=9),
        maximum=9,
    )
    # 4-3 is still open and 7-1 went on in spite of the rule; 1-0 has no pair.
    expected = (F(1) + F(7, 15) + F(3, 7) + F(56, 72)) / 4
    assert found.percent_agreement.value == pytest.approx(float(expected))
    assert (found.items, found.stopped, found.left_out) == (4, 2, 2)
    assert found.as_json()["tier_reason"] == "early_stopped"


def test_agreement_with_multiplicity_and_of_nothing():
    def agreement(counts, ruled, times=None):
        return stopped_agreement(
            counts, ruled=ruled, rule=margin_reached(3), maximum=9, multiplicity=times
        )

    many = agreement([[3, 0], [5, 4]], [True, True], [3, 2])
    rows = agreement([[3, 0]] * 3 + [[5, 4]] * 2, [True] * 5)
    assert many.percent_agreement.se == pytest.approx(rows.percent_agreement.se)
    assert (many.items, many.stopped) == (5, 3)
    empty = agreement([], np.zeros(0, dtype=bool))
    assert empty.percent_agreement.reason is Reason.NO_ITEM_WITH_TWO_VOTES
    json.dumps(empty.as_json(), allow_nan=False)
    with pytest.raises(ValueError, match="1 pairs, 2 flags"):
        agreement([[3, 0]], [True, False])
