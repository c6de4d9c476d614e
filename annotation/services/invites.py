"""Invite links: made, revoked, and joined by."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from annotation.models import Campaign, Event, Invite, Membership, User
from annotation.services.accounts import create_account
from annotation.services.members import add_member

# A lead is only ever made at a terminal: whoever gets hold of a link must not lead.
INVITABLE = (Membership.Role.ANNOTATOR, Membership.Role.RESEARCHER)

Problem = Literal["expired", "revoked", "used_up", "campaign_closed"]


class CannotJoin(Exception):
    """The invite is no way in, or not any more."""

    def __init__(self, code: Problem) -> None:
        super().__init__(code)
        self.code = code


class NameTaken(Exception):
    """Somebody else has just taken the user name."""


def create_invite(
    *,
    campaign: Campaign,
    actor: User,
    role: str,
    days: int,
    now: datetime,
    label: str = "",
    max_uses: int | None = None,
) -> Invite:
    """A link that ends after so many days; for any number of people unless ``max_uses`` is set."""
    if role not in INVITABLE:
        raise ValueError(f"no invite for the role {role}")
    with transaction.atomic():
        invite = Invite.objects.create(
            campaign=campaign,
            role=role,
            label=label,
            max_uses=max_uses,
            expires_at=now + timedelta(days=days),
            created_by=actor,
        )
        Event.objects.create(
            campaign=campaign,
            actor=actor,
            action="invite:created",
            data={"invite": str(invite.pk), "role": role, "max_uses": max_uses, "days": days},
        )
    return invite


def revoke_invite(*, invite: Invite, actor: User, now: datetime) -> None:
    """The link stops working; whoever has joined by it stays. Again changes nothing."""
    with transaction.atomic():
        if Invite.objects.filter(pk=invite.pk, revoked_at=None).update(revoked_at=now):
            Event.objects.create(
                campaign=invite.campaign,
                actor=actor,
                action="invite:revoked",
                data={"invite": str(invite.pk)},
            )
    invite.refresh_from_db(fields=["revoked_at"])


def problem(invite: Invite, now: datetime) -> Problem | None:
    """Why nobody can join by this invite now."""
    if invite.revoked_at is not None:
        return "revoked"
    if invite.expires_at <= now:
        return "expired"
    if invite.max_uses is not None and invite.uses >= invite.max_uses:
        return "used_up"
    if invite.campaign.state == Campaign.State.CLOSED:
        return "campaign_closed"
    return None


def accept(*, invite: Invite, user: User, now: datetime) -> Membership:
    """The user's place in the campaign. Who is in it already takes no use of the invite.

    Raises CannotJoin.
    """
    with transaction.atomic():
        # Two tabs of one person take turns, and the second finds the first one's place.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        present = (
            Membership.objects.filter(campaign=invite.campaign_id, user=user)
            .select_related("campaign__pair_set")
            .first()
        )
        if present is not None:
            return present
        if Campaign.objects.get(pk=invite.campaign_id).state == Campaign.State.CLOSED:
            raise CannotJoin("campaign_closed")
        # The condition and the count are one statement on one row: the last use goes to one person.
        used = Invite.objects.filter(
            Q(max_uses=None) | Q(uses__lt=F("max_uses")),
            pk=invite.pk,
            revoked_at=None,
            expires_at__gt=now,
        ).update(uses=F("uses") + 1)
        if not used:
            raise CannotJoin(_why_refused(invite, now))
        membership = add_member(campaign=invite.campaign, user=user, role=invite.role, actor=user)
        Event.objects.create(
            campaign=invite.campaign,
            actor=user,
            action="member:joined",
            data={"membership": membership.pk, "invite": str(invite.pk)},
        )
    return membership


def join_with_new_account(
    *, invite: Invite, username: str, password: str, now: datetime
) -> Membership:
    """An account and its place, or neither. Raises CannotJoin, NameTaken and ValidationError."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                user = create_account(username=username, password=password)
        except IntegrityError as error:
            raise NameTaken from error
        return accept(invite=invite, user=user, now=now)


def _why_refused(invite: Invite, now: datetime) -> Problem:
    stored = Invite.objects.select_related("campaign").get(pk=invite.pk)
    # Revoked, ended or used up: the statement that refused it looked at the same three.
    return problem(stored, now) or "used_up"
