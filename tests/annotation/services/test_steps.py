"""What comes next for a rater: guidelines, training, pairs; and each reason for nothing."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.models import (
    Acknowledgement,
    Assignment,
    Campaign,
    CheckAnswer,
    CrowdPlace,
    Guideline,
    Membership,
)
from annotation.services import crowd, standing
from annotation.services.answers import GRACE, Outcome
from annotation.services.judging_settings import publish_guidelines
from annotation.services.seats import NothingLeft, free_lapsed_seats, renew_lease
from annotation.services.steps import MustRead, acknowledge
from benchmark.models import Judgement
from tests.annotation.checking import checked_campaign, on_check
from tests.annotation.seating import (
    LEASE,
    NOW,
    answer,
    assert_sound,
    fresh,
    revise,
    seated_campaign,
    submit,
)
from tests.annotation.services.stepping import MINUTE, judge_all, seat, step, why
from tests.annotation.ways import make_place, make_study
from tests.factories import UserFactory, make_campaign, make_member

pytestmark = pytest.mark.django_db

VOTE, GOLD, REPEAT = "vote", "gold", "repeat"


class TestTheWay:
    def test_guidelines_training_qualification_and_then_pairs(self, tmp_path: Path) -> None:
        campaign, _ = checked_campaign(tmp_path, training=2, qualification=2, pairs=2)
        rater = make_member(campaign, has_read=False)
        assert step(rater) == MustRead(1)
        assert not Assignment.objects.exists()
        assert acknowledge(membership=fresh(rater), version=1)
        given = judge_all(rater)
        assert [each.purpose for each in given] == [
            *["training"] * 2,
            *["qualification"] * 2,
            *[VOTE] * 2,
        ]
        assert why(rater) == NothingLeft.ALL_JUDGED
        rater.refresh_from_db()
        assert rater.ready_at == NOW + 4 * MINUTE
        assert rater.slots == 2
        assert Judgement.objects.count() == 2
        assert CheckAnswer.objects.count() == 4
        assert_sound(campaign)

    def test_asking_again_gives_the_same_seat_and_renews_it(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, training=1, qualification=1, gold=1, pairs=1)
        for purpose in ("training", "qualification", VOTE):
            given = [seat(rater, now=NOW + minutes * MINUTE) for minutes in range(3)]
            assert len({each.pk for each in given}) == 1
            assert given[-1].purpose == purpose
            assert given[-1].lease_expires_at == NOW + 2 * MINUTE + LEASE
            submit(seat=given[-1], answer=on_check(), now=NOW + 2 * MINUTE)

    def test_eight_tabs_open_the_first_training_pair(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, training=3)
        assert len({seat(rater).pk for _ in range(8)}) == 1

    def test_without_checks_the_first_step_is_a_pair(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        assert seat(rater).purpose == VOTE
        rater.refresh_from_db()
        assert rater.ready_at == NOW

    def test_a_training_pair_waits_for_those_who_come_back_late(self, tmp_path: Path) -> None:
        campaign, (rater, other) = checked_campaign(tmp_path, training=1, pairs=1, annotators=2)
        given = seat(rater)
        seat(other, now=NOW + 2 * LEASE)
        free_lapsed_seats(campaign=campaign, now=NOW + 2 * LEASE)
        assert seat(rater, now=NOW + 3 * LEASE).pk == given.pk

    def test_training_and_qualification_are_final(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, training=1, qualification=1)
        for given in judge_all(rater):
            held = Assignment.objects.get(pk=given.pk)
            outcome = revise(seat=held, answer=answer("B", "B"), revision=1, now=NOW)
            assert outcome is Outcome.ALREADY_SUBMITTED
        assert set(CheckAnswer.objects.values_list("revision", flat=True)) == {1}


class TestGuidelines:
    def test_a_new_version_in_the_middle_comes_first_and_the_seat_stays(
        self, tmp_path: Path
    ) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=2)
        held = seat(rater)
        publish_guidelines(campaign=campaign, body="# Two", actor=UserFactory.create())
        assert step(rater, now=NOW + MINUTE) == MustRead(2)
        # What was being answered meanwhile counts.
        assert submit(seat=held, answer=answer(), now=NOW + MINUTE) is Outcome.ACCEPTED
        assert step(rater, now=NOW + MINUTE) == MustRead(2)
        assert not acknowledge(membership=fresh(rater), version=1)
        assert step(rater, now=NOW + MINUTE) == MustRead(2)
        assert acknowledge(membership=fresh(rater), version=2)
        assert seat(rater, now=NOW + MINUTE).pair_id != held.pair_id
        versions = Acknowledgement.objects.filter(membership=rater).order_by("guideline__version")
        assert list(versions.values_list("guideline__version", flat=True)) == [1, 2]

    def test_the_seat_in_hand_is_there_after_reading(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        publish_guidelines(campaign=campaign, body="# Two", actor=UserFactory.create())
        acknowledge(membership=fresh(rater), version=2)
        assert seat(rater).pk == held.pk

    def test_also_in_the_middle_of_the_training(self, tmp_path: Path) -> None:
        campaign, (rater,) = checked_campaign(tmp_path, training=2)
        submit(seat=seat(rater), answer=answer(), now=NOW)
        publish_guidelines(campaign=campaign, body="# Two", actor=UserFactory.create())
        assert step(rater) == MustRead(2)

    @pytest.mark.parametrize("version", [0, 2, 99, -1])
    def test_versions_that_there_are_not(self, tmp_path: Path, version: int) -> None:
        campaign, _ = seated_campaign(tmp_path)
        rater = make_member(campaign, has_read=False)
        assert not acknowledge(membership=fresh(rater), version=version)
        assert step(rater) == MustRead(1)
        assert not Acknowledgement.objects.filter(membership=rater).exists()

    def test_saying_so_twice_is_saying_so_once(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        for _ in range(2):
            assert acknowledge(membership=fresh(rater), version=1)
        assert Acknowledgement.objects.filter(membership=rater).count() == 1
        assert Guideline.objects.filter(campaign=campaign).count() == 1

    def test_a_campaign_without_any(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        Acknowledgement.objects.all().delete()
        Guideline.objects.all().delete()
        Campaign.objects.update(guideline_version=0)
        Membership.objects.update(acknowledged_version=0)
        assert isinstance(step(rater), Assignment)
        assert campaign.is_open


class TestNothingLeft:
    """Every reason, in the order in which they hold."""

    @pytest.mark.parametrize("state", ["draft", "paused", "closed"])
    def test_not_open_comes_before_the_guidelines(self, tmp_path: Path, state: str) -> None:
        campaign, _ = seated_campaign(tmp_path)
        rater = make_member(campaign, has_read=False)
        Campaign.objects.update(state=state)
        assert why(rater) == NothingLeft.NOT_OPEN

    @pytest.mark.parametrize(
        ("as_is", "reason", "code"),
        [
            ("paused", "gold", NothingLeft.PAUSED),
            ("paused", "lead", NothingLeft.PAUSED),
            ("paused", "qualification", NothingLeft.NOT_QUALIFIED),
            ("excluded", "lead", NothingLeft.EXCLUDED),
            ("left", "returned", NothingLeft.LEFT),
            ("left", "timed_out", NothingLeft.TIMED_OUT),
        ],
    )
    def test_raters_who_are_out_need_not_read_anything(
        self, tmp_path: Path, as_is: str, reason: str, code: str
    ) -> None:
        campaign, _ = checked_campaign(tmp_path, training=1, pairs=1)
        rater = make_member(campaign, has_read=False)
        Membership.objects.update(standing=as_is, standing_reason=reason)
        assert why(rater) == code
        assert not Assignment.objects.exists()

    def test_no_pairs(self) -> None:
        assert why(make_member(make_campaign())) == NothingLeft.NO_PAIRS

    def test_training_is_there_before_any_pair(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, training=1)
        assert [each.purpose for each in judge_all(rater)] == ["training"]
        assert why(rater) == NothingLeft.NO_PAIRS

    def test_all_judged_all_taken_and_all_full(self, tmp_path: Path) -> None:
        campaign, (first, second, third) = seated_campaign(
            tmp_path, pairs=1, annotators=3, raters_per_pair=2
        )
        held = [seat(first), seat(second)]
        assert step(third) == NothingLeft(NothingLeft.ALL_TAKEN, NOW + LEASE)
        for each in held:
            submit(seat=each, answer=answer(), now=NOW)
        assert why(first) == NothingLeft.ALL_JUDGED
        assert why(third) == NothingLeft.ALL_FULL
        assert_sound(campaign)

    def test_a_failed_qualification(self, tmp_path: Path) -> None:
        campaign, (rater,) = checked_campaign(
            tmp_path, qualification=2, pairs=1, qualification_tries=2
        )
        given = judge_all(rater, right=0)
        assert [(each.purpose, each.attempt) for each in given] == [
            ("qualification", 1),
            ("qualification", 1),
            ("qualification", 2),
            ("qualification", 2),
        ]
        assert why(rater) == NothingLeft.NOT_QUALIFIED
        assert not Judgement.objects.exists()
        # The lead gives one more try, and that one is passed.
        standing.resume(membership=fresh(rater), actor=UserFactory.create(), now=NOW + LEASE)
        given = judge_all(rater, start=NOW + LEASE)
        assert [(each.purpose, each.attempt) for each in given] == [
            ("qualification", 3),
            ("qualification", 3),
            (VOTE, 0),
        ]
        assert_sound(campaign)

    def test_a_rater_who_is_paused_and_let_go_on(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        held = seat(rater)
        lead = UserFactory.create()
        standing.pause(membership=fresh(rater), actor=lead, now=NOW)
        assert why(rater) == NothingLeft.PAUSED
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        standing.resume(membership=fresh(rater), actor=lead, now=NOW)
        assert seat(rater).pair_id == held.pair_id
        assert_sound(campaign)


class TestCrowd:
    def participant(self, campaign: Campaign, **options: int) -> Membership:
        place = make_place(make_study(campaign, **options), now=NOW)
        acknowledge(membership=place.membership, version=campaign.guideline_version)
        return place.membership

    def state(self) -> str:
        return CrowdPlace.objects.get().state

    def test_so_many_pairs_and_no_more(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path, pairs=4)
        rater = self.participant(campaign, pairs_each=2, minutes=30)
        assert len(judge_all(rater)) == 2
        assert why(rater) == NothingLeft.QUOTA_DONE
        assert self.state() == CrowdPlace.State.COMPLETED
        assert crowd.completion(fresh(rater)) == (
            "C0DE-42",
            "https://platform.example/complete?cc=C0DE-42",
        )
        assert not Assignment.objects.filter(state="open").exists()
        assert_sound(campaign)

    def test_checks_are_pairs_as_well(self, tmp_path: Path) -> None:
        campaign, _ = checked_campaign(
            tmp_path, training=2, gold=4, pairs=12, annotators=0, gold_percent=50
        )
        rater = self.participant(campaign, pairs_each=6, minutes=60)
        purposes = Counter(each.purpose for each in judge_all(rater))
        assert purposes["training"] == 2
        assert purposes[VOTE] + purposes[GOLD] == 6
        assert purposes[GOLD] >= 2
        assert why(rater) == NothingLeft.QUOTA_DONE

    def test_the_time_runs_out(self, tmp_path: Path) -> None:
        campaign, (other, _) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        rater = self.participant(campaign, pairs_each=2, minutes=30)
        held = seat(rater, now=NOW + 30 * MINUTE)
        late = NOW + 30 * MINUTE + timedelta(seconds=1)
        assert why(rater, now=late) == NothingLeft.TIMED_OUT
        assert self.state() == CrowdPlace.State.TIMED_OUT
        assert submit(seat=held, answer=answer(), now=late) is Outcome.NOT_ACTIVE
        # The place is for somebody else.
        assert seat(other, now=late).pair_id == held.pair_id
        assert_sound(campaign)

    def test_leaving(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path)
        rater = self.participant(campaign, pairs_each=2, minutes=30)
        held = seat(rater)
        crowd.leave(membership=fresh(rater), now=NOW)
        assert why(rater) == NothingLeft.LEFT
        assert not renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=NOW)
        assert_sound(campaign)

    def test_nothing_left_to_judge_is_not_their_fault(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path, pairs=1)
        rater = self.participant(campaign, pairs_each=5, minutes=30)
        assert len(judge_all(rater)) == 1
        assert why(rater) == NothingLeft.QUOTA_DONE
        assert self.state() == CrowdPlace.State.COMPLETED

    def test_what_others_hold_is_to_be_waited_for(self, tmp_path: Path) -> None:
        campaign, (other, _) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        rater = self.participant(campaign, pairs_each=5, minutes=30)
        seat(other)
        assert why(rater) == NothingLeft.ALL_TAKEN
        assert self.state() == CrowdPlace.State.STARTED

    def test_who_has_worked_need_not_wait_for_others(self, tmp_path: Path) -> None:
        campaign, (other, _) = seated_campaign(tmp_path, pairs=2, raters_per_pair=1)
        rater = self.participant(campaign, pairs_each=5, minutes=30)
        submit(seat=seat(rater), answer=answer(), now=NOW)
        seat(other)
        assert why(rater) == NothingLeft.QUOTA_DONE
        assert self.state() == CrowdPlace.State.COMPLETED

    @pytest.mark.parametrize("purpose", [VOTE, "training"])
    def test_an_answer_on_its_way_may_come_a_little_late(
        self, tmp_path: Path, purpose: str
    ) -> None:
        campaign, _ = checked_campaign(
            tmp_path, training=2 * (purpose == "training"), pairs=2, annotators=0
        )
        rater = self.participant(campaign, pairs_each=2, minutes=30)
        end = NOW + 30 * MINUTE
        held = seat(rater, now=end)
        assert held.purpose == purpose
        assert submit(seat=held, answer=answer(), now=end + GRACE) is Outcome.ACCEPTED
        assert self.state() == CrowdPlace.State.STARTED
        held = seat(rater, now=end)
        late = end + GRACE + timedelta(seconds=1)
        # The lease is longer than the time.
        assert submit(seat=held, answer=answer(), now=late) is Outcome.NOT_ACTIVE
        assert self.state() == CrowdPlace.State.TIMED_OUT
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        assert_sound(campaign)

    def test_no_lease_is_renewed_when_the_time_is_over(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path)
        rater = self.participant(campaign, pairs_each=2, minutes=30)
        end = NOW + 30 * MINUTE
        held = Assignment.objects.get(pk=seat(rater, now=end).pk)
        assert renew_lease(assignment=held, now=end)
        assert not renew_lease(assignment=held, now=end + timedelta(seconds=1))

    def test_done_is_done_in_a_campaign_that_has_closed(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path)
        rater = self.participant(campaign, pairs_each=2, minutes=30)
        for _ in range(2):
            submit(seat=seat(rater), answer=answer(), now=NOW)
        Campaign.objects.update(state="closed")
        assert why(rater) == NothingLeft.QUOTA_DONE
