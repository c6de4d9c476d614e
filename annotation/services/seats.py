"""Seats: claimed on a lease, renewed by activity, given back.

A rater works at one seat, and may hold the next one as well (`claim_ahead`): it takes its place on
its own lease like any other, and becomes the one at work when the first is answered.

The pair's `PairSeats` row is the lock, and everything takes it before anything else of the pair, so
transactions on one pair take turns and never wait in a circle; a rater's own row is taken before
that. "Exactly n" and "one a rater" are constraints of the database; the locks only make sure that
nobody is turned away for nothing.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Count, F, Min, Q
from django.utils import timezone

from annotation.domain import blinding, mixing
from annotation.models import Assignment, Campaign, CrowdPlace, Membership, PairSeats
from annotation.services import checks


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
    # About the rater: see Membership.standing.
    PAUSED = "paused"
    NOT_QUALIFIED = "not_qualified"
    EXCLUDED = "excluded"
    LEFT = "left"
    TIMED_OUT = "timed_out"
    QUOTA_DONE = "quota_done"


def claim_seat(*, membership: Membership, now: datetime | None = None) -> Assignment | NothingLeft:
    """The rater's open seat, or a new one on the next pair that has a place, or a check.

    Asking again gives the same seat and renews its lease.
    """
    now = now or timezone.now()
    campaign = membership.campaign
    if not campaign.is_open:
        return NothingLeft(NothingLeft.NOT_OPEN)
    if (barred := barred_because(membership)) is not None:
        return barred
    # Also one whose lease has ended, if nobody has taken it back yet: the rater is still reading.
    if held := renewed_seat(membership, now=now):
        return held
    free_lapsed_seats(campaign=campaign, now=now)
    claimed = _claim(membership, now=now, wait=False)
    while claimed is None:
        claimed = _claim(membership, now=now, wait=True)
    return claimed


def claim_ahead(*, membership: Membership, now: datetime | None = None) -> Assignment | None:
    """The seat that comes after the rater's open one; asking again gives the same one.

    None where the rater has no open seat, and where there is no pair. Whoever finds no other place
    takes this one (`_held_ahead`): nobody goes without a pair for it.
    """
    now = now or timezone.now()
    if not membership.campaign.is_open:
        return None
    with transaction.atomic():
        member = lock_member(membership)
        if member.standing != Membership.Standing.ACTIVE:
            return None
        if not Assignment.objects.filter(
            membership=membership, state=Assignment.State.OPEN, is_ahead=False
        ).exists():
            return None
        if held := _renewed(membership, now=now, is_ahead=True):
            return held
        if check := _take_check(membership, member, now=now, is_ahead=True):
            return check
        place = _next_pair(membership, after=member.cursor, lock=True)
        return None if place is None else _take_place(membership, place, now=now, is_ahead=True)


def barred_because(membership: Membership) -> NothingLeft | None:
    """Why this rater gets nothing, whatever there is to judge; None for one in good standing."""
    reason = membership.standing_reason
    match membership.standing:
        case Membership.Standing.ACTIVE:
            return None
        case Membership.Standing.EXCLUDED:
            return NothingLeft(NothingLeft.EXCLUDED)
        case Membership.Standing.LEFT if reason == Membership.StandingReason.TIMED_OUT:
            return NothingLeft(NothingLeft.TIMED_OUT)
        case Membership.Standing.LEFT:
            return NothingLeft(NothingLeft.LEFT)
    if reason == Membership.StandingReason.QUALIFICATION:
        return NothingLeft(NothingLeft.NOT_QUALIFIED)
    return NothingLeft(NothingLeft.PAUSED)


def renew_lease(*, assignment: Assignment, now: datetime | None = None) -> bool:
    """Hold the seat, and the one ahead, for another lease; False when it is not held any more.

    A seat whose lease had ended is taken back if its place is free and the rater has no other.
    """
    now = now or timezone.now()
    if not assignment.campaign.is_open or not assignment.membership.is_active:
        return False
    place: CrowdPlace | None = getattr(assignment.membership, "crowd_place", None)
    if place is not None and place.is_over(now):
        return False
    lease = timedelta(seconds=assignment.campaign.lease_seconds)
    assignment.lease_expires_at = now + lease
    open_seats = Assignment.objects.filter(
        membership=assignment.membership_id, state=Assignment.State.OPEN
    )
    held = open_seats.filter(pk=assignment.pk).update(lease_expires_at=now + lease)
    is_held = bool(held) or _take_back(assignment, until=now + lease)
    if is_held:
        open_seats.filter(is_ahead=True).update(lease_expires_at=now + lease)
    return is_held


def give_back(*, membership: Membership) -> None:
    """Free the seats that the rater holds, if any: somebody else may take the places."""
    with transaction.atomic():
        lock_member(membership)
        # In one order, since the locks are kept: two who wait for each other's would never end.
        held = Assignment.objects.filter(membership=membership, state=Assignment.State.OPEN)
        for seat in held.order_by("pair_id"):
            lock_pair(seat.pair_id)
            ended = Assignment.objects.filter(pk=seat.pk, state=Assignment.State.OPEN).update(
                state=Assignment.State.EXPIRED
            )
            if ended and seat.purpose == Assignment.Purpose.VOTE:
                PairSeats.objects.filter(pk=seat.pair_id).update(free=F("free") + 1)


def free_lapsed_seats(*, campaign: Campaign, now: datetime | None = None) -> int:
    """Give back the places of seats whose lease has ended; how many."""
    now = now or timezone.now()
    with connection.cursor() as cursor:
        # Asked at every claim, so not by way of the ORM, which takes ten times as long.
        cursor.execute(
            "SELECT coalesce(bool_or(purpose = 'vote'), false),"
            " coalesce(bool_or(purpose <> 'vote'), false) FROM annotation_assignment"
            " WHERE campaign_id = %s AND state = 'open' AND lease_expires_at <= %s"
            " AND purpose IN ('vote', 'gold', 'repeat')",
            [campaign.pk, now],
        )
        has_votes, has_checks = cursor.fetchone()
    if has_checks:
        _end_lapsed_checks(campaign, now=now)
    if not has_votes:
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


def _end_lapsed_checks(campaign: Campaign, *, now: datetime) -> None:
    """They keep no place from anybody, but a rater who comes back would know them by their staying.

    Those of training and qualification are named as such, and wait.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotation_assignment SET state = 'expired' WHERE id IN ("
            " SELECT id FROM annotation_assignment WHERE campaign_id = %s AND state = 'open'"
            " AND lease_expires_at <= %s AND purpose IN ('gold', 'repeat')"
            " FOR UPDATE SKIP LOCKED)",
            [campaign.pk, now],
        )


def _take_back(seat: Assignment, *, until: datetime) -> bool:
    if not seat.is_main_round:
        return False
    with transaction.atomic():
        lock_member(seat.membership)
        lock_pair(seat.pair_id)
        lapsed = Assignment.objects.filter(pk=seat.pk, state=Assignment.State.EXPIRED)
        others = Assignment.objects.filter(membership=seat.membership_id).filter(
            Q(state=Assignment.State.OPEN, is_ahead=False)
            | Q(
                state__in=[Assignment.State.OPEN, Assignment.State.SUBMITTED],
                purpose=seat.purpose,
                pair=seat.pair_id,
            )
        )
        if others.exists() or not lapsed.exists():
            return False
        if seat.purpose == Assignment.Purpose.VOTE:
            has_place = PairSeats.objects.filter(pk=seat.pair_id, free__gt=0)
            if not has_place.update(free=F("free") - 1):
                return False
        lapsed.update(state=Assignment.State.OPEN, is_ahead=False, lease_expires_at=until)
    return True


def _claim(membership: Membership, *, now: datetime, wait: bool) -> Assignment | NothingLeft | None:
    """A seat in a transaction of its own, or None when another try is due.

    The first try passes over pairs that others work on at this moment; only when there are no
    others does the next one wait for those. It waits for one pair and holds no other: a search that
    locks as it goes keeps the rows that it then turns down, and two of those can wait in a circle.
    """
    with transaction.atomic():
        # Double clicks and two tabs take turns, and the second finds the first one's seat.
        member = lock_member(membership)
        if member.standing != membership.standing:
            membership.refresh_from_db(fields=["standing", "standing_reason"])
            return barred_because(membership)
        if held := _current_seat(membership, now=now):
            return held
        if check := _take_check(membership, member, now=now, is_ahead=False):
            return check
        place = _next_pair(membership, after=member.cursor, lock=not wait)
        if place is None and not wait:
            return None
        if place is None:
            place = _held_ahead(membership)
            if place is None:
                return _why_nothing(membership, now=now)
            lock_pair(place.pair)
            _give_up_ahead(place)
        elif wait:
            lock_pair(place.pair)
        return _take_place(membership, place, now=now, is_ahead=False)


def _take_check(
    membership: Membership, member: LockedMember, *, now: datetime, is_ahead: bool
) -> Assignment | None:
    """A gold or repeated pair if one is due in this slot, and there is one to give."""
    campaign = membership.campaign
    if not campaign.gold_percent and not campaign.repeat_percent:
        return None
    assert membership.rater is not None  # membership_rater_iff_annotator
    due = mixing.due(
        seed=campaign.pair_set.seed,
        rater=membership.rater.pseudonym,
        slot=member.slots,
        gold_percent=campaign.gold_percent,
        repeat_percent=campaign.repeat_percent,
    )
    # Where no pair could come, whatever came would be known as a check.
    if due == "vote" or _next_pair(membership, after=member.cursor, lock=False) is None:
        return None
    seat = checks.take_check_seat(membership=membership, purpose=due, now=now, is_ahead=is_ahead)
    if seat is not None:
        Membership.objects.filter(pk=membership.pk).update(slots=F("slots") + 1)
    return seat


class _Place(NamedTuple):
    pair: int
    pair_id: str


def _next_pair(membership: Membership, *, after: int, lock: bool) -> _Place | None:
    """The next pair with a place that this rater neither has judged nor holds.

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
                " AND NOT EXISTS (SELECT FROM annotation_assignment held"
                "   WHERE held.pair_id = seats.pair_id AND held.membership_id = %s"
                "     AND held.state = 'open')"
                " ORDER BY seats.position LIMIT 1"
                + (" FOR NO KEY UPDATE OF seats SKIP LOCKED" if lock else ""),
                [membership.campaign_id, start, membership.rater_id, membership.pk],
            )
            row = cursor.fetchone()
        if row:
            return _Place(*row)
    return None


def _held_ahead(membership: Membership) -> _Place | None:
    """A pair for this rater of which somebody holds a place ahead, and is at work on another."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pair.id, pair.pair_id FROM annotation_assignment ahead"
            " JOIN benchmark_pair pair ON pair.id = ahead.pair_id"
            " WHERE ahead.campaign_id = %s AND ahead.state = 'open' AND ahead.is_ahead"
            " AND ahead.purpose = 'vote' AND ahead.membership_id <> %s"
            " AND NOT EXISTS (SELECT FROM benchmark_judgement judgement"
            "   WHERE judgement.pair_id = ahead.pair_id AND judgement.rater_id = %s)"
            # The one that will be needed last.
            " ORDER BY ahead.claimed_at DESC LIMIT 1",
            [membership.campaign_id, membership.pk, membership.rater_id],
        )
        row = cursor.fetchone()
    return _Place(*row) if row else None


def _give_up_ahead(place: _Place) -> None:
    """Where a pair, whose lock is held, has no place left: one that is held ahead becomes free."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH given_up AS (
                UPDATE annotation_assignment SET state = 'expired'
                WHERE state = 'open' AND is_ahead AND id = (
                    SELECT ahead.id FROM annotation_assignment ahead
                    JOIN annotation_pairseats seats ON seats.pair_id = ahead.pair_id
                    WHERE ahead.pair_id = %(pair)s AND seats.free = 0 AND ahead.purpose = 'vote'
                      AND ahead.state = 'open' AND ahead.is_ahead
                    ORDER BY ahead.claimed_at DESC LIMIT 1)
                RETURNING pair_id
            )
            UPDATE annotation_pairseats seats SET free = free + 1
            FROM given_up WHERE seats.pair_id = given_up.pair_id
            """,
            {"pair": place.pair},
        )


def _take_place(
    membership: Membership, place: _Place, *, now: datetime, is_ahead: bool
) -> Assignment | None:
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
            UPDATE annotation_membership SET cursor = taken.position, slots = slots + 1
            FROM taken WHERE id = %(membership)s
        )
        INSERT INTO annotation_assignment (id, campaign_id, membership_id, pair_id, purpose,
            attempt, state, shown_left, claimed_at, lease_expires_at, is_ahead)
        SELECT %(id)s, campaign_id, %(membership)s, pair_id, 'vote', 0, 'open', %(shown_left)s,
            %(now)s, %(until)s, %(is_ahead)s
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
            "is_ahead": is_ahead,
        },
    )


# By name: a migration that adds a column must not upset statements that are prepared already.
_COLUMNS = (
    "id, campaign_id, membership_id, pair_id, purpose, check_item_id, repeats_id, attempt, state,"
    " shown_left, claimed_at, lease_expires_at, is_ahead, submitted_at, judgement_id"
)


def renewed_seat(membership: Membership, *, now: datetime) -> Assignment | None:
    """The open seat at which the rater works, for another lease."""
    return _renewed(membership, now=now, is_ahead=False)


def _current_seat(membership: Membership, *, now: datetime) -> Assignment | None:
    """That one, or the one ahead becomes it. The caller holds the lock of the rater's row."""
    return renewed_seat(membership, now=now) or _seat(
        "UPDATE annotation_assignment SET lease_expires_at = %(until)s, is_ahead = false"
        f" WHERE membership_id = %(membership)s AND state = 'open' RETURNING {_COLUMNS}",
        membership,
        _until(membership, now=now),
    )


def _renewed(membership: Membership, *, now: datetime, is_ahead: bool) -> Assignment | None:
    return _seat(
        "UPDATE annotation_assignment SET lease_expires_at = %(until)s"
        " WHERE membership_id = %(membership)s AND state = 'open' AND is_ahead = %(is_ahead)s"
        f" RETURNING {_COLUMNS}",
        membership,
        _until(membership, now=now) | {"is_ahead": is_ahead},
    )


def _until(membership: Membership, *, now: datetime) -> dict[str, object]:
    lease = timedelta(seconds=membership.campaign.lease_seconds)
    return {"membership": membership.pk, "until": now + lease}


def _seat(sql: str, membership: Membership, parameters: dict[str, object]) -> Assignment | None:
    """The seat that a statement returns, with the membership and the campaign that are at hand."""
    seat = next(iter(Assignment.objects.raw(sql, parameters)), None)
    if seat is not None:
        seat.membership = membership
        seat.campaign = membership.campaign
    return seat


def lock_pair(pair: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM annotation_pairseats WHERE pair_id = %s FOR NO KEY UPDATE", [pair]
        )


class LockedMember(NamedTuple):
    """The rater's row, read under its lock."""

    cursor: int  # position of the pair that was claimed last
    slots: int  # pairs given so far, checks among them
    standing: str


def lock_member(membership: Membership) -> LockedMember:
    """Double clicks, two tabs and the lead take turns."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT cursor, slots, standing FROM annotation_membership WHERE id = %s"
            " FOR NO KEY UPDATE",
            [membership.pk],
        )
        return LockedMember(*cursor.fetchone())


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
    is_leased = Q(
        pair__assignments__state=Assignment.State.OPEN,
        pair__assignments__purpose=Assignment.Purpose.VOTE,
    )
    left = not_judged.filter(is_leased | Q(free__gt=0)).aggregate(
        rows=Count("pk"), retry_at=Min("pair__assignments__lease_expires_at", filter=is_leased)
    )
    if left["rows"]:
        return NothingLeft(NothingLeft.ALL_TAKEN, retry_at=left["retry_at"] or now)
    return NothingLeft(NothingLeft.ALL_FULL)
