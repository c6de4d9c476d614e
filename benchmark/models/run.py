from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmark.models.exclusion import Exclusion
from benchmark.models.pair_set import PairSet


class RunQuerySet(models.QuerySet["Run"]):
    def aggregations(self) -> RunQuerySet:
        return self.filter(kind=Run.Kind.AGGREGATION)

    def done(self) -> RunQuerySet:
        return self.filter(state=Run.State.DONE)

    def unfinished(self) -> RunQuerySet:
        return self.filter(state__in=[Run.State.QUEUED, Run.State.RUNNING])

    def for_list(self) -> RunQuerySet:
        """Without what may be large."""
        return self.defer("patterns")

    def newest_first(self) -> RunQuerySet:
        return self.order_by("-id")


class Run(models.Model):
    """One background job: what it was asked, how far it is, what came of it.

    An aggregation holds what reproduces its verdicts: the policy as data, the newest judgement it
    counted, whose votes it left out, the digest of the tallies it read, and the code's version. An
    analysis looks at every vote that an aggregation counted.
    """

    class Kind(models.TextChoices):
        AGGREGATION = "aggregation", _("aggregation")
        RELEASE = "release", _("release")
        ANALYSIS = "analysis", _("analysis")

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    pair_set = models.ForeignKey(PairSet, models.CASCADE, related_name="runs")
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    state = models.CharField(_("state"), max_length=20, choices=State.choices, default=State.QUEUED)
    done_steps = models.PositiveIntegerField(_("steps done"), default=0)
    total_steps = models.PositiveIntegerField(_("steps in all"), default=0)
    error = models.TextField(_("error"), blank=True)
    policy: models.JSONField[dict[str, Any]] = models.JSONField(_("policy"), default=dict)
    last_judgement = models.BigIntegerField(_("newest judgement counted"), null=True, blank=True)
    digest = models.CharField(_("data digest"), max_length=64, blank=True)
    version = models.CharField(_("code version"), max_length=40)
    exclusions = models.ManyToManyField(Exclusion, related_name="runs", verbose_name=_("left out"))
    # The aggregation that an analysis is about.
    of = models.OneToOneField(
        "self", models.CASCADE, null=True, blank=True, related_name="analysis"
    )
    result: models.JSONField[dict[str, Any]] = models.JSONField(_("result"), default=dict)
    # The patterns of counts that an aggregation decided on (benchmark.stats.patterns.Patterns).
    patterns: models.JSONField[dict[str, Any]] = models.JSONField(_("patterns"), default=dict)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(done_steps__lte=models.F("total_steps")), name="run_steps_in_range"
            ),
            models.CheckConstraint(
                condition=Q(kind="analysis", of__isnull=False) | (~Q(kind="analysis") & Q(of=None)),
                name="run_of_iff_analysis",
            ),
        ]
        indexes = [models.Index(fields=["pair_set", "kind", "-id"], name="run_newest_of_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state in (Run.State.DONE, Run.State.FAILED)

    @property
    def percent(self) -> int:
        return 100 * self.done_steps // self.total_steps if self.total_steps else 0

    @property
    def seconds(self) -> float | None:
        """Run time so far, or in all; None before the start."""
        if self.started_at is None:
            return None
        return ((self.finished_at or timezone.now()) - self.started_at).total_seconds()
