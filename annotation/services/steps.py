"""What comes next for a rater: the guidelines, training, a pair to judge, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.models import Acknowledgement, Assignment, CrowdPlace, Guideline, Membership
from annotation.selectors.campaigns import main_round_done
from annotation.services import checks, crowd
from annotation.services.seats import (
    NothingLeft,
    barred_because,
    claim_ahead,
    claim_seat,
    lock_member,
    renewed_seat,
)


@dataclass(frozen=True, slots=True)
class MustRead:
    """A version of the guidelines that is to be acknowledged before anything else."""

    version: int


Step = Assignment | MustRead | NothingLeft


def next_step(*, membership: Membership, now: datetime) -> Step:
    """The seat to be shown, or why there is none."""
    place: CrowdPlace | None = getattr(membership, "crowd_place", None)
    if place is not None:
        settled = crowd.settle(membership=membership, done=main_round_done(membership), now=now)
        if settled is not None:
            return NothingLeft(settled)
    if not membership.campaign.is_open:
        return NothingLeft(NothingLeft.NOT_OPEN)
    if (barred := barred_because(membership)) is not None:
        return barred
    if membership.acknowledged_version < membership.campaign.guideline_version:
        return MustRead(membership.campaign.guideline_version)
    if membership.ready_at is None:
        seat = _onboarding_seat(membership, now=now)
        if seat is not None:
            return seat
        if (barred := barred_because(membership)) is not None:
            return barred
    step = claim_seat(membership=membership, now=now)
    if place is not None and isinstance(step, NothingLeft) and _is_due(step, membership):
        crowd.complete_early(membership=membership, now=now)
        return NothingLeft(NothingLeft.QUOTA_DONE)
    return step


def next_ahead(*, seat: Assignment, now: datetime) -> Assignment | None:
    """The seat after this one of the main round, held so that its pair can be shown at once.

    None where something else than another pair may come, or there is none.
    """
    membership = seat.membership
    must_read = membership.acknowledged_version < seat.campaign.guideline_version
    if must_read or not seat.is_main_round:
        return None
    place: CrowdPlace | None = getattr(membership, "crowd_place", None)
    if place is not None:
        is_last = main_round_done(membership) + 1 >= place.study.pairs_each
        if is_last or place.is_over(now):
            return None
    following = claim_ahead(membership=membership, now=now)
    return None if following == seat else following


def acknowledge(*, membership: Membership, version: int) -> bool:
    """The member says to have read this version; False when there is a newer one meanwhile."""
    guideline = Guideline.objects.filter(campaign=membership.campaign, version=version).first()
    if guideline is None or version != membership.campaign.guideline_version:
        return False
    with transaction.atomic():
        Acknowledgement.objects.get_or_create(membership=membership, guideline=guideline)
        Membership.objects.filter(pk=membership.pk, acknowledged_version__lt=version).update(
            acknowledged_version=version
        )
    membership.acknowledged_version = version
    return True


def _is_due(nothing: NothingLeft, membership: Membership) -> bool:
    """Whether a crowd participant for whom there is nothing is done with that."""
    if nothing.reason == NothingLeft.ALL_TAKEN:
        # Who has worked need not wait, unpaid, for what others may leave.
        return main_round_done(membership) > 0
    return nothing.reason in (NothingLeft.ALL_JUDGED, NothingLeft.ALL_FULL)


def _onboarding_seat(membership: Membership, *, now: datetime) -> Assignment | None:
    """The next seat of training or qualification; None when the rater is ready, or has failed."""
    if held := renewed_seat(membership, now=now):
        return held
    with transaction.atomic():
        lock_member(membership)
        # Another tab may have been faster.
        if held := renewed_seat(membership, now=now):
            return held
        membership.refresh_from_db(
            fields=["ready_at", "qualification_try", "standing", "standing_reason", "standing_at"]
        )
        if membership.ready_at is not None or not membership.is_active:
            return None
        return checks.take_onboarding_seat(membership=membership, now=now)
