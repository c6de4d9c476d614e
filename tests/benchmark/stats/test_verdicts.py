import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.codes import ADJUDGED, CRITERIA, STATUSES, TIERS, WINNERS
from benchmark.stats.majority import TIE_RULES
from benchmark.stats.policy import (
    COMBINE_RULES,
    HELPFULNESS_ONLY_V1,
    PERSONAFEEDBACK_V1,
    PERSONALIZATION_ONLY_V1,
    Policy,
)
from benchmark.stats.tiers import Bands
from benchmark.stats.values import Reason
from benchmark.stats.verdicts import PairTally, Tally, Verdict, decide, decide_one
from tests.benchmark.stats.reference import untimed

Four = tuple[int, int, int, int]


def pair(helpfulness: tuple[int, ...], personalization: tuple[int, ...]) -> dict[str, PairTally]:
    return {
        "helpfulness": PairTally(*helpfulness),
        "personalization": PairTally(*personalization),
    }


def as_arrays(pairs: list[dict[str, PairTally]]) -> dict[str, Tally]:
    return {
        name: Tally(*(np.array([pair[name][i] for pair in pairs], dtype=int) for i in range(4)))
        for name in CRITERIA
    }


def check_equal(policy: Policy, pairs: list[dict[str, PairTally]]) -> None:
    """Arrays and scalar must tell the same about every pair, whatever was adjudicated."""
    check_adjudged(policy, pairs, [0] * len(pairs))
    check_adjudged(policy, pairs, [i % len(ADJUDGED) for i in range(len(pairs))])


def check_adjudged(policy: Policy, pairs: list[dict[str, PairTally]], adjudged: list[int]) -> None:
    found = decide(policy, as_arrays(pairs), adjudged=adjudged)
    assert len(found) == len(pairs)
    k = found.k()
    for i, tallies in enumerate(pairs):
        one = decide_one(policy, tallies, adjudged=ADJUDGED[adjudged[i]])
        assert bool(found.is_adjudicated[i]) == one.is_adjudicated
        assert (
            STATUSES[found.status[i]],
            WINNERS[found.chosen[i]],
            TIERS[found.tier[i]],
            bool(found.provisional[i]),
            int(found.margin[i]),
            int(found.n[i]),
        ) == (one.status, one.chosen, one.tier, one.provisional, one.margin, one.n)
        if one.k is None:
            assert k[i] is None
        else:
            chance = F(*policy.bands.chance)
            assert (F(int(found.s[i]), int(found.m[i])) - chance) / (1 - chance) == one.k
            assert k[i] == pytest.approx(float(one.k), abs=1e-15)


@pytest.mark.parametrize(
    ("helpfulness", "personalization", "expected"),
    [
        # status, chosen, tier, provisional, margin, n, k, reason
        ((9, 0), (9, 0), ("decided", "A", "easy", False, 9, 9, F(1), None)),
        ((5, 4), (8, 1), ("decided", "A", "medium", False, 1, 9, F(5, 9), None)),
        ((0, 9), (4, 5), ("decided", "B", "hard", False, 1, 9, F(-1, 9), None)),
        ((9, 0), (0, 9), ("conflict", None, None, False, 9, 9, F(1), "conflict")),
        ((4, 4, 1), (9, 0), ("tied", None, None, False, 0, 9, F(1), "tied")),
        ((9, 0), (2, 3, 4), ("tied", None, None, False, 1, 5, None, "tied")),
        ((6, 0), (9, 0), ("insufficient", None, None, False, 6, 9, F(1), "insufficient")),
        ((4, 2), (4, 4, 1), ("insufficient", None, None, False, 0, 8, F(-1, 7), "insufficient")),
        ((8, 0), (8, 0), ("decided", "A", "easy", True, 8, 8, F(1), None)),
        ((9, 0), (6, 1), ("decided", "A", "medium", True, 5, 7, F(3, 7), None)),
        # A tie vote counts toward the minimum, and not toward the votes that a tier needs.
        ((9, 0), (8, 0, 1), ("decided", "A", "easy", True, 8, 8, F(1), None)),
        ((9, 0), (6, 0, 3), ("decided", "A", None, False, 6, 6, None, "not_enough_votes")),
        ((9, 0), (6, 0, 0, 3), ("insufficient", None, None, False, 6, 6, None, "insufficient")),
    ],
)
def test_personafeedback_by_hand(helpfulness, personalization, expected):
    *fields, reason = expected
    status, chosen, tier, provisional, margin, n, k = fields
    verdict = decide_one(PERSONAFEEDBACK_V1, pair(helpfulness, personalization))
    assert verdict == Verdict(
        status=status,
        chosen=chosen,
        tier=tier,
        provisional=provisional,
        is_adjudicated=False,
        margin=margin,
        n=n,
        k=k,
        reason=reason and Reason(reason),
    )
    check_equal(PERSONAFEEDBACK_V1, [pair(helpfulness, personalization)])


def test_one_criterion_alone():
    tallies = pair((1, 8), (9, 0))
    one = decide_one(HELPFULNESS_ONLY_V1, tallies)
    assert (one.status, one.chosen, one.tier, one.margin) == ("decided", "B", "medium", 7)
    other = decide_one(PERSONALIZATION_ONLY_V1, tallies)
    assert (other.chosen, other.tier) == ("A", "easy")
    alone = {"helpfulness": PairTally(1, 8)}
    assert decide_one(HELPFULNESS_ONLY_V1, alone) == one


@pytest.mark.parametrize(
    ("combine", "helpfulness", "personalization", "tier", "provisional"),
    [
        ("criterion", (5, 4), (9, 0), "easy", False),
        ("min", (5, 4), (9, 0), "hard", False),
        ("mean", (5, 4), (9, 0), "medium", False),
        ("min", (8, 1), (9, 0), "medium", False),
        ("mean", (8, 1), (9, 0), "easy", False),
        ("mean", (7, 0), (9, 0), "easy", True),
        ("min", (8, 0, 1), (8, 1), "medium", True),
        ("mean", (6, 0, 3), (9, 0), None, False),
        ("min", (9, 0), (6, 0, 3), None, False),
    ],
)
def test_tiers_of_two_criteria(combine, helpfulness, personalization, tier, provisional):
    policy = Policy(name="both", version=1, decide="both_agree", combine=combine)
    verdict = decide_one(policy, pair(helpfulness, personalization))
    assert verdict.status == "decided"
    assert (verdict.tier, verdict.provisional) == (tier, provisional)
    check_equal(policy, [pair(helpfulness, personalization)])


POLICIES_TRIED = [
    HELPFULNESS_ONLY_V1,
    PERSONALIZATION_ONLY_V1,
    *(
        Policy(
            name="tried",
            version=1,
            decide="both_agree",
            criterion=criterion,
            combine=combine,
            minimum=minimum,
            bands=bands,
            tie_rule=tie_rule,
        )
        for criterion, combine, minimum, bands, tie_rule in itertools.product(
            CRITERIA,
            COMBINE_RULES,
            (1, 7),
            (
                Bands(),
                Bands(easy_above=(1, 2), medium_from=(-1, 9)),
                Bands(chance=(1, 3)),
            ),
            TIE_RULES,
        )
    ),
]

votes = st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(0, 6), st.integers(0, 3))
pairs_of_votes = st.lists(st.builds(pair, votes, votes), max_size=20)


@untimed
@given(st.sampled_from(POLICIES_TRIED), pairs_of_votes)
def test_arrays_equal_the_scalar(policy, pairs):
    check_equal(policy, pairs)


@pytest.mark.parametrize("policy", [*POLICIES_TRIED[:2], PERSONAFEEDBACK_V1])
def test_every_complete_panel_of_nine(policy):
    """All splits of nine votes into A, B and tie, on both criteria: 3,025 pairs."""
    splits = [(a, b, 9 - a - b, 0) for a in range(10) for b in range(10 - a)]
    check_equal(policy, [pair(p, q) for p, q in itertools.product(splits, repeat=2)])


@untimed
@given(st.sampled_from(POLICIES_TRIED), votes, votes)
def test_swapping_a_and_b_swaps_the_chosen_and_nothing_else(policy, first, second):
    def swapped(four: Four) -> Four:
        return (four[1], four[0], *four[2:])

    one = decide_one(policy, pair(first, second))
    other = decide_one(policy, pair(swapped(first), swapped(second)))
    assert other.chosen == {"A": "B", "B": "A", None: None}[one.chosen]
    assert (other.status, other.tier, other.margin, other.k) == (
        one.status,
        one.tier,
        one.margin,
        one.k,
    )


@untimed
@given(st.sampled_from(POLICIES_TRIED), votes, votes)
def test_only_decided_pairs_have_a_winner_or_a_tier(policy, first, second):
    verdict = decide_one(policy, pair(first, second))
    assert (verdict.chosen is not None) == (verdict.status == "decided")
    assert verdict.tier is None or (verdict.status == "decided" and verdict.n >= 7)
    assert (verdict.tier is None) == (verdict.reason is not None)
    assert verdict.provisional == (verdict.tier is not None and verdict.n < 9)


def test_an_adjudication_decides_what_the_votes_leave_open():
    tied, conflict, clear, few = (
        pair((4, 4, 1), (4, 4, 1)),
        pair((9, 0), (1, 8)),
        pair((9, 0), (8, 1)),
        pair((1, 0), (1, 0)),
    )
    said = [decide_one(PERSONAFEEDBACK_V1, each, adjudged="B") for each in (tied, conflict, few)]
    assert [(one.status, one.chosen, one.tier, one.is_adjudicated) for one in said] == [
        ("decided", "B", "hard", True),
        ("decided", "B", "medium", True),
        ("decided", "B", None, True),
    ]
    # Votes that name a response are not overruled, but the pair can be left out.
    kept = decide_one(PERSONAFEEDBACK_V1, clear, adjudged="B")
    assert (kept.status, kept.chosen, kept.is_adjudicated) == ("decided", "A", False)
    out = decide_one(PERSONAFEEDBACK_V1, clear, adjudged="withdrawn")
    assert (out.status, out.chosen, out.tier, out.is_adjudicated) == ("withdrawn", None, None, True)
    assert out.reason == Reason.WITHDRAWN


@pytest.mark.parametrize(
    ("adjudged", "message"),
    [([0], "adjudications of 1 pairs for 2"), ([0, 4], "must lie between 0 and 3")],
)
def test_adjudications_of_other_pairs_are_refused(adjudged, message):
    with pytest.raises(ValueError, match=message):
        decide(PERSONAFEEDBACK_V1, as_arrays([pair((9, 0), (9, 0))] * 2), adjudged=adjudged)


def test_criteria_are_reported_one_by_one():
    found = decide(HELPFULNESS_ONLY_V1, as_arrays([pair((8, 1), (4, 4, 1)), pair((1, 2), (0, 9))]))
    helpfulness, personalization = found.criteria["helpfulness"], found.criteria["personalization"]
    assert [STATUSES[code] for code in helpfulness.status] == ["decided", "insufficient"]
    assert [WINNERS[code] for code in helpfulness.winner] == ["A", None]
    assert helpfulness.n.tolist() == [9, 3]
    assert helpfulness.s.tolist() == [56, 2]
    assert helpfulness.m.tolist() == [72, 6]
    assert helpfulness.margin.tolist() == [7, 1]
    assert helpfulness.k() == [pytest.approx(5 / 9), None]
    assert [STATUSES[code] for code in personalization.status] == ["tied", "decided"]
    assert personalization.k() == [pytest.approx(-1 / 7), 1.0]


def test_a_campaign_may_have_criteria_that_no_policy_asks_for():
    tallies = as_arrays([pair((9, 0), (9, 0))])
    found = decide(PERSONAFEEDBACK_V1, {**tallies, "tone": Tally([2], [5], [2], [0])})
    assert STATUSES[found.status[0]] == "decided"
    assert WINNERS[found.criteria["tone"].winner[0]] == "B"


def test_no_pairs():
    found = decide(PERSONAFEEDBACK_V1, as_arrays([]))
    assert len(found) == 0
    assert found.k() == []


def test_codes_are_one_byte():
    found = decide(PERSONAFEEDBACK_V1, as_arrays([pair((9, 0), (9, 0))]))
    assert {found.status.dtype, found.chosen.dtype, found.tier.dtype} == {np.dtype(np.int8)}
    assert found.provisional.dtype == np.bool_
    assert found.margin.dtype == np.int64


@pytest.mark.parametrize(
    ("tallies", "message"),
    [
        ({}, "personafeedback-v1 needs the votes on helpfulness and personalization"),
        ({"helpfulness": Tally([9], [0], [0], [0])}, "needs the votes on personalization"),
        (
            {
                "helpfulness": Tally([9], [0], [0], [0]),
                "personalization": Tally([9, 9], [0, 0], [0, 0], [0, 0]),
            },
            "different numbers of pairs .helpfulness: 1, personalization: 2",
        ),
        (
            {
                "helpfulness": Tally([-1], [0], [0], [0]),
                "personalization": Tally([9], [0], [0], [0]),
            },
            "helpfulness: votes for A must lie between 0",
        ),
        (
            {
                "helpfulness": Tally([9], [0], [0], [0]),
                "personalization": Tally([900], [900], [0], [0]),
            },
            "personalization: a pair has 1,800 votes",
        ),
        (
            {
                "helpfulness": Tally([9], [0], [0], [-1]),
                "personalization": Tally([9], [0], [0], [0]),
            },
            "helpfulness: skips must lie between 0",
        ),
        (
            {
                "helpfulness": Tally([9], [0], [0], []),
                "personalization": Tally([9], [0], [0], [0]),
            },
            "helpfulness: skips of a different number of pairs than 1",
        ),
    ],
)
def test_broken_tallies_are_refused(tallies, message):
    with pytest.raises(ValueError, match=message):
        decide(PERSONAFEEDBACK_V1, tallies)


def test_the_scalar_refuses_broken_tallies_too():
    with pytest.raises(ValueError, match="needs the votes on personalization"):
        decide_one(PERSONAFEEDBACK_V1, {"helpfulness": PairTally(9, 0)})
    with pytest.raises(ValueError, match="negative"):
        decide_one(PERSONAFEEDBACK_V1, pair((9, -1), (9, 0)))
