"""Aggregations: asked for here, done by a worker."""

from __future__ import annotations

from django.conf import settings

from benchmark.models import PairSet, Run
from benchmark.services.workers import hand_over
from benchmark.stats.policy import PERSONAFEEDBACK_V1, policy_named
from benchmark.tasks import run_aggregation

DEFAULT_POLICY = PERSONAFEEDBACK_V1.name


def start_aggregation(*, pair_set: PairSet, policy: str = DEFAULT_POLICY) -> Run:
    """Queue an aggregation; it starts when the present transaction is committed.

    Raises PolicyError for a policy that does not exist.
    """
    run = Run.objects.create(
        pair_set=pair_set,
        kind=Run.Kind.AGGREGATION,
        policy=policy_named(policy).as_json(),
        version=settings.VERSION,
    )
    hand_over(run_aggregation, run)
    return run
