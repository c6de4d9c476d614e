"""Seats: claimed on a lease, renewed by activity, submitted once.

The pair's `PairSeats` row is the lock, and everything takes it before anything else of the pair, so
transactions on one pair take turns and never wait in a circle. "Exactly n" and "one a rater" are
constraints of the database; the locks only make sure that nobody is turned away for nothing.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, F, Min, Q
from django.utils import timezone

from annotation.domain import blinding
from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, Membership, PairSeats
from benchmark.models import PairSet, Tally


class Outcome(Enum):
    """What became of a submitted answer."""

    ACCEPTED = "accepted"
    # A retry or a second tab: the first answer stands.
    ALREADY_SUBMITTED = "already_submitted"
    # The lease had ended, but a seat was still free: the answer counts.
    KEPT_AFTER_EXPIRY = "kept_after_expiry"
    # The lease had ended and others have filled the pair: the answer is not needed.
    EXPIRED = "expired"
    CAMPAIGN_CLOSED = "campaign_closed"

    @property
    def is_stored(self) -> bool:
        return self in (
            Outcome.ACCEPTED,
            Outcome.ALREADY_SUBMITTED,
            Outcome.KEPT_AFTER_EXPIRY,
        )


@dataclass(frozen=True, slots=True)
class NothingLeft:
    """Why a rater gets no pair now."""

    reason: str  # one of the codes below
    # When the next lease of another rater ends, for ALL_TAKEN.
    retry_at: datetime | None = None

    NOT_OPEN = "not_open"
    NO_PAIRS = "no_pairs"
    ALL_JUDGED = "all_judged"
    ALL_TAKEN = "all_taken"
    ALL_FULL = "all_full"


def claim_seat(*, membership: Membership, now: datetime | None = None) -> Assignment | NothingLeft:
    """The rater's open seat, or a new one on the next pair that has a place.

    Asking again gives the same seat and renews its lease.
    """
    now = now or timezone.now()
    campaign = membership.campaign
    if not campaign.is_open:
        return NothingLeft(NothingLeft.NOT_OPEN)
    # Also one whose lease has ended, if nobody has taken it back yet: the rater is still reading.
    if held := _renewed_seat(membership, now=now):
        return held
    free_lapsed_seats(campaign=campaign, now=now)
    claimed = _claim(membership, now=now, wait=False)
    while claimed is None:
        claimed = _claim(membership, now=now, wait=True)
    return claimed


def renew_lease(*, assignment: Assignment, now: datetime | None = None) -> bool:
    """Hold the seat for another lease; False when it is not held any more."""
    now = now or timezone.now()
    return bool(_renew(assignment, now=now)) and assignment.campaign.is_open


def submit(*, seat: Assignment, answer: Answer, now: datetime | None = None) -> Outcome:
    """Store the answer as a judgement, once, with its votes and tallies in one transaction."""
    now = now or timezone.now()
    with transaction.atomic():
        _lock_pair(seat.pair_id)
        seat.campaign.pair_set.lock_for_writing()
        assignment = _live_seat(seat)
        if assignment.state == Assignment.State.SUBMITTED:
            return Outcome.ALREADY_SUBMITTED
        if assignment.campaign_state != Campaign.State.OPEN:
            return Outcome.CAMPAIGN_CLOSED
        outcome = Outcome.ACCEPTED
        if assignment.state == Assignment.State.EXPIRED:
            took_a_place = PairSeats.objects.filter(pk=seat.pair_id, free__gt=0).update(
                free=F("free") - 1
            )
            if not took_a_place:
                return Outcome.EXPIRED
            outcome = Outcome.KEPT_AFTER_EXPIRY
        _store(assignment, answer, pair_set=seat.campaign.pair_set, now=now)
    return outcome


def free_lapsed_seats(*, campaign: Campaign, now: datetime | None = None) -> int:
    """Give back the places of seats whose lease has ended; how many."""
    now = now or timezone.now()
    with connection.cursor() as cursor:
        # Asked at every claim, so not by way of the ORM, which takes ten times as long.
        cursor.execute(
            "SELECT EXISTS (SELECT FROM annotation_assignment WHERE campaign_id = %s"
            " AND state = 'open' AND lease_expires_at <= %s)",
            [campaign.pk, now],
        )
        if cursor.fetchone() == (False,):
            return 0
    lapsed = Assignment.objects.filter(campaign=campaign).lapsed(now=now)
    freed = 0
    with transaction.atomic():
        # A pair that is locked is being worked on; the next claim sweeps it.
        locked = list(
            PairSeats.objects.filter(pair__in=lapsed.values("pair"))
            .select_for_update(no_key=True, skip_locked=True)
            .order_by("pair_id")
        )
        for seats in locked:
            ended = lapsed.filter(pair=seats.pair_id).update(state=Assignment.State.EXPIRED)
            seats.free = F("free") + ended
            seats.save(update_fields=["free"])
            freed += ended
    return freed


def _renew(assignment: Assignment, *, now: datetime) -> int:
    """Move the end of an open lease; nothing if the seat was submitted or freed meanwhile."""
    lease = timedelta(seconds=assignment.campaign.lease_seconds)
    assignment.lease_expires_at = now + lease
    return Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.OPEN).update(
        lease_expires_at=assignment.lease_expires_at
    )


def _claim(membership: Membership, *, now: datetime, wait: bool) -> Assignment | NothingLeft | None:
    """A seat in a transaction of its own, or None when another try is due.

    The first try passes over pairs that others work on at this moment; only when there are no
    others does the next one wait for those. It waits for one pair and holds no other: a search that
    locks as it goes keeps the rows that it then turns down, and two of those can wait in a circle.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Double clicks and two tabs take turns, and the second finds the first one's seat.
            cursor.execute(
                "SELECT cursor FROM annotation_membership WHERE id = %s FOR NO KEY UPDATE",
                [membership.pk],
            )
            (after,) = cursor.fetchone()
        if held := _renewed_seat(membership, now=now):
            return held
        place = _next_pair(membership, after=after, lock=not wait)
        if place is None:
            return _why_nothing(membership, now=now) if wait else None
        if wait:
            _lock_pair(place.pair)
        return _take_place(membership, place, now=now)


class _Place(NamedTuple):
    pair: int
    pair_id: str


def _next_pair(membership: Membership, *, after: int, lock: bool) -> _Place | None:
    """The next pair with a place that this rater has not judged.

    Behind the rater's last one, at position ``after``, first, then from the beginning. With
    ``lock``, one that nobody else has locked, and locked.
    """
    for start in (after, -1):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT seats.pair_id, pair.pair_id"
                " FROM annotation_pairseats seats"
                " JOIN benchmark_pair pair ON pair.id = seats.pair_id"
                " WHERE seats.campaign_id = %s AND seats.free > 0 AND seats.position > %s"
                " AND NOT EXISTS (SELECT FROM benchmark_judgement judgement"
                "   WHERE judgement.pair_id = seats.pair_id AND judgement.rater_id = %s)"
                " ORDER BY seats.position LIMIT 1"
                + (" FOR NO KEY UPDATE OF seats SKIP LOCKED" if lock else ""),
                [membership.campaign_id, start, membership.rater_id],
            )
            row = cursor.fetchone()
        if row:
            return _Place(*row)
    return None


def _take_place(membership: Membership, place: _Place, *, now: datetime) -> Assignment | None:
    """A seat on the pair, whose lock is held; None when the search for it was overtaken."""
    assert membership.rater is not None  # membership_rater_iff_annotator
    campaign = membership.campaign
    return _seat(
        """
        WITH taken AS (
            -- Once more with the lock held: the search saw the rows as they were when it began.
            UPDATE annotation_pairseats SET free = free - 1
            WHERE pair_id = %(pair)s AND free > 0
              AND NOT EXISTS (SELECT FROM benchmark_judgement
                              WHERE pair_id = %(pair)s AND rater_id = %(rater)s)
            RETURNING pair_id, campaign_id, position
        ), moved AS (
            UPDATE annotation_membership SET cursor = taken.position
            FROM taken WHERE id = %(membership)s
        )
        INSERT INTO annotation_assignment (id, campaign_id, membership_id, pair_id, state,
            shown_left, claimed_at, lease_expires_at)
        SELECT %(id)s, campaign_id, %(membership)s, pair_id, 'open', %(shown_left)s, %(now)s,
            %(until)s
        FROM taken RETURNING
        """
        + _COLUMNS,
        membership,
        {
            "pair": place.pair,
            "rater": membership.rater_id,
            "membership": membership.pk,
            "id": uuid.uuid4(),
            "shown_left": blinding.shown_left(
                seed=campaign.pair_set.seed,
                pair_id=place.pair_id,
                rater=membership.rater.pseudonym,
            ),
            "now": now,
            "until": now + timedelta(seconds=campaign.lease_seconds),
        },
    )


# By name: a migration that adds a column must not upset statements that are prepared already.
_COLUMNS = (
    "id, campaign_id, membership_id, pair_id, state, shown_left, claimed_at, lease_expires_at,"
    " judgement_id"
)


def _renewed_seat(membership: Membership, *, now: datetime) -> Assignment | None:
    """The rater's open seat for another lease."""
    return _seat(
        "UPDATE annotation_assignment SET lease_expires_at = %(until)s"
        f" WHERE membership_id = %(membership)s AND state = 'open' RETURNING {_COLUMNS}",
        membership,
        {
            "membership": membership.pk,
            "until": now + timedelta(seconds=membership.campaign.lease_seconds),
        },
    )


def _seat(sql: str, membership: Membership, parameters: dict[str, object]) -> Assignment | None:
    """The seat that a statement returns, with the membership and the campaign that are at hand."""
    seat = next(iter(Assignment.objects.raw(sql, parameters)), None)
    if seat is not None:
        seat.membership = membership
        seat.campaign = membership.campaign
    return seat


def _lock_pair(pair: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM annotation_pairseats WHERE pair_id = %s FOR NO KEY UPDATE", [pair]
        )


def _why_nothing(membership: Membership, *, now: datetime) -> NothingLeft:
    campaign = membership.campaign
    not_judged = PairSeats.objects.filter(campaign=campaign).exclude(
        pair__judgements__rater=membership.rater_id
    )
    if not PairSeats.objects.filter(campaign=campaign).exists():
        return NothingLeft(NothingLeft.NO_PAIRS)
    if not not_judged.exists():
        return NothingLeft(NothingLeft.ALL_JUDGED)
    # In one statement: a lease that ends between two of them would look like a full pair.
    is_leased = Q(pair__assignments__state=Assignment.State.OPEN)
    left = not_judged.filter(is_leased | Q(free__gt=0)).aggregate(
        rows=Count("pk"), retry_at=Min("pair__assignments__lease_expires_at", filter=is_leased)
    )
    if left["rows"]:
        return NothingLeft(NothingLeft.ALL_TAKEN, retry_at=left["retry_at"] or now)
    return NothingLeft(NothingLeft.ALL_FULL)


class _LiveSeat(NamedTuple):
    id: UUID
    pair: int
    rater: int
    state: str
    shown_left: str
    claimed_at: datetime
    campaign_state: str


def _live_seat(seat: Assignment) -> _LiveSeat:
    """The seat as it stands now; an expired one yields to the rater's newer seat on that pair."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT seat.id, seat.pair_id, membership.rater_id, seat.state, seat.shown_left,
                seat.claimed_at, campaign.state
            FROM annotation_assignment seat
            JOIN annotation_membership membership ON membership.id = seat.membership_id
            JOIN annotation_campaign campaign ON campaign.pair_set_id = seat.campaign_id
            WHERE seat.id = %s OR (seat.pair_id = %s AND seat.membership_id = %s
                                   AND seat.state IN ('open', 'submitted'))
            ORDER BY seat.state = 'expired' LIMIT 1 FOR UPDATE OF seat
            """,
            [seat.pk, seat.pair_id, seat.membership_id],
        )
        return _LiveSeat(*cursor.fetchone())


def _store(seat: _LiveSeat, answer: Answer, *, pair_set: PairSet, now: datetime) -> None:
    """Judgement, votes and tallies, and the seat is submitted; the caller holds the pair's lock."""
    keys = list(answer.choices)
    with connection.cursor() as cursor:
        # A criterion without an answer would be a vote without a choice, which is refused.
        cursor.execute(
            """
            WITH judgement AS (
                INSERT INTO benchmark_judgement (pair_id, rater_id, seat, raters_per_pair, revision,
                    shown_left, opened_at, submitted_at, seconds, comment, created_at)
                SELECT %(pair)s, %(rater)s, coalesce(max(seat), 0) + 1, %(raters_per_pair)s, 1,
                    %(shown_left)s, %(opened_at)s, %(now)s, %(seconds)s, %(comment)s, now()
                FROM benchmark_judgement WHERE pair_id = %(pair)s AND superseded_by_id IS NULL
                RETURNING id
            ), submitted AS (
                UPDATE annotation_assignment SET state = 'submitted', judgement_id = judgement.id
                FROM judgement WHERE annotation_assignment.id = %(seat)s
            )
            INSERT INTO benchmark_vote (judgement_id, criterion_id, choice, reason)
            SELECT judgement.id, criterion.id, answer.choice, ''
            FROM judgement CROSS JOIN benchmark_criterion criterion
            LEFT JOIN unnest(%(keys)s::text[], %(choices)s::text[]) answer (key, choice)
                ON answer.key = criterion.key
            WHERE criterion.pair_set_id = %(pair_set)s ORDER BY criterion.position
            RETURNING criterion_id, choice
            """,
            {
                "pair": seat.pair,
                "rater": seat.rater,
                "raters_per_pair": pair_set.raters_per_pair,
                "shown_left": seat.shown_left,
                "opened_at": seat.claimed_at,
                "now": now,
                "seconds": max(0.0, (now - seat.claimed_at).total_seconds()),
                "comment": answer.comment,
                "seat": seat.id,
                "keys": keys,
                "choices": [answer.choices[key] for key in keys],
                "pair_set": pair_set.pk,
            },
        )
        votes = cursor.fetchall()
    Tally.objects.count_votes((seat.pair, criterion, choice) for criterion, choice in votes)
