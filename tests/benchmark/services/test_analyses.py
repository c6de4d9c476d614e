"""An aggregation by a real worker is followed by its analysis, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.models import Analysis, Run
from benchmark.services.aggregation import start_aggregation
from benchmark.services.analyses import start_analysis
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def all_done() -> bool:
    return Run.objects.done().filter(kind=Run.Kind.ANALYSIS).exists()


def test_a_worker_analyses_what_it_has_aggregated(tmp_path: Path, celery_worker: object) -> None:
    campaign = judged_campaign(tmp_path, pairs=3, choose=lambda pair, rater, criterion: "A")
    run = start_aggregation(pair_set=campaign.pair_set)
    wait_until(all_done, what="the analysis is done")
    assert set(Analysis.objects.filter(run=run).values_list("subject", flat=True)) == set(
        Analysis.Subject.values
    )
    # Asked for again, there is nothing left to do.
    assert start_analysis(run=run).state == Run.State.DONE
    assert Run.objects.filter(of=run).count() == 1


def test_a_failed_analysis_can_be_started_again(tmp_path: Path, celery_worker: object) -> None:
    campaign = judged_campaign(tmp_path, pairs=1, choose=lambda pair, rater, criterion: "B")
    run = aggregated(campaign.pair_set)
    Run.objects.create(
        pair_set=campaign.pair_set,
        kind=Run.Kind.ANALYSIS,
        of=run,
        state=Run.State.FAILED,
        error="the disk was full",
        version="1",
    )
    start_analysis(run=run)
    wait_until(all_done, what="the analysis is done")
    assert Run.objects.get(of=run).error == ""
