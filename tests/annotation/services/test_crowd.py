"""Participants of a crowd platform: one place each, and an end to it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.models import (
    Assignment,
    Campaign,
    CrowdPlace,
    CrowdStudy,
    Event,
    Membership,
    PairSeats,
    User,
)
from annotation.services import crowd
from annotation.services.crowd import Refused, Visit, VisitProblem
from annotation.services.seats import NothingLeft
from tests.annotation.seating import NOW, answer, assert_sound, seat, submit
from tests.annotation.threads import together
from tests.annotation.ways import make_place, make_study
from tests.factories import add_pairs, make_campaign

pytestmark = pytest.mark.django_db

VISIT = Visit(participant="p-1", session="s-1")
STARTED, COMPLETED = CrowdPlace.State.STARTED, CrowdPlace.State.COMPLETED
PARAMETERS = {"PROLIFIC_PID": "p-1", "STUDY_ID": "x", "SESSION_ID": "s-1"}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 4)
    return campaign


def member_of(place: CrowdPlace) -> Membership:
    """As the next request loads it."""
    return Membership.objects.select_related(
        "campaign__pair_set", "rater", "crowd_place__study"
    ).get(pk=place.membership_id)


def actions() -> list[str]:
    return list(
        Event.objects.filter(action__startswith="crowd:")
        .order_by("id")
        .values_list("action", flat=True)
    )


class TestAddress:
    @pytest.mark.parametrize("name", PARAMETERS)
    def test_each_parameter_must_be_there(self, campaign: Campaign, name: str) -> None:
        study = make_study(campaign)
        without = {key: value for key, value in PARAMETERS.items() if key != name}
        for parameters in (without, PARAMETERS | {name: ""}):
            assert crowd.read_visit(study, parameters) == VisitProblem(name, "missing")

    @pytest.mark.parametrize(
        "value",
        [
            "{{%PROLIFIC_PID%}}",  # the platform has not put the id in
            "a b",
            "名字",
            "a\x00b",
            "\N{RIGHT-TO-LEFT OVERRIDE}abc",
            "<script>",
            "a\n",
            "\N{REPLACEMENT CHARACTER}",
        ],
    )
    def test_odd_values_are_refused(self, campaign: Campaign, value: str) -> None:
        study = make_study(campaign)
        found = crowd.read_visit(study, PARAMETERS | {"PROLIFIC_PID": value})
        assert found == VisitProblem("PROLIFIC_PID", "odd")

    def test_long_values_are_refused(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        longest = PARAMETERS | {"SESSION_ID": "s" * crowd.PARAMETER_LIMIT}
        assert isinstance(crowd.read_visit(study, longest), Visit)
        longer = PARAMETERS | {"SESSION_ID": "s" * (crowd.PARAMETER_LIMIT + 1)}
        assert crowd.read_visit(study, longer) == VisitProblem("SESSION_ID", "too_long")

    def test_the_study_says_what_the_parameters_are_called(self, campaign: Campaign) -> None:
        study = make_study(
            campaign,
            participant_parameter="workerId",
            study_parameter="hitId",
            session_parameter="assignmentId",
        )
        given = {"workerId": "w", "hitId": "h", "assignmentId": "a"}
        assert crowd.read_visit(study, given) == Visit(participant="w", session="a")
        assert crowd.read_visit(study, PARAMETERS) == VisitProblem("workerId", "missing")

    def test_people_from_another_study_are_turned_away(self, campaign: Campaign) -> None:
        study = make_study(campaign, external_id="y")
        assert crowd.read_visit(study, PARAMETERS) == VisitProblem("STUDY_ID", "other_study")
        assert isinstance(crowd.read_visit(study, PARAMETERS | {"STUDY_ID": "y"}), Visit)


class TestConsent:
    def test_it_makes_an_account_that_says_nothing(self, campaign: Campaign) -> None:
        study = make_study(campaign, minutes=30)
        assert crowd.enter(study=study, visit=VISIT, now=NOW) is None
        assert not CrowdPlace.objects.exists()
        place = crowd.consent(study=study, visit=VISIT, now=NOW)
        assert isinstance(place, CrowdPlace)
        user = place.membership.user
        assert user.username.startswith("crowd-")
        assert not user.has_usable_password()
        assert place.membership.rater is not None
        assert (place.consent, place.consented_at) == (study.consent, NOW)
        assert place.ends_at == NOW + timedelta(minutes=30)
        # The platform's id is with the place and nowhere else.
        said = " ".join(
            [user.username, place.membership.rater.pseudonym]
            + [str(data) for data in Event.objects.values_list("data", flat=True)]
        )
        assert VISIT.participant not in said
        assert VISIT.session not in said

    def test_later_changes_of_the_text_do_not_change_what_was_agreed_to(
        self, campaign: Campaign
    ) -> None:
        place = make_place(make_study(campaign))
        CrowdStudy.objects.update(consent="Something else")
        place.refresh_from_db()
        assert place.consent == "You compare **two texts**."

    def test_coming_again_finds_the_place(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        place = make_place(study)
        assert crowd.enter(study=study, visit=VISIT, now=timezone.now()) == place
        assert crowd.consent(study=study, visit=VISIT, now=timezone.now()) == place
        assert User.objects.filter(username__startswith="crowd-").count() == 1

    def test_to_know_a_participants_id_is_not_enough(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        place = make_place(study, now=NOW)
        other = Visit(participant="p-1", session="another")
        late = NOW + timedelta(days=1)
        for user in (None, study.created_by):
            refused = Refused("other_session")
            assert crowd.enter(study=study, visit=other, now=late, user=user) == refused
            assert crowd.consent(study=study, visit=other, now=late, user=user) == refused
        # Nor has a stranger changed anything.
        assert CrowdPlace.objects.get().state == STARTED
        user = place.membership.user
        assert crowd.enter(study=study, visit=other, now=NOW, user=user) == place
        assert crowd.consent(study=study, visit=other, now=NOW, user=user) == place

    def test_a_campaign_with_nothing_left_takes_nobody_new(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        old = make_place(study, "p-0", now=NOW)
        held = seat(member_of(old))
        PairSeats.objects.update(free=0)
        # What is on a lease may become free.
        assert crowd.enter(study=study, visit=VISIT, now=NOW) is None
        Assignment.objects.filter(pk=held.pk).update(state="expired")
        full = Refused("full")
        assert crowd.enter(study=study, visit=VISIT, now=NOW) == full
        assert crowd.consent(study=study, visit=VISIT, now=NOW) == full
        assert CrowdPlace.objects.count() == 1
        # Who has a place keeps it.
        coming = Visit(participant="p-0", session="s-1")
        assert crowd.enter(study=study, visit=coming, now=NOW) == old
        PairSeats.objects.filter(pk=held.pair_id).update(free=1)
        assert crowd.enter(study=study, visit=VISIT, now=NOW) is None

    def test_one_study_of_a_campaign_a_participant(self, campaign: Campaign) -> None:
        make_place(make_study(campaign))
        second = make_study(campaign, name="Second")
        refused = Refused("took_part")
        assert crowd.enter(study=second, visit=VISIT, now=NOW) == refused
        assert crowd.consent(study=second, visit=VISIT, now=NOW) == refused

    def test_a_study_of_another_campaign_is_no_hindrance(
        self, campaign: Campaign, tmp_path: Path
    ) -> None:
        make_place(make_study(campaign))
        mugs = make_campaign("mugs")
        add_pairs(mugs, tmp_path, 1)
        assert make_place(make_study(mugs)).study.campaign.slug == "mugs"

    def test_a_closed_study_takes_nobody_new(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        old = make_place(study)
        stale = CrowdStudy.objects.select_related("campaign").get()
        crowd.close_study(study=study, actor=study.created_by, now=NOW)
        crowd.close_study(study=study, actor=study.created_by, now=NOW + timedelta(hours=1))
        assert study.closed_at == NOW
        assert Event.objects.filter(action="study:closed").count() == 1
        new = Visit(participant="p-2", session="s-2")
        assert crowd.enter(study=study, visit=new, now=NOW) == Refused("study_closed")
        # Also somebody who had the page open.
        assert crowd.consent(study=stale, visit=new, now=NOW) == Refused("study_closed")
        assert crowd.enter(study=study, visit=VISIT, now=old.consented_at) == old

    @pytest.mark.parametrize(
        ("state", "code"),
        [
            (Campaign.State.DRAFT, "not_open"),
            (Campaign.State.PAUSED, "not_open"),
            (Campaign.State.CLOSED, "campaign_closed"),
        ],
    )
    def test_the_campaign_must_be_open(self, campaign: Campaign, state: str, code: str) -> None:
        study = make_study(campaign)
        Campaign.objects.update(state=state)
        for found in (
            crowd.consent(study=study, visit=VISIT, now=NOW),
            crowd.enter(study=study, visit=VISIT, now=NOW),
        ):
            assert isinstance(found, Refused)
            assert found.code == code
        assert not CrowdPlace.objects.exists()


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_two_tabs_make_one_place(self, campaign: Campaign) -> None:
        study = make_study(campaign)

        def agree() -> int:
            here = CrowdStudy.objects.select_related("campaign__pair_set").get(pk=study.pk)
            place = crowd.consent(study=here, visit=VISIT, now=timezone.now())
            assert isinstance(place, CrowdPlace)
            return place.pk

        assert len(set(together(*[agree] * 6))) == 1
        assert CrowdPlace.objects.count() == 1
        assert Membership.objects.count() == 1
        assert User.objects.filter(username__startswith="crowd-").count() == 1

    def test_two_studies_at_once_take_a_participant_once(self, campaign: Campaign) -> None:
        studies = [make_study(campaign, name=name).pk for name in ("one", "two")] * 3

        def agree(pk: object) -> bool:
            here = CrowdStudy.objects.select_related("campaign__pair_set").get(pk=pk)
            found = crowd.consent(study=here, visit=VISIT, now=timezone.now())
            return isinstance(found, CrowdPlace)

        together(*(lambda pk=pk: agree(pk) for pk in studies))
        assert CrowdPlace.objects.count() == 1

    def test_a_place_ends_once(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign), now=NOW)
        late = NOW + timedelta(hours=2)

        def end() -> str | None:
            return crowd.settle(membership=member_of(place), done=0, now=late)

        assert set(together(*[end] * 5)) == {NothingLeft.TIMED_OUT}
        assert actions() == ["crowd:consented", "crowd:timed_out"]


class TestEnd:
    def test_somebody_of_no_study_is_never_settled(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign))
        CrowdPlace.objects.all().delete()
        member = Membership.objects.get(pk=place.membership_id)
        assert crowd.settle(membership=member, done=100, now=NOW) is None
        assert crowd.completion(member) is None
        assert crowd.leave(membership=member, now=NOW) is None

    def test_all_pairs_judged(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign, pairs_each=2), now=NOW)
        member = member_of(place)
        assert crowd.settle(membership=member, done=1, now=NOW) is None
        assert crowd.completion(member) is None
        assert crowd.settle(membership=member, done=2, now=NOW) == NothingLeft.QUOTA_DONE
        assert crowd.completion(member) == (
            "C0DE-42",
            "https://platform.example/complete?cc=C0DE-42",
        )
        member = member_of(place)
        assert member.is_active
        assert member.crowd_place.state == COMPLETED
        # For good, also when the time is over.
        late = NOW + timedelta(days=2)
        assert crowd.settle(membership=member, done=2, now=late) == NothingLeft.QUOTA_DONE
        assert actions() == ["crowd:consented", "crowd:completed"]

    def test_the_last_pair_counts_when_the_time_has_run_out_on_it(self, campaign: Campaign) -> None:
        member = member_of(make_place(make_study(campaign), now=NOW))
        late = NOW + timedelta(days=2)
        assert crowd.settle(membership=member, done=2, now=late) == NothingLeft.QUOTA_DONE

    def test_out_of_time(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign, minutes=30), now=NOW)
        member = member_of(place)
        held = seat(member)
        end = NOW + timedelta(minutes=30)
        assert crowd.settle(membership=member, done=0, now=end) is None
        later = end + timedelta(seconds=1)
        assert crowd.settle(membership=member, done=0, now=later) == NothingLeft.TIMED_OUT
        for known in (member, member_of(place)):
            assert (known.standing, known.standing_reason) == ("left", "timed_out")
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        assert PairSeats.objects.get(pk=held.pair_id).free == 9
        assert crowd.settle(membership=member, done=9, now=later) == NothingLeft.TIMED_OUT
        assert crowd.completion(member) is None
        assert_sound(campaign)

    def test_leaving_keeps_answers_and_gives_the_seat_back(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign), now=NOW)
        member = member_of(place)
        submit(seat=seat(member), answer=answer(), now=NOW)
        held = seat(member)
        for _ in range(2):
            assert crowd.leave(membership=member, now=NOW) is not None
        known = member_of(place)
        assert (known.standing, known.standing_reason) == ("left", "returned")
        assert known.crowd_place.state == CrowdPlace.State.RETURNED
        states = Assignment.objects.filter(membership=known).values_list("state", flat=True)
        assert sorted(states) == ["expired", "submitted"]
        assert PairSeats.objects.get(pk=held.pair_id).free == 9
        assert actions() == ["crowd:consented", "crowd:returned"]
        assert_sound(campaign)

    def test_who_is_done_cannot_leave_any_more(self, campaign: Campaign) -> None:
        member = member_of(make_place(make_study(campaign), now=NOW))
        crowd.settle(membership=member, done=2, now=NOW)
        crowd.leave(membership=member, now=NOW)
        assert crowd.completion(member) is not None

    def test_nothing_left_to_judge_is_a_completion(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign), now=NOW)
        crowd.complete_early(membership=member_of(place), now=NOW)
        assert crowd.completion(member_of(place)) is not None
        event = Event.objects.get(action="crowd:completed")
        assert event.data["done"] == 0

    def test_who_has_left_gets_no_code_by_coming_again(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign), now=NOW)
        crowd.leave(membership=member_of(place), now=NOW)
        crowd.complete_early(membership=member_of(place), now=NOW)
        assert crowd.completion(member_of(place)) is None
        assert crowd.settle(membership=member_of(place), done=2, now=NOW) == NothingLeft.LEFT

    def test_who_is_excluded_stays_so_when_the_time_runs_out(self, campaign: Campaign) -> None:
        place = make_place(make_study(campaign), now=NOW)
        Membership.objects.update(standing="excluded", standing_reason="lead")
        crowd.settle(membership=member_of(place), done=0, now=NOW + timedelta(days=1))
        assert member_of(place).standing == "excluded"

    def test_entering_settles(self, campaign: Campaign) -> None:
        study = make_study(campaign, pairs_each=1)
        place = make_place(study, now=NOW)
        submit(seat=seat(member_of(place)), answer=answer(), now=NOW)
        found = crowd.enter(study=study, visit=VISIT, now=NOW)
        assert isinstance(found, CrowdPlace)
        assert found.state == COMPLETED
