from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.pair import Pair


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def in_force(self) -> AdjudicationQuerySet:
        return self.filter(revoked_at=None)


class Adjudication(models.Model):
    """A decision on a pair that its votes leave open, or to leave a pair out.

    The votes stay what they are. The next aggregation takes the response named here where the votes
    name none; a withdrawn pair is no case whatever its votes say.
    """

    class Decision(models.TextChoices):
        A = "A", "A"
        B = "B", "B"
        WITHDRAWN = "withdrawn", _("left out")

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="adjudications")
    decision = models.CharField(_("decision"), max_length=9, choices=Decision.choices)
    reason = models.TextField(_("reason"))
    # Names as they were: this package knows no accounts.
    by = models.CharField(_("by"), max_length=200)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    revoked_by = models.CharField(_("revoked by"), max_length=200, blank=True)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair"], condition=Q(revoked_at=None), name="adjudication_once_a_pair"
            ),
            models.CheckConstraint(
                condition=Q(decision__in=["A", "B", "withdrawn"]), name="adjudication_decision"
            ),
            models.CheckConstraint(
                condition=Q(revoked_at=None, revoked_by="")
                | (Q(revoked_at__isnull=False) & ~Q(revoked_by="")),
                name="adjudication_revoked_by_somebody",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="adjudication_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.pair_id} {self.decision}"
