from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.judgement import Side
from benchmark.models.pair import Pair
from benchmark.models.pair_set import Criterion
from benchmark.models.run import Run


class Tier(models.TextChoices):
    EASY = "easy", _("easy")
    MEDIUM = "medium", _("medium")
    HARD = "hard", _("hard")


class Status(models.TextChoices):
    DECIDED = "decided", _("decided")
    TIED = "tied", _("tied")
    INSUFFICIENT = "insufficient", _("too few votes")
    CONFLICT = "conflict", _("criteria disagree")


class Verdict(models.Model):
    """What a run's policy makes of one pair's tallies."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="verdicts")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="verdicts")
    status = models.CharField(_("status"), max_length=12, choices=Status.choices)
    chosen = models.CharField(_("chosen"), max_length=1, choices=Side.choices, blank=True)
    tier = models.CharField(_("tier"), max_length=6, choices=Tier.choices, blank=True)
    is_provisional = models.BooleanField(_("provisional"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "pair"], name="verdict_once_a_run_and_pair"),
            models.CheckConstraint(
                condition=(Q(status="decided") & ~Q(chosen=""))
                | (~Q(status="decided") & Q(chosen="", tier="")),
                name="verdict_chosen_iff_decided",
            ),
        ]


class CriterionVerdict(models.Model):
    """The part of a verdict that one criterion gives, with the counts it was made from.

    Item agreement is P = s / m with s = sum x(x-1) and m = n(n-1) over the A and B votes, and
    k = 2P - 1 (statistics, section 5); both are kept as integers.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="criterion_verdicts")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="+")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="+")
    a = models.PositiveIntegerField(_("A"))
    b = models.PositiveIntegerField(_("B"))
    tie = models.PositiveIntegerField(_("tie"))
    skip = models.PositiveIntegerField(_("skip"))
    status = models.CharField(_("status"), max_length=12, choices=Status.choices)
    winner = models.CharField(_("winner"), max_length=1, choices=Side.choices, blank=True)
    margin = models.PositiveIntegerField(_("margin"))
    s = models.PositiveBigIntegerField()
    m = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "pair", "criterion"], name="criterion_verdict_once"
            ),
        ]

    @property
    def k(self) -> float | None:
        """Item agreement with chance fixed at one half; None below two votes."""
        return 2 * self.s / self.m - 1 if self.m else None
