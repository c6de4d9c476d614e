import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from benchmark.stats.codes import CRITERIA
from benchmark.stats.draws import coin_flips, fewer_raters
from benchmark.stats.patterns import Patterns, patterns_of
from benchmark.stats.policy import (
    HELPFULNESS_ONLY_V1,
    PERSONAFEEDBACK_V1,
    PERSONALIZATION_ONLY_V1,
)
from benchmark.stats.verdicts import Tally, decide


def patterns(rows, *, adjudged=None) -> Patterns:
    """From rows (helpfulness, personalization), each four counts."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 2, 4)
    said = np.zeros(len(table), dtype=np.int64) if adjudged is None else adjudged
    counts = {name: table[:, c] for c, name in enumerate(CRITERIA)}
    return patterns_of(counts, adjudged=said)[0]


def nine(a: int, pairs: int = 1):
    return [((a, 9 - a, 0, 0), (a, 9 - a, 0, 0))] * pairs


# --- Coins ---


def test_coin_flips_by_the_table():
    """Of 8,298 pairs 2/512 are easy and 18/512 medium by chance alone."""
    found = coin_flips(PERSONALIZATION_ONLY_V1, patterns(nine(7, 8298)))
    assert found["tiers"]["easy"] == pytest.approx(8298 * 2 / 512)
    assert found["tiers"]["medium"] == pytest.approx(8298 * 18 / 512)
    assert found["tiers"]["easy"] == pytest.approx(32.4, abs=0.05)
    assert found["tiers"]["medium"] == pytest.approx(291.7, abs=0.05)
    assert (found["tiers"]["none"], found["assumes"]) == (0, [])


def test_coins_on_two_criteria_name_the_same_response_half_the_time():
    found = coin_flips(PERSONAFEEDBACK_V1, patterns(nine(9, 512)))
    assert found["statuses"]["conflict"] == pytest.approx(256)
    assert found["assumes"] == ["independent_criteria"]
    assert found["tiers"]["easy"] == pytest.approx(1)


def test_coins_leave_ties_and_skips():
    rows = [((5, 1, 3, 0), (5, 1, 3, 0)), ((4, 2, 0, 3), (4, 2, 0, 3))]
    found = coin_flips(PERSONALIZATION_ONLY_V1, patterns(rows))
    # Six votes with three ties: 3-3 is tied (20 of 64). With three skips they are too few.
    assert found["statuses"]["insufficient"] == pytest.approx(1)
    assert found["statuses"]["tied"] == pytest.approx(20 / 64)
    assert found["tiers"]["none"] == pytest.approx(2)


# --- Fewer raters ---


def by_enumeration(policy, rows, size) -> tuple[dict[str, float], float, float]:
    """Statuses and what is kept, over every choice of answers on both criteria."""
    statuses: dict[str, float] = {}
    kept = [0.0, 0.0]
    lowered = replace(policy, minimum=min(policy.minimum, size))

    def verdict(under, tallies):
        found = decide(under, {name: Tally(*np.array([t]).T) for name, t in tallies.items()})
        return int(found.status[0]), int(found.chosen[0]), int(found.tier[0])

    def draws(counts):
        answers = [kind for kind, n in enumerate(counts) for _ in range(n)]
        chosen = list(itertools.combinations(answers, min(size, len(answers))))
        return [tuple(one.count(kind) for kind in range(4)) for one in chosen]

    for row in rows:
        tallies = dict(zip(CRITERIA, row, strict=True))
        _, chosen, tier = verdict(policy, tallies)
        both = list(itertools.product(*(draws(tallies[name]) for name in CRITERIA)))
        tried = {pair: both.count(pair) / len(both) for pair in set(both)}
        for pair, chance in tried.items():
            code, winner, other = verdict(lowered, dict(zip(CRITERIA, pair, strict=True)))
            statuses[str(code)] = statuses.get(str(code), 0) + chance
            kept[0] += chance * (chosen > 0 and winner == chosen)
            kept[1] += chance * (tier > 0 and other == tier)
    return statuses, *kept


@pytest.mark.parametrize("policy", [PERSONAFEEDBACK_V1, HELPFULNESS_ONLY_V1])
@pytest.mark.parametrize("size", [3, 7])
def test_every_choice_of_raters(policy, size):
    rows = [
        ((7, 1, 0, 0), (8, 0, 0, 0)),
        ((3, 2, 2, 1), (4, 3, 0, 0)),
        ((4, 4, 0, 0), (2, 0, 0, 3)),
    ]
    (found,) = fewer_raters(policy, patterns(rows), panels=[size])
    statuses, majority, tier = by_enumeration(policy, rows, size)
    for code, name in enumerate(found["statuses"]):
        assert found["statuses"][name] == pytest.approx(statuses.get(str(code), 0))
    decided = decide(policy, patterns(rows).tallies())
    pairs = int((decided.chosen > 0).sum()), int((decided.tier > 0).sum())
    assert found["majority_kept"]["value"] == pytest.approx(majority / pairs[0])
    assert found["tier_kept"]["value"] == pytest.approx(tier / pairs[1])


def test_seven_of_nine_by_hand():
    """8-1 stays 7-0 if the two left out hold the dissent (2/9): medium becomes easy."""
    found = fewer_raters(PERSONALIZATION_ONLY_V1, patterns(nine(8, 90)), panels=[7])[0]
    assert found["moves"]["medium"] == pytest.approx(
        {"none": 0, "easy": 20, "medium": 70, "hard": 0}
    )
    assert found["tier_kept"]["value"] == pytest.approx(7 / 9)
    assert found["majority_kept"]["value"] == 1


def test_all_raters_keep_everything_and_more_there_are_not():
    found = fewer_raters(
        PERSONAFEEDBACK_V1, patterns(nine(9) + nine(8) + nine(5)), panels=[0, 9, 10]
    )
    assert [panel["raters"] for panel in found] == [9]
    assert found[0]["majority_kept"]["value"] == found[0]["tier_kept"]["value"] == 1
    assert found[0]["tiers"] == pytest.approx({"none": 0, "easy": 1, "medium": 1, "hard": 1})


def test_no_tiers_below_seven_votes():
    found = fewer_raters(PERSONALIZATION_ONLY_V1, patterns(nine(9, 4)), panels=[3, 5])
    for panel in found:
        assert panel["tiers"]["none"] == pytest.approx(4)
        assert panel["statuses"]["decided"] == pytest.approx(4)
        assert panel["tier_kept"]["value"] == 0


def test_withdrawn_pairs_count_nowhere_and_other_adjudications_change_nothing():
    rows = nine(9) + nine(5)
    left = patterns(rows, adjudged=np.array([0, 3]))
    assert sum(coin_flips(PERSONAFEEDBACK_V1, left)["statuses"].values()) == pytest.approx(1)
    said = patterns(rows, adjudged=np.array([0, 2]))
    assert fewer_raters(PERSONAFEEDBACK_V1, said) == fewer_raters(
        PERSONAFEEDBACK_V1, patterns(rows)
    )


def test_nothing_decided_and_nothing_at_all():
    tied = fewer_raters(PERSONALIZATION_ONLY_V1, patterns([((4, 4, 0, 0), (4, 4, 0, 0))]))
    assert tied[0]["majority_kept"]["reason"] == "insufficient"
    assert tied[0]["tier_kept"]["reason"] == "not_enough_votes"
    assert fewer_raters(PERSONAFEEDBACK_V1, patterns([])) == []
    assert coin_flips(PERSONAFEEDBACK_V1, patterns([]))["tiers"]["easy"] == 0
    json.dumps(tied, allow_nan=False)
