"""Decisions on pairs that their votes leave open. The votes stay what they are."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from benchmark.models import Adjudication, Pair


def adjudicate(*, pair: Pair, decision: str, reason: str, by: str, now: datetime) -> Adjudication:
    """Decide on a pair, in the place of what was decided before; that stays on record.

    Raises ValueError for a decision that is none.
    """
    if decision not in Adjudication.Decision.values:
        raise ValueError(f"{decision!r} is no decision")
    with transaction.atomic():
        Pair.objects.select_for_update(no_key=True).get(pk=pair.pk)
        Adjudication.objects.in_force().filter(pair=pair).update(revoked_at=now, revoked_by=by)
        return Adjudication.objects.create(pair=pair, decision=decision, reason=reason, by=by)


def revoke(*, adjudication: Adjudication, by: str, now: datetime) -> bool:
    """The votes speak for themselves again; whether that changed anything."""
    changed = Adjudication.objects.filter(pk=adjudication.pk, revoked_at=None).update(
        revoked_at=now, revoked_by=by
    )
    adjudication.refresh_from_db(fields=["revoked_at", "revoked_by"])
    return bool(changed)
