"""Leads decide on pairs that votes leave open; the next aggregation follows. All can be undone."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from annotation.models import Campaign, Event, User
from benchmark.models import Adjudication, Pair
from benchmark.services import adjudications


def adjudicate(
    *, campaign: Campaign, pair: Pair, decision: str, reason: str, actor: User, now: datetime
) -> Adjudication:
    """Decide on a pair of the campaign; what was decided before is revoked and stays on record.

    The same decision for the same reason again changes nothing. Raises ValueError for a pair of
    another set and a decision that is none.
    """
    if pair.pair_set_id != campaign.pair_set_id:
        raise ValueError(f"pair {pair.pk} is not of campaign {campaign.slug}")
    with transaction.atomic():
        # Two presses of the button take turns.
        Pair.objects.select_for_update(no_key=True).only("pk").get(pk=pair.pk)
        former = Adjudication.objects.in_force().filter(pair=pair).first()
        if former is not None and (former.decision, former.reason) == (decision, reason):
            return former
        made = adjudications.adjudicate(
            pair=pair, decision=decision, reason=reason, by=actor.get_username(), now=now
        )
        replaced = {"replaces": former.pk} if former else {}
        _log(campaign, made, actor, "pair:adjudicated", reason=reason, **replaced)
    return made


def revoke_adjudication(
    *, campaign: Campaign, adjudication: Adjudication, actor: User, now: datetime
) -> bool:
    """The votes speak for themselves again; whether that changed anything."""
    with transaction.atomic():
        changed = adjudications.revoke(adjudication=adjudication, by=actor.get_username(), now=now)
        if changed:
            _log(campaign, adjudication, actor, "adjudication:revoked")
    return changed


def _log(
    campaign: Campaign, adjudication: Adjudication, actor: User, action: str, **data: object
) -> None:
    Event.objects.create(
        campaign=campaign,
        actor=actor,
        action=action,
        data={
            "adjudication": adjudication.pk,
            "pair": adjudication.pair_id,
            "decision": adjudication.decision,
            **data,
        },
    )
