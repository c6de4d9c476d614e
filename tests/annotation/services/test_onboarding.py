"""Before judging: training in order, then the qualification with its tries."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from annotation.domain.scoring import Score
from annotation.models import Assignment, Membership
from annotation.selectors.checks import check_figures
from annotation.services import standing
from annotation.services.seats import give_back
from tests.annotation.checking import (
    MINUTE,
    SKIPPED,
    checked_campaign,
    events,
    on_check,
    onboard,
    store,
)
from tests.annotation.seating import NOW
from tests.factories import make_member

pytestmark = pytest.mark.django_db


def test_without_checks_a_rater_is_ready_at_once(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, gold=1)
    assert onboard(rater) is None
    assert rater.ready_at == NOW
    assert not events(campaign, "qualification:passed")


def test_training_then_qualification_in_their_order(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, training=2, qualification=2, gold=1)
    met = []
    while given := onboard(rater, now=NOW + len(met) * MINUTE):
        met.append((given.purpose, given.pair.pair_id, given.attempt))
        # However a training answer turns out, it goes on.
        store(given, on_check(right=0 if given.purpose == "training" else 2))
    assert met == [
        ("training", "check-0", 0),
        ("training", "check-1", 0),
        ("qualification", "check-2", 1),
        ("qualification", "check-3", 1),
    ]
    assert (rater.ready_at, rater.qualification_try) == (NOW + 4 * MINUTE, 1)
    assert events(campaign, "qualification:passed") == [
        {"membership": rater.pk, "try": 1, "asked": 4, "right": 4}
    ]
    # It is over for good.
    assert onboard(rater, now=NOW + timedelta(days=1)) is None
    assert rater.ready_at == NOW + 4 * MINUTE
    assert len(events(campaign, "qualification:passed")) == 1


def test_skipping_is_no_way_through_the_qualification(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, qualification=2, qualification_tries=1)
    for minute in (0, 1):
        given = onboard(rater, now=NOW + minute * MINUTE)
        assert given is not None
        store(given, SKIPPED)
    assert onboard(rater, now=NOW + 2 * MINUTE) is None
    assert (rater.ready_at, rater.standing_reason) == (None, "qualification")


def qualify(rater: Membership, rights: list[int], *, now: datetime = NOW) -> list[Assignment]:
    """Answer as many seats as there are numbers of right criteria."""
    seats = []
    for minute, right in enumerate(rights):
        given = onboard(rater, now=now + minute * MINUTE)
        assert given is not None
        store(given, on_check(right=right))
        seats.append(given)
    return seats


@pytest.mark.parametrize(("rights", "passed"), [([2, 2, 1], True), ([2, 2, 0], False)])
def test_the_qualification_has_a_pass_mark(tmp_path: Path, rights: list[int], passed: bool) -> None:
    _, [rater] = checked_campaign(
        tmp_path, qualification=3, qualification_pass_percent=80, qualification_tries=1
    )
    qualify(rater, rights)
    assert onboard(rater, now=NOW + timedelta(hours=1)) is None
    assert (rater.ready_at is not None) == passed
    assert rater.is_active == passed


def test_a_failed_try_begins_again_while_there_are_tries(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, training=1, qualification=2)
    qualify(rater, [2, 2, 0])
    again = qualify(rater, [2, 2])
    assert [(given.pair.pair_id, given.attempt) for given in again] == [
        ("check-1", 2),
        ("check-2", 2),
    ]
    assert onboard(rater) is None
    assert (rater.ready_at, rater.qualification_try) == (NOW, 2)
    assert events(campaign, "qualification:failed") == [
        {"membership": rater.pk, "try": 1, "asked": 4, "right": 2}
    ]
    assert events(campaign, "qualification:passed") == [
        {"membership": rater.pk, "try": 2, "asked": 4, "right": 4}
    ]
    figures = check_figures(rater)
    assert {n: shown.score for n, shown in figures.qualification.items()} == {
        1: Score(asked=4, right=2),
        2: Score(asked=4, right=4),
    }


def test_the_last_failed_try_pauses_the_rater(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, qualification=1, qualification_tries=2)
    qualify(rater, [1, 0])
    assert onboard(rater, now=NOW + timedelta(hours=1)) is None
    assert (rater.standing, rater.standing_reason) == ("paused", "qualification")
    assert (rater.standing_at, rater.ready_at) == (NOW + timedelta(hours=1), None)
    assert events(campaign, "rater:paused") == [
        {"membership": rater.pk, "reason": "qualification", "try": 2, "asked": 2, "right": 0}
    ]
    assert len(events(campaign, "qualification:failed")) == 2

    lead = make_member(campaign, Membership.Role.LEAD).user
    standing.resume(membership=rater, actor=lead, now=NOW + timedelta(hours=2))
    [given] = qualify(rater, [2], now=NOW + timedelta(hours=3))
    assert given.attempt == 3
    assert onboard(rater) is None
    assert (rater.is_active, rater.ready_at) == (True, NOW)


def test_a_seat_that_was_given_back_comes_again(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, training=1, qualification=1)
    first = onboard(rater)
    give_back(membership=rater)
    again = onboard(rater)
    assert first is not None
    assert again is not None
    assert (again.pk != first.pk, again.pair) == (True, first.pair)
