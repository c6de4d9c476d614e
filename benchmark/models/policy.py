from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.pair_set import PairSet
from benchmark.stats.policy import Policy


class SavedPolicy(models.Model):
    """A policy that was made for a set. It never changes: other rules are another version."""

    pair_set = models.ForeignKey(PairSet, models.CASCADE, related_name="policies")
    name = models.CharField(_("name"), max_length=80)
    version = models.PositiveIntegerField(_("version"))
    # `benchmark.stats.policy.Policy.as_json`, name and version included.
    rules: models.JSONField[dict[str, Any]] = models.JSONField(_("rules"))
    note = models.CharField(_("note"), max_length=400, blank=True)
    by = models.CharField(_("by"), max_length=200)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair_set", "name", "version"], name="policy_version_once"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="policy_version_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def policy(self) -> Policy:
        return Policy.from_json(self.rules)
