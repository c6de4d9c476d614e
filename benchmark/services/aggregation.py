"""Aggregations: asked for here, done by a worker."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from benchmark.models import PairSet, Run
from benchmark.services.policies import find_policy
from benchmark.services.workers import hand_over
from benchmark.stats.policy import PERSONAFEEDBACK_V1
from benchmark.tasks import run_aggregation

DEFAULT_POLICY = PERSONAFEEDBACK_V1.name


def start_aggregation(*, pair_set: PairSet, policy: str = DEFAULT_POLICY) -> Run:
    """Queue an aggregation; it starts when the present transaction is committed.

    One that waits already with this policy will count everything that this one would: it is given
    back instead, and its message sent again. ``policy`` is a name,
    or name@version. Raises PolicyError for a policy that does not exist.
    """
    asked = find_policy(pair_set, policy).as_json()
    with transaction.atomic():
        # Two presses of the button take turns.
        PairSet.objects.select_for_update(no_key=True).get(pk=pair_set.pk)
        waiting = Run.objects.filter(pair_set=pair_set, policy=asked).aggregations()
        run = waiting.filter(state=Run.State.QUEUED).order_by("id").first()
        if run is None:
            run = Run.objects.create(
                pair_set=pair_set,
                kind=Run.Kind.AGGREGATION,
                policy=asked,
                version=settings.VERSION,
            )
        hand_over(run_aggregation, run)
    return run
