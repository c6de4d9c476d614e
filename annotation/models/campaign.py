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
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(lease_seconds__gte=1), name="campaign_lease_positive"
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
