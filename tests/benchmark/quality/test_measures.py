"""What wins by length, where labels come from, and how much there is of what."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.quality import VOTES, Kind, Severity

from .sets import found, one, pair, persona, prior, report


def rows(*lengths: tuple[str, int, int], tier: str = "easy", start: int = 1) -> list[Any]:
    """Pairs by label and lengths of A and B."""
    return [
        pair(n, prior(tier, label), response_a="a" * a, response_b="b" * b)
        for n, (label, a, b) in enumerate(lengths, start)
    ]


def test_longer_wins() -> None:
    result = report(
        *rows(("A", 9, 4), ("B", 3, 8), ("A", 2, 7), ("B", 5, 5)),
        *rows(("B", 1, 2), tier="hard", start=5),
        pair(9),  # without a label
    )
    wins = result.measures["longer_wins"]
    assert list(wins) == ["all", "easy", "hard"]
    every = wins["all"]
    assert [every[name] for name in ("rows", "larger", "equal", "value")] == [5, 3, 1, 0.6]
    # Wilson's interval of 3 in 5, as R's binom::binom.confint(3, 5, methods = "wilson") has it.
    assert every["ci"] == pytest.approx([0.2307, 0.8824], abs=5e-5)
    assert wins["easy"]["value"] == 0.5
    assert wins["easy"]["chosen"] == {"n": 4, "mean": 6.0, "min": 2.0, "median": 6.5, "max": 9.0}
    assert wins["easy"]["rejected"]["mean"] == (4 + 3 + 7 + 5) / 4
    assert result.measures["rows_by_tier"] == {"easy": 4, "hard": 1, "none": 1}
    finding = one(result, Kind.LONGER_WINS)
    assert (finding.severity, finding.count) == (Severity.NOTICE, 3)
    assert finding.numbers["which"] == "easy 50.0 %, hard 100.0 %"


@pytest.mark.parametrize("label", ["A", "B"])
def test_a_length_that_tells_is_a_warning_whichever_way(label: str) -> None:
    result = report(*rows(*[(label, 20 + n, 10) for n in range(9)]))
    assert one(result, Kind.LONGER_WINS).severity is Severity.WARNING


def test_rows_count_and_not_pairs() -> None:
    result = report(*rows(("A", 9, 4)), *rows(("A", 9, 4), tier="hard"))
    assert result.measures["longer_wins"]["all"]["rows"] == 2
    assert result.pairs == 1


def test_without_labels_there_is_a_reason_and_no_number() -> None:
    result = report(pair(1), pair(2, prior("easy", None)))
    assert result.measures["labels_from"] is None
    for name in ("longer_wins", "overlap_wins"):
        for measured in result.measures[name].values():
            assert measured["value"] is None
            assert measured["reason"] == "no_votes"
            assert measured["chosen"]["mean"] is None
        assert not found(result, Kind(name))
    assert result.measures["response_lengths"]["n"] == 4


def test_labels_may_come_from_votes() -> None:
    result = report(*rows(("A", 9, 4), tier="easy"), labels_from=VOTES)
    assert result.measures["labels_from"] == "votes"


def test_tiers_have_an_order() -> None:
    odd = ["zeta", "hard", "easy", "alpha", "medium"]
    result = report(*[pair(n, prior(tier, "A")) for n, tier in enumerate(odd)])
    assert list(result.measures["rows_by_tier"]) == ["easy", "medium", "hard", "alpha", "zeta"]


def test_how_much_there_is_of_what() -> None:
    result = report(
        persona("ada"),
        persona("bob", {"Name": "Bob"}),
        persona("eve", {"Name": "Eve"}),
        *(pair(n, query_kind="specific") for n in range(3)),
        pair(0, prior("easy", "A"), query_kind="specific"),
        pair(7, persona_id="bob"),
    )
    assert result.measures["distinct"] == {
        **{"queries": 4, "responses": 8, "groups": 4, "personas_with_pairs": 2},
    }
    assert result.measures["rows_by_query_kind"] == {"general": 1, "specific": 4}
    per_persona = result.measures["pairs_per_persona"]
    assert per_persona == {"n": 2, "mean": 2.0, "min": 1.0, "median": 2.0, "max": 3.0}
    assert result.measures["rows_per_persona"]["max"] == 4.0
    assert one(result, Kind.UNUSED_PERSONA).ids == ("eve",)
