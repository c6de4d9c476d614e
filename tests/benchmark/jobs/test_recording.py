"""The run row around a job, when all goes well, when messages come twice, when workers die."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from django.db import connection

from benchmark.jobs.aggregate import Progress, aggregate
from benchmark.jobs.recording import RunBusy, recorded
from benchmark.models import PairSet, Run, Verdict
from benchmark.services.aggregation import start_aggregation
from benchmark.stats.policy import PolicyError
from tests.annotation.threads import together
from tests.benchmark.jobs.runs import (
    aggregated,
    beside,
    held_back,
    judged_campaign,
    queued_aggregation,
    verdict_rows,
)
from tests.conftest import wait_until, worker_process

pytestmark = pytest.mark.django_db(transaction=True)

# First half of the advisory lock of a run; see benchmark.jobs.recording.
RUN_LOCK = 7_002


@pytest.fixture
def pair_set(transactional_db: None, tmp_path: Path) -> PairSet:
    return judged_campaign(tmp_path, pairs=4, choose=lambda pair, rater, key: "A").pair_set


def state_of(run: Run) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run.pk)


def is_locked(run: Run) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks JOIN pg_database db ON db.oid = database"
            " WHERE datname = current_database() AND locktype = 'advisory'"
            " AND classid = %s AND objid = %s AND granted)",
            [RUN_LOCK, run.pk],
        )
        return bool(cursor.fetchone()[0])


def test_a_run_records_its_times_version_and_progress(pair_set: PairSet) -> None:
    run = queued_aggregation(pair_set)
    Run.objects.filter(pk=run.pk).update(version="0.0.0")
    told: list[tuple[str, int, int]] = []

    def job(run: Run, *, progress: Progress) -> None:
        aggregate(run, progress=progress)
        found = Run.objects.get(pk=run.pk)
        told.append((found.state, found.done_steps, found.total_steps))

    recorded(run.pk, job)
    run.refresh_from_db()
    assert told == [("running", 4, 4)]
    assert (run.state, run.percent, run.error) == (Run.State.DONE, 100, "")
    assert run.started_at is not None
    assert run.finished_at is not None
    assert run.created_at <= run.started_at <= run.finished_at
    assert run.version != "0.0.0"  # the code that did it, not the code that asked for it


def test_an_error_is_recorded_and_raised(pair_set: PairSet) -> None:
    run = queued_aggregation(pair_set)
    Run.objects.filter(pk=run.pk).update(policy={"name": "half"})
    with pytest.raises(PolicyError):
        recorded(run.pk, aggregate)
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.error.startswith("PolicyError: policy: missing ")
    assert run.finished_at is not None
    assert not is_locked(run)


def test_a_run_that_is_over_is_left_alone(pair_set: PairSet) -> None:
    done = aggregated(pair_set)
    failed = queued_aggregation(pair_set)
    Run.objects.filter(pk=failed.pk).update(state=Run.State.FAILED, error="as it was")
    before = list(Run.objects.order_by("id").values()), list(Verdict.objects.values())
    for run in (done, failed):
        recorded(run.pk, aggregate)
    recorded(failed.pk + 1, aggregate)  # gone
    assert (list(Run.objects.order_by("id").values()), list(Verdict.objects.values())) == before


def test_of_two_processes_at_one_run_the_second_steps_back(pair_set: PairSet) -> None:
    run = queued_aggregation(pair_set)
    with held_back(pair_set):
        finish = beside(lambda: recorded(run.pk, aggregate))
        wait_until(lambda: state_of(run) == Run.State.RUNNING, what="the first has begun")
        with pytest.raises(RunBusy):
            together(lambda: recorded(run.pk, aggregate))
        assert state_of(run) == Run.State.RUNNING
    finish()
    assert state_of(run) == Run.State.DONE
    assert verdict_rows(run) == verdict_rows(aggregated(pair_set))


def test_a_worker_takes_up_what_a_killed_one_left(
    pair_set: PairSet, empty_queue: None, tmp_path: Path
) -> None:
    """Although the broker holds the message back, and the dead process's lock is not gone yet."""
    run = start_aggregation(pair_set=pair_set)
    log = tmp_path / "second.log"
    with ExitStack() as stack:
        with held_back(pair_set):
            with worker_process(tmp_path / "first.log") as first:
                wait_until(lambda: state_of(run) == Run.State.RUNNING, what="the job has begun")
                os.killpg(first.pid, signal.SIGKILL)
                first.wait()
            assert state_of(run) == Run.State.RUNNING
            assert is_locked(run)  # the database has not noticed that the process is gone
            stack.enter_context(worker_process(log))
            wait_until(lambda: "RunBusy" in log.read_text(), what="the second worker is told")
        wait_until(lambda: state_of(run) == Run.State.DONE, what="the second worker is done")
    assert verdict_rows(run) == verdict_rows(aggregated(pair_set))


def test_a_worker_takes_up_a_run_that_never_reached_the_queue(
    pair_set: PairSet, empty_queue: None, tmp_path: Path
) -> None:
    run = queued_aggregation(pair_set)
    with worker_process(tmp_path / "worker.log"):
        wait_until(lambda: state_of(run) == Run.State.DONE, what="the worker has found it")


def test_a_killed_process_of_a_worker_is_replaced_and_its_job_done(
    pair_set: PairSet, empty_queue: None, tmp_path: Path
) -> None:
    run = start_aggregation(pair_set=pair_set)
    log = tmp_path / "worker.log"
    with ExitStack() as stack:
        with held_back(pair_set):
            worker = stack.enter_context(worker_process(log))
            wait_until(lambda: state_of(run) == Run.State.RUNNING, what="the job has begun")
            (child,) = psutil.Process(worker.pid).children()
            child.kill()
            wait_until(lambda: "RunBusy" in log.read_text(), what="the next process is told")
        wait_until(lambda: state_of(run) == Run.State.DONE, what="the next process is done")


def test_a_job_that_takes_too_long_fails_and_says_so(
    pair_set: PairSet, empty_queue: None, tmp_path: Path
) -> None:
    run = queued_aggregation(pair_set)  # the worker finds it; a message would bring our limits
    with (
        held_back(pair_set),
        worker_process(tmp_path / "worker.log", JOB_SECONDS="10"),
    ):
        wait_until(lambda: state_of(run) == Run.State.FAILED, what="the time limit")
    run.refresh_from_db()
    assert run.error.startswith("SoftTimeLimitExceeded")
