"""What an answer is, and which answers are complete.

A form answers by place ("1" is the response shown first, "2" the other, or "tie"); votes are kept
by canonical response. Only the server knows which is which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmark.formats.checks import is_blank

COMMENT_LIMIT = 4_000

FIRST = "1"
SECOND = "2"
TIE = "tie"
SKIP = "skip"

# Why a pair is skipped. "other" needs a comment.
SKIP_REASONS = ("cannot_judge", "both_bad", "broken", "unsafe", "conflict", "other")
# What may have decided, where the campaign asks for reasons.
REASONS = ("situation", "taste", "limits", "correct", "complete", "clear", "tone", "other")
# From a guess to certain.
CONFIDENCES = (1, 2, 3)

Code = Literal[
    "missing", "unknown_choice", "too_long", "odd_characters", "not_allowed", "needs_comment"
]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a campaign allows and asks for."""

    criteria: Sequence[str]
    allows_tie: bool = False
    allows_skip: bool = True
    asks_confidence: bool = False
    asks_reasons: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """An answer as it was sent: nothing in it is trusted. Empty means not given."""

    places: Mapping[str, str]  # criterion key -> place
    comment: str = ""
    is_skip: bool = False
    skip_reason: str = ""
    confidence: str = ""
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer: criterion key -> A, B, tie or skip, by canonical response.

    A skip is on all criteria, with a reason out of SKIP_REASONS.
    """

    choices: Mapping[str, str]
    comment: str = ""
    skip_reason: str = ""
    confidence: int | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerProblem:
    """Why an answer was refused: a field's name or a criterion's key, and a code."""

    field: str
    code: Code


def read_answer(form: Form, *, rules: Rules, shown_left: str) -> Answer | list[AnswerProblem]:
    """Turn what the form says by place into votes by canonical response, or say what is wrong."""
    problems: list[AnswerProblem] = []
    comment = _comment(form.comment, problems)
    if form.is_skip:
        if not rules.allows_skip:
            problems.append(AnswerProblem("skip_reason", "not_allowed"))
        elif not form.skip_reason:
            problems.append(AnswerProblem("skip_reason", "missing"))
        elif form.skip_reason not in SKIP_REASONS:
            problems.append(AnswerProblem("skip_reason", "unknown_choice"))
        elif form.skip_reason == "other" and not comment:
            problems.append(AnswerProblem("comment", "needs_comment"))
        return problems or Answer(
            choices=dict.fromkeys(rules.criteria, SKIP),
            comment=comment,
            skip_reason=form.skip_reason,
        )
    choices = _choices(form.places, rules, shown_left, problems)
    confidence = None
    if rules.asks_confidence and form.confidence:
        if form.confidence in {str(level) for level in CONFIDENCES}:
            confidence = int(form.confidence)
        else:
            problems.append(AnswerProblem("confidence", "unknown_choice"))
    reasons: tuple[str, ...] = ()
    if rules.asks_reasons:
        if set(form.reasons) <= set(REASONS):
            reasons = tuple(reason for reason in REASONS if reason in form.reasons)
        else:
            problems.append(AnswerProblem("reasons", "unknown_choice"))
    return problems or Answer(
        choices=choices, comment=comment, confidence=confidence, reasons=reasons
    )


def form_of(answer: Answer, *, shown_left: str) -> Form:
    """A stored answer as the form that gives it."""
    return Form(
        places={
            key: place_of(choice, shown_left=shown_left) for key, choice in answer.choices.items()
        },
        comment=answer.comment,
        is_skip=set(answer.choices.values()) == {SKIP},
        skip_reason=answer.skip_reason,
        confidence="" if answer.confidence is None else str(answer.confidence),
        reasons=answer.reasons,
    )


def place_of(choice: str, *, shown_left: str) -> str:
    """The place under which a stored choice stood; empty for a skip."""
    if choice == SKIP:
        return ""
    if choice == TIE:
        return TIE
    return FIRST if choice == shown_left else SECOND


def side_of(place: str, *, shown_left: str) -> str:
    """The canonical response that stood at a place."""
    other = "B" if shown_left == "A" else "A"
    return shown_left if place == FIRST else other


def clean_comment(text: str) -> str | AnswerProblem:
    """A comment as it is stored, or why it cannot be."""
    problems: list[AnswerProblem] = []
    comment = _comment(text, problems)
    return problems[0] if problems else comment


def _choices(
    places: Mapping[str, str], rules: Rules, shown_left: str, problems: list[AnswerProblem]
) -> dict[str, str]:
    meaning = {place: side_of(place, shown_left=shown_left) for place in (FIRST, SECOND)}
    if rules.allows_tie:
        meaning[TIE] = TIE
    choices: dict[str, str] = {}
    for key in rules.criteria:
        place = places.get(key, "")
        if not place:
            problems.append(AnswerProblem(key, "missing"))
        elif place not in meaning:
            problems.append(AnswerProblem(key, "unknown_choice"))
        else:
            choices[key] = meaning[place]
    return choices


def _comment(text: str, problems: list[AnswerProblem]) -> str:
    """Empty for one in which there is nothing to be seen."""
    comment = text.replace("\r\n", "\n").strip()
    if len(comment) > COMMENT_LIMIT:
        problems.append(AnswerProblem("comment", "too_long"))
    elif any(ord(character) == 0 or 0xD800 <= ord(character) < 0xE000 for character in comment):
        problems.append(AnswerProblem("comment", "odd_characters"))
    return "" if is_blank(comment) else comment
