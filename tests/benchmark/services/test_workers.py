"""Handing jobs over: with a worker, without one, and with a broker that does not answer."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from redis import Redis

from annotation.models import Campaign
from benchmark.models import Run
from benchmark.services.aggregation import start_aggregation
from benchmark.services.workers import worker_answers
from benchmark.stats.policy import PolicyError
from tests.conftest import ROOT, process_environment, wait_until
from tests.factories import add_pairs, make_campaign

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 2)
    return campaign


def waiting_messages() -> int:
    with Redis.from_url(settings.CELERY_BROKER_URL) as broker:
        return int(broker.llen("celery"))


def test_a_worker_does_the_job(campaign: Campaign, celery_worker: object) -> None:
    assert worker_answers()
    run = start_aggregation(pair_set=campaign.pair_set)
    wait_until(lambda: Run.objects.get(pk=run.pk).is_over, what="the run is over")
    run.refresh_from_db()
    assert (run.state, run.error) == (Run.State.DONE, "")
    assert run.result["pairs"] == run.verdicts.count() == 2


def test_a_job_is_handed_over_when_the_transaction_is_committed(
    campaign: Campaign, empty_queue: None
) -> None:
    with transaction.atomic():
        run = start_aggregation(pair_set=campaign.pair_set)
        assert waiting_messages() == 0
    assert waiting_messages() == 1
    with transaction.atomic():
        start_aggregation(pair_set=campaign.pair_set)
        transaction.set_rollback(True)
    assert waiting_messages() == 1
    assert Run.objects.get() == run
    assert run.state == Run.State.QUEUED


def test_a_policy_that_does_not_exist_makes_no_run(campaign: Campaign) -> None:
    with pytest.raises(PolicyError, match="there are personafeedback-v1"):
        start_aggregation(pair_set=campaign.pair_set, policy="coin-toss")
    assert not Run.objects.exists()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken, so that nobody else gets it, and at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_a_run_says_so_when_the_broker_does_not_answer(
    campaign: Campaign, closed_port: int
) -> None:
    """In a process of its own, whose settings name the dead broker from the start."""
    script = (
        "import django; django.setup()\n"
        "from benchmark.models import PairSet\n"
        "from benchmark.services.aggregation import start_aggregation\n"
        "from benchmark.services.workers import worker_answers\n"
        "run = start_aggregation(pair_set=PairSet.objects.get())\n"
        "print(run.pk, worker_answers())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=process_environment() | {"REDIS_URL": f"redis://127.0.0.1:{closed_port}/0"},
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    run = Run.objects.get()
    assert done.stdout.split() == [str(run.pk), "False"]
    assert run.state == Run.State.FAILED
    assert run.error.startswith("The queue does not answer, so no worker will see this job: ")
    assert run.finished_at is not None


def test_pressing_twice_makes_one_run(campaign: Campaign, empty_queue: None) -> None:
    first = start_aggregation(pair_set=campaign.pair_set)
    assert start_aggregation(pair_set=campaign.pair_set) == first
    other = start_aggregation(pair_set=campaign.pair_set, policy="helpfulness-v1")
    assert other != first
    Run.objects.filter(pk=first.pk).update(state=Run.State.RUNNING)
    # It may have read the votes already.
    assert start_aggregation(pair_set=campaign.pair_set) not in (first, other)
