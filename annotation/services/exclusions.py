"""Exclusions by a lead: the next aggregation leaves votes out, and a rater gets no more pairs.

One act with one event, for members and for raters whose votes were imported. All can be undone.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from annotation.models import Campaign, Event, Membership, User
from annotation.services import standing
from annotation.services.seats import lock_member
from benchmark.models import Exclusion, Judgement, Pair, Rater
from benchmark.services import exclusions
from benchmark.services.exclusions import AlreadyExcluded

__all__ = [
    "AlreadyExcluded",
    "NothingToExclude",
    "exclude_judgement",
    "exclude_rater",
    "lift_exclusion",
]


class NothingToExclude(Exception):
    """The rater has not judged the pair."""


def exclude_rater(
    *, campaign: Campaign, rater: Rater, actor: User, reason: str, now: datetime
) -> Exclusion:
    """Leave all of the rater's votes out; a member gets no more pairs either.

    Raises AlreadyExcluded, CannotChange when a member's standing has changed meanwhile, and
    ValueError for a rater of another set.
    """
    _check(campaign, rater)
    with transaction.atomic():
        member = _member(campaign, rater)
        if member is not None and member.standing != Membership.Standing.EXCLUDED:
            return standing.exclude(membership=member, actor=actor, reason=reason, now=now)
        made = exclusions.exclude_votes(rater=rater, reason=reason, by=actor.get_username())
        _log(campaign, made, actor, "rater:excluded", reason=reason)
    return made


def exclude_judgement(
    *, campaign: Campaign, rater: Rater, pair: Pair, actor: User, reason: str
) -> Exclusion:
    """Leave out the rater's votes on one pair; nothing else changes for the rater.

    Raises AlreadyExcluded, NothingToExclude, and ValueError for another set's rater or pair.
    """
    _check(campaign, rater)
    if pair.pair_set_id != campaign.pair_set_id:
        raise ValueError(f"pair {pair.pk} is not of campaign {campaign.slug}")
    with transaction.atomic():
        if not Judgement.objects.filter(rater=rater, pair=pair).exists():
            raise NothingToExclude
        made = exclusions.exclude_votes(
            rater=rater, pair=pair, reason=reason, by=actor.get_username()
        )
        _log(campaign, made, actor, "judgement:excluded", reason=reason)
    return made


def lift_exclusion(*, campaign: Campaign, exclusion: Exclusion, actor: User, now: datetime) -> bool:
    """The votes count again, and an excluded member goes on; whether that changed anything.

    Raises ValueError for an exclusion of another set.
    """
    _check(campaign, exclusion.rater)
    with transaction.atomic():
        member = _member(campaign, exclusion.rater) if exclusion.pair_id is None else None
        if member is not None:
            # Whoever changes a member's standing takes this lock first: two leads take turns.
            lock_member(member)
            member.refresh_from_db(fields=["standing"])
            exclusion.refresh_from_db(fields=["lifted_at", "lifted_by"])
            if exclusion.lifted_at is None and member.standing == Membership.Standing.EXCLUDED:
                standing.resume(membership=member, actor=actor, now=now)
                exclusion.refresh_from_db(fields=["lifted_at", "lifted_by"])
                return True
        changed = exclusions.lift_exclusion(exclusion=exclusion, by=actor.get_username(), now=now)
        if changed:
            _log(campaign, exclusion, actor, "exclusion:lifted")
    return changed


def _check(campaign: Campaign, rater: Rater) -> None:
    if rater.pair_set_id != campaign.pair_set_id:
        raise ValueError(f"rater {rater.pk} is not of campaign {campaign.slug}")


def _member(campaign: Campaign, rater: Rater) -> Membership | None:
    members = Membership.objects.filter(campaign=campaign, rater=rater)
    return members.select_related("campaign", "crowd_place", "rater").first()


def _log(
    campaign: Campaign, exclusion: Exclusion, actor: User, action: str, **data: object
) -> None:
    Event.objects.create(
        campaign=campaign,
        actor=actor,
        action=action,
        data={
            # None, and there all the same: events of one action have the same fields.
            "membership": None,
            "rater": exclusion.rater_id,
            "pair": exclusion.pair_id,
            "exclusion": exclusion.pk,
            **data,
        },
    )
