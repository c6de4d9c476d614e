"""What an answer is, and which answers are complete.

A form answers by place ("1" is the response shown first, "2" the other, or "tie"); votes are kept
by canonical response. Only the server knows which is which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

COMMENT_LIMIT = 4_000

FIRST = "1"
SECOND = "2"
TIE = "tie"


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer: criterion key -> A, B or tie, by canonical response."""

    choices: Mapping[str, str]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class AnswerProblem:
    """Why an answer was refused: a criterion's key or "comment", and a code."""

    field: str
    code: Literal["missing", "unknown_choice", "too_long", "odd_characters"]


def read_answer(
    *,
    places: Mapping[str, str],
    comment: str,
    criteria: Sequence[str],
    shown_left: str,
    allows_tie: bool,
) -> Answer | list[AnswerProblem]:
    """Turn what the form says by place into votes by canonical response, or say what is wrong."""
    other = "B" if shown_left == "A" else "A"
    meaning = {FIRST: shown_left, SECOND: other}
    if allows_tie:
        meaning[TIE] = TIE
    problems: list[AnswerProblem] = []
    choices: dict[str, str] = {}
    for key in criteria:
        place = places.get(key, "")
        if not place:
            problems.append(AnswerProblem(key, "missing"))
        elif place not in meaning:
            problems.append(AnswerProblem(key, "unknown_choice"))
        else:
            choices[key] = meaning[place]
    comment = comment.replace("\r\n", "\n").strip()
    if len(comment) > COMMENT_LIMIT:
        problems.append(AnswerProblem("comment", "too_long"))
    elif any(ord(character) == 0 or 0xD800 <= ord(character) < 0xE000 for character in comment):
        problems.append(AnswerProblem("comment", "odd_characters"))
    return problems or Answer(choices=choices, comment=comment)
