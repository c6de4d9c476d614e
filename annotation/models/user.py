from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.campaign import Campaign
from benchmark.models import Rater


class User(AbstractUser):
    """An account. What it may do follows from its memberships alone."""


class Membership(models.Model):
    """One person's place in one campaign."""

    class Role(models.TextChoices):
        ANNOTATOR = "annotator", _("annotator")
        LEAD = "lead", _("campaign lead")
        RESEARCHER = "researcher", _("researcher")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    role = models.CharField(_("role"), max_length=20, choices=Role.choices)
    # The pseudonym under which this person's judgements stand; annotators only.
    rater = models.OneToOneField(
        Rater, models.PROTECT, null=True, blank=True, related_name="membership"
    )
    # Position of the last pair this rater was given: the search for the next one starts behind it.
    cursor = models.IntegerField(_("cursor"), default=-1)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="membership_once"),
            models.CheckConstraint(
                condition=Q(role="annotator", rater__isnull=False)
                | (~Q(role="annotator") & Q(rater=None)),
                name="membership_rater_iff_annotator",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"

    @property
    def may_watch(self) -> bool:
        """See votes, figures and progress of others."""
        return self.role in (Membership.Role.LEAD, Membership.Role.RESEARCHER)

    @property
    def may_lead(self) -> bool:
        """Start jobs and build releases."""
        return self.role == Membership.Role.LEAD
