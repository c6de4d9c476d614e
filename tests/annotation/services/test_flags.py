"""Flags, by place in the form and by canonical response in the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.domain.rubric import COMMENT_LIMIT
from annotation.models import Assignment, Event, Flag
from annotation.services.flags import FlagProblem, raise_flag, resolve_flag
from tests.annotation.seating import NOW, seat, seated_campaign
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def held(tmp_path: Path) -> Assignment:
    _, (rater, _) = seated_campaign(tmp_path)
    return seat(rater)


def flag(held: Assignment, target: str = "query", kind: str = "broken", comment: str = "") -> Flag:
    raised = raise_flag(seat=held, target=target, kind=kind, comment=comment)
    assert isinstance(raised, Flag), raised
    return raised


def test_responses_are_kept_by_what_they_are(held: Assignment) -> None:
    other = {"A": "B", "B": "A"}[held.shown_left]
    assert flag(held, "1").target == held.shown_left
    assert flag(held, "2").target == other
    assert flag(held, "persona").target == "persona"
    assert Flag.objects.count() == 3
    assert Event.objects.filter(action="flag:raised").count() == 3


def test_the_same_again_is_one_flag_with_the_newest_words(held: Assignment) -> None:
    first = flag(held, comment="Cut off.")
    assert flag(held) == first
    assert flag(held, comment="Cut off after a word.") == first
    first.refresh_from_db()
    assert first.comment == "Cut off after a word."
    assert Flag.objects.count() == 1
    assert Event.objects.filter(action="flag:raised").count() == 2


def test_what_was_resolved_can_be_flagged_again(held: Assignment) -> None:
    first = flag(held)
    lead = UserFactory.create()
    for _ in range(2):
        resolve_flag(flag=first, actor=lead, now=NOW)
    assert (first.resolved_by, first.resolved_at) == (lead, NOW)
    assert Event.objects.filter(action="flag:resolved").count() == 1
    assert flag(held) != first


@pytest.mark.parametrize(
    ("target", "kind", "comment", "problem"),
    [
        ("", "broken", "", FlagProblem("target", "missing")),
        # By place, not by what only the server knows.
        ("A", "broken", "", FlagProblem("target", "unknown_choice")),
        ("tie", "broken", "", FlagProblem("target", "unknown_choice")),
        ("1", "", "", FlagProblem("kind", "missing")),
        ("1", "boring", "", FlagProblem("kind", "unknown_choice")),
        ("1", "other", "  ", FlagProblem("comment", "needs_comment")),
        ("1", "other", "\u200b\u3164", FlagProblem("comment", "needs_comment")),
        ("1", "broken", "x" * 100_000, FlagProblem("comment", "too_long")),
        ("1", "broken", "x" * (COMMENT_LIMIT + 1), FlagProblem("comment", "too_long")),
        ("1", "broken", "a\x00b", FlagProblem("comment", "odd_characters")),
        ("1", "broken", "a\ud800b", FlagProblem("comment", "odd_characters")),
    ],
)
def test_what_is_no_flag(
    held: Assignment, target: str, kind: str, comment: str, problem: FlagProblem
) -> None:
    found = raise_flag(seat=held, target=target, kind=kind, comment=comment)
    assert found == problem
    assert not Flag.objects.exists()


def test_any_other_words_are_kept_as_they_are(held: Assignment) -> None:
    words = "👩‍👩‍👧 \N{RIGHT-TO-LEFT OVERRIDE}شكرا\r\n" + "字" * 100
    assert flag(held, comment=words).comment == words.replace("\r\n", "\n")
    assert flag(held, "1", comment="x" * COMMENT_LIMIT)
    assert flag(held, "2", kind="other", comment="🙂").comment == "🙂"
