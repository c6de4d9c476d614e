"""Verdicts of earlier versions keep their rows, and go back to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from benchmark.models import Run
from tests.benchmark.jobs.runs import aggregated, judged_campaign

pytestmark = pytest.mark.django_db(transaction=True)

SPLITS = {"pair-0": 9, "pair-1": 9, "pair-2": 5, "pair-3": 0}
COLUMNS = "run_id, pair_id, criterion_id, a, b, tie, skip, status, winner, margin, s, m"


@pytest.fixture
def newest_after() -> Iterator[None]:
    yield
    call_command("migrate", "benchmark", verbosity=0)


def rows(columns: str, table: str, order: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM benchmark_{table} ORDER BY {order}")
        return list(cursor.fetchall())


def test_verdicts_by_pair_become_verdicts_by_pattern_and_back(
    tmp_path: Path, newest_after: None
) -> None:
    campaign = judged_campaign(
        tmp_path,
        pairs=4,
        choose=lambda pair, rater, criterion: "A" if rater < SPLITS[pair] else "B",
    )
    first = aggregated(campaign.pair_set)
    aggregated(campaign.pair_set, "helpfulness-v1")
    by_pair = rows(COLUMNS, "criterionverdict", "1, 2, 3")
    verdicts = rows("run_id, pair_id, status, tier", "verdict", "1, 2")
    assert len(by_pair) == 2 * 4 * 2
    call_command("migrate", "benchmark", "0003", verbosity=0)
    assert rows(COLUMNS, "criterionverdict", "1, 2, 3") == by_pair
    assert rows("policy -> 'bands' ? 'chance'", "run", "id") == [(False,), (False,)]
    call_command("migrate", "benchmark", verbosity=0)
    assert rows(COLUMNS, "criterionverdict", "1, 2, 3") == by_pair
    assert rows("run_id, pair_id, status, tier", "verdict", "1, 2") == verdicts
    # Pairs with the same counts share a pattern: 9-0, 5-4 and 0-9.
    assert rows("count(*)", "patternverdict", "1") == [(2 * 3 * 2,)]
    assert Run.objects.get(pk=first.pk).policy["bands"]["chance"] == [1, 2]
