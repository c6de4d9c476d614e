"""Pairs as the task page needs them."""

from __future__ import annotations

from benchmark.models import Pair


def pair_for_task(pair_id: int) -> Pair:
    """The texts and the persona, without sources, prior labels and meta: one query."""
    return (
        Pair.objects.select_related("persona")
        .only(
            "query",
            "response_a",
            "response_b",
            "persona__persona_id",
            "persona__name",
            "persona__profile",
            "persona__digest",
        )
        .get(pk=pair_id)
    )
