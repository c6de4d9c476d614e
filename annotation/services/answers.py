"""Answers: stored once, and corrected by new revisions.

Who changes a pair holds its lock (see `seats`). The answer of a check seat goes to `checks`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation.domain.rubric import SKIP, Answer
from annotation.domain.timing import Timing, total
from annotation.models import (
    Assignment,
    Campaign,
    CheckAnswer,
    CrowdPlace,
    Event,
    Membership,
    PairSeats,
)
from annotation.selectors.campaigns import main_round_done
from annotation.services import checks, crowd
from annotation.services.seats import give_back, lock_member, lock_pair
from benchmark.models import Judgement, PairSet, Tally, Vote

# For an answer that is on its way when a crowd participant's time ends.
GRACE = timedelta(minutes=2)


class Outcome(Enum):
    """What became of an answer that was sent."""

    ACCEPTED = "accepted"
    # A retry or a second tab: the first answer stands.
    ALREADY_SUBMITTED = "already_submitted"
    # The lease had ended, but a seat was still free: the answer counts.
    KEPT_AFTER_EXPIRY = "kept_after_expiry"
    REVISED = "revised"
    # The lease had ended and others have filled the pair: the answer is not needed.
    EXPIRED = "expired"
    CAMPAIGN_CLOSED = "campaign_closed"
    # The rater is paused, excluded or has left.
    NOT_ACTIVE = "not_active"
    # A correction of an answer that has been corrected in the meantime.
    CHANGED_ELSEWHERE = "changed_elsewhere"

    @property
    def is_stored(self) -> bool:
        return self in (
            Outcome.ACCEPTED,
            Outcome.ALREADY_SUBMITTED,
            Outcome.KEPT_AFTER_EXPIRY,
            Outcome.REVISED,
        )


def submit(
    *, seat: Assignment, answer: Answer, timing: Timing, now: datetime | None = None
) -> Outcome:
    """Store the answer, once: a judgement with its votes and tallies in one transaction."""
    now = now or timezone.now()
    is_vote = seat.purpose == Assignment.Purpose.VOTE
    outcome = (_submit_vote if is_vote else _submit_check)(seat, answer, timing, now=now)
    membership = seat.membership
    if outcome is Outcome.NOT_ACTIVE:
        crowd.settle(membership=membership, done=main_round_done(membership), now=now)
    is_first = outcome in (Outcome.ACCEPTED, Outcome.KEPT_AFTER_EXPIRY)
    if is_first and seat.is_main_round and seat.campaign.gold_percent:
        # The answer is stored, whatever happens here, and the lock of its pair is not held.
        with transaction.atomic():
            lock_member(membership)
            if checks.judge_gold(membership=membership, now=now):
                give_back(membership=membership)
    return outcome


def _submit_vote(seat: Assignment, answer: Answer, timing: Timing, *, now: datetime) -> Outcome:
    with transaction.atomic():
        lock_pair(seat.pair_id)
        seat.campaign.pair_set.lock_for_writing()
        live = _live_seat(seat)
        if live.state == Assignment.State.SUBMITTED:
            return Outcome.ALREADY_SUBMITTED
        if (refused := _refused(live, now=now)) is not None:
            return refused
        if live.state == Assignment.State.EXPIRED:
            took_a_place = PairSeats.objects.filter(pk=seat.pair_id, free__gt=0).update(
                free=F("free") - 1
            )
            if not took_a_place:
                return Outcome.EXPIRED
        _store(live, answer, timing, pair_set=seat.campaign.pair_set)
    return _accepted(live, now=now)


def revise(*, seat: Assignment, answer: Answer, timing: Timing, revision: int) -> Outcome:
    """Correct the answer whose number is ``revision``; the former one stays as it was.

    Sending the same correction again is no second one.
    """
    is_vote = seat.purpose == Assignment.Purpose.VOTE
    with transaction.atomic():
        lock_member(seat.membership)
        if is_vote:
            lock_pair(seat.pair_id)
            seat.campaign.pair_set.lock_for_writing()
        live = _live_seat(seat)
        if live.id != seat.pk or live.state != Assignment.State.SUBMITTED:
            return Outcome.EXPIRED
        if (refused := _refused(live)) is not None:
            return refused
        if not is_vote:
            return _revise_check(seat, answer, timing, revision=revision)
        # Newly read: another tab may have corrected it before the lock was ours.
        current = Judgement.objects.get(assignment=seat.pk)
        if _answer_of(current) == answer:
            return Outcome.REVISED
        if current.revision != revision:
            return Outcome.CHANGED_ELSEWHERE
        _supersede(current, seat, answer, timing)
        Event.objects.create(
            campaign=seat.campaign,
            actor=seat.membership.user,
            action="judgement:revised",
            data={"seat": str(seat.pk), "revision": revision + 1},
        )
    return Outcome.REVISED


def stands(seat: Assignment, answer: Answer) -> bool:
    """Whether this is the newest answer on the seat: then sending it again was a mere retry."""
    stored = stored_answer(seat)
    return stored is not None and stored[0] == answer


def stored_answer(seat: Assignment) -> tuple[Answer, int] | None:
    """The newest answer on a submitted seat and the number of its revision."""
    if seat.purpose == Assignment.Purpose.VOTE:
        judgement = Judgement.objects.filter(assignment=seat.pk).first()
        return (_answer_of(judgement), judgement.revision) if judgement else None
    check = checks.current_answer(seat)
    return (_answer_of_check(check), check.revision) if check else None


def _submit_check(seat: Assignment, answer: Answer, timing: Timing, *, now: datetime) -> Outcome:
    with transaction.atomic():
        lock_member(seat.membership)
        live = _live_seat(seat)
        if live.state == Assignment.State.SUBMITTED:
            return Outcome.ALREADY_SUBMITTED
        if (refused := _refused(live, now=now)) is not None:
            return refused
        # In the main round it is kept, like that of a vote: no others can have taken the place.
        if live.state == Assignment.State.EXPIRED and not seat.is_main_round:
            return Outcome.EXPIRED
        if live.id != seat.pk:
            seat = Assignment.objects.select_related("check_item", "membership__campaign").get(
                pk=live.id
            )
        checks.store(seat=seat, answer=answer, timing=timing, revision=0)
    return _accepted(live, now=now)


def _revise_check(seat: Assignment, answer: Answer, timing: Timing, *, revision: int) -> Outcome:
    """Also of gold, so that history tells nothing; training and qualification are final."""
    if not seat.is_main_round:
        return Outcome.ALREADY_SUBMITTED
    current = checks.current_answer(seat)
    assert current is not None  # the seat is submitted
    if _answer_of_check(current) == answer:
        return Outcome.REVISED
    if current.revision != revision:
        return Outcome.CHANGED_ELSEWHERE
    checks.store(seat=seat, answer=answer, timing=timing, revision=revision)
    return Outcome.REVISED


class _LiveSeat(NamedTuple):
    id: UUID
    pair: int
    rater: int
    state: str
    shown_left: str
    lease_expires_at: datetime
    campaign_state: str
    standing: str
    # Of a crowd participant who is at work.
    ends_at: datetime | None


def _live_seat(seat: Assignment) -> _LiveSeat:
    """The seat as it stands now; an expired one yields to the rater's newer seat on that pair.

    Not in training and qualification, where the pair comes again in another try.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT seat.id, seat.pair_id, membership.rater_id, seat.state, seat.shown_left,
                seat.lease_expires_at, campaign.state, membership.standing, place.ends_at
            FROM annotation_assignment seat
            JOIN annotation_membership membership ON membership.id = seat.membership_id
            JOIN annotation_campaign campaign ON campaign.pair_set_id = seat.campaign_id
            LEFT JOIN annotation_crowdplace place
                ON place.membership_id = membership.id AND place.state = %s
            WHERE seat.id = %s OR (seat.pair_id = %s AND seat.membership_id = %s
                                   AND seat.purpose = %s AND %s
                                   AND seat.state IN ('open', 'submitted'))
            ORDER BY seat.state = 'expired' LIMIT 1 FOR UPDATE OF seat
            """,
            [
                CrowdPlace.State.STARTED,
                seat.pk,
                seat.pair_id,
                seat.membership_id,
                seat.purpose,
                seat.is_main_round,
            ],
        )
        return _LiveSeat(*cursor.fetchone())


def _refused(live: _LiveSeat, *, now: datetime | None = None) -> Outcome | None:
    """Why nothing is stored; ``now`` for first answers, which must come in time."""
    if live.campaign_state != Campaign.State.OPEN:
        return Outcome.CAMPAIGN_CLOSED
    if live.standing != Membership.Standing.ACTIVE:
        return Outcome.NOT_ACTIVE
    if now is not None and live.ends_at is not None and now > live.ends_at + GRACE:
        return Outcome.NOT_ACTIVE
    return None


def _accepted(live: _LiveSeat, *, now: datetime) -> Outcome:
    # By the clock and not by the state, which a sweep may or may not have changed.
    return Outcome.ACCEPTED if live.lease_expires_at > now else Outcome.KEPT_AFTER_EXPIRY


def _store(live: _LiveSeat, answer: Answer, timing: Timing, *, pair_set: PairSet) -> None:
    """Judgement, votes and tallies, and the seat is submitted; the caller holds the pair's lock."""
    keys = list(answer.choices)
    with connection.cursor() as cursor:
        # A criterion without an answer would be a vote without a choice, which is refused.
        cursor.execute(
            """
            WITH judgement AS (
                INSERT INTO benchmark_judgement (pair_id, rater_id, seat, raters_per_pair, revision,
                    shown_left, opened_at, first_action_at, submitted_at, seconds, active_seconds,
                    comment, confidence, reasons, created_at)
                SELECT %(pair)s, %(rater)s, coalesce(max(seat), 0) + 1, %(raters_per_pair)s, 1,
                    %(shown_left)s, %(opened_at)s, %(first_action_at)s, %(submitted_at)s,
                    %(seconds)s, %(active_seconds)s, %(comment)s, %(confidence)s,
                    %(reasons)s::varchar[], now()
                FROM benchmark_judgement WHERE pair_id = %(pair)s AND superseded_by_id IS NULL
                RETURNING id
            ), submitted AS (
                UPDATE annotation_assignment SET state = 'submitted', judgement_id = judgement.id,
                    submitted_at = %(submitted_at)s
                FROM judgement WHERE annotation_assignment.id = %(seat)s
            )
            INSERT INTO benchmark_vote (judgement_id, criterion_id, choice, reason)
            SELECT judgement.id, criterion.id, answer.choice, %(skip_reason)s
            FROM judgement CROSS JOIN benchmark_criterion criterion
            LEFT JOIN unnest(%(keys)s::text[], %(choices)s::text[]) answer (key, choice)
                ON answer.key = criterion.key
            WHERE criterion.pair_set_id = %(pair_set)s ORDER BY criterion.position
            RETURNING criterion_id, choice
            """,
            {
                "pair": live.pair,
                "rater": live.rater,
                "raters_per_pair": pair_set.raters_per_pair,
                "shown_left": live.shown_left,
                "opened_at": timing.opened_at,
                "first_action_at": timing.first_action_at,
                "submitted_at": timing.submitted_at,
                "seconds": timing.seconds,
                "active_seconds": timing.active_seconds,
                "comment": answer.comment,
                "confidence": answer.confidence,
                "reasons": list(answer.reasons),
                "skip_reason": answer.skip_reason,
                "seat": live.id,
                "keys": keys,
                "choices": [answer.choices[key] for key in keys],
                "pair_set": pair_set.pk,
            },
        )
        votes = cursor.fetchall()
    Tally.objects.count_votes((live.pair, criterion, choice) for criterion, choice in votes)


def _supersede(current: Judgement, seat: Assignment, answer: Answer, timing: Timing) -> None:
    """A new judgement in the place of ``current``; the caller holds the pair's lock."""
    with connection.cursor() as cursor:
        # The old one must yield before the new one comes: only one may be the current one.
        cursor.execute("SELECT nextval(pg_get_serial_sequence('benchmark_judgement', 'id'))")
        (new_id,) = cursor.fetchone()
    Judgement.objects.filter(pk=current.pk).update(superseded_by_id=new_id)
    revised = Judgement.objects.create(
        pk=new_id,
        pair_id=current.pair_id,
        rater_id=current.rater_id,
        seat=current.seat,
        raters_per_pair=current.raters_per_pair,
        revision=current.revision + 1,
        # Not that of the former one: votes made elsewhere may lack it, or had another.
        shown_left=seat.shown_left,
        opened_at=current.opened_at,
        first_action_at=current.first_action_at,
        submitted_at=timing.submitted_at,
        seconds=total(current.seconds, timing.seconds),
        active_seconds=total(current.active_seconds, timing.active_seconds),
        comment=answer.comment,
        confidence=answer.confidence,
        reasons=list(answer.reasons),
    )
    before = list(Vote.objects.filter(judgement=current).values_list("criterion", "choice"))
    votes = Vote.objects.bulk_create(
        Vote(
            judgement=revised,
            criterion=criterion,
            choice=answer.choices[criterion.key],
            reason=answer.skip_reason,
        )
        for criterion in seat.campaign.pair_set.criteria_in_order
    )
    Assignment.objects.filter(pk=seat.pk).update(judgement=revised)
    pair = current.pair_id
    Tally.objects.uncount_votes((pair, *vote) for vote in before)
    Tally.objects.count_votes((pair, vote.criterion_id, vote.choice) for vote in votes)


def _answer_of(judgement: Judgement) -> Answer:
    votes = list(judgement.votes.values_list("criterion__key", "choice", "reason"))
    return Answer(
        choices={key: choice for key, choice, _ in votes},
        comment=judgement.comment,
        # Votes made elsewhere may give reasons for other choices as well.
        skip_reason=next((reason for _, choice, reason in votes if choice == SKIP), ""),
        confidence=judgement.confidence,
        reasons=tuple(judgement.reasons),
    )


def _answer_of_check(check: CheckAnswer) -> Answer:
    return Answer(
        choices=check.choices,
        comment=check.comment,
        skip_reason=check.skip_reason,
        confidence=check.confidence,
        reasons=tuple(check.reasons),
    )
