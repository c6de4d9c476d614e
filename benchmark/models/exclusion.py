from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.judgement import Rater
from benchmark.models.pair import Pair


class ExclusionQuerySet(models.QuerySet["Exclusion"]):
    def in_force(self) -> ExclusionQuerySet:
        return self.filter(lifted_at=None)


class Exclusion(models.Model):
    """Votes that the next aggregation leaves out: a rater's, or one judgement of theirs.

    A mark and no deletion: the votes stay, and lifting it brings them back. With a pair it holds
    for every revision of that judgement.
    """

    rater = models.ForeignKey(Rater, models.CASCADE, related_name="exclusions")
    pair = models.ForeignKey(Pair, models.CASCADE, null=True, blank=True, related_name="exclusions")
    reason = models.TextField(_("reason"))
    # Names as they were: this package knows no accounts.
    by = models.CharField(_("by"), max_length=200)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    lifted_at = models.DateTimeField(_("lifted at"), null=True, blank=True)
    lifted_by = models.CharField(_("lifted by"), max_length=200, blank=True)

    objects = ExclusionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater"],
                condition=Q(pair=None, lifted_at=None),
                name="exclusion_once_a_rater",
            ),
            models.UniqueConstraint(
                fields=["rater", "pair"],
                condition=Q(pair__isnull=False, lifted_at=None),
                name="exclusion_once_a_judgement",
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lifted_by="")
                | (Q(lifted_at__isnull=False) & ~Q(lifted_by="")),
                name="exclusion_lifted_by_somebody",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="exclusion_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} {self.pair_id or ''}".strip()
