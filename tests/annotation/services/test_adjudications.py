"""Decisions of leads, with their events."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from annotation.models import Campaign, Event, User
from annotation.services.adjudications import adjudicate, revoke_adjudication
from benchmark.models import Adjudication, Pair
from tests.factories import UserFactory, add_pairs, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 2)
    return campaign


@pytest.fixture
def lead() -> User:
    return UserFactory.create(username="lin")


def decide(
    campaign: Campaign, lead: User, decision: str = "A", reason: str = "by the profile"
) -> Adjudication:
    return adjudicate(
        campaign=campaign,
        pair=campaign.pair_set.pairs.order_by("id")[0],
        decision=decision,
        reason=reason,
        actor=lead,
        now=timezone.now(),
    )


def events(campaign: Campaign) -> list[tuple[str, dict[str, object]]]:
    rows = Event.objects.filter(campaign=campaign, action__contains="adjudicat")
    return list(rows.order_by("id").values_list("action", "data"))


def test_a_decision_and_its_event(campaign: Campaign, lead: User) -> None:
    made = decide(campaign, lead)
    assert (made.decision, made.by, made.revoked_at) == ("A", "lin", None)
    ((action, data),) = events(campaign)
    assert action == "pair:adjudicated"
    assert data == {
        "adjudication": made.pk,
        "pair": made.pair_id,
        "decision": "A",
        "reason": "by the profile",
    }


def test_the_same_again_changes_nothing(campaign: Campaign, lead: User) -> None:
    first, again = decide(campaign, lead), decide(campaign, lead)
    assert first.pk == again.pk
    assert len(events(campaign)) == Adjudication.objects.count() == 1


@pytest.mark.parametrize("change", [{"decision": "withdrawn"}, {"reason": "another reason"}])
def test_another_decision_replaces_the_first(
    campaign: Campaign, lead: User, change: dict[str, str]
) -> None:
    first = decide(campaign, lead)
    second = decide(campaign, lead, **change)
    first.refresh_from_db()
    assert first.revoked_by == "lin"
    assert list(Adjudication.objects.in_force()) == [second]
    assert events(campaign)[1][1]["replaces"] == first.pk


def test_undoing_once(campaign: Campaign, lead: User) -> None:
    made = decide(campaign, lead)
    undo = {"campaign": campaign, "adjudication": made, "actor": lead, "now": timezone.now()}
    assert revoke_adjudication(**undo)
    assert not revoke_adjudication(**undo)
    assert [action for action, _data in events(campaign)] == [
        "pair:adjudicated",
        "adjudication:revoked",
    ]
    # What was undone can be decided in the same way again.
    assert decide(campaign, lead).pk != made.pk


def test_a_pair_of_another_campaign_is_refused(
    campaign: Campaign, lead: User, tmp_path: Path
) -> None:
    other = make_campaign("others")
    add_pairs(other, tmp_path, 1)
    with pytest.raises(ValueError, match="campaign"):
        adjudicate(
            campaign=campaign,
            pair=Pair.objects.get(pair_set=other.pair_set),
            decision="A",
            reason="by the profile",
            actor=lead,
            now=timezone.now(),
        )
    with pytest.raises(ValueError, match="no decision"):
        decide(campaign, lead, "C")
    assert not Adjudication.objects.exists()
    assert events(campaign) == []
