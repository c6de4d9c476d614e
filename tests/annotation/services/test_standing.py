"""Pausing, letting go on, excluding."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from annotation.models import Assignment, Campaign, Event, Membership, PairSeats
from annotation.services import crowd, standing
from annotation.services.standing import CannotChange
from benchmark.models import Exclusion
from tests.annotation.seating import NOW, assert_sound, fresh, seat, seated_campaign
from tests.annotation.ways import make_place, make_study
from tests.factories import add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return seated_campaign(tmp_path, annotators=1)[0]


@pytest.fixture
def rater(campaign: Campaign) -> Membership:
    return Membership.objects.get(campaign=campaign)


@pytest.fixture
def lead(campaign: Campaign) -> Membership:
    return make_member(campaign, Membership.Role.LEAD)


def test_pausing_gives_the_seat_back(
    campaign: Campaign, rater: Membership, lead: Membership
) -> None:
    held = seat(rater)
    standing.pause(membership=fresh(rater), actor=lead.user, now=NOW)
    stored = fresh(rater)
    assert (stored.standing, stored.standing_reason) == ("paused", "lead")
    assert stored.standing_at == NOW
    held.refresh_from_db()
    assert held.state == Assignment.State.EXPIRED
    assert PairSeats.objects.get(pk=held.pair_id).free == 9
    event = Event.objects.get(action="rater:paused")
    assert event.actor == lead.user
    assert event.data == {"membership": rater.pk, "reason": "lead"}
    assert_sound(campaign)


def test_letting_go_on_starts_the_count_of_gold_anew(rater: Membership, lead: Membership) -> None:
    Membership.objects.filter(pk=rater.pk).update(
        standing="paused", standing_reason="gold", standing_at=NOW
    )
    later = NOW + timedelta(hours=1)
    standing.resume(membership=fresh(rater), actor=lead.user, now=later)
    stored = fresh(rater)
    assert stored.is_active
    assert stored.standing_reason == ""
    assert stored.standing_at == later
    assert stored.qualification_try == 1
    event = Event.objects.get(action="rater:resumed")
    assert event.data == {"membership": rater.pk, "before": "paused", "reason": "gold"}


def test_a_failed_qualification_gets_one_more_try(rater: Membership, lead: Membership) -> None:
    Membership.objects.filter(pk=rater.pk).update(
        standing="paused", standing_reason="qualification", qualification_try=2
    )
    standing.resume(membership=fresh(rater), actor=lead.user, now=NOW)
    assert fresh(rater).qualification_try == 3


def test_excluding_is_for_the_record_and_can_be_undone(rater: Membership, lead: Membership) -> None:
    held = seat(rater)
    standing.exclude(membership=fresh(rater), actor=lead.user, reason="A script.", now=NOW)
    assert fresh(rater).standing == "excluded"
    held.refresh_from_db()
    assert held.state == Assignment.State.EXPIRED
    exclusion = Exclusion.objects.in_force().get(rater=rater.rater)
    assert (exclusion.reason, exclusion.by) == ("A script.", lead.user.username)
    assert Event.objects.get(action="rater:excluded").data == {
        "membership": rater.pk,
        "before": "active",
        "reason": "A script.",
        "exclusion": exclusion.pk,
    }
    standing.resume(membership=fresh(rater), actor=lead.user, now=NOW)
    assert seat(rater)
    exclusion.refresh_from_db()
    assert (exclusion.lifted_at, exclusion.lifted_by) == (NOW, lead.user.username)


@pytest.mark.parametrize("role", [Membership.Role.LEAD, Membership.Role.RESEARCHER])
def test_only_raters_have_a_standing(campaign: Campaign, lead: Membership, role: str) -> None:
    other = make_member(campaign, role)
    for change in (
        lambda: standing.pause(membership=other, actor=lead.user, now=NOW),
        lambda: standing.resume(membership=other, actor=lead.user, now=NOW),
        lambda: standing.exclude(membership=other, actor=lead.user, reason="No.", now=NOW),
    ):
        with pytest.raises(CannotChange) as refused:
            change()
        assert refused.value.code == "not_a_rater"
    assert fresh(other).is_active
    assert not Event.objects.filter(action__startswith="rater:").exists()


def test_two_leads_at_once_are_told(rater: Membership, lead: Membership) -> None:
    seen = fresh(rater)
    standing.pause(membership=fresh(rater), actor=lead.user, now=NOW)
    with pytest.raises(CannotChange) as refused:
        standing.pause(membership=seen, actor=lead.user, now=NOW)
    assert refused.value.code == "changed_meanwhile"
    assert Event.objects.filter(action="rater:paused").count() == 1


def test_who_has_left_a_study_does_not_come_back(lead: Membership, tmp_path: Path) -> None:
    mugs = make_campaign("mugs")
    add_pairs(mugs, tmp_path, 1)
    place = make_place(make_study(mugs), now=NOW)
    member = Membership.objects.select_related("crowd_place__study", "campaign").get(
        pk=place.membership_id
    )
    crowd.leave(membership=member, now=NOW)
    with pytest.raises(CannotChange):
        standing.resume(membership=member, actor=lead.user, now=NOW)
    standing.exclude(membership=member, actor=lead.user, reason="A bot.", now=NOW)
    standing.resume(membership=member, actor=lead.user, now=NOW)
    member.refresh_from_db()
    assert (member.standing, member.standing_reason) == ("left", "returned")
    assert not Exclusion.objects.in_force().exists()
