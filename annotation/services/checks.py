"""Checks: pairs whose answer is known, and pairs asked again. Given, answered, and judged.

Whoever calls is in a transaction that holds the lock of the membership's row and has read the row
under it. Check seats take no place on a pair, so no other lock is needed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.domain import blinding, mixing, scoring
from annotation.domain.rubric import SKIP, Answer
from annotation.domain.scoring import Score
from annotation.domain.timing import Timing, total
from annotation.models import Assignment, CheckAnswer, CheckItem, Event, Membership
from benchmark.models import Pair, Vote

PAUSED = "rater:paused"
PASSED = "qualification:passed"
FAILED = "qualification:failed"

_TAKEN = (Assignment.State.OPEN, Assignment.State.SUBMITTED)


def take_check_seat(
    *,
    membership: Membership,
    purpose: Literal["gold", "repeat"],
    now: datetime,
    is_ahead: bool = False,
) -> Assignment | None:
    """A seat of the main round that is no vote, or None when there is none of that kind to give."""
    if purpose == "gold":
        return _gold_seat(membership, now=now, is_ahead=is_ahead)
    return _repeat_seat(membership, now=now, is_ahead=is_ahead)


def take_onboarding_seat(*, membership: Membership, now: datetime) -> Assignment | None:
    """The next seat of training, then of qualification.

    None when both are done (the rater is ready) and when the last try failed (the rater is paused);
    the membership tells which.
    """
    if membership.ready_at is not None:
        return None
    if seat := _next_of(CheckItem.Purpose.TRAINING, membership, attempt=0, now=now):
        return seat
    attempt = membership.qualification_try
    if seat := _next_of(CheckItem.Purpose.QUALIFICATION, membership, attempt=attempt, now=now):
        return seat
    answers = _answers(membership, Assignment.Purpose.QUALIFICATION)
    score, _ = _total(answers.filter(assignment__attempt=attempt))
    if not scoring.passes(
        right=score.right,
        asked=score.asked,
        pass_percent=membership.campaign.qualification_pass_percent,
    ):
        return _seat_after_failing(membership, score, now=now)
    membership.ready_at = now
    membership.save(update_fields=["ready_at"])
    if score.asked:
        _log(membership, PASSED, {"try": attempt} | score._asdict())
    return None


def store(*, seat: Assignment, answer: Answer, timing: Timing, revision: int) -> None:
    """Add the answer, scored, behind the one with the number ``revision`` (0: there is none).

    A correction takes as long as all its revisions together. The first answer submits the seat.
    """
    former = current_answer(seat) if revision else None
    if former is not None:
        CheckAnswer.objects.filter(pk=former.pk).update(is_current=False)
    score = _score(seat, answer)
    CheckAnswer.objects.create(
        assignment=seat,
        revision=revision + 1,
        choices=dict(answer.choices),
        skip_reason=answer.skip_reason,
        comment=answer.comment,
        confidence=answer.confidence,
        reasons=list(answer.reasons),
        opened_at=former.opened_at if former else timing.opened_at,
        first_action_at=former.first_action_at if former else timing.first_action_at,
        submitted_at=timing.submitted_at,
        seconds=timing.seconds + (former.seconds if former else 0),
        active_seconds=total(former.active_seconds, timing.active_seconds)
        if former
        else timing.active_seconds,
        asked=score.asked,
        right=score.right,
    )
    if former is None:
        seat.state = Assignment.State.SUBMITTED
        seat.submitted_at = timing.submitted_at
        seat.save(update_fields=["state", "submitted_at"])


def current_answer(seat: Assignment) -> CheckAnswer | None:
    return CheckAnswer.objects.filter(assignment=seat).current().first()


def judge_gold(*, membership: Membership, now: datetime, gap: int = mixing.PAUSE_GAP) -> bool:
    """Pause a rater who misses too much gold; True when that happened now.

    Counted is what has at least ``gap`` newer answers of the main round behind it, and was not
    answered before a lead let the rater go on.
    """
    # The caller may have loaded the membership before it had the lock.
    membership.refresh_from_db(fields=["standing", "standing_reason", "standing_at"])
    if not membership.is_active:
        return False
    campaign = membership.campaign
    answers = _answers(membership, Assignment.Purpose.GOLD)
    if membership.standing_at is not None:
        answers = answers.filter(assignment__submitted_at__gt=membership.standing_at)
    if gap:
        newer = (
            Assignment.objects.of_main_round()
            .filter(membership=membership, state=Assignment.State.SUBMITTED)
            .order_by("-submitted_at")
            .values("submitted_at")[gap - 1 : gap]
        )
        answers = answers.filter(assignment__submitted_at__lt=Subquery(newer))
    score, items = _total(answers)
    if not scoring.fails(
        right=score.right,
        asked=score.asked,
        items=items,
        minimum=campaign.gold_minimum,
        pass_percent=campaign.gold_pass_percent,
    ):
        return False
    pause(
        membership=membership,
        reason=Membership.StandingReason.GOLD,
        now=now,
        data={"items": items} | score._asdict(),
    )
    return True


def pause(*, membership: Membership, reason: str, now: datetime, data: dict[str, Any]) -> None:
    """The rater gets no more pairs until the lead lets them go on. ``data``: why, for the lead."""
    membership.standing = Membership.Standing.PAUSED
    membership.standing_reason = reason
    membership.standing_at = now
    membership.save(update_fields=["standing", "standing_reason", "standing_at"])
    _log(membership, PAUSED, {"reason": str(reason)} | data)


def _gold_seat(membership: Membership, *, now: datetime, is_ahead: bool) -> Assignment | None:
    given = Assignment.objects.filter(check_item=OuterRef("pk"), membership=membership)
    items = list(
        CheckItem.objects.filter(campaign=membership.campaign, purpose=CheckItem.Purpose.GOLD)
        .exclude(Exists(given.filter(state__in=_TAKEN)))
        .annotate(has_lapsed=Exists(given))
        .order_by("position", "id")
        .values_list("pk", "pair__pair_id", "has_lapsed")
    )
    # A pair to be voted on that was not answered comes back after all others: so does this.
    unused = [(pk, pair_id) for pk, pair_id, has_lapsed in items if not has_lapsed] or [
        (pk, pair_id) for pk, pair_id, _ in items
    ]
    if not unused:
        return None
    index = mixing.first_drawn(
        [pair_id for _, pair_id in unused],
        seed=membership.campaign.pair_set.seed,
        rater=_pseudonym(membership),
        purpose="gold",
    )
    item = CheckItem.objects.select_related("pair__persona").get(pk=unused[index][0])
    return _item_seat(item, membership, attempt=0, now=now, is_ahead=is_ahead)


def _repeat_seat(membership: Membership, *, now: datetime, is_ahead: bool) -> Assignment | None:
    answered = Assignment.objects.of_main_round().filter(
        membership=membership, state=Assignment.State.SUBMITTED
    )
    number = answered.count()
    if number < mixing.REPEAT_GAP:
        return None
    newest_old = (
        answered.order_by("-submitted_at", "-claimed_at", "-id")
        .values_list("submitted_at", flat=True)[mixing.REPEAT_GAP - 1 : mixing.REPEAT_GAP]
        .get()
    )
    skipped = Vote.objects.filter(
        judgement__pair=OuterRef("pair"),
        judgement__rater=membership.rater_id,
        judgement__superseded_by=None,
        choice=SKIP,
    )
    old = list(
        Assignment.objects.filter(
            membership=membership,
            purpose=Assignment.Purpose.VOTE,
            state=Assignment.State.SUBMITTED,
            submitted_at__lte=newest_old,
            repeated_by=None,
        )
        .exclude(Exists(skipped))
        .order_by("submitted_at", "claimed_at", "id")
        .values_list("pk", "pair__pair_id")
    )
    if not old:
        return None
    index = mixing.first_drawn(
        [pair_id for _, pair_id in old],
        seed=membership.campaign.pair_set.seed,
        rater=_pseudonym(membership),
        purpose=f"repeat {number}",
    )
    first = Assignment.objects.select_related("pair__persona").get(pk=old[index][0])
    return _seat(
        membership,
        pair=first.pair,
        purpose=Assignment.Purpose.REPEAT,
        shown_left="B" if first.shown_left == "A" else "A",
        now=now,
        repeats=first,
        is_ahead=is_ahead,
    )


def _seat_after_failing(
    membership: Membership, score: Score, *, now: datetime
) -> Assignment | None:
    """The first seat of another try, or None and the rater is paused."""
    attempt = membership.qualification_try
    data = {"try": attempt} | score._asdict()
    _log(membership, FAILED, data)
    if attempt >= membership.campaign.qualification_tries:
        pause(
            membership=membership,
            reason=Membership.StandingReason.QUALIFICATION,
            now=now,
            data=data,
        )
        return None
    membership.qualification_try = attempt + 1
    membership.save(update_fields=["qualification_try"])
    return _next_of(CheckItem.Purpose.QUALIFICATION, membership, attempt=attempt + 1, now=now)


def _next_of(
    purpose: CheckItem.Purpose, membership: Membership, *, attempt: int, now: datetime
) -> Assignment | None:
    given = Assignment.objects.filter(
        check_item=OuterRef("pk"), membership=membership, attempt=attempt, state__in=_TAKEN
    )
    item = (
        CheckItem.objects.filter(campaign=membership.campaign, purpose=purpose)
        .exclude(Exists(given))
        .select_related("pair__persona")
        .order_by("position", "id")
        .first()
    )
    return None if item is None else _item_seat(item, membership, attempt=attempt, now=now)


def _item_seat(
    item: CheckItem,
    membership: Membership,
    *,
    attempt: int,
    now: datetime,
    is_ahead: bool = False,
) -> Assignment:
    return _seat(
        membership,
        pair=item.pair,
        purpose=item.purpose,
        shown_left=blinding.shown_left(
            seed=membership.campaign.pair_set.seed,
            pair_id=item.pair.pair_id,
            rater=_pseudonym(membership),
        ),
        now=now,
        check_item=item,
        attempt=attempt,
        is_ahead=is_ahead,
    )


def _seat(
    membership: Membership,
    *,
    pair: Pair,
    purpose: str,
    shown_left: str,
    now: datetime,
    **particulars: Any,
) -> Assignment:
    campaign = membership.campaign
    return Assignment.objects.create(
        campaign=campaign,
        membership=membership,
        pair=pair,
        purpose=purpose,
        state=Assignment.State.OPEN,
        shown_left=shown_left,
        claimed_at=now,
        lease_expires_at=now + timedelta(seconds=campaign.lease_seconds),
        **particulars,
    )


def _score(seat: Assignment, answer: Answer) -> Score:
    if seat.check_item is not None:
        return scoring.against_expected(
            expected=seat.check_item.expected,
            choices=answer.choices,
            # Else skipping would be a way through.
            may_skip=seat.purpose != Assignment.Purpose.QUALIFICATION,
        )
    first = Vote.objects.filter(
        judgement__pair=seat.pair_id,
        judgement__rater=seat.membership.rater_id,
        judgement__superseded_by=None,
    ).values_list("criterion__key", "choice")
    return scoring.consistency(first=dict(first), second=answer.choices)


def _answers(membership: Membership, purpose: Assignment.Purpose) -> QuerySet[CheckAnswer]:
    return CheckAnswer.objects.current().filter(
        assignment__membership=membership, assignment__purpose=purpose
    )


def _total(answers: QuerySet[CheckAnswer]) -> tuple[Score, int]:
    """The scores of the answers together, and the number of those that were scored."""
    found = answers.aggregate(
        items=Count("pk", filter=Q(asked__gt=0)),
        of=Sum("asked", default=0),
        were=Sum("right", default=0),
    )
    return Score(asked=found["of"], right=found["were"]), found["items"]


def _pseudonym(membership: Membership) -> str:
    assert membership.rater is not None  # membership_rater_iff_annotator
    return membership.rater.pseudonym


def _log(membership: Membership, action: str, data: dict[str, Any]) -> None:
    # Without an actor: the rater did not ask for it.
    Event.objects.create(
        campaign=membership.campaign,
        action=action,
        data={"membership": membership.pk} | data,
    )
