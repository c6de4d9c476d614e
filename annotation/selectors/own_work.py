"""A rater's own answers, flags and checks; nothing of anybody else's.

Answers of the main round are read in one way, whether a judgement or a check stands behind them:
who gets them cannot tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connection
from django.db.models import Count, Sum
from django.db.models.functions import Left

from annotation.domain.pace import Timed
from annotation.domain.scoring import Score, against_expected
from annotation.models import Assignment, CheckAnswer, Flag, Membership
from annotation.models.assignment import MAIN_ROUND
from annotation.selectors.checks import CheckScore

# The current answer of a seat, whatever it is for. `skip_reason` is null where nothing is skipped.
_ANSWERS = """
    FROM annotation_assignment seat
    JOIN benchmark_pair pair ON pair.id = seat.pair_id
    CROSS JOIN LATERAL (
        SELECT judgement.seconds, judgement.active_seconds, judgement.comment, judgement.revision,
            given.choices, given.skip_reason
        FROM benchmark_judgement judgement
        CROSS JOIN LATERAL (
            SELECT jsonb_object_agg(criterion.key, vote.choice) AS choices,
                max(vote.reason) FILTER (WHERE vote.choice = 'skip') AS skip_reason
            FROM benchmark_vote vote
            JOIN benchmark_criterion criterion ON criterion.id = vote.criterion_id
            WHERE vote.judgement_id = judgement.id
        ) given
        WHERE judgement.id = seat.judgement_id
        UNION ALL
        SELECT found.seconds, found.active_seconds, found.comment, found.revision, found.choices,
            CASE WHEN jsonb_path_exists(found.choices, '$.* ? (@ == "skip")')
                THEN found.skip_reason END
        FROM annotation_checkanswer found
        WHERE found.assignment_id = seat.id AND found.is_current
    ) answer
    WHERE seat.membership_id = %(membership)s AND seat.state = 'submitted'
        AND seat.purpose = ANY(%(main_round)s)
"""


@dataclass(frozen=True, slots=True)
class OwnTimes:
    """Times of an answer, and why the pair was skipped; None for one that was not."""

    timed: Timed
    skip_reason: str | None


def own_times(membership: Membership) -> list[OwnTimes]:
    """Of every answer of the main round, the oldest first; one query."""
    rows = _rows(
        "SELECT seat.submitted_at, answer.seconds, answer.active_seconds, answer.skip_reason"
        f" {_ANSWERS} ORDER BY seat.submitted_at, seat.id",
        membership,
    )
    return [OwnTimes(Timed(*times), skip_reason) for *times, skip_reason in rows]


Show = Literal["all", "skipped", "comment", "changed"]

_SHOWN: dict[Show, str] = {
    "all": "",
    "skipped": "AND answer.skip_reason IS NOT NULL",
    "comment": "AND answer.comment <> ''",
    "changed": "AND answer.revision > 1",
}
# Enough to recognise a query by.
QUERY_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """One line of the history."""

    seat_id: UUID
    at: datetime
    query: str  # its beginning, one character longer than shown when there is more
    shown_left: str
    choices: Mapping[str, str]  # by canonical response
    skip_reason: str | None
    has_comment: bool
    revision: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the history: behind this seat."""

    at: datetime
    seat_id: UUID


def own_answers(
    membership: Membership, *, show: Show = "all", before: Place | None = None, limit: int
) -> list[OwnAnswer]:
    """Of the main round, the newest first; one query."""
    older = "AND (seat.submitted_at, seat.id) < (%(at)s, %(seat)s)" if before else ""
    rows = _rows(
        f"""
        SELECT seat.id, seat.submitted_at, left(pair.query, {QUERY_CHARACTERS + 1}),
            seat.shown_left, answer.choices::text, answer.skip_reason, answer.comment <> '',
            answer.revision
        {_ANSWERS} {_SHOWN[show]} {older}
        ORDER BY seat.submitted_at DESC, seat.id DESC LIMIT %(limit)s
        """,
        membership,
        at=before.at if before else None,
        seat=before.seat_id if before else None,
        limit=limit,
    )
    return [
        OwnAnswer(
            seat_id=seat_id,
            at=at,
            query=query,
            shown_left=shown_left,
            choices=json.loads(choices),
            skip_reason=skip_reason,
            has_comment=has_comment,
            revision=revision,
        )
        for seat_id, at, query, shown_left, choices, skip_reason, has_comment, revision in rows
    ]


def _rows(sql: str, membership: Membership, **parameters: Any) -> list[tuple[Any, ...]]:
    parameters |= {"membership": membership.pk, "main_round": list(MAIN_ROUND)}
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


@dataclass(frozen=True, slots=True)
class OwnFlags:
    raised: int
    resolved: int
    newest: list[Flag]


def own_flags(membership: Membership, *, limit: int) -> OwnFlags:
    """Flags that the rater has raised; two queries."""
    flags = Flag.objects.filter(assignment__membership=membership)
    counts = flags.aggregate(raised=Count("pk"), resolved=Count("resolved_at"))
    newest = flags.select_related("assignment").order_by("-created_at", "-id")[:limit]
    return OwnFlags(counts["raised"], counts["resolved"], list(newest))


@dataclass(frozen=True, slots=True)
class OwnTraining:
    """An answer of the training round; the expected one is no secret any more."""

    seat_id: UUID
    query: str  # its beginning, as in `OwnAnswer`
    score: Score


def own_training(membership: Membership) -> list[OwnTraining]:
    """In the order in which they were given; one query."""
    rows = (
        CheckAnswer.objects.current()
        .filter(
            assignment__membership=membership,
            assignment__purpose=Assignment.Purpose.TRAINING,
        )
        .order_by("assignment__submitted_at", "assignment")
        .values_list(
            "assignment",
            Left("assignment__pair__query", QUERY_CHARACTERS + 1),
            "assignment__check_item__expected",
            "choices",
        )
    )
    return [
        OwnTraining(
            seat_id, query, against_expected(expected=expected, choices=choices, may_skip=False)
        )
        for seat_id, query, expected, choices in rows
    ]


def settled_gold(membership: Membership, *, before: datetime) -> CheckScore:
    """First answers on gold pairs that were stored before then; one query.

    A number that moved with the last answer, or with a correction, would tell which pairs are gold.
    """
    found = CheckAnswer.objects.filter(
        assignment__membership=membership,
        assignment__purpose=Assignment.Purpose.GOLD,
        assignment__submitted_at__lt=before,
        revision=1,
        asked__gt=0,  # not of a skip
    ).aggregate(items=Count("pk"), of=Sum("asked", default=0), were=Sum("right", default=0))
    return CheckScore(found["items"], Score(asked=found["of"], right=found["were"]))
