"""Seats under many clients at once, on real connections. Any error, a deadlock too, fails."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.answers import Outcome
from annotation.services.seats import NothingLeft, claim_seat, free_lapsed_seats
from benchmark.models import Judgement, Tally
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
from tests.annotation.threads import alone, together
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CLIENTS, PAIRS, PLACES = 40, 12, 9
STORED = (Outcome.ACCEPTED, Outcome.KEPT_AFTER_EXPIRY)


class Crowd:
    """Forty people in a hurry: double submits, abandoned seats, clocks that run ahead."""

    def __init__(self, echoes: ThreadPoolExecutor) -> None:
        self.echoes = echoes
        # Each number lies beyond every lease that was given before it.
        self.hours: Iterator[int] = count(1)
        self.start = timezone.now()

    def judge(self, number: int, membership: Membership) -> list[tuple[int, str, Outcome]]:
        """Judge until there is nothing left; the answers sent: pair, choices, what became of it."""
        draw = random.Random(number)
        sent: list[tuple[int, str, Outcome]] = []
        ahead = False
        while True:
            now = self.start + timedelta(hours=next(self.hours)) if ahead else timezone.now()
            claimed = claim_seat(membership=fresh(membership), now=now)
            if isinstance(claimed, NothingLeft):
                if claimed.reason != NothingLeft.ALL_TAKEN:
                    assert claimed.reason in (NothingLeft.ALL_JUDGED, NothingLeft.ALL_FULL)
                    return sent
                ahead = draw.random() < 0.2
                continue
            ahead = draw.random() < 0.1
            if draw.random() < 0.15:
                ahead = True
                continue  # the tab was closed, and opened again when the lease was over
            first, second = draw.choice("AB") * 2, draw.choice("AB") * 2
            send = partial(submit, seat=claimed, now=now)
            echo = None
            if draw.random() < 0.4:
                echo = self.echoes.submit(alone, partial(send, answer=answer(*second)))
            sent.append((claimed.pair_id, first, send(answer=answer(*first))))
            if echo:
                sent.append((claimed.pair_id, second, echo.result()))


def test_forty_clients_twelve_pairs_nine_places(tmp_path: Path) -> None:
    campaign, (absent, *raters) = seated_campaign(
        tmp_path, pairs=PAIRS, annotators=1 + CLIENTS, raters_per_pair=PLACES
    )
    # Tiny leases: whoever hesitates for a second may lose the seat.
    Campaign.objects.update(lease_seconds=1)
    # Somebody who never comes back: that place has to be swept for all to be judged.
    abandoned = seat(absent, now=timezone.now() - timedelta(hours=1))
    with ThreadPoolExecutor(8) as echoes:
        crowd = Crowd(echoes)
        sent = together(*(partial(crowd.judge, *each) for each in enumerate(raters)))

    assert Judgement.objects.count() == PAIRS * PLACES == 108
    per_pair = Counter(Judgement.objects.values_list("pair_id", flat=True))
    assert set(per_pair.values()) == {PLACES}
    assert_sound(campaign)
    totals = [tally.a + tally.b for tally in Tally.objects.all()]
    assert totals == [PLACES] * PAIRS * 2
    assert set(PairSeats.objects.values_list("free", flat=True)) == {0}

    # Every answer that was reported as stored is the one that stands, and there are no others.
    stored = {
        (judgement.pair_id, judgement.rater_id): "".join(sorted(votes_of(judgement).values()))
        for judgement in Judgement.objects.all()
    }
    reported = [
        ((pair, rater.rater_id), choices)
        for rater, answers in zip(raters, sent, strict=True)
        for pair, choices, outcome in answers
        if outcome in STORED
    ]
    assert sorted(reported) == sorted(stored.items())
    # It was a mixture: that far, the draws of the first round suffice.
    outcomes = Counter(outcome for answers in sent for _, _, outcome in answers)
    assert outcomes[Outcome.ALREADY_SUBMITTED]
    abandoned.refresh_from_db()
    assert abandoned.state == Assignment.State.EXPIRED
    assert not Judgement.objects.filter(rater=absent.rater_id).exists()


def test_one_person_in_eight_tabs(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    claims = together(*[partial(claim_seat, membership=fresh(rater), now=NOW)] * 8)
    assert len({claim.pk for claim in claims if isinstance(claim, Assignment)}) == 1
    held = seat(rater)
    outcomes = together(*[partial(submit, seat=held, answer=answer(), now=NOW)] * 8)
    assert Counter(outcomes) == {Outcome.ACCEPTED: 1, Outcome.ALREADY_SUBMITTED: 7}
    assert_sound(campaign)


def test_the_last_place_goes_to_one_of_many_late_answers(tmp_path: Path) -> None:
    campaign, raters = seated_campaign(tmp_path, pairs=1, annotators=8, raters_per_pair=1)
    late = []
    for number, rater in enumerate(raters):
        late.append(seat(rater, now=NOW + 2 * number * LEASE))
    after = NOW + 2 * len(raters) * LEASE
    assert free_lapsed_seats(campaign=campaign, now=after) == 1
    outcomes = together(*(partial(submit, seat=held, answer=answer(), now=after) for held in late))
    assert Counter(outcomes) == {Outcome.KEPT_AFTER_EXPIRY: 1, Outcome.EXPIRED: 7}
    assert_sound(campaign)


def waits_for(holder: int) -> bool:
    """Whether a connection waits for a lock that another one, by its process id, holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted"
            " AND %s = ANY (pg_blocking_pids(pid)))",
            [holder],
        )
        found: bool = cursor.fetchone()[0]
        return found


def process_id() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        number: int = cursor.fetchone()[0]
        return number


def test_a_claim_that_waits_for_the_same_raters_late_answer(tmp_path: Path) -> None:
    """The pair has a place when the search begins and is judged by this rater when it ends."""
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
    old = seat(rater)
    late = NOW + 2 * LEASE
    free_lapsed_seats(campaign=campaign, now=late)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            outcome = submit(seat=old, answer=answer(), now=late)
            other_tab = pool.submit(alone, partial(claim_seat, membership=fresh(rater), now=late))
            wait_until(partial(waits_for, process_id()), what="the other tab waits for the pair")
        assert other_tab.result() == NothingLeft(NothingLeft.ALL_JUDGED)
    assert outcome is Outcome.KEPT_AFTER_EXPIRY
    assert_sound(campaign)


def test_a_pair_that_somebody_works_on_is_passed_over(tmp_path: Path) -> None:
    campaign, (rater, other) = seated_campaign(tmp_path, pairs=2)
    first, second = PairSeats.objects.order_by("position")
    held = seat(rater)
    assert held.pair_id == first.pair_id
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        submit(seat=held, answer=answer(), now=NOW)
        claimed = pool.submit(alone, partial(claim_seat, membership=fresh(other), now=NOW)).result()
    assert isinstance(claimed, Assignment)
    assert claimed.pair_id == second.pair_id
    assert_sound(campaign)


def test_a_claim_waits_for_one_pair_and_holds_no_other(tmp_path: Path) -> None:
    """Rows that a claim locked and turned down stay free for others: no circle can form."""
    campaign, (rater, *others) = seated_campaign(tmp_path, pairs=2, annotators=3, raters_per_pair=1)
    first, second = PairSeats.objects.order_by("position")
    holder: list[int] = []
    let_go = Event()

    def hold_the_second() -> None:
        with transaction.atomic():
            PairSeats.objects.select_for_update().get(pk=second.pk)
            holder.append(process_id())
            let_go.wait()

    with ThreadPoolExecutor(2) as pool:
        try:
            held = pool.submit(alone, hold_the_second)
            wait_until(lambda: holder, what="the second pair is locked")
            with transaction.atomic():
                seat(others[0])
                claim = pool.submit(alone, partial(claim_seat, membership=fresh(rater), now=NOW))
                wait_until(partial(waits_for, process_id()), what="it waits for the first pair")
            wait_until(partial(waits_for, holder[0]), what="it waits for the second pair")
            with transaction.atomic():
                PairSeats.objects.select_for_update(nowait=True).get(pk=first.pk)
        finally:
            let_go.set()
        held.result()
        claimed = claim.result()
    assert isinstance(claimed, Assignment)
    assert claimed.pair_id == second.pair_id
    assert_sound(campaign)
