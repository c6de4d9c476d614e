from __future__ import annotations

import uuid
from datetime import datetime

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.campaign import Campaign
from annotation.models.user import Membership, User


class Invite(models.Model):
    """A link by which people join a campaign. Its id is the secret in the link."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="invites")
    role = models.CharField(
        _("role"),
        max_length=20,
        choices=Membership.Role.choices,
        default=Membership.Role.ANNOTATOR,
    )
    label = models.CharField(_("label"), max_length=200, blank=True)
    # Null for any number of uses.
    max_uses = models.PositiveIntegerField(_("uses allowed"), null=True, blank=True)
    uses = models.PositiveIntegerField(_("uses"), default=0)
    expires_at = models.DateTimeField(_("expires at"))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(max_uses=None) | Q(uses__lte=F("max_uses")),
                name="invite_uses_at_most_allowed",
            ),
            models.CheckConstraint(
                condition=Q(max_uses=None) | Q(max_uses__gte=1), name="invite_for_somebody"
            ),
        ]

    def __str__(self) -> str:
        return self.label or str(self.id)


class CrowdStudy(models.Model):
    """A way in for people of a crowd platform, who come with parameters in the address."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="studies")
    name = models.CharField(_("name"), max_length=200)
    # The platform's own id of the study; when given, others are turned away.
    external_id = models.CharField(_("study id"), max_length=200, blank=True)
    participant_parameter = models.CharField(
        _("parameter of the participant"), max_length=60, default="PROLIFIC_PID"
    )
    study_parameter = models.CharField(
        _("parameter of the study"), max_length=60, default="STUDY_ID"
    )
    session_parameter = models.CharField(
        _("parameter of the session"), max_length=60, default="SESSION_ID"
    )
    consent = models.TextField(_("consent text"))
    pairs_each = models.PositiveIntegerField(_("pairs for each participant"))
    minutes = models.PositiveIntegerField(_("minutes allowed"))
    completion_code = models.CharField(_("completion code"), max_length=100)
    # Where the platform takes completed participants back; the code is part of it.
    completion_url = models.URLField(_("completion address"), max_length=400, blank=True)
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(pairs_each__gte=1, minutes__gte=1), name="study_pairs_and_minutes"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CrowdPlace(models.Model):
    """A participant's place in a study. The platform's id stays here: files have pseudonyms."""

    class State(models.TextChoices):
        STARTED = "started", _("started")
        COMPLETED = "completed", _("completed")
        RETURNED = "returned", _("returned")
        TIMED_OUT = "timed_out", _("timed out")

    study = models.ForeignKey(CrowdStudy, models.PROTECT, related_name="places")
    participant = models.CharField(_("participant"), max_length=200)
    session = models.CharField(_("session"), max_length=200)
    membership = models.OneToOneField(Membership, models.PROTECT, related_name="crowd_place")
    state = models.CharField(
        _("state"), max_length=10, choices=State.choices, default=State.STARTED
    )
    # What the participant agreed to.
    consent = models.TextField(_("consent text"))
    consented_at = models.DateTimeField(_("consented at"))
    ends_at = models.DateTimeField(_("ends at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "participant"], name="crowd_place_once_a_participant"
            ),
            models.CheckConstraint(
                condition=Q(state="started", ended_at=None)
                | ~Q(state="started") & Q(ended_at__isnull=False),
                name="crowd_place_ended_iff_not_started",
            ),
        ]

    def is_over(self, now: datetime) -> bool:
        """Whether the time ran out before the pairs were done, and nobody has settled that yet."""
        return self.state == self.State.STARTED and now > self.ends_at
