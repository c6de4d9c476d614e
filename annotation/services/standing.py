"""Whether a rater goes on: paused, let go on, excluded. All of it can be undone.

An excluded rater's votes are left out from the next aggregation on: see
`benchmark.services.exclusions`, which the same transaction calls.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.db import transaction

from annotation.models import CrowdPlace, Event, Membership, User
from annotation.services.crowd import place_of
from annotation.services.seats import give_back, lock_member
from benchmark.models import Exclusion, Rater
from benchmark.services.exclusions import exclude_votes, lift_exclusion

Standing = Membership.Standing
Reason = Membership.StandingReason


class CannotChange(Exception):
    """The standing is not this person's to change, or has changed meanwhile."""

    def __init__(self, code: Literal["not_a_rater", "changed_meanwhile"]) -> None:
        super().__init__(code)
        self.code = code


def pause(*, membership: Membership, actor: User, now: datetime) -> None:
    """No more pairs until the lead lets the rater go on. Raises CannotChange."""
    with transaction.atomic():
        _lock(membership, among=(Standing.ACTIVE,))
        _set(membership, Standing.PAUSED, Reason.LEAD, now=now)
        _log(membership, actor, "rater:paused", reason=Reason.LEAD.value)


def resume(*, membership: Membership, actor: User, now: datetime) -> None:
    """The rater goes on; gold answers so far are not counted again. Raises CannotChange.

    The votes of one who was excluded count again. After a failed qualification there is one more
    try. A crowd participant whose place has ended stays gone.
    """
    with transaction.atomic():
        _lock(membership, among=(Standing.PAUSED, Standing.EXCLUDED))
        was, why = membership.standing, membership.standing_reason
        if why == Reason.QUALIFICATION:
            membership.qualification_try += 1
        place = place_of(membership)
        if place is not None and place.state in _GONE:
            _set(membership, Standing.LEFT, Reason(place.state), now=now)
        else:
            _set(membership, Standing.ACTIVE, "", now=now)
        lifted: dict[str, object] = {}
        exclusion = _exclusion(membership) if was == Standing.EXCLUDED else None
        if exclusion is not None:
            lift_exclusion(exclusion=exclusion, by=actor.get_username(), now=now)
            lifted = {"exclusion": exclusion.pk}
        _log(membership, actor, "rater:resumed", before=was, reason=why, **lifted)


def exclude(*, membership: Membership, actor: User, reason: str, now: datetime) -> Exclusion:
    """No more pairs, and votes that do not count; why is for the record. Raises CannotChange."""
    with transaction.atomic():
        _lock(membership, among=(Standing.ACTIVE, Standing.PAUSED, Standing.LEFT))
        was = membership.standing
        _set(membership, Standing.EXCLUDED, Reason.LEAD, now=now)
        exclusion = _exclusion(membership) or exclude_votes(
            rater=_rater(membership), reason=reason, by=actor.get_username()
        )
        _log(membership, actor, "rater:excluded", before=was, reason=reason, exclusion=exclusion.pk)
    return exclusion


def _exclusion(membership: Membership) -> Exclusion | None:
    """The exclusion of all the member's votes that is in force."""
    return Exclusion.objects.in_force().filter(rater=_rater(membership), pair=None).first()


def _rater(membership: Membership) -> Rater:
    assert membership.rater is not None
    return membership.rater


_GONE = (CrowdPlace.State.RETURNED, CrowdPlace.State.TIMED_OUT)


def _lock(membership: Membership, *, among: tuple[Standing, ...]) -> None:
    if membership.role != Membership.Role.ANNOTATOR:
        raise CannotChange("not_a_rater")
    lock_member(membership)
    membership.refresh_from_db(
        fields=["standing", "standing_reason", "standing_at", "qualification_try"]
    )
    if membership.standing not in among:
        raise CannotChange("changed_meanwhile")


def _set(membership: Membership, standing: Standing, reason: str, *, now: datetime) -> None:
    membership.standing = standing
    membership.standing_reason = reason
    membership.standing_at = now
    membership.save(
        update_fields=["standing", "standing_reason", "standing_at", "qualification_try"]
    )
    if standing != Standing.ACTIVE:
        give_back(membership=membership)


def _log(membership: Membership, actor: User, action: str, **data: object) -> None:
    Event.objects.create(
        campaign=membership.campaign,
        actor=actor,
        action=action,
        data={"membership": membership.pk, **data},
    )
