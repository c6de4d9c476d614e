"""From what a form says by place to votes by canonical response, or to what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.rubric import (
    COMMENT_LIMIT,
    CONFIDENCES,
    REASONS,
    SKIP_REASONS,
    Answer,
    AnswerProblem,
    Form,
    Rules,
    clean_comment,
    form_of,
    place_of,
    read_answer,
    side_of,
)
from benchmark.formats.checks import is_blank

CRITERIA = ("helpfulness", "personalization")
PLAIN = Rules(CRITERIA)
ASKS = Rules(CRITERIA, allows_tie=True, asks_confidence=True, asks_reasons=True)


def form(helpfulness: str | None = "1", personalization: str | None = "2", **fields: Any) -> Form:
    given = {"helpfulness": helpfulness, "personalization": personalization}
    return Form(places={key: place for key, place in given.items() if place is not None}, **fields)


def read(form: Form, rules: Rules = PLAIN, shown_left: str = "A") -> Answer | list[AnswerProblem]:
    return read_answer(form, rules=rules, shown_left=shown_left)


def accepted(form: Form, rules: Rules = PLAIN, shown_left: str = "A") -> Answer:
    answer = read(form, rules, shown_left)
    assert isinstance(answer, Answer), answer
    return answer


def problems(form: Form, rules: Rules = PLAIN) -> list[tuple[str, str]]:
    found = read(form, rules)
    assert isinstance(found, list), found
    return [(problem.field, problem.code) for problem in found]


class TestChoices:
    @pytest.mark.parametrize(
        ("shown_left", "place", "choice"),
        [("A", "1", "A"), ("A", "2", "B"), ("B", "1", "B"), ("B", "2", "A")],
    )
    def test_places_become_canonical_responses(
        self, shown_left: str, place: str, choice: str
    ) -> None:
        answer = accepted(form(place, place), shown_left=shown_left)
        assert answer == Answer(choices={"helpfulness": choice, "personalization": choice})
        assert side_of(place, shown_left=shown_left) == choice
        assert place_of(choice, shown_left=shown_left) == place

    @pytest.mark.parametrize("shown_left", ["A", "B"])
    def test_a_tie_is_a_tie_in_any_order(self, shown_left: str) -> None:
        rules = replace(PLAIN, allows_tie=True)
        answer = accepted(form("tie", "1"), rules, shown_left)
        assert answer.choices == {"helpfulness": "tie", "personalization": shown_left}

    @pytest.mark.parametrize(
        ("helpfulness", "personalization", "expected"),
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
        self,
        helpfulness: str | None,
        personalization: str | None,
        expected: list[tuple[str, str]],
    ) -> None:
        assert problems(form(helpfulness, personalization)) == expected

    def test_criteria_that_nobody_asked_for_are_left_out(self) -> None:
        given = Form(places={"helpfulness": "1", "personalization": "2", "style": "1"})
        assert set(accepted(given).choices) == set(CRITERIA)

    def test_a_skip_needs_its_own_button(self) -> None:
        """A reason that is ticked beside complete answers does not throw them away."""
        answer = accepted(form("1", "2", skip_reason="broken"))
        assert answer == Answer(choices={"helpfulness": "A", "personalization": "B"})


class TestSkips:
    @pytest.mark.parametrize("reason", [reason for reason in SKIP_REASONS if reason != "other"])
    def test_with_a_reason_it_is_on_all_criteria(self, reason: str) -> None:
        answer = accepted(form("1", None, is_skip=True, skip_reason=reason, comment=" Why. "))
        assert answer == Answer(
            choices=dict.fromkeys(CRITERIA, "skip"), comment="Why.", skip_reason=reason
        )

    def test_another_reason_is_in_the_comment(self) -> None:
        other = form(is_skip=True, skip_reason="other")
        assert problems(other) == [("comment", "needs_comment")]
        for unseen in (" \r\n ", "\u200b", "\u3164 \ufe0f", "\u2800\n\u00ad"):
            assert problems(replace(other, comment=unseen)) == [("comment", "needs_comment")]
        for seen in ("In German.", "德语。", "🙂", "👩\u200d🌾"):
            assert accepted(replace(other, comment=seen)).skip_reason == "other"

    @pytest.mark.parametrize(
        ("reason", "code"),
        [
            ("", "missing"),
            ("boring", "unknown_choice"),
            ("BROKEN", "unknown_choice"),
            ("broken\x00", "unknown_choice"),
        ],
    )
    def test_without_a_known_reason_it_is_none(self, reason: str, code: str) -> None:
        assert problems(form(is_skip=True, skip_reason=reason)) == [("skip_reason", code)]

    @pytest.mark.parametrize("reason", ["", "broken", "other", "boring"])
    def test_where_the_campaign_has_none(self, reason: str) -> None:
        rules = replace(PLAIN, allows_skip=False)
        assert problems(form(is_skip=True, skip_reason=reason), rules) == [
            ("skip_reason", "not_allowed")
        ]
        assert accepted(form(skip_reason=reason), rules).skip_reason == ""

    def test_a_comment_that_cannot_be_kept_is_said_once(self) -> None:
        long = "x" * (COMMENT_LIMIT + 1)
        for reason in ("other", "broken"):
            assert problems(form(is_skip=True, skip_reason=reason, comment=long)) == [
                ("comment", "too_long")
            ]
        assert problems(form(is_skip=True, comment=long)) == [
            ("comment", "too_long"),
            ("skip_reason", "missing"),
        ]

    def test_confidence_and_reasons_are_about_answers(self) -> None:
        given = form(is_skip=True, skip_reason="unsafe", confidence="9", reasons=["taste"])
        answer = accepted(given, ASKS)
        assert (answer.confidence, answer.reasons) == (None, ())


class TestConfidenceAndReasons:
    @pytest.mark.parametrize("level", CONFIDENCES)
    def test_levels(self, level: int) -> None:
        assert accepted(form(confidence=str(level)), ASKS).confidence == level

    def test_both_are_optional(self) -> None:
        answer = accepted(form(), ASKS)
        assert (answer.confidence, answer.reasons) == (None, ())

    @pytest.mark.parametrize(
        "confidence", ["0", "4", "-1", "1.0", " 1", "１", "²", "sure", "1\x00"]
    )
    def test_foreign_levels(self, confidence: str) -> None:
        assert problems(form(confidence=confidence), ASKS) == [("confidence", "unknown_choice")]

    def test_reasons_are_kept_in_one_order_and_once(self) -> None:
        given = form(reasons=["other", "taste", "situation", "taste"])
        assert accepted(given, ASKS).reasons == ("situation", "taste", "other")
        assert accepted(form(reasons=list(reversed(REASONS))), ASKS).reasons == REASONS

    @pytest.mark.parametrize("reasons", [["looks"], ["taste", ""], ["Taste"], ["taste,tone"]])
    def test_foreign_reasons(self, reasons: list[str]) -> None:
        assert problems(form(reasons=reasons), ASKS) == [("reasons", "unknown_choice")]

    def test_nobody_asked(self) -> None:
        answer = accepted(form(confidence="9", reasons=["looks"]), PLAIN)
        assert (answer.confidence, answer.reasons) == (None, ())


COMMENTS = [
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
    # White space at the ends does not count either.
    (" " * 100 + "x" * COMMENT_LIMIT + "\n" * 100, "x" * COMMENT_LIMIT),
    # Where there is nothing to be seen there is none.
    ("\u200b\ufeff", ""),
    ("\u3164\n\u2800", ""),
    # Right to left and without width: kept as written.
    ("\u202eolleh\u202c\u200b", "\u202eolleh\u202c\u200b"),
]
BAD_COMMENTS = [
    ("x" * (COMMENT_LIMIT + 1), "too_long"),
    ("x" * 100_000, "too_long"),
    ("a\x00b", "odd_characters"),
    ("a\ud800", "odd_characters"),
    ("\udfffz", "odd_characters"),
]


class TestComments:
    @pytest.mark.parametrize(("text", "kept"), COMMENTS)
    def test_kept(self, text: str, kept: str) -> None:
        assert accepted(form(comment=text)).comment == kept
        assert clean_comment(text) == kept

    @pytest.mark.parametrize(("text", "code"), BAD_COMMENTS)
    def test_refused(self, text: str, code: Any) -> None:
        assert problems(form(comment=text)) == [("comment", code)]
        assert clean_comment(text) == AnswerProblem("comment", code)


def test_everything_wrong_is_said_at_once() -> None:
    bad = form("9", None, comment="x" * (COMMENT_LIMIT + 1), confidence="9", reasons=["looks"])
    assert sorted(problems(bad, ASKS)) == [
        ("comment", "too_long"),
        ("confidence", "unknown_choice"),
        ("helpfulness", "unknown_choice"),
        ("personalization", "missing"),
        ("reasons", "unknown_choice"),
    ]


class TestTheWayBack:
    """A stored answer as the form that gives it, for corrections."""

    choices = st.sampled_from(["A", "B", "tie"])
    kept = (
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"))
        .map(str.strip)
        .filter(lambda text: not text or not is_blank(text))
    )
    answers = st.one_of(
        st.builds(
            Answer,
            choices=st.fixed_dictionaries(dict.fromkeys(CRITERIA, choices)),
            comment=kept,
            confidence=st.none() | st.sampled_from(CONFIDENCES),
            reasons=st.sets(st.sampled_from(REASONS)).map(
                lambda chosen: tuple(reason for reason in REASONS if reason in chosen)
            ),
        ),
        st.builds(
            Answer,
            choices=st.just(dict.fromkeys(CRITERIA, "skip")),
            comment=kept.filter(bool),
            skip_reason=st.sampled_from(SKIP_REASONS),
        ),
    )

    @given(answer=answers, shown_left=st.sampled_from(["A", "B"]))
    def test_a_form_made_of_an_answer_gives_it_again(self, answer: Answer, shown_left: str) -> None:
        assert accepted(form_of(answer, shown_left=shown_left), ASKS, shown_left) == answer

    def test_places_of_what_is_no_side(self) -> None:
        for shown_left in ("A", "B"):
            assert place_of("tie", shown_left=shown_left) == "tie"
            assert place_of("skip", shown_left=shown_left) == ""

    def test_one_skip_among_answers_made_elsewhere_is_a_question_left_open(self) -> None:
        mixed = Answer(choices={"helpfulness": "skip", "personalization": "B"}, skip_reason="odd")
        again = form_of(mixed, shown_left="A")
        assert not again.is_skip
        assert again.places == {"helpfulness": "", "personalization": "2"}
