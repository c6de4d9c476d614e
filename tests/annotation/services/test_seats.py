"""Seats, one after the other: what a claim gives and what becomes of an answer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError

from annotation.domain.blinding import shown_left
from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.answers import Outcome
from annotation.services.campaigns import move_campaign
from annotation.services.seats import (
    NothingLeft,
    claim_seat,
    free_lapsed_seats,
    give_back,
    renew_lease,
)
from benchmark.models import Judgement, Tally, Vote
from tests.annotation.seating import (
    LEASE,
    NOW,
    answer,
    assert_sound,
    fresh,
    seat,
    seated_campaign,
    submit,
    votes_of,
)
from tests.factories import make_member

pytestmark = pytest.mark.django_db

LATER = NOW + LEASE + timedelta(seconds=1)


def nothing(membership: Membership, now: object = NOW) -> NothingLeft:
    left = claim_seat(membership=fresh(membership), now=now)  # type: ignore[arg-type]
    assert isinstance(left, NothingLeft)
    return left


class TestClaim:
    def test_a_seat_is_on_a_lease_and_takes_a_place(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        assert held.state == Assignment.State.OPEN
        assert held.claimed_at == NOW
        assert held.lease_expires_at == NOW + LEASE
        assert PairSeats.objects.get(pair=held.pair_id).free == 8
        assert_sound(campaign)

    def test_asking_again_gives_the_same_seat_and_renews_it(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        first = seat(rater)
        again = seat(rater, now=NOW + timedelta(minutes=5))
        assert again.pk == first.pk
        again.refresh_from_db()
        assert again.lease_expires_at == NOW + timedelta(minutes=5) + LEASE
        assert again.claimed_at == NOW
        assert again.shown_left == first.shown_left
        assert Assignment.objects.count() == 1
        assert_sound(campaign)

    def test_the_order_shown_is_drawn_and_stored(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path, pairs=12, seed="seed-of-its-own")
        orders = set()
        assert rater.rater is not None
        for _ in range(12):
            held = seat(rater)
            assert held.shown_left == shown_left(
                seed="seed-of-its-own", pair_id=held.pair.pair_id, rater=rater.rater.pseudonym
            )
            orders.add(held.shown_left)
            submit(seat=held, answer=answer(), now=NOW)
            judgement = Judgement.objects.get(assignment=held)
            assert judgement.shown_left == held.shown_left
        assert orders == {"A", "B"}

    def test_pairs_come_in_the_order_of_the_seed_and_never_twice(self, tmp_path: Path) -> None:
        campaign, raters = seated_campaign(tmp_path, pairs=8)
        order = list(PairSeats.objects.order_by("position").values_list("pair_id", flat=True))
        for rater in raters:
            given = []
            for _ in order:
                held = seat(rater)
                given.append(held.pair_id)
                submit(seat=held, answer=answer(), now=NOW)
            assert given == order
            assert nothing(rater) == NothingLeft(NothingLeft.ALL_JUDGED)
        assert_sound(campaign)

    def test_a_rater_who_comes_back_late_goes_on_with_the_same_pair(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=2)
        first = seat(rater)
        again = seat(rater, now=LATER)
        assert again.pk == first.pk
        assert again.lease_expires_at == LATER + LEASE
        assert_sound(campaign)

    def test_a_lapsed_seat_is_freed_and_its_pair_comes_again(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=2)
        first = seat(rater)
        free_lapsed_seats(campaign=campaign, now=LATER)
        second = seat(rater, now=LATER)
        assert second.pair_id != first.pair_id
        first.refresh_from_db()
        assert first.state == Assignment.State.EXPIRED
        submit(seat=second, answer=answer(), now=LATER)
        third = seat(rater, now=LATER)
        assert third.pair_id == first.pair_id
        assert third.pk != first.pk
        assert third.shown_left == first.shown_left
        assert_sound(campaign)

    def test_one_open_seat_a_rater(self, tmp_path: Path) -> None:
        _, raters = seated_campaign(tmp_path, annotators=3)
        assert len({seat(rater).pk for rater in raters for _ in range(3)}) == 3


class TestNothingLeft:
    @pytest.mark.parametrize("state", ["draft", "paused", "closed"])
    def test_not_open(self, tmp_path: Path, state: str) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        assert nothing(rater) == NothingLeft(NothingLeft.NOT_OPEN)
        Campaign.objects.filter(pk=campaign.pk).update(state="open")
        assert seat(rater).pk == held.pk

    def test_no_pairs(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path, pairs=0)
        assert nothing(rater) == NothingLeft(NothingLeft.NO_PAIRS)

    def test_all_judged(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path, pairs=1)
        submit(seat=seat(rater), answer=answer(), now=NOW)
        seat(other)
        assert nothing(rater) == NothingLeft(NothingLeft.ALL_JUDGED)

    def test_all_taken_until_the_first_lease_ends(self, tmp_path: Path) -> None:
        campaign, raters = seated_campaign(tmp_path, pairs=2, annotators=5, raters_per_pair=2)
        for minutes, rater in enumerate(raters[:4]):
            seat(rater, now=NOW + timedelta(minutes=minutes))
        left = nothing(raters[4], NOW + timedelta(minutes=10))
        assert left == NothingLeft(NothingLeft.ALL_TAKEN, retry_at=NOW + LEASE)
        assert seat(raters[4], now=NOW + LEASE).state == Assignment.State.OPEN
        assert_sound(campaign)

    def test_a_lease_on_a_judged_pair_is_nothing_to_wait_for(self, tmp_path: Path) -> None:
        campaign, raters = seated_campaign(tmp_path, pairs=2, annotators=4, raters_per_pair=2)
        judged, full = PairSeats.objects.order_by("position")
        waiting, *others = raters
        submit(seat=seat(waiting), answer=answer(), now=NOW)
        seat(others[0])  # holds the other place of the pair that `waiting` has judged
        for rater in others[1:]:
            held = seat(rater)
            assert held.pair_id == full.pair_id
            submit(seat=held, answer=answer(), now=NOW)
        judged.refresh_from_db()
        assert judged.free == 0
        assert nothing(waiting) == NothingLeft(NothingLeft.ALL_FULL)
        assert_sound(campaign)

    def test_all_full(self, tmp_path: Path) -> None:
        _, raters = seated_campaign(tmp_path, pairs=2, annotators=3, raters_per_pair=2)
        for rater in raters[:2]:
            for _ in range(2):
                submit(seat=seat(rater), answer=answer(), now=NOW)
        assert nothing(raters[2]) == NothingLeft(NothingLeft.ALL_FULL)


class TestSubmit:
    def test_votes_are_canonical_and_tallies_move_with_them(self, tmp_path: Path) -> None:
        campaign, raters = seated_campaign(tmp_path, pairs=1, annotators=9)
        seen = set()
        for rater in raters:
            held = seat(rater)
            seen.add(held.shown_left)
            at = NOW + timedelta(seconds=42.5)
            given = answer("A", "tie", comment="Both thin.")
            assert submit(seat=held, answer=given, now=at) is Outcome.ACCEPTED
            judgement = Judgement.objects.get(assignment=held)
            assert votes_of(judgement) == {"helpfulness": "A", "personalization": "tie"}
            assert (judgement.opened_at, judgement.submitted_at) == (NOW, at)
            assert judgement.seconds == 42.5
            assert judgement.comment == "Both thin."
            assert judgement.rater == rater.rater
        assert seen == {"A", "B"}
        assert {
            (tally.criterion.key, tally.a, tally.b, tally.tie, tally.skip)
            for tally in Tally.objects.select_related("criterion")
        } == {("helpfulness", 9, 0, 0, 0), ("personalization", 0, 0, 9, 0)}
        assert sorted(Judgement.objects.values_list("seat", flat=True)) == list(range(1, 10))
        assert_sound(campaign)

    def test_a_retry_gets_the_first_answer(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        assert submit(seat=held, answer=answer("A", "A"), now=NOW) is Outcome.ACCEPTED
        for retry in (answer("A", "A"), answer("B", "B", comment="changed my mind")):
            assert submit(seat=held, answer=retry, now=LATER) is Outcome.ALREADY_SUBMITTED
        judgement = Judgement.objects.get()
        assert votes_of(judgement) == {"helpfulness": "A", "personalization": "A"}
        assert judgement.comment == ""
        assert_sound(campaign)

    def test_a_retry_after_the_campaign_closed_is_still_a_retry(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        submit(seat=held, answer=answer(), now=NOW)
        move_campaign(campaign=campaign, state="closed")
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.ALREADY_SUBMITTED

    def test_nothing_is_stored_when_part_of_it_cannot_be(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        with pytest.raises(IntegrityError):
            submit(seat=held, answer=Answer(choices={"helpfulness": "A"}), now=NOW)
        assert not Judgement.objects.exists()
        assert not Vote.objects.exists()
        assert not Tally.objects.exists()
        held.refresh_from_db()
        assert held.state == Assignment.State.OPEN
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.ACCEPTED
        assert_sound(campaign)

    def test_a_lapsed_lease_that_nobody_needed_is_no_loss(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        assert submit(seat=held, answer=answer(), now=LATER) is Outcome.KEPT_AFTER_EXPIRY
        assert_sound(campaign)

    def test_an_expired_seat_counts_while_a_place_is_free(self, tmp_path: Path) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=2)
        held = seat(rater)
        seat(other, now=LATER)
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        assert submit(seat=held, answer=answer(), now=LATER) is Outcome.KEPT_AFTER_EXPIRY
        held.refresh_from_db()
        assert held.state == Assignment.State.SUBMITTED
        assert submit(seat=held, answer=answer(), now=LATER) is Outcome.ALREADY_SUBMITTED
        assert_sound(campaign)

    @pytest.mark.parametrize("other_submits", [False, True])
    def test_an_expired_seat_that_others_filled(self, tmp_path: Path, other_submits: bool) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        held = seat(rater)
        theirs = seat(other, now=LATER)
        if other_submits:
            submit(seat=theirs, answer=answer(), now=LATER)
        assert submit(seat=held, answer=answer("B", "B"), now=LATER) is Outcome.EXPIRED
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        assert Judgement.objects.count() == int(other_submits)
        assert_sound(campaign)

    def test_an_expired_seat_yields_to_the_newer_one_on_its_pair(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        old = seat(rater)
        free_lapsed_seats(campaign=campaign, now=LATER)
        new = seat(rater, now=LATER)
        assert new.pk != old.pk
        assert submit(seat=old, answer=answer("A", "A"), now=LATER) is Outcome.ACCEPTED
        assert submit(seat=new, answer=answer("B", "B"), now=LATER) is Outcome.ALREADY_SUBMITTED
        new.refresh_from_db()
        assert new.state == Assignment.State.SUBMITTED
        assert votes_of(Judgement.objects.get())["helpfulness"] == "A"
        assert_sound(campaign)

    def test_a_late_answer_beside_an_open_seat_on_another_pair(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=2)
        old = seat(rater)
        free_lapsed_seats(campaign=campaign, now=LATER)
        new = seat(rater, now=LATER)
        assert submit(seat=old, answer=answer(), now=LATER) is Outcome.KEPT_AFTER_EXPIRY
        assert submit(seat=new, answer=answer(), now=LATER) is Outcome.ACCEPTED
        assert nothing(rater, LATER).reason == NothingLeft.ALL_JUDGED
        assert_sound(campaign)

    @pytest.mark.parametrize("state", ["paused", "closed"])
    def test_a_campaign_that_takes_no_answers(self, tmp_path: Path, state: str) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        move_campaign(campaign=campaign, state=state)
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.CAMPAIGN_CLOSED
        assert not Judgement.objects.exists()
        move_campaign(campaign=campaign, state="open")
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.ACCEPTED
        assert_sound(campaign)

    def test_every_outcome_says_whether_the_answer_is_stored(self) -> None:
        assert {outcome for outcome in Outcome if outcome.is_stored} == {
            Outcome.ACCEPTED,
            Outcome.ALREADY_SUBMITTED,
            Outcome.KEPT_AFTER_EXPIRY,
            Outcome.REVISED,
        }


class TestLeases:
    def test_a_sign_of_life_moves_the_end(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        assert renew_lease(assignment=held, now=NOW + timedelta(minutes=19))
        held.refresh_from_db()
        assert held.lease_expires_at == NOW + timedelta(minutes=39)

    def test_a_lapsed_seat_that_nobody_took_can_be_renewed(self, tmp_path: Path) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        held = seat(rater)
        assert renew_lease(assignment=held, now=LATER)
        assert nothing(other, LATER).retry_at == LATER + LEASE
        assert_sound(campaign)

    def test_a_seat_that_was_swept_is_taken_back_while_its_place_is_free(
        self, tmp_path: Path
    ) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        held = seat(rater)
        assert free_lapsed_seats(campaign=campaign, now=LATER) == 1
        assert renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=LATER)
        held.refresh_from_db()
        assert (held.state, held.lease_expires_at) == (Assignment.State.OPEN, LATER + LEASE)
        assert held.claimed_at == NOW
        assert PairSeats.objects.get().free == 0
        assert seat(rater, now=LATER).pk == held.pk
        assert submit(seat=held, answer=answer(), now=LATER) is Outcome.ACCEPTED
        assert_sound(campaign)

    def test_not_when_somebody_else_has_the_place(self, tmp_path: Path) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        held = seat(rater)
        theirs = seat(other, now=LATER)
        assert not renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=LATER)
        submit(seat=theirs, answer=answer(), now=LATER)
        assert not renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=LATER)
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        assert_sound(campaign)

    def test_not_when_the_rater_holds_another_seat(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=2)
        old = seat(rater)
        free_lapsed_seats(campaign=campaign, now=LATER)
        new = seat(rater, now=LATER)
        assert new.pair_id != old.pair_id
        assert not renew_lease(assignment=Assignment.objects.get(pk=old.pk), now=LATER)
        submit(seat=new, answer=answer(), now=LATER)
        assert renew_lease(assignment=Assignment.objects.get(pk=old.pk), now=LATER)
        assert_sound(campaign)

    def test_not_when_the_rater_has_judged_the_pair_from_a_newer_seat(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        old = seat(rater)
        free_lapsed_seats(campaign=campaign, now=LATER)
        new = seat(rater, now=LATER)
        assert new.pair_id == old.pair_id
        submit(seat=new, answer=answer(), now=LATER)
        assert not renew_lease(assignment=Assignment.objects.get(pk=old.pk), now=LATER)
        assert_sound(campaign)

    def test_not_once_it_is_submitted(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        submit(seat=held, answer=answer(), now=NOW)
        assert not renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=NOW)
        held.refresh_from_db()
        assert held.state == Assignment.State.SUBMITTED
        assert_sound(campaign)

    @pytest.mark.parametrize("standing", ["paused", "excluded", "left"])
    @pytest.mark.parametrize("is_swept", [False, True])
    def test_not_for_a_rater_who_is_out(
        self, tmp_path: Path, standing: str, is_swept: bool
    ) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        if is_swept:
            free_lapsed_seats(campaign=campaign, now=LATER)
        Membership.objects.update(standing=standing, standing_reason="lead")
        assert not renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=NOW)
        held.refresh_from_db()
        assert held.lease_expires_at == NOW + LEASE
        assert_sound(campaign)

    def test_a_closed_campaign_says_so(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        move_campaign(campaign=campaign, state="closed")
        assert not renew_lease(assignment=Assignment.objects.get(pk=held.pk), now=NOW)

    def test_sweeping_frees_what_has_lapsed_and_nothing_else(self, tmp_path: Path) -> None:
        campaign, raters = seated_campaign(tmp_path, annotators=4)
        other = make_member(seated_campaign(tmp_path, slug="mugs")[0])
        lapsed = [seat(rater) for rater in raters[:2]]
        held = seat(raters[2], now=LATER)
        assert Assignment.objects.filter(state="expired").count() == 2
        submitted = seat(raters[3], now=LATER)
        submit(seat=submitted, answer=answer(), now=LATER)
        elsewhere = seat(other)
        assert free_lapsed_seats(campaign=campaign, now=LATER) == 0
        assert free_lapsed_seats(campaign=campaign, now=held.lease_expires_at) == 1
        assert free_lapsed_seats(campaign=campaign, now=held.lease_expires_at) == 0
        states = {row.pk: row.state for row in Assignment.objects.all()}
        assert {states[row.pk] for row in [*lapsed, held]} == {"expired"}
        assert states[submitted.pk] == "submitted"
        assert states[elsewhere.pk] == "open"
        assert_sound(campaign)


class TestGivingBack:
    def test_the_place_is_for_somebody_else(self, tmp_path: Path) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        held = seat(rater)
        assert nothing(other).reason == NothingLeft.ALL_TAKEN
        give_back(membership=rater)
        held.refresh_from_db()
        assert held.state == Assignment.State.EXPIRED
        assert seat(other).pair_id == held.pair_id
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.EXPIRED
        assert_sound(campaign)

    def test_with_nothing_in_hand_it_changes_nothing(self, tmp_path: Path) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path)
        give_back(membership=rater)
        submit(seat=seat(rater), answer=answer(), now=NOW)
        theirs = seat(other)
        for _ in range(2):
            give_back(membership=rater)
        theirs.refresh_from_db()
        assert theirs.state == Assignment.State.OPEN
        assert Assignment.objects.filter(state="submitted").count() == 1
        assert_sound(campaign)


class TestRatersWhoAreOut:
    @pytest.mark.parametrize(
        ("standing", "reason", "code"),
        [
            ("paused", "gold", NothingLeft.PAUSED),
            ("paused", "lead", NothingLeft.PAUSED),
            ("paused", "qualification", NothingLeft.NOT_QUALIFIED),
            ("excluded", "lead", NothingLeft.EXCLUDED),
            ("left", "returned", NothingLeft.LEFT),
            ("left", "timed_out", NothingLeft.TIMED_OUT),
        ],
    )
    def test_they_get_no_seat_and_are_told_why(
        self, tmp_path: Path, standing: str, reason: str, code: str
    ) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path)
        held = seat(rater)
        before = fresh(other)
        Membership.objects.update(standing=standing, standing_reason=reason)
        assert nothing(rater) == nothing(other) == NothingLeft(code)
        # Also when it happened after the request had loaded the membership.
        assert claim_seat(membership=before, now=NOW) == NothingLeft(code)
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.NOT_ACTIVE
        assert not Judgement.objects.exists()
        Membership.objects.update(standing="active", standing_reason="")
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.ACCEPTED
        assert_sound(campaign)

    def test_a_retry_is_still_a_retry(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        submit(seat=held, answer=answer(), now=NOW)
        Membership.objects.update(standing="excluded", standing_reason="lead")
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.ALREADY_SUBMITTED
