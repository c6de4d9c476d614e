import json
from dataclasses import replace

import numpy as np
import pytest

from benchmark.stats.codes import CRITERIA
from benchmark.stats.patterns import Patterns, patterns_of
from benchmark.stats.policy import PERSONAFEEDBACK_V1, PERSONALIZATION_ONLY_V1
from benchmark.stats.sensitivity import (
    other_bands,
    other_chances,
    other_rules,
    posterior_mix,
    sensitivity,
)
from benchmark.stats.tiers import Bands
from tests.benchmark.stats.test_draws import nine, patterns

EVERY_SPLIT = [row for a in (9, 8, 7, 6, 5) for row in nine(a)]


def test_bands_around_the_own():
    found = other_bands(PERSONALIZATION_ONLY_V1, patterns(EVERY_SPLIT))
    by_edges = {(*one["easy_above"], *one["medium_from"]): one for one in found}
    own = by_edges[3, 5, 2, 5]
    assert [one["is_own"] for one in found].count(True) == 1
    assert own["is_own"]
    assert own["moved"] == 0
    assert own["tiers"] == {"none": 0, "easy": 1, "medium": 1, "hard": 3}
    # 8-1 is .556, 7-2 is .222.
    assert by_edges[1, 2, 2, 5]["tiers"] == {"none": 0, "easy": 2, "medium": 0, "hard": 3}
    assert by_edges[3, 5, 1, 5]["tiers"] == {"none": 0, "easy": 1, "medium": 2, "hard": 2}
    assert by_edges[3, 5, 3, 5]["tiers"] == {"none": 0, "easy": 1, "medium": 0, "hard": 4}
    assert by_edges[3, 5, 3, 5]["moved"] == 1
    assert all(one["tiers"]["none"] == 0 for one in found)
    # Five edges each way, without the pairs in which medium would begin above easy.
    assert len(found) == 25 - 3


def test_bands_at_the_ends_of_their_range():
    odd = Bands(easy_above=(996, 997), medium_from=(-1, 1))
    policy = replace(PERSONALIZATION_ONLY_V1, bands=odd)
    found = other_bands(policy, patterns(EVERY_SPLIT))
    assert sum(one["is_own"] for one in found) == 1
    assert all(one["easy_above"][1] <= 1000 for one in found)


def test_chance_by_the_table():
    """8-1 falls from medium to hard once pooled chance passes .6296."""
    found = other_chances(PERSONALIZATION_ONLY_V1, patterns(EVERY_SPLIT))
    tiers = {tuple(one["chance"]): one["tiers"] for one in found}
    assert found[0]["is_own"]
    assert tiers[1, 2] == tiers[13, 25] == tiers[29, 50] == tiers[5, 8]
    assert tiers[17, 25] == {"none": 0, "easy": 1, "medium": 0, "hard": 4}


def test_rules():
    rows = [
        ((9, 0, 0, 0), (9, 0, 0, 0)),
        ((9, 0, 0, 0), (6, 3, 0, 0)),
        ((8, 1, 0, 0), (0, 9, 0, 0)),
        ((9, 0, 0, 0), (4, 4, 0, 1)),
    ]
    found = {one["rule"]: one for one in other_rules(PERSONAFEEDBACK_V1, patterns(rows))}
    assert found["both_personalization"]["moved"] == 0
    assert found["both_personalization"]["tiers"] == {"none": 2, "easy": 1, "medium": 0, "hard": 1}
    assert found["both_mean"]["tiers"] == {"none": 2, "easy": 1, "medium": 1, "hard": 0}
    assert found["both_min"]["tiers"] == {"none": 2, "easy": 1, "medium": 0, "hard": 1}
    helpfulness = found["helpfulness_only"]
    assert helpfulness["tiers"] == {"none": 0, "easy": 3, "medium": 1, "hard": 0}
    assert (helpfulness["decided"], helpfulness["same_winner"], helpfulness["moved"]) == (4, 2, 3)
    only = {one["rule"]: one for one in other_rules(PERSONALIZATION_ONLY_V1, patterns(rows))}
    assert only["helpfulness_only"]["other_winner"] == 1


def test_adjudications_stand_under_every_rule():
    rows = [((8, 1, 0, 0), (0, 9, 0, 0))] * 2 + nine(8)
    found = patterns(rows, adjudged=np.array([1, 1, 3]))
    for one in other_rules(PERSONAFEEDBACK_V1, found):
        if one["rule"].startswith("both"):
            assert (one["decided"], one["same_winner"], one["tiers"]["none"]) == (2, 2, 1)
    own = other_chances(PERSONAFEEDBACK_V1, found)[0]
    assert own["tiers"] == {"none": 1, "easy": 2, "medium": 0, "hard": 0}


def test_one_criterion_alone():
    counts = {"personalization": np.array([[9, 0, 0, 0]])}
    alone = patterns_of(counts, adjudged=[0])[0]
    found = other_rules(PERSONALIZATION_ONLY_V1, alone)
    assert [one["rule"] for one in found] == ["personalization_only"]
    json.dumps(sensitivity(PERSONALIZATION_ONLY_V1, alone), allow_nan=False)
    with pytest.raises(ValueError, match="needs the votes on helpfulness"):
        sensitivity(PERSONAFEEDBACK_V1, alone)


def test_posterior_by_the_table():
    rows = nine(9, 10) + nine(8, 100) + nine(7, 50) + nine(6, 20) + nine(5, 20)
    found = posterior_mix(PERSONAFEEDBACK_V1, patterns(rows))
    medium = found["tiers"]["medium"]
    assert medium["pairs"] == 100
    assert medium["expected"] == pytest.approx(
        {"easy": 31.33, "medium": 25.99, "hard": 42.68}, abs=0.01
    )
    assert found["tiers"]["easy"]["expected"]["easy"] == pytest.approx(6.975, abs=0.001)
    hard = 50 * 0.7261 + 20 * 0.9054 + 20 * 0.9727
    assert found["tiers"]["hard"]["expected"]["hard"] == pytest.approx(hard, abs=0.01)
    assert sum(found["expected"].values()) == pytest.approx(200)


def test_posterior_of_two_criteria():
    smaller = replace(PERSONAFEEDBACK_V1, combine="min")
    found = posterior_mix(smaller, patterns(nine(9, 1000)))["tiers"]["easy"]["expected"]
    assert found["easy"] == pytest.approx(1000 * 0.6975**2, abs=0.2)
    assert found["hard"] == pytest.approx(1000 * (1 - 0.8687**2), abs=0.2)
    mean = replace(PERSONAFEEDBACK_V1, combine="mean")
    assert posterior_mix(mean, patterns(nine(9)))["tiers"] is None


def test_everything_at_once_is_json_and_does_not_grow_with_the_pairs():
    rng = np.random.default_rng(1)
    share = rng.beta(0.5, 0.5, 8298)
    kinds = np.stack([0.93 * share, 0.93 * (1 - share), *np.full((2, 8298), 0.035)], axis=1)
    counts = {name: rng.multinomial(9, kinds) for name in CRITERIA}
    found = patterns_of(counts, adjudged=np.zeros(8298, dtype=int))[0]
    one = sensitivity(PERSONAFEEDBACK_V1, found)
    json.dumps(one, allow_nan=False)
    many = sensitivity(
        PERSONAFEEDBACK_V1,
        Patterns(counts=found.counts, adjudged=found.adjudged, pairs=found.pairs * 100),
    )
    assert many["coin_flips"]["tiers"]["hard"] == pytest.approx(
        100 * one["coin_flips"]["tiers"]["hard"]
    )
    assert many["rules"][0]["decided"] == 100 * one["rules"][0]["decided"]


def test_no_pairs():
    found = sensitivity(PERSONAFEEDBACK_V1, patterns([]))
    assert found["fewer_raters"] == []
    json.dumps(found, allow_nan=False)
