"""The seat after the one at work: held on a lease of its own, so that its pair can be shown."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Assignment, Campaign, CrowdPlace, Membership, PairSeats
from annotation.services import steps
from annotation.services.answers import Outcome
from annotation.services.seats import (
    NothingLeft,
    claim_ahead,
    claim_seat,
    free_lapsed_seats,
    give_back,
    renew_lease,
)
from benchmark.models import Judgement
from tests.annotation.checking import checked_campaign
from tests.annotation.seating import (
    LEASE,
    NOW,
    answer,
    assert_sound,
    fresh,
    seat,
    seated_campaign,
    submit,
)
from tests.annotation.threads import together
from tests.annotation.ways import make_place, make_study

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=5)


def ahead(membership: Membership, *, now: datetime = NOW) -> Assignment | None:
    return claim_ahead(membership=fresh(membership), now=now)


def next_ahead(held: Assignment) -> Assignment | None:
    loaded = Assignment.objects.select_related("campaign__pair_set").get(pk=held.pk)
    loaded.membership = fresh(held.membership)
    loaded.membership.campaign = loaded.campaign
    return steps.next_ahead(seat=loaded, now=NOW)


def with_item(held: Assignment) -> Assignment:
    return Assignment.objects.select_related("check_item", "membership").get(pk=held.pk)


def state_of(held: Assignment) -> str:
    return Assignment.objects.get(pk=held.pk).state


def test_it_takes_a_place_on_a_lease_and_comes_next(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    first = seat(rater)
    following = ahead(rater, now=LATER)
    assert following is not None
    assert following.is_ahead
    assert (following.claimed_at, following.lease_expires_at) == (LATER, LATER + LEASE)
    assert PairSeats.objects.get(pair=following.pair_id).free == 8
    # Until the first is answered, that stays the one at work.
    assert seat(rater) == first
    assert submit(seat=first, answer=answer(), now=LATER) is Outcome.ACCEPTED
    then = seat(rater, now=LATER)
    assert then == following
    assert not then.is_ahead
    assert_sound(campaign)


def test_it_is_the_one_that_would_have_come(tmp_path: Path) -> None:
    """Pairs are given in the same order, with or without it."""
    campaign, (rater, other) = seated_campaign(tmp_path, pairs=6)
    with_it, without = [], []
    for _ in range(6):
        with_it.append(seat(rater))
        ahead(rater)
        submit(seat=with_it[-1], answer=answer(), now=NOW)
        without.append(seat(other))
        submit(seat=without[-1], answer=answer(), now=NOW)
    assert [held.pair_id for held in with_it] == [held.pair_id for held in without]
    assert_sound(campaign)


def test_asking_again_gives_the_same_one_for_another_lease(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    seat(rater)
    first = ahead(rater)
    again = ahead(rater, now=LATER)
    assert first == again
    assert again is not None
    assert again.lease_expires_at == LATER + LEASE
    assert_sound(campaign)


def test_there_is_none_without_a_seat_to_be_ahead_of(tmp_path: Path) -> None:
    _, (rater,) = seated_campaign(tmp_path, annotators=1)
    assert ahead(rater) is None


def test_whoever_finds_nothing_else_takes_it(tmp_path: Path) -> None:
    """Two people with a pair each, and the third pair held ahead by the first of them."""
    campaign, (first, second, third) = seated_campaign(
        tmp_path, pairs=3, annotators=3, raters_per_pair=1
    )
    at_work = seat(first)
    held = ahead(first)
    assert held is not None
    seat(second)
    taken = seat(third)
    assert taken.pair_id == held.pair_id
    assert state_of(held) == "expired"
    assert_sound(campaign)
    # What is at work nobody takes, and the answer before it is stored all the same.
    assert submit(seat=at_work, answer=answer(), now=NOW) is Outcome.ACCEPTED
    assert claim_seat(membership=fresh(first), now=NOW) == NothingLeft(
        NothingLeft.ALL_TAKEN, NOW + LEASE
    )
    assert submit(seat=held, answer=answer(), now=NOW) is Outcome.EXPIRED
    assert_sound(campaign)


def test_it_is_not_taken_while_there_is_another_place(tmp_path: Path) -> None:
    campaign, (first, second) = seated_campaign(tmp_path, pairs=3, raters_per_pair=1)
    seat(first)
    held = ahead(first)
    assert held is not None
    assert seat(second).pair_id != held.pair_id
    assert state_of(held) == "open"
    assert_sound(campaign)


def test_a_place_that_is_held_ahead_by_some_goes_on_to_whoever_has_not_judged(
    tmp_path: Path,
) -> None:
    """More raters than places: the pairs that are left for one are all held ahead by others."""
    campaign, (rater, *others) = seated_campaign(
        tmp_path, pairs=10, annotators=3, raters_per_pair=2
    )
    for other in others:
        seat(other)
        ahead(other)
    done = 0
    while isinstance(held := claim_seat(membership=fresh(rater), now=NOW), Assignment):
        assert submit(seat=held, answer=answer(), now=NOW) is Outcome.ACCEPTED
        done += 1
    # All but the one at which both others are at work.
    assert (done, held.reason) == (9, NothingLeft.ALL_TAKEN)
    assert_sound(campaign)


def test_the_pair_at_work_does_not_come_twice(tmp_path: Path) -> None:
    """Going round, the search passes the pair that the rater holds."""
    campaign, (rater,) = seated_campaign(tmp_path, pairs=2, annotators=1)
    last = PairSeats.objects.order_by("position").last()
    assert last is not None
    first = seat(rater)
    Membership.objects.update(cursor=last.position)
    following = ahead(rater)
    assert following is not None
    assert following.pair_id != first.pair_id
    submit(seat=first, answer=answer(), now=NOW)
    assert seat(rater) == following
    assert ahead(rater) is None
    assert_sound(campaign)


@pytest.mark.parametrize("why", ["closed", "paused", "excluded", "guidelines"])
def test_not_where_something_else_comes(tmp_path: Path, why: str) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    first = seat(rater)
    if why == "closed":
        Campaign.objects.update(state="closed")
    elif why == "guidelines":
        Campaign.objects.update(guideline_version=7)
    else:
        Membership.objects.update(standing=why, standing_reason="lead")
    assert next_ahead(first) is None
    assert_sound(campaign)


def test_not_beyond_what_a_crowd_participant_is_paid_for(tmp_path: Path) -> None:
    campaign, _ = seated_campaign(tmp_path, pairs=5, annotators=0)
    place = make_place(make_study(campaign, pairs_each=2), now=NOW)
    rater = place.membership
    steps.acknowledge(membership=rater, version=campaign.guideline_version)
    first = seat(rater)
    following = next_ahead(first)
    assert following is not None
    submit(seat=first, answer=answer(), now=NOW)
    assert seat(rater) == following
    assert next_ahead(following) is None
    assert CrowdPlace.objects.get().state == CrowdPlace.State.STARTED


def test_not_after_a_crowd_participants_time(tmp_path: Path) -> None:
    campaign, _ = seated_campaign(tmp_path, pairs=5, annotators=0)
    place = make_place(make_study(campaign, pairs_each=4), now=NOW)
    steps.acknowledge(membership=place.membership, version=campaign.guideline_version)
    first = seat(place.membership)
    CrowdPlace.objects.update(ends_at=NOW - timedelta(seconds=1))
    assert next_ahead(first) is None
    assert_sound(campaign)


def test_activity_renews_both(tmp_path: Path) -> None:
    _, (rater,) = seated_campaign(tmp_path, annotators=1)
    first, following = seat(rater), ahead(rater)
    assert renew_lease(assignment=Assignment.objects.get(pk=first.pk), now=LATER)
    assert following is not None
    following.refresh_from_db()
    assert following.lease_expires_at == LATER + LEASE


def test_it_lapses_like_any_other_and_is_free_for_others(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    first, following = seat(rater), ahead(rater)
    assert following is not None
    assert free_lapsed_seats(campaign=campaign, now=NOW + LEASE) == 2
    assert {state_of(first), state_of(following)} == {"expired"}
    assert_sound(campaign)


def test_the_seat_at_work_is_taken_back_beside_it(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    first, following = seat(rater), ahead(rater, now=LATER)
    free_lapsed_seats(campaign=campaign, now=NOW + LEASE)
    assert following is not None
    assert (state_of(first), state_of(following)) == ("expired", "open")
    assert renew_lease(assignment=Assignment.objects.get(pk=first.pk), now=NOW + LEASE)
    assert seat(rater, now=NOW + LEASE) == first
    assert_sound(campaign)


def test_a_seat_is_not_taken_back_on_the_pair_of_the_one_ahead(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, pairs=2, annotators=1)
    first = seat(rater)
    give_back(membership=fresh(rater))
    second = seat(rater)
    following = ahead(rater)
    assert following is not None
    assert following.pair_id == first.pair_id
    submit(seat=second, answer=answer(), now=NOW)
    assert renew_lease(assignment=Assignment.objects.get(pk=first.pk), now=NOW) is False
    assert_sound(campaign)


def test_whoever_stops_gives_both_back(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    first, following = seat(rater), ahead(rater)
    give_back(membership=fresh(rater))
    assert following is not None
    assert {state_of(first), state_of(following)} == {"expired"}
    assert_sound(campaign)


def test_its_answer_may_come_before_the_one_of_the_seat_at_work(tmp_path: Path) -> None:
    """The first waits in a browser without a network."""
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    first, following = seat(rater), ahead(rater)
    assert following is not None
    assert submit(seat=following, answer=answer(), now=NOW) is Outcome.ACCEPTED
    assert seat(rater) == first
    assert submit(seat=first, answer=answer(), now=NOW) is Outcome.ACCEPTED
    assert_sound(campaign)


def test_missed_gold_gives_it_back(tmp_path: Path) -> None:
    """A pause comes with an answer, when the next pair is already held."""
    campaign, (rater,) = checked_campaign(
        tmp_path, gold=8, pairs=12, gold_percent=50, gold_minimum=1, gold_pass_percent=100
    )
    now = NOW
    while isinstance(held := claim_seat(membership=fresh(rater), now=now), Assignment):
        assert claim_ahead(membership=fresh(rater), now=now)
        now += timedelta(minutes=1)
        submit(seat=with_item(held), answer=answer("B", "B"), now=now)
    assert held == NothingLeft(NothingLeft.PAUSED)
    assert not Assignment.objects.filter(state="open").exists()
    assert_sound(campaign)


def test_checks_are_held_ahead_like_votes(tmp_path: Path) -> None:
    _, (rater,) = checked_campaign(
        tmp_path, gold=12, pairs=40, gold_percent=33, repeat_percent=33, gold_pass_percent=0
    )
    kinds = set()
    held = seat(rater)
    for _ in range(24):
        following = ahead(rater)
        assert following is not None
        kinds.add(following.purpose)
        submit(seat=with_item(held), answer=answer(), now=NOW)
        held = seat(rater)
        assert held == following
    assert kinds == {"vote", "gold", "repeat"}


def test_the_database_knows_one_of_each(tmp_path: Path) -> None:
    _, (rater,) = seated_campaign(tmp_path, annotators=1)
    seat(rater)
    following = ahead(rater)
    assert following is not None
    with pytest.raises(IntegrityError, match="assignment_one_open_a_rater"), transaction.atomic():
        Assignment.objects.filter(pk=following.pk).update(is_ahead=False)


@pytest.mark.django_db(transaction=True)
def test_many_raters_hold_pairs_ahead_until_all_is_judged(tmp_path: Path) -> None:
    pairs, places, people = 24, 3, 6
    campaign, raters = seated_campaign(
        tmp_path, pairs=pairs, annotators=people, raters_per_pair=places
    )

    def judge(number: int, rater: Membership) -> int:
        draw, held_ahead = random.Random(number), 0
        while True:
            claimed = claim_seat(membership=fresh(rater), now=timezone.now())
            if isinstance(claimed, NothingLeft):
                if claimed.reason == NothingLeft.ALL_TAKEN:
                    continue
                return held_ahead
            if draw.random() < 0.8:
                held_ahead += claim_ahead(membership=fresh(rater)) is not None
            if draw.random() < 0.1:
                give_back(membership=fresh(rater))
            submit(seat=claimed, answer=answer(draw.choice("AB"), draw.choice("AB")))

    held_ahead = together(*(partial(judge, *each) for each in enumerate(raters)))
    assert all(held_ahead)
    assert Judgement.objects.count() == pairs * places
    assert not Assignment.objects.filter(state="open").exists()
    assert_sound(campaign)


@pytest.mark.django_db(transaction=True)
def test_two_tabs_ask_and_answer_at_once(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, pairs=30, annotators=1)
    held = seat(rater)
    for _ in range(8):
        asked = together(*[partial(ahead, rater)] * 4, partial(seat, rater))
        assert len({found.pk for found in asked[:4]}) == 1
        together(
            partial(submit, seat=held, answer=answer(), now=NOW),
            *[partial(ahead, rater)] * 2,
            *[partial(claim_seat, membership=fresh(rater), now=NOW)] * 2,
            *[partial(renew_lease, assignment=asked[0], now=NOW)] * 2,
        )
        following = seat(rater)
        assert following.pk == asked[0].pk
        held = following
    assert_sound(campaign)
