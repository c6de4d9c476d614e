"""Alpha at each level: exact values, identities and what is refused. Oracles: test_oracles.py."""

from fractions import Fraction as F

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark.stats.agreement import agreement
from benchmark.stats.alpha import alpha
from benchmark.stats.values import Reason, Value
from tests.benchmark.stats.reference import names, tables, untimed

# Krippendorff's example of four observers and twelve units, as counts of the values 1 to 5.
KRIPPENDORFF_12X4 = [
    [3, 0, 0, 0, 0],
    [0, 3, 1, 0, 0],
    [0, 0, 4, 0, 0],
    [0, 0, 4, 0, 0],
    [0, 4, 0, 0, 0],
    [1, 1, 1, 1, 0],
    [0, 0, 0, 4, 0],
    [3, 1, 0, 0, 0],
    [0, 4, 0, 0, 0],
    [0, 0, 0, 0, 3],
    [2, 0, 0, 0, 0],
    [0, 0, 1, 0, 0],
]
VALUES = {"interval": [1, 2, 3, 4, 5], "ratio": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("nominal", F(113, 152)),
        ("ordinal", F(108577, 133160)),
        ("interval", F(951, 1120)),
        ("ratio", 0.7974027747),
    ],
)
def test_krippendorffs_example(level, expected):
    found = alpha(KRIPPENDORFF_12X4, categories=names(5), level=level, values=VALUES.get(level))
    assert found.value == pytest.approx(float(expected), abs=1e-9)
    assert found.variant == f"alpha_{level}"
    assert (found.se, found.se_reason) == (None, Reason.NO_SE_FOR_VARIANT)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], Reason.NO_ITEM_WITH_TWO_VOTES),
        ([[0, 0, 0]], Reason.NO_ITEM_WITH_TWO_VOTES),
        ([[1, 0, 0], [0, 0, 1]], Reason.NO_ITEM_WITH_TWO_VOTES),
        ([[9, 0, 0], [5, 0, 0]], Reason.SINGLE_CATEGORY),
        ([[9, 0, 0], [0, 1, 0]], Reason.SINGLE_CATEGORY),
    ],
)
def test_undefined_cases(level, rows, reason):
    values = [0, 1, 2] if level in ("interval", "ratio") else None
    found = alpha(rows, categories=names(3), level=level, values=values)
    assert found == Value.undefined(reason, variant=f"alpha_{level}")


def test_patterns_that_no_item_shows_are_no_items():
    found = alpha([[5, 4], [1, 0]], categories=names(2), multiplicity=[0, 3])
    assert found.reason is Reason.NO_ITEM_WITH_TWO_VOTES


@untimed
@given(tables(k=2), st.sampled_from(["ordinal", "interval", "ratio"]))
def test_two_categories_are_nominal_at_every_level(rows, level):
    nominal = alpha(rows, categories=names(2))
    values = None if level == "ordinal" else [0, 7]
    found = alpha(rows, categories=names(2), level=level, values=values)
    assert found.reason is nominal.reason
    assert found.value == pytest.approx(nominal.value, abs=1e-12)
    assert nominal == agreement(rows, categories=names(2), engine="own").alpha


@untimed
@given(tables(k=4))
def test_order_matters_but_not_its_direction_nor_the_unit(rows):
    backwards = [row[::-1] for row in rows]
    for level, values in (("ordinal", None), ("interval", [0, 1, 3, 4])):
        found = alpha(rows, categories=names(4), level=level, values=values)
        assume(found.value is not None)
        other = values and [100 - 9 * value for value in reversed(values)]
        again = alpha(backwards, categories=names(4), level=level, values=other)
        assert again.value == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize(
    ("level", "values", "message"),
    [
        ("interval", None, "one value for each"),
        ("ratio", [1], "one value for each"),
        ("interval", [1, 1], "distinct"),
        ("interval", [0, float("nan")], "finite"),
        ("ratio", [-1, 1], "from 0 on"),
        ("ordinal", [1, 2], "takes no values"),
    ],
)
def test_values_must_suit_the_level(level, values, message):
    with pytest.raises(ValueError, match=message):
        alpha([[5, 4]], categories=["A", "B"], level=level, values=values)
