"""The run row around a job."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from django.conf import settings
from django.db import connection
from django.utils import timezone

from benchmark.models import Run

logger = logging.getLogger(__name__)

# Progress is written to the database at most this often.
PROGRESS_SECONDS = 0.5
# First half of the advisory lock that one run is worked on by one process; the second is its id.
_LOCK = 7_002


class RunBusy(Exception):
    """Another process works on the run, or has just died and its lock is not gone yet."""


class Job(Protocol):
    def __call__(self, run: Run, *, progress: Callable[[int, int], None]) -> None: ...


def recorded(run_id: int, job: Job) -> None:
    """Do the job and record its state, progress and error in the run; an error is raised again.

    A message may come twice (a worker that was killed, a broker that lost patience): a run that is
    over is left alone, and of two processes at the same run the second gets RunBusy.
    """
    # Held by this connection, so it is gone when the process is.
    if not _lock("pg_try_advisory_lock", run_id):
        raise RunBusy(f"Run {run_id} is being worked on by another process")
    try:
        _record(run_id, job)
    finally:
        if connection.is_usable():
            _lock("pg_advisory_unlock", run_id)


def _lock(function: str, run_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [_LOCK, run_id])
        done: bool = cursor.fetchone()[0]
    return done


def _record(run_id: int, job: Job) -> None:
    run = Run.objects.select_related("pair_set").filter(pk=run_id).first()
    if run is None or run.is_over:
        logger.info("Run %s is over or gone", run_id)
        return
    run.state = Run.State.RUNNING
    run.started_at = timezone.now()
    run.version = settings.VERSION
    run.save(update_fields=["state", "started_at", "version"])
    try:
        job(run, progress=_reporter(run_id))
    except BaseException as error:
        # Also time limits and shutdown: the row must not say "running" when nothing runs. They come
        # in the middle of a statement, after which its connection takes no other.
        if not connection.is_usable():
            connection.close()
        Run.objects.filter(pk=run_id).update(
            state=Run.State.FAILED,
            error=f"{type(error).__name__}: {error}".strip(": "),
            finished_at=timezone.now(),
        )
        raise
    run.state = Run.State.DONE
    run.finished_at = timezone.now()
    run.done_steps = run.total_steps = max(run.total_steps, 1)
    run.save()


def _reporter(run_id: int) -> Callable[[int, int], None]:
    written_at = 0.0

    def report(done: int, total: int) -> None:
        nonlocal written_at
        if time.monotonic() - written_at >= PROGRESS_SECONDS or done == total:
            written_at = time.monotonic()
            Run.objects.filter(pk=run_id).update(done_steps=done, total_steps=total)

    return report
