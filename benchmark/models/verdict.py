from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.adjudication import Adjudication
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
    WITHDRAWN = "withdrawn", _("left out")


class Verdict(models.Model):
    """What a run's policy makes of one pair's tallies."""

    # The unique constraint begins with the run: one index of the two is enough.
    run = models.ForeignKey(Run, models.CASCADE, related_name="verdicts", db_index=False)
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="verdicts")
    status = models.CharField(_("status"), max_length=12, choices=Status.choices)
    chosen = models.CharField(_("chosen"), max_length=1, choices=Side.choices, blank=True)
    tier = models.CharField(_("tier"), max_length=6, choices=Tier.choices, blank=True)
    is_provisional = models.BooleanField(_("provisional"))
    # Whose counts the pair shows: the run's PatternVerdict rows of that number, one a criterion.
    pattern = models.PositiveIntegerField(_("pattern"))
    # Where the status is that of an adjudication and not of the votes.
    adjudication = models.ForeignKey(
        Adjudication, models.PROTECT, null=True, blank=True, related_name="verdicts"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "pair"], name="verdict_once_a_run_and_pair"),
            models.CheckConstraint(
                condition=(Q(status="decided") & ~Q(chosen=""))
                | (~Q(status="decided") & Q(chosen="", tier="")),
                name="verdict_chosen_iff_decided",
            ),
        ]


class PatternVerdict(models.Model):
    """What a run makes of one criterion wherever the counts show a pattern.

    Pairs whose counts are the same on all criteria share a pattern, so a run has a few thousand of
    these at most, whatever the number of its pairs. Item agreement is P = s / m with
    s = sum x(x-1) and m = n(n-1) over the A and B votes; both are kept as integers, since k depends
    on the policy's chance term.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="pattern_verdicts", db_index=False)
    pattern = models.PositiveIntegerField(_("pattern"))
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
                fields=["run", "pattern", "criterion"], name="pattern_verdict_once"
            ),
        ]


class CriterionVerdict(models.Model):
    """The part of a pair's verdict that one criterion gives; columns of `PatternVerdict`.

    A view of verdicts and their patterns (migration 0004): nothing is written here.
    """

    pk = models.CompositePrimaryKey("run_id", "pair_id", "criterion_id")
    run = models.ForeignKey(Run, models.DO_NOTHING, related_name="criterion_verdicts")
    pair = models.ForeignKey(Pair, models.DO_NOTHING, related_name="+")
    criterion = models.ForeignKey(Criterion, models.DO_NOTHING, related_name="+")
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
        managed = False
        db_table = "benchmark_criterionverdict"
