from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.models.campaign import Campaign, Guideline
from benchmark.models import Rater


class User(AbstractUser):
    """An account. What it may do follows from its memberships alone."""

    # Of the interface; empty until one is chosen, then the browser's.
    language = models.CharField(_("language"), max_length=10, blank=True)


class Membership(models.Model):
    """One person's place in one campaign."""

    class Role(models.TextChoices):
        ANNOTATOR = "annotator", _("annotator")
        LEAD = "lead", _("campaign lead")
        RESEARCHER = "researcher", _("researcher")

    class Standing(models.TextChoices):
        ACTIVE = "active", _("active")
        # By failed checks or by the lead; the lead lets them go on.
        PAUSED = "paused", pgettext_lazy("rater", "paused")
        EXCLUDED = "excluded", _("excluded")
        # A crowd participant who returned the place or ran out of time.
        LEFT = "left", pgettext_lazy("rater", "left")

    class StandingReason(models.TextChoices):
        GOLD = "gold", _("too many gold pairs missed")
        QUALIFICATION = "qualification", _("qualification not passed")
        LEAD = "lead", _("by the campaign lead")
        RETURNED = "returned", _("returned the place")
        TIMED_OUT = "timed_out", _("ran out of time")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    role = models.CharField(_("role"), max_length=20, choices=Role.choices)
    # The pseudonym under which this person's judgements stand; annotators only.
    rater = models.OneToOneField(
        Rater, models.PROTECT, null=True, blank=True, related_name="membership"
    )
    # Position of the last pair this rater was given: the search for the next one starts behind it.
    cursor = models.IntegerField(_("cursor"), default=-1)
    # Pairs given so far in the main round, checks among them: decides when the next check is due.
    slots = models.PositiveIntegerField(_("slots"), default=0)
    standing = models.CharField(
        _("standing"), max_length=10, choices=Standing.choices, default=Standing.ACTIVE
    )
    standing_reason = models.CharField(
        _("reason"), max_length=20, choices=StandingReason.choices, blank=True
    )
    # Also when a lead let the rater go on: gold answers before that are not counted against them.
    standing_at = models.DateTimeField(_("standing since"), null=True, blank=True)
    acknowledged_version = models.PositiveIntegerField(_("guidelines acknowledged"), default=0)
    # Training and qualification are done, or there were none to do.
    ready_at = models.DateTimeField(_("ready at"), null=True, blank=True)
    # The try at the qualification that is going on.
    qualification_try = models.PositiveSmallIntegerField(_("qualification try"), default=1)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="membership_once"),
            models.CheckConstraint(
                condition=Q(role="annotator", rater__isnull=False)
                | (~Q(role="annotator") & Q(rater=None)),
                name="membership_rater_iff_annotator",
            ),
            models.CheckConstraint(
                condition=Q(standing="active") | ~Q(standing_reason=""),
                name="membership_standing_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"

    @property
    def is_active(self) -> bool:
        return self.standing == Membership.Standing.ACTIVE

    @property
    def may_watch(self) -> bool:
        """See votes, figures and progress of others."""
        return self.role in (Membership.Role.LEAD, Membership.Role.RESEARCHER)

    @property
    def may_lead(self) -> bool:
        """Start jobs and build releases."""
        return self.role == Membership.Role.LEAD


class Acknowledgement(models.Model):
    """A member has read a version of the guidelines and says so."""

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="acknowledgements")
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="acknowledgements")
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["membership", "guideline"], name="acknowledgement_once"
            ),
        ]
