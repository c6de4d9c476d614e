"""Policies that leads make for their campaign. They never change; other rules are a new version."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.models import Campaign, Event, User
from benchmark.models import PairSet, SavedPolicy
from benchmark.services import policies


def save_policy(
    *, campaign: Campaign, actor: User, name: str, note: str = "", **rules: Any
) -> tuple[SavedPolicy, bool]:
    """Keep rules under a name, and whether that made a version.

    The rules of the newest version again make none, whatever the note. Raises PolicyError.
    """
    with transaction.atomic():
        # As the service called here does: no version comes between.
        PairSet.objects.select_for_update(no_key=True).get(pk=campaign.pair_set_id)
        rows = SavedPolicy.objects.filter(pair_set=campaign.pair_set_id, name=name)
        before = rows.aggregate(last=Max("version"))["last"]
        saved = policies.save_policy(
            pair_set=campaign.pair_set, name=name, by=actor.get_username(), note=note, **rules
        )
        is_new = saved.version != before
        if is_new:
            Event.objects.create(
                campaign=campaign,
                actor=actor,
                action="policy:saved",
                data={"policy": saved.pk, "name": name, "version": saved.version},
            )
    return saved, is_new
