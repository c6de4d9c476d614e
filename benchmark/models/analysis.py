from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.run import Run


class Analysis(models.Model):
    """What a look at every vote of an aggregation found, one row a subject.

    Apart from the run's own result, which is small and read on every page.
    """

    class Subject(models.TextChoices):
        RATERS = "raters", _("raters")
        RATER_PAIRS = "rater_pairs", _("pairs of raters")
        BREAKDOWNS = "breakdowns", _("breakdowns")
        BIASES = "biases", _("biases")
        LABEL_MODEL = "label_model", _("label model")
        QUALITY = "quality", _("quality of the pairs")

    run = models.ForeignKey(Run, models.CASCADE, related_name="analyses")
    subject = models.CharField(_("subject"), max_length=20, choices=Subject.choices)
    data: models.JSONField[dict[str, Any]] = models.JSONField(_("data"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "subject"], name="analysis_once_a_subject"),
            models.CheckConstraint(
                condition=Q(
                    subject__in=[
                        *("raters", "rater_pairs", "breakdowns", "biases"),
                        *("label_model", "quality"),
                    ]
                ),
                name="analysis_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.subject}"
