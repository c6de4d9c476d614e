"""Exclusions as one act: votes that do not count, and no more pairs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from annotation.models import Assignment, Campaign, Event, Membership
from annotation.services import exclusions, standing
from annotation.services.exclusions import AlreadyExcluded, NothingToExclude
from benchmark.models import Exclusion, Judgement, Pair, Rater
from tests.annotation.seating import NOW, assert_sound, fresh, seat, seated_campaign
from tests.benchmark.jobs.runs import judged_campaign
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return seated_campaign(tmp_path, annotators=1)[0]


@pytest.fixture
def member(campaign: Campaign) -> Membership:
    return Membership.objects.select_related("rater").get(campaign=campaign)


@pytest.fixture
def lead(campaign: Campaign) -> Membership:
    return make_member(campaign, Membership.Role.LEAD)


@pytest.fixture
def imported(tmp_path: Path) -> Campaign:
    """Judged by nine raters who are no members."""
    return judged_campaign(tmp_path, slug="mugs", pairs=2, choose=lambda *_: "A")


def own(member: Membership) -> Rater:
    assert member.rater is not None
    return member.rater


def exclude(campaign: Campaign, rater: Rater, lead: Membership) -> Exclusion:
    return exclusions.exclude_rater(
        campaign=campaign, rater=rater, actor=lead.user, reason="A script.", now=NOW
    )


def lift(campaign: Campaign, exclusion: Exclusion, lead: Membership) -> bool:
    return exclusions.lift_exclusion(
        campaign=campaign, exclusion=exclusion, actor=lead.user, now=NOW + timedelta(hours=1)
    )


def test_a_member_is_excluded_and_taken_back_in_one_act(
    campaign: Campaign, member: Membership, lead: Membership
) -> None:
    held = seat(member)
    made = exclude(campaign, own(member), lead)
    assert (made.reason, made.by, made.pair_id) == ("A script.", lead.user.username, None)
    assert fresh(member).standing == "excluded"
    held.refresh_from_db()
    assert held.state == Assignment.State.EXPIRED
    assert [event.action for event in Event.objects.filter(action__startswith="rater:")] == [
        "rater:excluded"
    ]
    assert lift(campaign, made, lead)
    assert fresh(member).is_active
    made.refresh_from_db()
    assert made.lifted_by == lead.user.username
    event = Event.objects.get(action="rater:resumed")
    assert event.data["exclusion"] == made.pk
    assert not Event.objects.filter(action="exclusion:lifted").exists()
    assert seat(member)
    assert_sound(campaign)


def test_the_same_from_the_people_page(
    campaign: Campaign, member: Membership, lead: Membership
) -> None:
    standing.exclude(membership=fresh(member), actor=lead.user, reason="A bot.", now=NOW)
    made = Exclusion.objects.in_force().get(rater=own(member))
    assert (made.reason, made.pair_id) == ("A bot.", None)
    with pytest.raises(AlreadyExcluded):
        exclude(campaign, own(member), lead)
    standing.resume(membership=fresh(member), actor=lead.user, now=NOW)
    assert not Exclusion.objects.in_force().exists()


def test_letting_a_paused_rater_go_on_lifts_nothing(
    campaign: Campaign, member: Membership, lead: Membership
) -> None:
    standing.pause(membership=fresh(member), actor=lead.user, now=NOW)
    standing.resume(membership=fresh(member), actor=lead.user, now=NOW)
    assert Event.objects.get(action="rater:resumed").data == {
        "membership": member.pk,
        "before": "paused",
        "reason": "lead",
    }


def test_who_was_excluded_before_votes_could_be_left_out(
    campaign: Campaign, member: Membership, lead: Membership
) -> None:
    Membership.objects.filter(pk=member.pk).update(standing="excluded", standing_reason="lead")
    made = exclude(campaign, own(member), lead)
    assert fresh(member).standing == "excluded"
    assert lift(campaign, made, lead)
    assert fresh(member).is_active


def test_lifting_twice_changes_nothing(
    campaign: Campaign, member: Membership, lead: Membership
) -> None:
    first = exclude(campaign, own(member), lead)
    assert lift(campaign, first, lead)
    second = exclude(campaign, own(member), lead)
    assert not lift(campaign, first, lead)
    assert list(Exclusion.objects.in_force()) == [second]
    assert fresh(member).standing == "excluded"
    assert Event.objects.filter(action="rater:resumed").count() == 1


def test_raters_whose_votes_were_imported(imported: Campaign, lead: Membership) -> None:
    rater = imported.pair_set.raters.get(pseudonym="rater-3")
    made = exclude(imported, rater, lead)
    assert Event.objects.get(action="rater:excluded").data == {
        "membership": None,
        "rater": rater.pk,
        "pair": None,
        "exclusion": made.pk,
        "reason": "A script.",
    }
    with pytest.raises(AlreadyExcluded):
        exclude(imported, rater, lead)
    assert lift(imported, made, lead)
    assert not lift(imported, made, lead)
    assert Event.objects.get(action="exclusion:lifted").data["exclusion"] == made.pk
    assert Event.objects.filter(campaign=imported, action="rater:excluded").count() == 1
    assert exclude(imported, rater, lead).pk != made.pk


def test_one_judgement(imported: Campaign, lead: Membership) -> None:
    rater = imported.pair_set.raters.get(pseudonym="rater-3")
    pair = imported.pair_set.pairs.order_by("id")[0]

    def leave_out(pair: Pair) -> Exclusion:
        return exclusions.exclude_judgement(
            campaign=imported, rater=rater, pair=pair, actor=lead.user, reason="Fast."
        )

    made = leave_out(pair)
    assert (made.rater, made.pair) == (rater, pair)
    event = Event.objects.get(action="judgement:excluded")
    assert (event.data["pair"], event.data["reason"]) == (pair.pk, "Fast.")
    with pytest.raises(AlreadyExcluded):
        leave_out(pair)
    assert lift(imported, made, lead)
    # It leaves the others alone, and needs something to leave out.
    assert Judgement.objects.filter(rater=rater).count() == 2
    newcomer = Rater.objects.create(pair_set=imported.pair_set, pseudonym="newcomer")
    with pytest.raises(NothingToExclude):
        exclusions.exclude_judgement(
            campaign=imported, rater=newcomer, pair=pair, actor=lead.user, reason="Fast."
        )


def test_a_judgement_of_a_member_leaves_their_standing(
    campaign: Campaign, member: Membership, lead: Membership
) -> None:
    pair = campaign.pair_set.pairs.order_by("id")[0]
    made = Exclusion.objects.create(rater=own(member), pair=pair, reason="Fast.", by="lead")
    standing.exclude(membership=fresh(member), actor=lead.user, reason="A bot.", now=NOW)
    assert lift(campaign, made, lead)
    assert fresh(member).standing == "excluded"


def test_nothing_of_another_campaign(
    campaign: Campaign, member: Membership, imported: Campaign, lead: Membership
) -> None:
    theirs = imported.pair_set.raters.order_by("id")[0]
    pair = imported.pair_set.pairs.order_by("id")[0]
    with pytest.raises(ValueError, match="not of campaign cups"):
        exclude(campaign, theirs, lead)
    with pytest.raises(ValueError, match="not of campaign cups"):
        exclusions.exclude_judgement(
            campaign=campaign, rater=own(member), pair=pair, actor=lead.user, reason="No."
        )
    made = exclude(imported, theirs, lead)
    with pytest.raises(ValueError, match="not of campaign cups"):
        lift(campaign, made, lead)
    assert Exclusion.objects.in_force().count() == 1
