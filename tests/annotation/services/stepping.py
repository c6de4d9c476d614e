"""What the tests of steps share: the next step, a seat, and a rater who judges all there is."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count

from annotation.models import Assignment, Membership
from annotation.services.answers import Outcome
from annotation.services.seats import NothingLeft
from annotation.services.steps import Step, next_step
from tests.annotation.checking import on_check
from tests.annotation.seating import NOW, fresh, submit

MINUTE = timedelta(minutes=1)


def step(membership: Membership, *, now: datetime = NOW) -> Step:
    return next_step(membership=fresh(membership), now=now)


def seat(membership: Membership, *, now: datetime = NOW) -> Assignment:
    given = step(membership, now=now)
    assert isinstance(given, Assignment), given
    return given


def judge_all(membership: Membership, *, right: int = 2, start: datetime = NOW) -> list[Assignment]:
    """One pair a minute until there is nothing left; what was given."""
    seats = []
    for minute in count():
        given = step(membership, now=start + minute * MINUTE)
        if not isinstance(given, Assignment):
            return seats
        reply = on_check(right=right)
        outcome = submit(seat=given, answer=reply, now=start + minute * MINUTE + MINUTE / 2)
        assert outcome is Outcome.ACCEPTED
        seats.append(given)
    raise AssertionError


def why(membership: Membership, *, now: datetime = NOW) -> str:
    nothing = step(membership, now=now)
    assert isinstance(nothing, NothingLeft), nothing
    return nothing.reason
