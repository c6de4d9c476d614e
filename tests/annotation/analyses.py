"""Analyses of a run made here and now, without a job around them."""

from __future__ import annotations

from benchmark.jobs.analysis import SUBJECTS
from benchmark.jobs.analysis_material import material
from benchmark.models import Analysis, Run

OF_VOTES = (
    Analysis.Subject.BREAKDOWNS,
    Analysis.Subject.BIASES,
    Analysis.Subject.RATERS,
    Analysis.Subject.RATER_PAIRS,
    Analysis.Subject.LABEL_MODEL,
)


def analysed(run: Run) -> Run:
    """The run, with the analyses that look at votes."""
    found = material(run)
    Analysis.objects.bulk_create(
        Analysis(run=run, subject=subject, data=SUBJECTS[subject](found)) for subject in OF_VOTES
    )
    return run
