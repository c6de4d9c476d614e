"""Participants of a crowd platform: let in, paid by a code, or gone.

They come by an address with parameters that name participant, study and session. The participant's
id is kept with the place and nowhere else: events and files know the pseudonym.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db import transaction

from annotation.models import (
    Assignment,
    Campaign,
    CrowdPlace,
    CrowdStudy,
    Event,
    Membership,
    PairSeats,
    User,
)
from annotation.selectors.campaigns import main_round_done
from annotation.services.members import add_member
from annotation.services.seats import NothingLeft, give_back, lock_member

PARAMETER_LIMIT = 200
# What platforms send. A placeholder that was not replaced, as in {{%ID%}}, is none of it.
_PARAMETER = re.compile(r"[0-9A-Za-z._~@+-]+")


@dataclass(frozen=True, slots=True)
class Visit:
    """Who comes, as the address says."""

    participant: str
    session: str


@dataclass(frozen=True, slots=True)
class VisitProblem:
    """Why an address is no way in: a parameter's name and a code."""

    parameter: str
    code: Literal["missing", "odd", "too_long", "other_study"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a participant gets no place, or is not let to the one that there is."""

    code: Literal[
        "study_closed", "not_open", "campaign_closed", "took_part", "full", "other_session"
    ]


def create_study(*, campaign: Campaign, actor: User, **fields: object) -> CrowdStudy:
    """A way in for participants; ``fields`` are those of the model."""
    with transaction.atomic():
        study = CrowdStudy.objects.create(campaign=campaign, created_by=actor, **fields)
        Event.objects.create(
            campaign=campaign,
            actor=actor,
            action="study:created",
            data={"study": str(study.pk), "name": study.name},
        )
    return study


def close_study(*, study: CrowdStudy, actor: User, now: datetime) -> None:
    """Nobody new gets in; who has begun goes on. Again changes nothing."""
    with transaction.atomic():
        if CrowdStudy.objects.filter(pk=study.pk, closed_at=None).update(closed_at=now):
            Event.objects.create(
                campaign=study.campaign,
                actor=actor,
                action="study:closed",
                data={"study": str(study.pk)},
            )
    study.refresh_from_db(fields=["closed_at"])


def read_visit(study: CrowdStudy, parameters: Mapping[str, str]) -> Visit | VisitProblem:
    """What the address says, or the first thing that is wrong with it."""
    names = (study.participant_parameter, study.study_parameter, study.session_parameter)
    values = [parameters.get(name, "") for name in names]
    for name, value in zip(names, values, strict=True):
        if not value:
            return VisitProblem(name, "missing")
        if len(value) > PARAMETER_LIMIT:
            return VisitProblem(name, "too_long")
        if not _PARAMETER.fullmatch(value):
            return VisitProblem(name, "odd")
    participant, external_id, session = values
    if study.external_id and external_id != study.external_id:
        return VisitProblem(study.study_parameter, "other_study")
    return Visit(participant=participant, session=session)


def enter(
    *, study: CrowdStudy, visit: Visit, now: datetime, user: User | None = None
) -> CrowdPlace | Refused | None:
    """The participant's place as it stands now; None for somebody who may agree to take part.

    ``user``: whom the browser is signed in as.
    """
    place = _place(study, visit)
    if place is None:
        return _refusal(study, visit)
    if not _is_theirs(place, visit, user):
        return Refused("other_session")
    if place.state == CrowdPlace.State.STARTED:
        member = place.membership
        settle(membership=member, done=main_round_done(member), now=now)
    return place


def consent(
    *, study: CrowdStudy, visit: Visit, now: datetime, user: User | None = None
) -> CrowdPlace | Refused:
    """A place, with an account of its own, for somebody who agrees; once for each participant."""
    with transaction.atomic():
        # Two tabs, or two studies of one campaign, take turns: the second sees the first's place.
        studies = CrowdStudy.objects.filter(campaign=study.campaign_id).order_by("pk")
        locked = {row.pk: row for row in studies.select_for_update(no_key=True)}
        place = _place(study, visit)
        if place is not None:
            return place if _is_theirs(place, visit, user) else Refused("other_session")
        study.closed_at = locked[study.pk].closed_at
        study.campaign.refresh_from_db(fields=["state"])
        refusal = _refusal(study, visit)
        if refusal is not None:
            return refusal
        account = User(username=f"crowd-{secrets.token_hex(8)}")
        account.set_unusable_password()
        account.save()
        membership = add_member(
            campaign=study.campaign, user=account, role=Membership.Role.ANNOTATOR, actor=account
        )
        place = CrowdPlace.objects.create(
            study=study,
            participant=visit.participant,
            session=visit.session,
            membership=membership,
            consent=study.consent,
            consented_at=now,
            ends_at=now + timedelta(minutes=study.minutes),
        )
        _log(place, "crowd:consented")
    return place


def place_of(membership: Membership) -> CrowdPlace | None:
    """The place of a crowd participant; None for everybody else."""
    place: CrowdPlace | None = getattr(membership, "crowd_place", None)
    return place


def settle(*, membership: Membership, done: int, now: datetime) -> str | None:
    """End the place when its pairs are done or its time is over; why it has ended, or None.

    ``done`` counts the submitted seats of the main round. The answer is a reason of NothingLeft.
    """
    place = place_of(membership)
    if place is None:
        return None
    if place.state == CrowdPlace.State.STARTED:
        if done >= place.study.pairs_each:
            _complete(place, membership, done=done, now=now)
        elif place.is_over(now):
            _go(place, membership, CrowdPlace.State.TIMED_OUT, now=now)
    return {
        CrowdPlace.State.COMPLETED.value: NothingLeft.QUOTA_DONE,
        CrowdPlace.State.TIMED_OUT.value: NothingLeft.TIMED_OUT,
        CrowdPlace.State.RETURNED.value: NothingLeft.LEFT,
    }.get(place.state)


def complete_early(*, membership: Membership, now: datetime) -> None:
    """Nothing is left to judge: that is not the participant's fault, and the code is due."""
    place = place_of(membership)
    if place is not None and place.state == CrowdPlace.State.STARTED:
        _complete(place, membership, done=main_round_done(membership), now=now)


def leave(*, membership: Membership, now: datetime) -> CrowdPlace | None:
    """The participant stops; answers so far are kept. Changes nothing once the place has ended."""
    place = place_of(membership)
    if place is not None and place.state == CrowdPlace.State.STARTED:
        _go(place, membership, CrowdPlace.State.RETURNED, now=now)
    return place


def completion(membership: Membership) -> tuple[str, str] | None:
    """Code and address by which the platform knows that the work is done; None before that."""
    place = place_of(membership)
    if place is None or place.state != CrowdPlace.State.COMPLETED:
        return None
    return place.study.completion_code, place.study.completion_url


def _place(study: CrowdStudy, visit: Visit) -> CrowdPlace | None:
    place = (
        CrowdPlace.objects.filter(study=study, participant=visit.participant)
        .select_related("study", "membership__user", "membership__campaign__pair_set")
        .first()
    )
    if place is not None:
        # One object, and not two that may differ.
        place.membership.crowd_place = place
    return place


def _is_theirs(place: CrowdPlace, visit: Visit, user: User | None) -> bool:
    """A participant's id is no secret; the session that began is known to the participant alone."""
    return place.session == visit.session or place.membership.user == user


def _refusal(study: CrowdStudy, visit: Visit) -> Refused | None:
    elsewhere = CrowdPlace.objects.filter(
        study__campaign=study.campaign_id, participant=visit.participant
    )
    if elsewhere.exclude(study=study).exists():
        return Refused("took_part")
    if study.closed_at is not None:
        return Refused("study_closed")
    if study.campaign.state == Campaign.State.CLOSED:
        return Refused("campaign_closed")
    if not study.campaign.is_open:
        return Refused("not_open")
    if not _has_work(study.campaign):
        return Refused("full")
    return None


def _has_work(campaign: Campaign) -> bool:
    """Whether a pair has a free place, or one on a lease that may become free."""
    leases = Assignment.objects.filter(
        campaign=campaign, purpose=Assignment.Purpose.VOTE, state=Assignment.State.OPEN
    )
    # Leases first: one that ends between the two questions leaves a free place.
    return leases.exists() or PairSeats.objects.filter(campaign=campaign, free__gt=0).exists()


def _complete(place: CrowdPlace, membership: Membership, *, done: int, now: datetime) -> None:
    with transaction.atomic():
        lock_member(membership)
        if _end(place, CrowdPlace.State.COMPLETED, now=now):
            give_back(membership=membership)
            _log(place, "crowd:completed", done=done)


def _go(
    place: CrowdPlace, membership: Membership, state: CrowdPlace.State, *, now: datetime
) -> None:
    """The participant does not go on: the seat is for somebody else."""
    with transaction.atomic():
        lock_member(membership)
        if _end(place, state, now=now):
            stored = Membership.objects.get(pk=membership.pk)
            # Who is excluded stays so, whatever becomes of the place.
            if stored.standing != Membership.Standing.EXCLUDED:
                membership.standing = Membership.Standing.LEFT
                membership.standing_reason = state.value
                membership.standing_at = now
                membership.save(update_fields=["standing", "standing_reason", "standing_at"])
            give_back(membership=membership)
            _log(place, f"crowd:{state.value}")


def _end(place: CrowdPlace, state: CrowdPlace.State, *, now: datetime) -> bool:
    """True for the one call that ends it; ``place`` says how it has ended in any case."""
    ended = CrowdPlace.objects.filter(pk=place.pk, state=CrowdPlace.State.STARTED).update(
        state=state, ended_at=now
    )
    place.refresh_from_db(fields=["state", "ended_at"])
    return bool(ended)


def _log(place: CrowdPlace, action: str, **data: object) -> None:
    Event.objects.create(
        campaign_id=place.study.campaign_id,
        actor_id=place.membership.user_id,
        action=action,
        data={"membership": place.membership_id, "study": str(place.study_id), **data},
    )
