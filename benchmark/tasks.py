"""Shells around the jobs: an id in, the run row around one call."""

from __future__ import annotations

from functools import partial

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.db import connection

from benchmark.jobs.aggregate import aggregate
from benchmark.jobs.analysis import analyse
from benchmark.jobs.recording import RunBusy, recorded
from benchmark.jobs.release import build_release
from benchmark.models import Run

# A run that is busy is asked for again, for as long as it takes: its process may die before the end
# (then this message does the work) or reach it (then there is nothing left to do).
_job = partial(shared_task, autoretry_for=(RunBusy,), max_retries=None, default_retry_delay=5)


@_job
def run_aggregation(run_id: int) -> None:
    """Verdicts for a run, then its analysis. Delivered twice, it leaves a finished run alone."""
    recorded(run_id, aggregate)
    run = Run.objects.filter(pk=run_id, state=Run.State.DONE).first()
    if run is not None:
        analysis = analysis_of(run)
        if not analysis.is_over:
            run_analysis.delay(analysis.pk)


@_job
def run_analysis(run_id: int) -> None:
    """What every vote of an aggregation says. Delivered twice, it leaves a finished run alone."""
    recorded(run_id, analyse)


def analysis_of(run: Run) -> Run:
    """The row of an aggregation's analysis, made if there is none yet."""
    analysis, _ = Run.objects.get_or_create(
        of=run,
        defaults={
            "pair_set_id": run.pair_set_id,
            "kind": Run.Kind.ANALYSIS,
            "version": settings.VERSION,
        },
    )
    return analysis


@_job
def run_release(run_id: int) -> None:
    """The files of the run's release. Delivered twice, it leaves a finished run alone."""
    recorded(run_id, build_release)


TASKS = {
    Run.Kind.AGGREGATION: run_aggregation,
    Run.Kind.ANALYSIS: run_analysis,
    Run.Kind.RELEASE: run_release,
}


@worker_ready.connect
def take_up_unfinished(**signal: object) -> None:
    """Queue again what was left by a worker that was killed.

    The broker would hand its messages out again too, but only after the visibility timeout.
    """
    for run, kind in Run.objects.unfinished().order_by("id").values_list("id", "kind"):
        TASKS[Run.Kind(kind)].delay(run)
    connection.close()  # processes that the worker forks later must not share it
