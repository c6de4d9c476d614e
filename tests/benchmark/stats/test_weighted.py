from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.agreement import agreement
from benchmark.stats.alpha import alpha
from benchmark.stats.values import Reason
from benchmark.stats.weighted import distances, readings_with_ties, weighted
from tests.benchmark.stats.reference import names, tables, untimed

ORDERED = ["A", "tie", "B"]

# Ten pairs, votes for A, tie and B.
A_TIE_B = [
    [9, 0, 0],
    [7, 1, 1],
    [5, 2, 2],
    [3, 3, 3],
    [1, 1, 7],
    [0, 2, 7],
    [4, 1, 4],
    [2, 7, 0],
    [0, 0, 9],
    [6, 0, 2],
]


def values(found):
    return {name: value.value for name, value in found.items()}


@pytest.mark.parametrize(
    ("weights", "fleiss", "ac2", "brennan_prediger"),
    [
        ("identity", 0.3506903819, 0.3959019399, 0.3815476190),
        ("linear", 0.3863627004, 0.3721199730, 0.3348214286),
        ("quadratic", 0.4143156406, 0.3498861516, 0.2880952381),
    ],
)
def test_published_values(weights, fleiss, ac2, brennan_prediger):
    found = weighted(A_TIE_B, categories=ORDERED, weights=weights)
    assert found["fleiss"].value == pytest.approx(fleiss, abs=1e-9)
    assert found["ac2"].value == pytest.approx(ac2, abs=1e-9)
    assert found["brennan_prediger"].value == pytest.approx(brennan_prediger, abs=1e-9)


def test_weights():
    assert distances("linear", k=3).tolist() == [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]
    assert distances("quadratic", k=3).tolist() == [[0, 0.25, 1], [0.25, 0, 0.25], [1, 0.25, 0]]
    assert distances("identity", k=3).tolist() == (1 - np.eye(3)).tolist()


def test_variants_name_the_weights():
    found = weighted(A_TIE_B, categories=ORDERED, weights="linear")
    assert found["fleiss"].variant == "fleiss_linear"
    assert found["ac2"].variant == "ac2_linear"


@untimed
@given(tables())
def test_equal_weights_are_no_weights(rows):
    categories = names(len(rows[0]))
    found = weighted(rows, categories=categories, weights="identity")
    report = agreement(rows, categories=categories, engine="own")
    assert found["percent_agreement"] == report.percent_agreement
    assert found["fleiss"] == report.fleiss
    assert found["brennan_prediger"] == report.randolph
    assert found["ac2"] == report.ac1


@untimed
@given(tables(k=2), st.sampled_from(["linear", "quadratic"]))
def test_two_categories_leave_nothing_to_weigh(rows, weights):
    found = weighted(rows, categories=names(2), weights=weights)
    assert values(found) == values(weighted(rows, categories=names(2), weights="identity"))


@untimed
@given(tables(k=3), st.sampled_from(["linear", "quadratic"]))
def test_the_formulas_as_printed(rows, weights):
    """Agreement weights, in fractions, item by item."""
    w = [[1 - F(float(d)) for d in row] for row in distances(weights, k=3)]
    paired = [row for row in rows if sum(row) >= 2]
    found = weighted(rows, categories=ORDERED, weights=weights)
    if not paired:
        assert {value.reason for value in found.values()} == {Reason.NO_ITEM_WITH_TWO_VOTES}
        return
    agreeing = [
        sum(row[k] * (sum(w[k][m] * row[m] for m in range(3)) - 1) for k in range(3))
        / F(sum(row) * (sum(row) - 1))
        for row in paired
    ]
    observed = sum(agreeing) / len(paired)
    voted = [row for row in rows if sum(row)]
    p = [sum(F(row[j], sum(row)) for row in voted) / len(voted) for j in range(3)]
    total = sum(map(sum, w))
    chances = {
        "fleiss": sum(p[k] * w[k][m] * p[m] for k in range(3) for m in range(3)),
        "brennan_prediger": total / 9,
        "ac2": total * sum(share * (1 - share) for share in p) / 6,
    }
    assert found["percent_agreement"].value == pytest.approx(float(observed), abs=1e-12)
    for name, chance in chances.items():
        if chance == 1:
            assert found[name].reason is Reason.SINGLE_CATEGORY
        else:
            expected = float((observed - chance) / (1 - chance))
            assert found[name].value == pytest.approx(expected, abs=1e-9)


def test_three_readings_of_ties():
    found = readings_with_ties(A_TIE_B, categories=ORDERED)
    assert list(found) == ["nominal", "linear", "ab_only"]
    assert found["nominal"]["fleiss"].value == pytest.approx(0.3506903819, abs=1e-9)
    assert found["nominal"]["alpha"].value == pytest.approx(0.3593262633, abs=1e-9)
    assert found["linear"]["fleiss"].value == pytest.approx(0.3863627004, abs=1e-9)
    assert found["linear"]["alpha"].value == pytest.approx(0.4245379453, abs=1e-9)
    plain = agreement([[a, b] for a, _, b in A_TIE_B], categories=["A", "B"], engine="own")
    assert found["ab_only"]["fleiss"] == plain.fleiss
    assert found["ab_only"]["ac2"] == plain.ac1
    assert found["ab_only"]["alpha"] == plain.alpha
    interval = alpha(A_TIE_B, categories=ORDERED, level="interval", values=[0, 1, 2])
    assert interval.value == pytest.approx(0.4248237709, abs=1e-9)


def test_a_tie_lies_between_a_and_b_in_whatever_order_the_schema_names_them():
    schema = [[a, b, tie] for a, tie, b in A_TIE_B]
    one = readings_with_ties(A_TIE_B, categories=ORDERED)
    other = readings_with_ties(schema, categories=["A", "B", "tie"])
    for name in one:
        assert values(one[name]) == pytest.approx(values(other[name]), abs=1e-12)


def test_votes_that_are_all_ties_leave_the_reading_of_a_and_b_empty():
    found = readings_with_ties([[0, 0, 9]] * 3, categories=["A", "B", "tie"])
    assert {value.reason for value in found["ab_only"].values()} == {Reason.NO_ITEM_WITH_TWO_VOTES}
    assert found["nominal"]["fleiss"].reason is Reason.SINGLE_CATEGORY
    assert found["linear"]["fleiss"].reason is Reason.SINGLE_CATEGORY
    assert found["linear"]["brennan_prediger"].value == pytest.approx(1)


def test_readings_need_a_tie():
    with pytest.raises(ValueError, match="must be A, B and tie, not A, B"):
        readings_with_ties([[5, 4]], categories=["A", "B"])
