"""People in campaigns."""

from __future__ import annotations

import secrets

from django.db import transaction

from annotation.models import Campaign, Event, Membership, User
from benchmark.models import Rater


def add_member(
    *,
    campaign: Campaign,
    user: User,
    role: str,
    pseudonym: str = "",
    actor: User | None = None,
) -> Membership:
    """Give the user a place; annotators get a random pseudonym unless one is given."""
    with transaction.atomic():
        rater = None
        if role == Membership.Role.ANNOTATOR:
            rater = Rater.objects.create(
                pair_set=campaign.pair_set, pseudonym=pseudonym or f"r-{secrets.token_hex(4)}"
            )
        membership = Membership.objects.create(campaign=campaign, user=user, role=role, rater=rater)
        Event.objects.create(
            campaign=campaign,
            actor=actor,
            action="member:added",
            data={"membership": membership.pk, "role": role},
        )
    return membership
