"""What the tests of checks share: files of checks, campaigns with them, and answers on them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from django.db import transaction

from annotation.domain.rubric import SKIP, Answer
from annotation.domain.timing import Timing
from annotation.models import Assignment, Campaign, Event, Membership
from annotation.services import checks
from annotation.services.check_imports import import_checks
from annotation.services.seats import lock_member
from tests.annotation.seating import NOW, answer, fresh, seat, seated_campaign, submit
from tests.factories import pair_row, write_jsonl

MINUTE = timedelta(minutes=1)
SKIPPED = Answer(choices={"helpfulness": SKIP, "personalization": SKIP}, skip_reason="cannot_judge")


def check_row(number: int, use: str = "gold", **changes: Any) -> dict[str, Any]:
    """A row of a checks file: response A is the more helpful one and fits better.

    Its texts are like those of `pair_row` for the same persona, but of another number.
    """
    return (
        pair_row(900 + number, pair_id=f"check-{number}")
        | {"use": use, "expected_helpfulness": "A", "expected_personalization": "A"}
        | ({"explanation": f"Why **A** is right in {number}."} if use == "training" else {})
        | changes
    )


def add_checks(campaign: Campaign, folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    report = import_checks(campaign=campaign, path=write_jsonl(folder / "checks.jsonl", rows))
    assert not report.problems, report.problems


def checked_campaign(
    folder: Path,
    *,
    training: int = 0,
    qualification: int = 0,
    gold: int = 0,
    pairs: int = 0,
    annotators: int = 1,
    **settings: Any,
) -> tuple[Campaign, list[Membership]]:
    """An open campaign with so many checks of each kind; ``settings`` are the campaign's fields."""
    campaign, members = seated_campaign(folder, pairs=pairs, annotators=annotators)
    uses = ["training"] * training + ["qualification"] * qualification + ["gold"] * gold
    if uses:
        add_checks(campaign, folder, (check_row(n, use) for n, use in enumerate(uses)))
    Campaign.objects.filter(pk=campaign.pk).update(**settings)
    campaign.refresh_from_db()
    return campaign, members


def take(
    membership: Membership, purpose: Literal["gold", "repeat"], *, now: datetime = NOW
) -> Assignment | None:
    with transaction.atomic():
        lock_member(membership)
        return checks.take_check_seat(membership=fresh(membership), purpose=purpose, now=now)


def take_gold(membership: Membership, *, now: datetime = NOW) -> Assignment:
    seat = take(membership, "gold", now=now)
    assert seat is not None
    return seat


def onboard(membership: Membership, *, now: datetime = NOW) -> Assignment | None:
    """The next seat before judging; ``membership`` learns what the service changed."""
    with transaction.atomic():
        lock_member(membership)
        seat = checks.take_onboarding_seat(membership=membership, now=now)
    stored = fresh(membership)
    for name in ("ready_at", "qualification_try", "standing", "standing_reason", "standing_at"):
        assert getattr(stored, name) == getattr(membership, name), name
    return seat


def on_check(*, right: int = 2) -> Answer:
    """So many of the two criteria as `check_row` expects."""
    keys = ("helpfulness", "personalization")
    return Answer(choices={key: "A" if place < right else "B" for place, key in enumerate(keys)})


def store(
    given: Assignment,
    reply: Answer,
    *,
    at: datetime | None = None,
    seconds: int = 30,
    active_seconds: float | None = 20.0,
    revision: int = 0,
) -> None:
    """Answered at that moment, after so many seconds on screen."""
    at = at or given.claimed_at + timedelta(seconds=seconds)
    opened_at = at - timedelta(seconds=seconds)
    timing = Timing(
        opened_at=opened_at,
        first_action_at=opened_at + timedelta(seconds=5),
        submitted_at=at,
        active_seconds=active_seconds,
    )
    with transaction.atomic():
        lock_member(given.membership)
        checks.store(seat=given, answer=reply, timing=timing, revision=revision)


def judge_gold(membership: Membership, *, now: datetime, gap: int = 0) -> bool:
    with transaction.atomic():
        lock_member(membership)
        return checks.judge_gold(membership=membership, now=now, gap=gap)


def judge(membership: Membership, number: int, *, start: datetime = NOW) -> list[Assignment]:
    """So many votes, a minute each."""
    seats = []
    for minute in range(number):
        given = seat(membership, now=start + minute * MINUTE)
        submit(seat=given, answer=answer(), now=start + minute * MINUTE + MINUTE / 2)
        given.refresh_from_db()
        seats.append(given)
    return seats


def answer_gold(membership: Membership, *, right: int, now: datetime) -> Assignment:
    given = take_gold(membership, now=now)
    store(given, on_check(right=right), at=now)
    return given


def events(campaign: Campaign, action: str) -> list[dict[str, object]]:
    return [event.data for event in Event.objects.filter(campaign=campaign, action=action)]
