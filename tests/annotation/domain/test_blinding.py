"""The order shown is a fair coin that knows nothing. Seeds are fixed, so no run differs."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product

import pytest

from annotation.domain.blinding import shown_left
from benchmark.formats.personafeedback import ordered

PAIRS = [f"pair-{number}" for number in range(3_000)]
RATERS = [f"r-{number:08x}" for number in range(9)]
# A fair coin strays further than this from one half about once in 16,000 tests.
SIGMAS = 4.0


def within_chance(successes: int, trials: int, *, chance: float = 0.5) -> bool:
    return abs(successes - trials * chance) <= SIGMAS * math.sqrt(trials * chance * (1 - chance))


def lefts(seed: str, rater: str) -> list[str]:
    return [shown_left(seed=seed, pair_id=pair, rater=rater) for pair in PAIRS]


@pytest.mark.parametrize("seed", ["cups", "", "种子"])
def test_it_is_a_fair_coin(seed: str) -> None:
    draws = [left for rater in RATERS for left in lefts(seed, rater)]
    assert set(draws) == {"A", "B"}
    assert within_chance(draws.count("A"), len(draws))


def test_every_rater_and_every_stretch_of_pairs_gets_both_orders() -> None:
    for rater in RATERS:
        draws = lefts("cups", rater)
        assert within_chance(draws.count("A"), len(draws))
        for start in range(0, len(PAIRS), 500):
            assert within_chance(draws[start : start + 500].count("A"), 500)


def test_one_rater_does_not_foretell_another() -> None:
    by_rater = [lefts("cups", rater) for rater in RATERS]
    for one, other in pairwise(by_rater):
        same = sum(a == b for a, b in zip(one, other, strict=True))
        assert within_chance(same, len(PAIRS))
    # Of nine raters, as many see A left as of nine coins.
    seen = Counter(column.count("A") for column in zip(*by_rater, strict=True))
    for number in range(10):
        chance = math.comb(9, number) / 2**9
        assert within_chance(seen[number], len(PAIRS), chance=chance)


def test_one_pair_does_not_foretell_the_next() -> None:
    draws = lefts("cups", RATERS[0])
    same = sum(a == b for a, b in pairwise(draws))
    assert within_chance(same, len(draws) - 1)


def test_another_seed_gives_another_order() -> None:
    same = sum(a == b for a, b in zip(lefts("cups", "r-1"), lefts("mugs", "r-1"), strict=True))
    assert within_chance(same, len(PAIRS))


def test_it_says_nothing_about_the_source() -> None:
    """Whichever response is the better one: canonical side and place shown are independent."""
    seen: Counter[tuple[str, str]] = Counter()
    for pair, rater in product(PAIRS, RATERS[:3]):
        # The importer orders by the same seed: the two draws must not be the same draw.
        first, _ = ordered(pair_id=pair, texts=(f"full {pair}", f"none {pair}"), seed="cups")
        side_of_full = "A" if first.startswith("full") else "B"
        seen[side_of_full, shown_left(seed="cups", pair_id=pair, rater=rater)] += 1
    trials = sum(seen.values())
    for cell in product("AB", "AB"):
        assert within_chance(seen[cell], trials, chance=0.25)
    assert within_chance(seen["A", "A"] + seen["B", "B"], trials)


def test_the_same_on_every_reload() -> None:
    """Stored orders must stay explicable: these values may never change."""
    drawn = [shown_left(seed="cups", pair_id=f"pair-{n}", rater="r-1") for n in range(12)]
    assert drawn == [shown_left(seed="cups", pair_id=f"pair-{n}", rater="r-1") for n in range(12)]
    assert "".join(drawn) == "AAABABABABAB"


def test_neighbouring_names_are_not_run_together() -> None:
    """("a", "bc") and ("ab", "c") are different pairs and raters, with draws of their own."""
    same = sum(
        shown_left(seed="cups", pair_id=f"{n}", rater=f"1{n}")
        == shown_left(seed="cups", pair_id=f"{n}1", rater=f"{n}")
        for n in range(2_000)
    )
    assert within_chance(same, 2_000)
