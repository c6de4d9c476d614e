"""What agreement says in words."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.audit.agreement_words import expected_by_chance, reading
from benchmark.stats.report import criterion_report


def report(rows: list[tuple[int, int, int]], **options: Any) -> dict[str, Any]:
    """Of rows of votes for A and B, and pairs."""
    return criterion_report(
        [row[:2] for row in rows],
        categories=("A", "B"),
        multiplicity=[row[2] for row in rows],
        replicates=100,
        engine="own",
        **options,
    )


def words(rows: list[tuple[int, int, int]]) -> str:
    return " ".join(str(sentence) for sentence in reading(report(rows)))


def test_votes_for_both_sides_need_no_more_than_the_numbers() -> None:
    said = words([(9, 0, 50), (0, 9, 50), (5, 4, 10), (4, 5, 10)])
    assert said.startswith("Raters agree more than chance would make them.")
    # 100 pairs agree always, 20 in 16 of 36 cases; half of the votes are for A.
    assert "90.7% [" in said
    assert "would agree in 50.0%" in said
    assert "put down" not in said


def test_a_lean_to_one_side_is_told_where_it_matters() -> None:
    """8-1 everywhere: P_o is .778, Fleiss' kappa -1/8, Randolph's .556."""
    said = words([(8, 1, 40)])
    assert "88.9% of the votes are for A" in said
    assert "Randolph's kappa (0.56)" in said
    assert "AC1 (0.72)" in said
    # The other side is named where it is the other side.
    assert "88.9% of the votes are for B" in words([(1, 8, 40)])


def test_a_lean_alone_is_not_enough() -> None:
    """Everybody agrees on each pair, and most pairs have the same answer: no paradox."""
    assert "put down" not in words([(9, 0, 90), (0, 9, 10)])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(9, 0, 3)], "every vote is for the same response"),
        ([(1, 0, 3)], "no pair has two votes"),
        ([(0, 0, 3)], "no pair has two votes"),
    ],
)
def test_no_number_is_said_to_be_none(rows: list[tuple[int, int, int]], reason: str) -> None:
    said = words(rows)
    assert said.startswith("Fleiss' kappa is undefined:")
    assert reason in said


def test_chance_is_that_of_fleiss() -> None:
    found = report([(7, 2, 10), (3, 6, 10), (9, 0, 1)])
    observed, kappa = (found[key]["value"] for key in ("percent_agreement", "fleiss"))
    chance = expected_by_chance(found)
    assert (observed - chance) / (1 - chance) == pytest.approx(kappa)
