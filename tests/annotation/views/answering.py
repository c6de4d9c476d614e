"""A rater at work: votes, gold and repeated pairs, through the services that pages call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from annotation.domain.rubric import Answer
from annotation.domain.timing import read_timing
from annotation.models import Assignment, Campaign, Membership
from annotation.services import answers
from annotation.services.answers import Outcome
from annotation.services.check_imports import import_checks
from annotation.services.seats import claim_seat
from annotation.services.steps import next_step
from tests.annotation.seating import NOW, fresh, seated_campaign
from tests.factories import pair_row, write_jsonl

KINDS = ("vote", "gold", "repeat")


def check_rows(use: str, number: int) -> list[dict[str, Any]]:
    """Rows of a checks file, on which A is expected of both criteria."""
    # No pair is two checks.
    first = {"training": 500, "qualification": 600}.get(use, 700)
    return [
        pair_row(n, pair_id=f"{use}-{n}", query=f"Query {first + n} of a pair like others?")
        | {"use": use, "expected_helpfulness": "A", "expected_personalization": "A"}
        | {"explanation": "So it is." if use == "training" else ""}
        for n in range(number)
    ]


def add_checks(campaign: Campaign, folder: Path, **numbers: int) -> None:
    rows = [row for use, number in numbers.items() for row in check_rows(use, number)]
    report = import_checks(campaign=campaign, path=write_jsonl(folder / "checks.jsonl", rows))
    assert not report.problems, report.problems
    campaign.refresh_from_db()


def mixed_campaign(folder: Path, *, pairs: int = 12, **changes: Any) -> Membership:
    """A rater of a campaign in which many pairs are checks; the same ones in every run."""
    campaign, (rater, _) = seated_campaign(folder, pairs=pairs, seed="tea")
    add_checks(campaign, folder, gold=10)
    fields = {"gold_percent": 25, "repeat_percent": 25, "gold_pass_percent": 0} | changes
    Campaign.objects.filter(pk=campaign.pk).update(**fields)
    return fresh(rater)


def plain_answer(seat: Assignment, number: int) -> Answer:
    return Answer(choices={"helpfulness": "A", "personalization": "B"})


def give(seat: Assignment, answer: Answer, *, now: datetime, active: float | None = None) -> None:
    """Submit: opened a minute ago, ``active`` seconds of it at work."""
    spans = {} if active is None else {"opened_ms": "60000", "active_ms": f"{active * 1000:.0f}"}
    timing = read_timing(spans, since=seat.claimed_at, now=now)
    outcome = answers.submit(seat=seat, answer=answer, timing=timing, now=now)
    assert outcome is Outcome.ACCEPTED


def judge(
    rater: Membership,
    number: int,
    *,
    start: datetime = NOW,
    apart: timedelta = timedelta(minutes=2),
    active: float | None = 20,
    say: Callable[[Assignment, int], Answer] = plain_answer,
) -> list[Assignment]:
    """Answer so many pairs of the main round, one at a time; the seats, as they come."""
    seats = []
    for n in range(number):
        now = start + n * apart
        seat = claim_seat(membership=fresh(rater), now=now)
        assert isinstance(seat, Assignment), (n, seat)
        give(seat, say(seat, n), now=now + timedelta(seconds=60), active=active)
        seats.append(seat)
    return seats


def onboard(rater: Membership, *, choice: str, start: datetime = NOW) -> None:
    """Answer all of training and qualification in the same way."""
    for n in range(99):
        now = start + n * timedelta(minutes=1)
        seat = next_step(membership=fresh(rater), now=now)
        if not isinstance(seat, Assignment) or seat.is_main_round:
            return
        choices = {"helpfulness": choice, "personalization": choice}
        give(seat, Answer(choices=choices), now=now + timedelta(seconds=40))
