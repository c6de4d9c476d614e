"""The simulated raters: reproducible, fair to both sides, and noisy as people are."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from annotation.domain.blinding import shown_left
from annotation.domain.simulation import WEIGHTS, SimulatedPair, simulated_votes
from benchmark.stats.agreement import agreement

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
RATERS = [f"simulated-{number}" for number in range(9)]
SOURCES = [
    *(("full", "none"), ("none", "full"), ("full", "masked"), ("masked", "full")),
    *(("masked", "none"), ("none", "masked")),
]
PAIRS = [SimulatedPair(f"pair-{number}", *SOURCES[number % len(SOURCES)]) for number in range(300)]


def votes(seed: str = "cups", pairs: list[SimulatedPair] = PAIRS) -> list[dict[str, Any]]:
    return list(simulated_votes(pairs=pairs, raters=RATERS, seed=seed, start=START))


def test_the_same_seed_gives_the_same_rows() -> None:
    assert votes() == votes()
    assert votes() != votes("mugs")


def test_every_rater_answers_everything_once() -> None:
    rows = votes()
    keys = [(row["pair_id"], row["rater"], row["criterion"]) for row in rows]
    assert len(keys) == len(set(keys)) == len(PAIRS) * len(RATERS) * len(WEIGHTS)
    assert {row["choice"] for row in rows} == {"A", "B"}


def test_orders_and_times_are_those_of_the_platform() -> None:
    last: dict[str, datetime] = {}
    for row in votes():
        assert row["shown_left"] == shown_left(
            seed="cups", pair_id=row["pair_id"], rater=row["rater"]
        )
        assert row["seconds"] > 0
        at = datetime.fromisoformat(row["at"])
        assert at.tzinfo is not None
        assert at >= last.get(row["rater"], START)
        last[row["rater"]] = at


@pytest.mark.parametrize(
    ("criterion", "low", "high"), [("personalization", 0.25, 0.65), ("helpfulness", 0.1, 0.5)]
)
def test_they_agree_as_far_as_people_do(criterion: str, low: float, high: float) -> None:
    counts = Counter(
        (row["pair_id"], row["choice"]) for row in votes() if row["criterion"] == criterion
    )
    table = np.array([[counts[pair.pair_id, side] for side in "AB"] for pair in PAIRS])
    fleiss = agreement(table, categories=("A", "B")).fleiss.value
    assert fleiss is not None
    assert low < fleiss < high


def test_the_better_source_wins_more_often_than_not_on_either_side() -> None:
    wins: Counter[tuple[str, str]] = Counter()
    for row in votes():
        if row["criterion"] == "personalization":
            pair = PAIRS[int(row["pair_id"].removeprefix("pair-"))]
            if {pair.source_a, pair.source_b} == {"full", "none"}:
                side = "A" if pair.source_a == "full" else "B"
                wins[side, "won" if row["choice"] == side else "lost"] += 1
    shares = {side: wins[side, "won"] / (wins[side, "won"] + wins[side, "lost"]) for side in "AB"}
    assert all(0.7 < share < 0.98 for share in shares.values()), shares


def test_unknown_sources_are_equally_good() -> None:
    pairs = [SimulatedPair(f"pair-{number}", "model-x", "model-y") for number in range(400)]
    choices = Counter(row["choice"] for row in votes(pairs=pairs))
    share = choices["A"] / choices.total()
    assert 0.4 < share < 0.6
