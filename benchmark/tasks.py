"""Shells around the jobs: an id in, the run row around one call."""

from __future__ import annotations

from celery import shared_task

from benchmark.jobs.aggregate import aggregate
from benchmark.jobs.recording import recorded
from benchmark.jobs.release import build_release


@shared_task
def run_aggregation(run_id: int) -> None:
    """Verdicts for a run. Delivered twice, it leaves a finished run alone."""
    recorded(run_id, aggregate)


@shared_task
def run_release(run_id: int) -> None:
    """The files of the run's release. Delivered twice, it leaves a finished run alone."""
    recorded(run_id, build_release)
