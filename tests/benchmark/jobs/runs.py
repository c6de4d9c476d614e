"""Aggregations made here and now, as a worker makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.models import Campaign
from annotation.services.campaigns import import_votes_into
from benchmark.jobs.aggregate import aggregate
from benchmark.jobs.recording import recorded
from benchmark.models import CriterionVerdict, PairSet, Run, Verdict
from benchmark.stats.policy import PERSONAFEEDBACK_V1, policy_named
from tests.annotation.threads import alone
from tests.factories import add_pairs, make_campaign, vote_rows, write_jsonl


def queued_aggregation(pair_set: PairSet, policy: str = PERSONAFEEDBACK_V1.name) -> Run:
    """A run as the service makes it, without the message to a worker."""
    return Run.objects.create(
        pair_set=pair_set,
        kind=Run.Kind.AGGREGATION,
        policy=policy_named(policy).as_json(),
        version=settings.VERSION,
    )


def aggregated(pair_set: PairSet, policy: str = PERSONAFEEDBACK_V1.name) -> Run:
    run = queued_aggregation(pair_set, policy)
    recorded(run.pk, aggregate)
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    return run


def judged_campaign(
    folder: Path, *, slug: str = "cups", pairs: int, choose: Callable[[str, int, str], str]
) -> Campaign:
    """Nine raters on every pair, through the real importers."""
    campaign = make_campaign(slug)
    add_pairs(campaign, folder, pairs)
    rows = vote_rows(campaign.pair_set, raters=9, choose=choose)
    report = import_votes_into(
        campaign=campaign, path=write_jsonl(folder / f"{slug}-votes.jsonl", rows)
    )
    assert not report.problems
    return campaign


def verdict_rows(run: Run) -> list[list[Any]]:
    """All columns of the run's verdicts but their own ids and the run's."""
    rows = []
    for model in (Verdict, CriterionVerdict):
        columns = [field.attname for field in model._meta.concrete_fields if field.attname]
        columns = [name for name in columns if name not in ("id", "pk", "run_id")]
        order = [name for name in columns if name in ("pair_id", "criterion_id")]
        rows += [
            list(row)
            for row in model.objects.filter(run=run).order_by(*order).values_list(*columns)
        ]
    return rows


@contextmanager
def held_back(pair_set: PairSet) -> Iterator[None]:
    """While this lasts, an aggregation of the set starts and then waits for its snapshot."""
    with transaction.atomic():
        pair_set.lock_for_writing()
        yield


def beside(call: Callable[[], object]) -> Callable[[], None]:
    """Begin something in a thread; what is returned waits for its end and raises its exception."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(alone, call)

    def finish() -> None:
        future.result(timeout=60)
        pool.shutdown()

    return finish
