"""Seats: claimed on a lease, renewed by activity, submitted once.

The pair's `PairSeats` row is the lock, and everything takes it before anything else of the pair, so
transactions on one pair take turns and never wait in a circle. "Exactly n" and "one a rater" are
constraints of the database; the locks only make sure that nobody is turned away for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import F, Max
from django.utils import timezone

from annotation.domain import blinding
from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, Membership, PairSeats
from benchmark.models import Criterion, Judgement, Tally, Vote


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
    held = Assignment.objects.filter(
        membership=membership, state=Assignment.State.OPEN, lease_expires_at__gt=now
    ).first()
    if held and _renew(held, now=now):
        return held
    free_lapsed_seats(campaign=campaign, now=now)
    with transaction.atomic():
        # Double clicks and two tabs take turns here, and the second finds the first one's seat.
        locked = (
            Membership.objects.select_for_update(no_key=True, of=("self",))
            .select_related("rater")
            .get(pk=membership.pk)
        )
        held = Assignment.objects.filter(membership=membership, state=Assignment.State.OPEN).first()
        if held and _renew(held, now=now):
            return held
        place = _lock_next_pair(locked)
        if place is None:
            return _why_nothing(locked)
        assert locked.rater is not None  # membership_rater_iff_annotator
        PairSeats.objects.filter(pk=place.pair).update(free=F("free") - 1)
        Membership.objects.filter(pk=locked.pk).update(cursor=place.position)
        return Assignment.objects.create(
            campaign=campaign,
            membership=membership,
            pair_id=place.pair,
            state=Assignment.State.OPEN,
            shown_left=blinding.shown_left(
                seed=campaign.pair_set.seed,
                pair_id=place.pair_id,
                rater=locked.rater.pseudonym,
            ),
            claimed_at=now,
            lease_expires_at=now + timedelta(seconds=campaign.lease_seconds),
        )


def renew_lease(*, assignment: Assignment, now: datetime | None = None) -> bool:
    """Hold the seat for another lease; False when it is not held any more."""
    now = now or timezone.now()
    return bool(_renew(assignment, now=now)) and assignment.campaign.is_open


def submit(*, seat: Assignment, answer: Answer, now: datetime | None = None) -> Outcome:
    """Store the answer as a judgement, once, with its votes and tallies in one transaction."""
    now = now or timezone.now()
    with transaction.atomic():
        PairSeats.objects.select_for_update(no_key=True).get(pk=seat.pair_id)
        seat.campaign.pair_set.lock_for_writing()
        campaign = Campaign.objects.get(pk=seat.campaign_id)
        assignment = _live_seat(seat)
        if assignment.state == Assignment.State.SUBMITTED:
            return Outcome.ALREADY_SUBMITTED
        if not campaign.is_open:
            return Outcome.CAMPAIGN_CLOSED
        outcome = Outcome.ACCEPTED
        if assignment.state == Assignment.State.EXPIRED:
            took_a_place = PairSeats.objects.filter(pk=seat.pair_id, free__gt=0).update(
                free=F("free") - 1
            )
            if not took_a_place:
                return Outcome.EXPIRED
            outcome = Outcome.KEPT_AFTER_EXPIRY
        assignment.judgement = _store(assignment, answer, now=now)
        assignment.state = Assignment.State.SUBMITTED
        assignment.save(update_fields=["judgement", "state"])
    return outcome


def free_lapsed_seats(*, campaign: Campaign, now: datetime | None = None) -> int:
    """Give back the places of seats whose lease has ended; how many."""
    now = now or timezone.now()
    lapsed = Assignment.objects.filter(campaign=campaign).lapsed(now=now)
    if not lapsed.exists():
        return 0
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


class _Place(NamedTuple):
    pair: int
    pair_id: str
    position: int


def _lock_next_pair(membership: Membership) -> _Place | None:
    """The next pair with a place that this rater has not judged, locked.

    Behind the rater's last pair first, then from the beginning. Pairs that others are claiming at
    this moment are passed over; only when there are no others does it wait for those.
    """
    for wait in (False, True):
        for after in (membership.cursor, -1):
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT seats.pair_id, pair.pair_id, seats.position"
                    " FROM annotation_pairseats seats"
                    " JOIN benchmark_pair pair ON pair.id = seats.pair_id"
                    " WHERE seats.campaign_id = %s AND seats.free > 0 AND seats.position > %s"
                    " AND NOT EXISTS (SELECT FROM benchmark_judgement judgement"
                    "   WHERE judgement.pair_id = seats.pair_id AND judgement.rater_id = %s)"
                    " ORDER BY seats.position LIMIT 1 FOR NO KEY UPDATE OF seats"
                    + ("" if wait else " SKIP LOCKED"),
                    [membership.campaign_id, after, membership.rater_id],
                )
                row = cursor.fetchone()
            if row:
                return _Place(*row)
    return None


def _why_nothing(membership: Membership) -> NothingLeft:
    campaign = membership.campaign
    not_judged = PairSeats.objects.filter(campaign=campaign).exclude(
        pair__judgements__rater=membership.rater_id
    )
    if not PairSeats.objects.filter(campaign=campaign).exists():
        return NothingLeft(NothingLeft.NO_PAIRS)
    if not not_judged.exists():
        return NothingLeft(NothingLeft.ALL_JUDGED)
    lease = (
        Assignment.objects.filter(pair__in=not_judged.values("pair"))
        .filter(state=Assignment.State.OPEN)
        .order_by("lease_expires_at", "id")
        .first()
    )
    if lease:
        return NothingLeft(NothingLeft.ALL_TAKEN, retry_at=lease.lease_expires_at)
    return NothingLeft(NothingLeft.ALL_FULL)


def _live_seat(seat: Assignment) -> Assignment:
    """The seat as it stands now; an expired one yields to the rater's newer seat on that pair."""
    current = (
        Assignment.objects.filter(
            pair=seat.pair_id,
            membership=seat.membership_id,
            state__in=[Assignment.State.OPEN, Assignment.State.SUBMITTED],
        )
        .select_for_update(of=("self",))
        .select_related("membership")
        .first()
    )
    return current or (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("membership")
        .get(pk=seat.pk)
    )


def _store(assignment: Assignment, answer: Answer, *, now: datetime) -> Judgement:
    """Judgement, votes and tallies; the caller holds the pair's lock."""
    assert assignment.membership.rater_id is not None  # membership_rater_iff_annotator
    used = Judgement.objects.current().filter(pair=assignment.pair_id)
    pair_set = assignment.campaign.pair_set
    judgement = Judgement.objects.create(
        pair_id=assignment.pair_id,
        rater_id=assignment.membership.rater_id,
        seat=(used.aggregate(last=Max("seat"))["last"] or 0) + 1,
        raters_per_pair=pair_set.raters_per_pair,
        shown_left=assignment.shown_left,
        opened_at=assignment.claimed_at,
        submitted_at=now,
        seconds=max(0.0, (now - assignment.claimed_at).total_seconds()),
        comment=answer.comment,
    )
    criteria = Criterion.objects.filter(pair_set=pair_set.pk).order_by("position")
    votes = Vote.objects.bulk_create(
        Vote(judgement=judgement, criterion=criterion, choice=answer.choices[criterion.key])
        for criterion in criteria
    )
    Tally.objects.count_votes(
        (assignment.pair_id, vote.criterion_id, vote.choice) for vote in votes
    )
    return judgement
