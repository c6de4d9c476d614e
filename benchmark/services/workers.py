"""Handing jobs to workers, and whether there are any."""

from __future__ import annotations

from functools import partial

from celery import Task, current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from benchmark.models import Run


def hand_over(task: Task[..., None], run: Run) -> None:
    """Queue the run, by its id, once the present transaction is committed.

    This is `delay_on_commit` with an answer to a broker that does not take the message: the run
    says so instead of waiting for ever.
    """
    transaction.on_commit(partial(_publish, task, run.pk))


def _publish(task: Task[..., None], run_id: int) -> None:
    try:
        task.delay(run_id)
    except OperationalError as error:
        Run.objects.filter(pk=run_id).update(
            state=Run.State.FAILED,
            error=f"The queue does not answer, so no worker will see this job: {error}",
            finished_at=timezone.now(),
        )


def worker_answers(*, timeout: float = 2.0) -> bool:
    """Ask all workers for a sign of life; False when none answers in ``timeout`` seconds."""
    try:
        return bool(current_app.control.ping(timeout=timeout))
    except OperationalError:
        return False
