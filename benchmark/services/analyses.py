"""Analyses: what every vote of an aggregation says about raters, groups of pairs and biases."""

from __future__ import annotations

from benchmark.models import Run
from benchmark.services.workers import hand_over
from benchmark.tasks import analysis_of, run_analysis


def start_analysis(*, run: Run) -> Run:
    """Queue the analysis of a finished aggregation, once; again after one that failed."""
    analysis = analysis_of(run)
    if analysis.state == Run.State.FAILED:
        Run.objects.filter(pk=analysis.pk, state=Run.State.FAILED).update(
            state=Run.State.QUEUED, error="", done_steps=0, started_at=None, finished_at=None
        )
        analysis.refresh_from_db()
    if not analysis.is_over:
        hand_over(run_analysis, analysis)
    return analysis
