"""Why verdicts differ: by hand, and against deciding each pair again by itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.stats.codes import ADJUDGED, CRITERIA
from benchmark.stats.comparison import FACTORS, Basis, Factor, Outcome, compare, outcome, states
from benchmark.stats.majority import TieRule
from benchmark.stats.policy import (
    HELPFULNESS_ONLY_V1,
    PERSONAFEEDBACK_V1,
    PERSONALIZATION_ONLY_V1,
    Policy,
)
from benchmark.stats.tiers import Bands
from benchmark.stats.verdicts import PairTally, Tally, decide_one

# A pair's counts (A, B, tie, skip) on both criteria, what was adjudicated, and the policy.
Pair = tuple[tuple[int, ...], tuple[int, ...], int, Policy]

STRICT = Policy(
    name="strict", version=1, decide="both_agree", bands=Bands(easy_above=(1, 1)), minimum=9
)


def basis(pairs: list[Pair]) -> Basis:
    tables = [np.array([pair[n] for pair in pairs]).reshape(-1, 4).T for n in (0, 1)]
    return Basis(
        policy=pairs[0][3],
        tallies={key: Tally(*table) for key, table in zip(CRITERIA, tables, strict=True)},
        adjudged=[pair[2] for pair in pairs],
    )


def one(before: Pair, after: Pair) -> tuple[Outcome, Outcome, tuple[tuple[Factor, ...], ...]]:
    found = compare(basis([before]), basis([after]))
    return outcome(found.before, 0), outcome(found.after, 0), found.causes(0)


V1, HELP, PERS = PERSONAFEEDBACK_V1, HELPFULNESS_ONLY_V1, PERSONALIZATION_ONLY_V1
NINE, EIGHT, SEVEN, FOUR = (9, 0, 0, 0), (8, 1, 0, 0), (7, 2, 0, 0), (4, 5, 0, 0)


@pytest.mark.parametrize(
    ("before", "after", "states", "causes"),
    [
        ((NINE, NINE, 0, V1), (NINE, NINE, 0, V1), ("easy", "easy"), ()),
        # A policy with another name and the same rules changes nothing.
        (
            (NINE, NINE, 0, V1),
            (NINE, NINE, 0, Policy(name="copy", version=1, decide="both_agree")),
            ("easy", "easy"),
            (),
        ),
        ((NINE, NINE, 0, V1), (NINE, EIGHT, 0, V1), ("easy", "medium"), (("votes",),)),
        ((NINE, FOUR, 0, V1), (NINE, FOUR, 0, HELP), ("conflict", "easy"), (("policy",),)),
        # Conflict, then A on both criteria under a policy that could not see the conflict anyway.
        (
            (NINE, FOUR, 0, V1),
            (NINE, NINE, 0, HELP),
            ("conflict", "easy"),
            (("votes",), ("policy",)),
        ),
        # New votes leave the criteria in conflict, and the new policy alone makes it easy.
        (
            (NINE, FOUR, 0, V1),
            (SEVEN, FOUR, 0, HELP),
            ("conflict", "hard"),
            (("votes", "policy"),),
        ),
        (
            (NINE, FOUR, 0, V1),
            (NINE, FOUR, 2, V1),
            ("conflict", "hard"),
            (("adjudication",),),
        ),
        ((NINE, NINE, 0, V1), (NINE, NINE, 3, V1), ("easy", "withdrawn"), (("adjudication",),)),
        # Naming a response where the votes decide changes nothing.
        ((NINE, NINE, 0, V1), (NINE, EIGHT, 2, V1), ("easy", "medium"), (("votes",),)),
        # Eight votes are too few only for the strict policy.
        (
            (NINE, NINE, 0, V1),
            ((8, 0, 0, 1), (8, 0, 0, 1), 0, STRICT),
            ("easy", "insufficient"),
            (("votes", "policy"),),
        ),
    ],
)
def test_by_hand(
    before: Pair, after: Pair, states: tuple[str, str], causes: tuple[tuple[Factor, ...], ...]
) -> None:
    old, new, found = one(before, after)
    assert (old.state, new.state) == states
    assert found == causes


def test_the_same_tier_with_the_other_response_is_a_change() -> None:
    old, new, causes = one((NINE, NINE, 0, V1), ((0, 9, 0, 0), (0, 9, 0, 0), 0, V1))
    assert (old.state, new.state) == ("easy", "easy")
    assert (old.chosen, new.chosen) == ("A", "B")
    assert causes == (("votes",),)


def test_no_pairs() -> None:
    empty = Basis(
        policy=V1,
        tallies={key: Tally([], [], [], []) for key in CRITERIA},
        adjudged=np.zeros(0, dtype=np.int64),
    )
    assert len(compare(empty, empty).changed) == 0


def test_different_numbers_of_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="pairs"):
        compare(basis([(NINE, NINE, 0, V1)]), basis([(NINE, NINE, 0, V1)] * 2))


COUNTS = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2), st.integers(0, 2))
POLICIES = st.builds(
    lambda decide, criterion, minimum, edge, tie_rule: Policy(
        name="made",
        version=1,
        decide=decide,
        criterion=criterion,
        minimum=minimum,
        bands=Bands(easy_above=edge, medium_from=(1, 10)),
        tie_rule=tie_rule,
    ),
    st.sampled_from(["both_agree", "criterion"]),
    st.sampled_from(CRITERIA),
    st.integers(1, 9),
    st.sampled_from([(2, 10), (6, 10), (9, 10)]),
    st.sampled_from(get_args(TieRule)),
)
SIDES = st.lists(
    st.tuples(COUNTS, COUNTS, st.integers(0, 3), COUNTS, COUNTS, st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


def decided_alone(parts: dict[Factor, Pair]) -> tuple[str, str | None, str | None]:
    """By the exact arithmetic of one pair, each factor from its side."""
    votes, adjudged = parts["votes"], ADJUDGED[parts["adjudication"][2]]
    found = decide_one(
        parts["policy"][3],
        {key: PairTally(*counts) for key, counts in zip(CRITERIA, votes[:2], strict=True)},
        adjudged=adjudged,
    )
    assert found.k is None or isinstance(found.k, Fraction)
    return found.status, found.chosen, found.tier


@settings(max_examples=60)
@given(rows=SIDES, old=POLICIES, new=POLICIES)
def test_causes_are_what_suffices_and_nothing_less(
    rows: list[tuple[tuple[int, ...], ...]], old: Policy, new: Policy
) -> None:
    befores: list[Pair] = [(row[0], row[1], row[2], old) for row in rows]  # type: ignore[misc]
    afters: list[Pair] = [(row[3], row[4], row[5], new) for row in rows]  # type: ignore[misc]
    found = compare(basis(befores), basis(afters))
    for row, (before, after) in enumerate(zip(befores, afters, strict=True)):
        results = {
            chosen: decided_alone(
                {factor: after if factor in chosen else before for factor in FACTORS}
            )
            for size in range(4)
            for chosen in combinations(FACTORS, size)
        }
        wanted = results[FACTORS]
        assert bool(found.changed[row]) == (results[()] != wanted)
        least = {
            chosen
            for chosen, result in results.items()
            if result == wanted
            and not any(set(less) < set(chosen) and results[less] == wanted for less in results)
        }
        assert set(found.causes(row)) == (least if found.changed[row] else set())
    assert states(found.after) == [outcome(found.after, row).state for row in range(len(rows))]
