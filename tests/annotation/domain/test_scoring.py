"""Answers on checks, scored in whole numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.scoring import Score, against_expected, consistency, fails, passes

KEYS = ("helpfulness", "personalization")
CHOICES = st.fixed_dictionaries({key: st.sampled_from(["A", "B", "tie", "skip"]) for key in KEYS})
COUNTS = st.integers(0, 500)


@pytest.mark.parametrize(
    ("expected", "choices", "score"),
    [
        ({"helpfulness": "A"}, {"helpfulness": "A", "personalization": "B"}, (1, 1)),
        ({"helpfulness": "A"}, {"helpfulness": "B", "personalization": "A"}, (1, 0)),
        (
            {"helpfulness": "A", "personalization": "B"},
            {"helpfulness": "A", "personalization": "A"},
            (2, 1),
        ),
        # A tie is an answer, and not the expected one; a skip is none.
        ({"helpfulness": "A", "personalization": "B"}, dict.fromkeys(KEYS, "tie"), (2, 0)),
        ({"personalization": "B"}, dict.fromkeys(KEYS, "skip"), (0, 0)),
        # A criterion that the campaign no longer asks about.
        ({"tone": "B"}, {"helpfulness": "A"}, (1, 0)),
    ],
)
def test_against_what_is_expected(
    expected: dict[str, str], choices: dict[str, str], score: tuple[int, int]
) -> None:
    assert against_expected(expected=expected, choices=choices) == score


def test_a_skip_where_none_is_allowed_is_not_right() -> None:
    expected = {"helpfulness": "A", "personalization": "B"}
    skips = dict.fromkeys(KEYS, "skip")
    assert against_expected(expected=expected, choices=skips, may_skip=False) == (2, 0)


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [
        ("AB", "AB", (2, 2)),
        ("AB", "BB", (2, 1)),
        ("AB", "BA", (2, 0)),
    ],
)
def test_consistency(first: str, second: str, score: tuple[int, int]) -> None:
    found = consistency(
        first=dict(zip(KEYS, first, strict=True)), second=dict(zip(KEYS, second, strict=True))
    )
    assert found == score


def test_consistency_asks_only_where_a_response_was_named_both_times() -> None:
    first = {"helpfulness": "A", "personalization": "tie"}
    assert consistency(first=first, second={"helpfulness": "A", "personalization": "tie"}) == (1, 1)
    assert consistency(first=first, second=dict.fromkeys(KEYS, "skip")) == (0, 0)
    assert consistency(first={}, second=first) == (0, 0)


@given(first=CHOICES, second=CHOICES)
def test_consistency_does_not_depend_on_which_came_first(
    first: dict[str, str], second: dict[str, str]
) -> None:
    assert consistency(first=first, second=second) == consistency(first=second, second=first)


@given(right=COUNTS, wrong=COUNTS, percent=st.integers(0, 100))
def test_the_mark_is_exact(right: int, wrong: int, percent: int) -> None:
    asked = right + wrong
    share_reaches = asked == 0 or Fraction(right, asked) >= Fraction(percent, 100)
    assert passes(right=right, asked=asked, pass_percent=percent) == share_reaches


def test_the_mark_itself_passes() -> None:
    assert passes(right=7, asked=10, pass_percent=70)
    assert not passes(right=6, asked=10, pass_percent=70)
    assert not passes(right=2, asked=3, pass_percent=67)


@given(right=COUNTS, wrong=COUNTS, items=COUNTS, minimum=COUNTS, percent=st.integers(0, 100))
def test_nobody_fails_on_too_few(
    right: int, wrong: int, items: int, minimum: int, percent: int
) -> None:
    asked = right + wrong
    found = fails(right=right, asked=asked, items=items, minimum=minimum, pass_percent=percent)
    below = not passes(right=right, asked=asked, pass_percent=percent)
    assert found == (below and items >= minimum)


def test_percent_is_rounded_down_and_none_without_answers() -> None:
    assert Score(asked=3, right=2).percent == 66
    assert Score(asked=3, right=3).percent == 100
    assert Score(asked=0, right=0).percent is None
