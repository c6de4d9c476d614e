import json
import math

import pytest

from benchmark.stats.values import Caution, Reason, Value


def test_a_defined_value_carries_its_interval():
    value = Value(value=0.5, se=0.1, ci=(0.3, 0.7), variant="fleiss_gwet")
    assert value.as_json() == {
        "value": 0.5,
        "se": 0.1,
        "ci": [0.3, 0.7],
        "variant": "fleiss_gwet",
    }


def test_an_undefined_value_is_null_with_a_reason_and_nothing_else():
    value = Value.undefined(Reason.SINGLE_CATEGORY)
    assert value.as_json() == {"value": None, "reason": "single_category"}
    assert value.se_reason is Reason.SINGLE_CATEGORY
    named = Value.undefined(Reason.SINGLE_CATEGORY, variant="alpha_nominal")
    assert named.as_json()["variant"] == "alpha_nominal"


def test_a_value_without_standard_error_says_why():
    value = Value(value=0.5, se_reason=Reason.NO_SE_FOR_VARIANT)
    assert value.as_json() == {
        "value": 0.5,
        "se": None,
        "ci": None,
        "se_reason": "no_se_for_variant",
    }


def test_a_warning_is_published():
    value = Value(value=1.0, se=0.0, ci=(1.0, 1.0), warning=Caution.DEGENERATE_VARIANCE)
    assert value.as_json()["warning"] == "degenerate_variance"
    assert json.loads(json.dumps(value.as_json(), allow_nan=False)) == value.as_json()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": None}, "either a value or a reason"),
        ({"value": 0.0, "reason": Reason.NO_VOTES}, "either a value or a reason"),
        ({"value": 0.5, "se": 0.1}, "come together"),
        ({"value": 0.5, "ci": (0.1, 0.2)}, "come together"),
        (
            {"value": None, "reason": Reason.NO_VOTES, "se": 0.1, "ci": (0.1, 0.2)},
            "needs a value",
        ),
        (
            {"value": 0.5, "se": 0.1, "ci": (0.1, 0.2), "se_reason": Reason.SINGLE_ITEM},
            "needs a value",
        ),
        ({"value": math.nan}, "finite"),
        ({"value": math.inf}, "finite"),
        ({"value": 0.5, "se": math.nan, "ci": (0.1, 0.2)}, "finite"),
        ({"value": 0.5, "se": 0.1, "ci": (-math.inf, 0.2)}, "finite"),
        ({"value": 0.5, "se": 0.1, "ci": (0.9, 0.2)}, "low to high"),
    ],
)
def test_misleading_values_cannot_be_made(fields, message):
    with pytest.raises(ValueError, match=message):
        Value(**fields)
