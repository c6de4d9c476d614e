from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.domain import lifecycle
from benchmark.models import PairSet


class Campaign(models.Model):
    """The work on a pair set: who may judge it, how, and whether it is open now."""

    class State(models.TextChoices):
        DRAFT = lifecycle.DRAFT, _("draft")
        OPEN = lifecycle.OPEN, pgettext_lazy("campaign", "open")
        PAUSED = lifecycle.PAUSED, _("paused")
        CLOSED = lifecycle.CLOSED, _("closed")

    pair_set = models.OneToOneField(
        PairSet, models.CASCADE, primary_key=True, related_name="campaign"
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT)
    lease_seconds = models.PositiveIntegerField(_("lease in seconds"))
    # How long the page offers to undo the last answer. Revising it is possible while open.
    undo_seconds = models.PositiveIntegerField(_("undo in seconds"), default=300)
    # Time without a sign of life counts as active up to here.
    idle_seconds = models.PositiveIntegerField(_("idle after seconds"), default=60)
    allows_skip = models.BooleanField(_("skipping allowed"), default=True)
    asks_confidence = models.BooleanField(_("asks for confidence"), default=False)
    asks_reasons = models.BooleanField(_("asks for reasons"), default=False)
    # The newest version of the guidelines, which raters must have acknowledged; 0 without any.
    guideline_version = models.PositiveIntegerField(_("version of the guidelines"), default=0)
    # Pairs with known answers, for training, qualification and gold: a set of their own, so that
    # nothing of them gets into tallies, verdicts or releases.
    checks = models.OneToOneField(
        PairSet, models.PROTECT, null=True, blank=True, related_name="checks_of"
    )
    # Shares of a rater's pairs, in percent.
    gold_percent = models.PositiveSmallIntegerField(_("gold pairs in percent"), default=0)
    repeat_percent = models.PositiveSmallIntegerField(_("repeated pairs in percent"), default=0)
    # A rater with fewer right gold answers than this is paused, once there are enough to tell.
    gold_pass_percent = models.PositiveSmallIntegerField(_("gold pass mark"), default=70)
    gold_minimum = models.PositiveSmallIntegerField(_("gold pairs before judging"), default=5)
    shows_gold_accuracy = models.BooleanField(_("raters see their gold accuracy"), default=False)
    qualification_pass_percent = models.PositiveSmallIntegerField(
        _("qualification pass mark"), default=80
    )
    qualification_tries = models.PositiveSmallIntegerField(_("qualification tries"), default=2)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(lease_seconds__gte=1), name="campaign_lease_positive"
            ),
            models.CheckConstraint(
                condition=Q(gold_percent__lte=50, repeat_percent__lte=50),
                name="campaign_at_most_half_checks",
            ),
            models.CheckConstraint(
                condition=Q(gold_pass_percent__lte=100, qualification_pass_percent__lte=100),
                name="campaign_pass_marks_in_percent",
            ),
            models.CheckConstraint(
                condition=Q(gold_minimum__gte=1, qualification_tries__gte=1),
                name="campaign_checks_at_least_one",
            ),
        ]

    def __str__(self) -> str:
        return self.pair_set.name

    @property
    def slug(self) -> str:
        return self.pair_set.slug

    @property
    def is_open(self) -> bool:
        return self.state == Campaign.State.OPEN


class Guideline(models.Model):
    """One version of what raters are told, in Markdown."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField(_("version"))
    body = models.TextField(_("text"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="guideline_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id} v{self.version}"


class Flag(models.Model):
    """A rater tells the lead that something is wrong with a pair. Resolving it keeps the row."""

    class Target(models.TextChoices):
        PERSONA = "persona", _("the profile")
        QUERY = "query", _("the question")
        A = "A", _("response A")
        B = "B", _("response B")

    class Kind(models.TextChoices):
        BROKEN = "broken", _("broken or unreadable")
        WRONG = "wrong", _("wrong or contradictory")
        UNSAFE = "unsafe", _("unsafe or offensive")
        PRIVATE = "private", _("private information")
        OTHER = "other", _("something else")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="flags")
    # By strings: seats and people are defined above campaigns.
    assignment = models.ForeignKey("annotation.Assignment", models.PROTECT, related_name="flags")
    target = models.CharField(_("about"), max_length=10, choices=Target.choices)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    comment = models.TextField(_("comment"), blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    resolved_at = models.DateTimeField(_("resolved at"), null=True, blank=True)
    resolved_by = models.ForeignKey(
        "annotation.User", models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "target", "kind"],
                condition=Q(resolved_at=None),
                name="flag_once_while_unresolved",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at=None, resolved_by=None)
                | Q(resolved_at__isnull=False, resolved_by__isnull=False),
                name="flag_resolved_by_somebody",
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "-id"],
                condition=Q(resolved_at=None),
                name="flag_unresolved_of_campaign",
            )
        ]

    def __str__(self) -> str:
        return f"{self.target} {self.kind}"
