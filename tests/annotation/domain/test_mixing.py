"""Checks come as often as asked for, where nobody can foretell, and the same on every reload."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.mixing import due, first_drawn, planned

RATERS = [f"r-{number:08x}" for number in range(40)]
# Percentages that leave every block of repeats a slot that is no gold one.
PERCENT = st.integers(0, 33)


def kinds(slots: int, *, gold: int, repeat: int, rater: str = "r-1", seed: str = "cups") -> str:
    """g, r or v for each slot."""
    return "".join(
        due(seed=seed, rater=rater, slot=slot, gold_percent=gold, repeat_percent=repeat)[0]
        for slot in range(slots)
    )


@given(gold=PERCENT, repeat=PERCENT, hundreds=st.integers(1, 4), rater=st.text(max_size=8))
def test_the_rates_are_met_exactly(gold: int, repeat: int, hundreds: int, rater: str) -> None:
    found = Counter(kinds(100 * hundreds, gold=gold, repeat=repeat, rater=rater))
    assert found["g"] == gold * hundreds
    assert found["r"] == repeat * hundreds


@given(gold=st.integers(1, 50), slots=st.integers(0, 300))
def test_no_stretch_strays_from_the_rate(gold: int, slots: int) -> None:
    found = kinds(slots, gold=gold, repeat=0).count("g")
    assert slots * gold // 100 <= found <= -(-slots * gold // 100)


@given(gold=st.integers(0, 50), repeat=st.integers(0, 50))
def test_gold_wins_a_clash(gold: int, repeat: int) -> None:
    alone = kinds(200, gold=gold, repeat=0)
    together = kinds(200, gold=gold, repeat=repeat)
    assert [kind == "g" for kind in together] == [kind == "g" for kind in alone]
    # Blocks of two slots may both be gold; a repeat is lost then, and never doubled.
    assert together.count("r") <= repeat * 2


def test_a_repeat_gives_way_within_its_block() -> None:
    """Twenty repeats in 400 slots each, in blocks of 20, whatever the gold."""
    moved = 0
    for rater in RATERS:
        alone = kinds(400, gold=0, repeat=5, rater=rater)
        together = kinds(400, gold=30, repeat=5, rater=rater)
        for start in range(0, 400, 20):
            assert together[start : start + 20].count("r") == 1
        moved += sum(
            before == "r" and after == "g" for before, after in zip(alone, together, strict=True)
        )
        for slot, kind in enumerate(alone):
            if kind == "r" and together[slot] != "g":
                assert together[slot] == "r"
    assert moved > 100


@pytest.mark.parametrize("kind", ["gold", "repeat"])
def test_every_place_of_a_block_is_as_likely(kind: str) -> None:
    percent = {"gold": 0, "repeat": 0} | {kind: 10}
    places = Counter(
        slot % 10
        for rater in RATERS
        for slot, found in enumerate(kinds(1_000, **percent, rater=rater))
        if found == kind[0]
    )
    trials = sum(places.values())
    assert trials == 4_000
    expected = trials / 10
    strays = 4 * math.sqrt(trials * 0.1 * 0.9)
    assert all(abs(places[place] - expected) <= strays for place in range(10)), places


def test_one_rater_does_not_foretell_another() -> None:
    """Two raters have gold in the same slot of a block as often as chance has it."""
    places = {rater: kinds(2_000, gold=10, repeat=0, rater=rater) for rater in RATERS[:9]}
    same = trials = 0
    for one, first in places.items():
        for other, second in places.items():
            if one < other:
                same += sum(a == b == "g" for a, b in zip(first, second, strict=True))
                trials += 200
    assert abs(same - trials / 10) <= 4 * math.sqrt(trials * 0.09)


def test_one_block_does_not_foretell_the_next() -> None:
    gold = [slot for slot, kind in enumerate(kinds(50_000, gold=10, repeat=0)) if kind == "g"]
    same = sum(b - a == 10 for a, b in pairwise(gold))
    assert abs(same - len(gold) / 10) <= 4 * math.sqrt(len(gold) * 0.09)


def test_gold_does_not_foretell_repeats() -> None:
    gold = kinds(20_000, gold=10, repeat=0)
    repeats = kinds(20_000, gold=0, repeat=10)
    same = sum(a == "g" and b == "r" for a, b in zip(gold, repeats, strict=True))
    assert abs(same - 200) <= 4 * math.sqrt(2_000 * 0.09)


def test_another_seed_has_other_places() -> None:
    assert kinds(200, gold=10, repeat=10) != kinds(200, gold=10, repeat=10, seed="mugs")


def test_the_same_on_every_reload() -> None:
    """A rater in the middle of the work must not meet other rules: these may never change."""
    assert kinds(40, gold=10, repeat=10) == "vvvgvvvvrvvvgvvrvvvvvvvvvgvrvvgvvvrvvvvv"
    turns = [
        first_drawn(["p-1", "p-2", "p-3", "p-4"], seed="cups", rater=rater, purpose="gold")
        for rater in RATERS[:8]
    ]
    assert turns == [0, 1, 0, 3, 1, 0, 3, 0]


@given(slot=st.integers(0, 10**6), rater=st.text(max_size=5))
def test_nothing_is_due_where_nothing_is_asked_for(slot: int, rater: str) -> None:
    assert due(seed="cups", rater=rater, slot=slot, gold_percent=0, repeat_percent=0) == "vote"


def test_raters_get_the_same_keys_in_orders_of_their_own() -> None:
    def order(rater: str) -> tuple[str, ...]:
        left = [f"pair-{number}" for number in range(6)]
        return tuple(
            left.pop(first_drawn(left, seed="cups", rater=rater, purpose="gold")) for _ in range(6)
        )

    orders = [order(rater) for rater in RATERS]
    assert all(sorted(one) == sorted(orders[0]) for one in orders)
    assert len(set(orders)) > 30
    assert len({one[0] for one in orders}) == 6


def given_to(*, pairs: int, gold_items: int, gold: int, repeat: int, rater: str) -> tuple[int, int]:
    """Checks of a rater who judges all pairs, and repeats that came before there was a pair.

    A slot for which there is no check holds a vote.
    """
    votes = golds = repeats = lost = slot = 0
    while votes < pairs:
        kind = due(seed="cups", rater=rater, slot=slot, gold_percent=gold, repeat_percent=repeat)
        if kind == "gold" and golds < gold_items:
            golds += 1
        elif kind == "repeat" and repeats < votes:
            repeats += 1
        else:
            lost += kind == "repeat"
            votes += 1
        slot += 1
    return golds + repeats, lost


@given(
    pairs=st.integers(0, 300),
    gold_items=st.integers(0, 40),
    gold=PERCENT,
    repeat=PERCENT,
    rater=st.sampled_from(RATERS),
)
def test_as_many_as_planned(
    pairs: int, gold_items: int, gold: int, repeat: int, rater: str
) -> None:
    number = planned(pairs=pairs, gold_items=gold_items, gold_percent=gold, repeat_percent=repeat)
    found, lost = given_to(
        pairs=pairs, gold_items=gold_items, gold=gold, repeat=repeat, rater=rater
    )
    # The last block of each kind, those that fall into the slots which these add, and the lost.
    assert abs(number - found) <= 6
    # Nobody is through before the bar is full.
    assert lost or number <= found


@given(
    pairs=st.integers(0, 2_000),
    gold_items=st.integers(0, 5_000),
    gold=st.integers(0, 50),
    repeat=st.integers(0, 50),
)
def test_planned_checks_are_bounded_by_what_there_is(
    pairs: int, gold_items: int, gold: int, repeat: int
) -> None:
    number = planned(pairs=pairs, gold_items=gold_items, gold_percent=gold, repeat_percent=repeat)
    assert 0 <= number <= gold_items + pairs


def test_planned_checks_by_hand() -> None:
    # Of 99 slots, nine whole blocks; the tenth block may be over before its gold is due.
    assert planned(pairs=90, gold_items=50, gold_percent=10, repeat_percent=0) == 9
    assert planned(pairs=91, gold_items=50, gold_percent=10, repeat_percent=0) == 10
    # Only six gold items; 5 % of the 73 slots are repeats.
    assert planned(pairs=64, gold_items=6, gold_percent=10, repeat_percent=5) == 9
    assert planned(pairs=0, gold_items=6, gold_percent=50, repeat_percent=50) == 0
    assert planned(pairs=64, gold_items=0, gold_percent=10, repeat_percent=0) == 0
