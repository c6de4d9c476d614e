"""From what a form says by place to votes by canonical response, or to what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.domain.rubric import COMMENT_LIMIT, Answer, AnswerProblem, read_answer

CRITERIA = ["helpfulness", "personalization"]


def read(
    helpfulness: str | None = "1",
    personalization: str | None = "2",
    *,
    comment: str = "",
    shown_left: str = "A",
    allows_tie: bool = False,
) -> Answer | list[AnswerProblem]:
    given = {"helpfulness": helpfulness, "personalization": personalization}
    return read_answer(
        places={key: place for key, place in given.items() if place is not None},
        comment=comment,
        criteria=CRITERIA,
        shown_left=shown_left,
        allows_tie=allows_tie,
    )


@pytest.mark.parametrize(
    ("shown_left", "place", "choice"),
    [("A", "1", "A"), ("A", "2", "B"), ("B", "1", "B"), ("B", "2", "A")],
)
def test_places_become_canonical_responses(shown_left: str, place: str, choice: str) -> None:
    answer = read(place, place, shown_left=shown_left)
    assert answer == Answer(choices={"helpfulness": choice, "personalization": choice})


@pytest.mark.parametrize("shown_left", ["A", "B"])
def test_a_tie_is_a_tie_in_any_order(shown_left: str) -> None:
    answer = read("tie", "1", shown_left=shown_left, allows_tie=True)
    assert isinstance(answer, Answer)
    assert answer.choices == {"helpfulness": "tie", "personalization": shown_left}


@pytest.mark.parametrize(
    ("helpfulness", "personalization", "problems"),
    [
        (None, "1", [("helpfulness", "missing")]),
        ("", "1", [("helpfulness", "missing")]),
        ("1", None, [("personalization", "missing")]),
        (None, None, [("helpfulness", "missing"), ("personalization", "missing")]),
        ("3", "1", [("helpfulness", "unknown_choice")]),
        ("A", "B", [("helpfulness", "unknown_choice"), ("personalization", "unknown_choice")]),
        ("1 ", "1", [("helpfulness", "unknown_choice")]),
        ("１", "1", [("helpfulness", "unknown_choice")]),
        ("1\x00", "1", [("helpfulness", "unknown_choice")]),
        ("tie", "1", [("helpfulness", "unknown_choice")]),
        ("skip", "", [("helpfulness", "unknown_choice"), ("personalization", "missing")]),
    ],
)
def test_incomplete_and_foreign_choices(
    helpfulness: str | None, personalization: str | None, problems: list[tuple[str, str]]
) -> None:
    found = read(helpfulness, personalization)
    assert isinstance(found, list)
    assert [(problem.field, problem.code) for problem in found] == problems


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", ""),
        ("  \r\n ", ""),
        (" Both are thin. ", "Both are thin."),
        ("one\r\ntwo", "one\ntwo"),
        ("两个都不够具体。🙂", "两个都不够具体。🙂"),
        ("x" * COMMENT_LIMIT, "x" * COMMENT_LIMIT),
        # Browsers send line ends as two characters: only one of them counts.
        ("a\r\n" * (COMMENT_LIMIT // 2), ("a\n" * (COMMENT_LIMIT // 2)).strip()),
        # The limit counts characters, of whatever size.
        ("🙂" * COMMENT_LIMIT, "🙂" * COMMENT_LIMIT),
    ],
)
def test_comments(given: str, kept: str) -> None:
    answer = read(comment=given)
    assert isinstance(answer, Answer)
    assert answer.comment == kept


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("x" * (COMMENT_LIMIT + 1), "too_long"),
        ("a\x00b", "odd_characters"),
        ("a\ud800", "odd_characters"),
        ("\udfffz", "odd_characters"),
    ],
)
def test_comments_that_cannot_be_kept(comment: str, code: Any) -> None:
    found = read(comment=comment)
    assert found == [AnswerProblem("comment", code)]


def test_everything_wrong_is_said_at_once() -> None:
    found = read("9", None, comment="x" * (COMMENT_LIMIT + 1))
    assert isinstance(found, list)
    assert [problem.field for problem in found] == ["helpfulness", "personalization", "comment"]
