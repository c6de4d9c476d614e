from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.campaign import Campaign
from annotation.models.user import User


class Event(models.Model):
    """Who did what, when. Rows are never changed or deleted (migration 0002 refuses both)."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="events")
    # Empty when a command did it.
    actor = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    action = models.CharField(_("action"), max_length=60)
    data: models.JSONField[dict[str, Any]] = models.JSONField(_("details"), default=dict)
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["campaign", "-id"], name="event_newest_of_campaign")]

    def __str__(self) -> str:
        return f"{self.action} {self.at:%Y-%m-%d %H:%M}"
