import json
from typing import Any

import pytest

from benchmark.stats.policy import (
    DEFAULT_POLICY,
    HELPFULNESS_ONLY_V1,
    PERSONAFEEDBACK_V1,
    PERSONALIZATION_ONLY_V1,
    POLICIES,
    Policy,
    PolicyError,
    policy_named,
)
from benchmark.stats.tiers import Bands

STORED_V1: dict[str, Any] = {
    "name": "personafeedback-v1",
    "version": 1,
    "decide": "both_agree",
    "criterion": "personalization",
    "combine": "criterion",
    "minimum": 7,
    "bands": {"easy_above": [3, 5], "medium_from": [2, 5], "chance": [1, 2]},
    "tie_rule": "ties_can_win",
}


def test_the_default_policy_is_the_published_reading():
    """Stored with every aggregation: a difference here is a change of meaning, not of style."""
    assert DEFAULT_POLICY is PERSONAFEEDBACK_V1
    assert PERSONAFEEDBACK_V1.as_json() == STORED_V1
    assert PERSONAFEEDBACK_V1.criteria == ("helpfulness", "personalization")


def test_the_registry():
    assert dict(POLICIES) == {
        "personafeedback-v1": PERSONAFEEDBACK_V1,
        "helpfulness-v1": HELPFULNESS_ONLY_V1,
        "personalization-v1": PERSONALIZATION_ONLY_V1,
    }
    assert policy_named("helpfulness-v1").criteria == ("helpfulness",)
    assert policy_named("personalization-v1").criteria == ("personalization",)
    with pytest.raises(PolicyError, match=r"no policy 'v2'; there are personafeedback-v1, "):
        policy_named("v2")


@pytest.mark.parametrize(
    "policy",
    [
        *POLICIES.values(),
        Policy(
            name="house-7",
            version=3,
            decide="both_agree",
            combine="mean",
            minimum=5,
            bands=Bands(easy_above=(7, 10), medium_from=(1, 3), chance=(1, 3)),
            tie_rule="ties_never_win",
        ),
    ],
)
def test_json_and_back(policy):
    assert Policy.from_json(json.loads(json.dumps(policy.as_json()))) == policy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Persona Feedback"}, "name must be lower-case"),
        ({"name": ""}, "name must be"),
        ({"name": None}, "name must be"),
        ({"version": 0}, "version must be at least 1, not 0"),
        ({"version": "1"}, "version must be a whole number, not '1'"),
        ({"version": True}, "version must be a whole number, not True"),
        ({"decide": "majority"}, "decide must be one of both_agree, criterion, not 'majority'"),
        ({"decide": ["both_agree"]}, "decide must be one of"),
        ({"criterion": "style"}, "criterion must be one of helpfulness, personalization"),
        ({"combine": "max"}, "combine must be one of criterion, min, mean"),
        ({"combine": None}, "combine must be one of"),
        ({"minimum": 0}, "minimum must be between 1 and 1,000, not 0"),
        ({"minimum": 7.0}, "minimum must be a whole number"),
        ({"tie_rule": "first"}, "tie_rule must be one of ties_can_win, ties_never_win"),
        ({"decide": "criterion", "combine": "min"}, "'min' uses both criteria"),
        ({"bands": None}, "bands must be a JSON object, not NoneType"),
        ({"bands": {"easy_above": [3, 5]}}, "bands: missing chance, medium_from"),
        (
            {"bands": STORED_V1["bands"] | {"hard": [0, 1]}},
            "bands: unknown hard",
        ),
        (
            {"bands": {"easy_above": 0.6, "medium_from": [2, 5], "chance": [1, 2]}},
            "numerator, denominator",
        ),
        (
            {"bands": {"easy_above": [3], "medium_from": [2, 5], "chance": [1, 2]}},
            "numerator, denominator",
        ),
        (
            {"bands": {"easy_above": [0.6, 1], "medium_from": [2, 5], "chance": [1, 2]}},
            "whole numbers, not 0.6",
        ),
        (
            {"bands": {"easy_above": [3, 0], "medium_from": [2, 5], "chance": [1, 2]}},
            "bands: easy_above",
        ),
        (
            {"bands": {"easy_above": [1, 5], "medium_from": [2, 5], "chance": [1, 2]}},
            "must not exceed",
        ),
        (
            {"bands": STORED_V1["bands"] | {"chance": [1, 1]}},
            "chance must be at least 0 and below 1",
        ),
        ({"bands": STORED_V1["bands"] | {"chance": "pooled"}}, "chance must be .numerator"),
        ({"colour": "red"}, "policy: unknown colour"),
    ],
)
def test_a_broken_policy_names_the_field(change, message):
    with pytest.raises(PolicyError, match=message):
        Policy.from_json({**STORED_V1, **change})


@pytest.mark.parametrize("field", sorted(STORED_V1))
def test_nothing_falls_back_to_a_default(field):
    data = {name: value for name, value in STORED_V1.items() if name != field}
    with pytest.raises(PolicyError, match=f"policy: missing {field}"):
        Policy.from_json(data)


@pytest.mark.parametrize("data", [None, [], "personafeedback-v1", 7])
def test_a_policy_is_an_object(data):
    with pytest.raises(PolicyError, match="policy must be a JSON object"):
        Policy.from_json(data)
