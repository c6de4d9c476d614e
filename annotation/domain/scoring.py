"""How well answers on checks agree with what is known, in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from annotation.domain.rubric import SKIP


class Score(NamedTuple):
    """On how many criteria an answer was expected, and how many of them were as expected."""

    asked: int
    right: int

    @property
    def percent(self) -> int | None:
        """Rounded down, as pass marks compare; None where nothing was asked."""
        return 100 * self.right // self.asked if self.asked else None


def against_expected(
    *, expected: Mapping[str, str], choices: Mapping[str, str], may_skip: bool = True
) -> Score:
    """A tie or no answer where one of the responses is expected is not right.

    What is skipped counts neither way, unless it may not be.
    """
    asked = [key for key in expected if not may_skip or choices.get(key) != SKIP]
    return Score(asked=len(asked), right=sum(choices.get(key) == expected[key] for key in asked))


def consistency(*, first: Mapping[str, str], second: Mapping[str, str]) -> Score:
    """Two answers of one rater on one pair: the criteria on which both name a response."""
    asked = [key for key in first if {first[key], second.get(key)} <= {"A", "B"}]
    return Score(asked=len(asked), right=sum(first[key] == second[key] for key in asked))


def passes(*, right: int, asked: int, pass_percent: int) -> bool:
    """The share of right answers reaches the mark."""
    return 100 * right >= pass_percent * asked


def fails(*, right: int, asked: int, items: int, minimum: int, pass_percent: int) -> bool:
    """The share is below the mark, on enough items to tell."""
    return items >= minimum and not passes(right=right, asked=asked, pass_percent=pass_percent)
