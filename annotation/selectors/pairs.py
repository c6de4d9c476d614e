"""Pairs as the task page needs them."""

from __future__ import annotations

from benchmark.models import Criterion, Pair, PairSet


def pair_for_task(pair_id: int) -> Pair:
    """The texts and the persona, without sources, prior labels and meta: one query."""
    return (
        Pair.objects.select_related("persona")
        .only(
            "query",
            "response_a",
            "response_b",
            "persona__name",
            "persona__profile",
            "persona__digest",
        )
        .get(pk=pair_id)
    )


def criteria_of(pair_set: PairSet) -> list[Criterion]:
    return list(Criterion.objects.filter(pair_set=pair_set).order_by("position", "id"))
