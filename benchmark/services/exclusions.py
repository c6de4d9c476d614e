"""Whose votes the next aggregation leaves out. All of it can be undone, and nothing is deleted."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from benchmark.models import Exclusion, Pair, Rater


class AlreadyExcluded(Exception):
    """An exclusion of the same votes is in force."""


def exclude_votes(*, rater: Rater, pair: Pair | None = None, reason: str, by: str) -> Exclusion:
    """Leave out the rater's votes, or those on one pair. Raises AlreadyExcluded."""
    try:
        with transaction.atomic():
            return Exclusion.objects.create(rater=rater, pair=pair, reason=reason, by=by)
    except IntegrityError as error:
        raise AlreadyExcluded from error


def lift_exclusion(*, exclusion: Exclusion, by: str, now: datetime) -> bool:
    """The votes count again; whether that changed anything. Again changes nothing."""
    changed = Exclusion.objects.filter(pk=exclusion.pk, lifted_at=None).update(
        lifted_at=now, lifted_by=by
    )
    exclusion.refresh_from_db(fields=["lifted_at", "lifted_by"])
    return bool(changed)
