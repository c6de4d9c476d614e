"""Invites: counted once a person, never above what is allowed, and over when they are over."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from annotation.models import Campaign, Event, Invite, Membership, User
from annotation.services.invites import (
    CannotJoin,
    NameTaken,
    accept,
    join_with_new_account,
    problem,
    revoke_invite,
)
from benchmark.models import Rater
from tests.annotation.threads import together
from tests.annotation.ways import make_invite
from tests.factories import PASSWORD, UserFactory, make_campaign

pytestmark = pytest.mark.django_db


def now() -> datetime:
    return timezone.now()


def loaded(invite: Invite) -> Invite:
    """As the next request has it."""
    return Invite.objects.select_related("campaign__pair_set").get(pk=invite.pk)


def actions(campaign: Campaign) -> list[str]:
    return list(
        Event.objects.filter(campaign=campaign).order_by("id").values_list("action", flat=True)
    )


def test_whoever_accepts_is_an_annotator_with_a_pseudonym() -> None:
    campaign = make_campaign()
    invite = make_invite(campaign, label="Lisbon", max_uses=2)
    user = UserFactory.create()
    membership = accept(invite=loaded(invite), user=user, now=now())
    assert (membership.user, membership.role) == (user, Membership.Role.ANNOTATOR)
    assert membership.rater is not None
    assert user.username not in membership.rater.pseudonym
    assert loaded(invite).uses == 1
    assert actions(campaign)[-3:] == ["invite:created", "member:added", "member:joined"]


def test_a_researcher_has_no_pseudonym() -> None:
    invite = make_invite(make_campaign(), role=Membership.Role.RESEARCHER)
    membership = accept(invite=loaded(invite), user=UserFactory.create(), now=now())
    assert membership.may_watch
    assert membership.rater is None


def test_nobody_becomes_a_lead_by_a_link() -> None:
    with pytest.raises(ValueError, match="lead"):
        make_invite(make_campaign(), role=Membership.Role.LEAD)
    assert not Invite.objects.exists()


def test_joining_again_takes_no_second_use() -> None:
    invite = make_invite(make_campaign(), max_uses=2)
    user = UserFactory.create()
    first = accept(invite=loaded(invite), user=user, now=now())
    assert accept(invite=loaded(invite), user=user, now=now()) == first
    assert loaded(invite).uses == 1
    assert Rater.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"revoked_at": datetime.fromisoformat("2026-01-01T00:00Z")}, "revoked"),
        ({"expires_at": datetime.fromisoformat("2026-01-01T00:00Z")}, "expired"),
        ({"uses": 1, "max_uses": 1}, "used_up"),
    ],
)
def test_an_invite_that_is_over_lets_nobody_in(change: dict[str, object], code: str) -> None:
    invite = make_invite(make_campaign())
    as_it_was = loaded(invite)
    Invite.objects.filter(pk=invite.pk).update(**change)
    at = datetime.fromisoformat("2026-01-02T00:00Z")
    assert problem(loaded(invite), at) == code
    # Also for who opened the page before.
    with pytest.raises(CannotJoin) as refused:
        accept(invite=as_it_was, user=UserFactory.create(), now=at)
    assert refused.value.code == code
    assert not Membership.objects.exists()


def test_the_last_moment_is_none_any_more() -> None:
    invite = make_invite(make_campaign(), days=1)
    assert problem(loaded(invite), invite.expires_at - timedelta(microseconds=1)) is None
    assert problem(loaded(invite), invite.expires_at) == "expired"


def test_nobody_joins_a_closed_campaign() -> None:
    campaign = make_campaign()
    invite = make_invite(campaign)
    as_it_was = loaded(invite)
    Campaign.objects.update(state=Campaign.State.CLOSED)
    assert problem(loaded(invite), now()) == "campaign_closed"
    with pytest.raises(CannotJoin) as refused:
        accept(invite=as_it_was, user=UserFactory.create(), now=now())
    assert refused.value.code == "campaign_closed"


@pytest.mark.parametrize("state", [Campaign.State.DRAFT, Campaign.State.PAUSED])
def test_people_can_join_before_it_opens(state: str) -> None:
    campaign = make_campaign(state=state)
    assert accept(invite=loaded(make_invite(campaign)), user=UserFactory.create(), now=now())


def test_revoking_twice_is_one_event() -> None:
    campaign = make_campaign()
    invite = loaded(make_invite(campaign))
    lead = UserFactory.create()
    revoke_invite(invite=invite, actor=lead, now=now())
    first = invite.revoked_at
    revoke_invite(invite=invite, actor=lead, now=now() + timedelta(hours=1))
    assert loaded(invite).revoked_at == first
    assert actions(campaign).count("invite:revoked") == 1


def test_an_account_without_a_place_is_not_left_behind() -> None:
    invite = loaded(make_invite(make_campaign(), max_uses=1))
    Invite.objects.update(uses=1)
    with pytest.raises(CannotJoin):
        join_with_new_account(invite=invite, username="ada", password=PASSWORD, now=now())
    assert not User.objects.filter(username="ada").exists()


def test_a_name_that_was_taken_meanwhile_takes_no_use() -> None:
    UserFactory.create(username="ada")
    invite = loaded(make_invite(make_campaign()))
    with pytest.raises(NameTaken):
        join_with_new_account(invite=invite, username="ada", password=PASSWORD, now=now())
    assert loaded(invite).uses == 0


@pytest.mark.django_db(transaction=True)
def test_the_last_uses_go_to_as_many_people() -> None:
    campaign = make_campaign()
    invite = loaded(make_invite(campaign, max_uses=3))
    users = [UserFactory.create() for _ in range(8)]

    def join(user: User) -> str:
        try:
            accept(invite=loaded(invite), user=user, now=now())
        except CannotJoin as refused:
            return refused.code
        return "joined"

    results = together(*(lambda user=user: join(user) for user in users))
    assert sorted(results) == ["joined"] * 3 + ["used_up"] * 5
    assert loaded(invite).uses == 3
    assert Membership.objects.filter(campaign=campaign).count() == 3


@pytest.mark.django_db(transaction=True)
def test_one_person_in_many_tabs_takes_one_use() -> None:
    invite = loaded(make_invite(make_campaign(), max_uses=5))
    user = UserFactory.create()
    places = together(*[lambda: accept(invite=loaded(invite), user=user, now=now()).pk] * 5)
    assert len(set(places)) == 1
    assert loaded(invite).uses == 1
    assert Rater.objects.count() == 1
