"""One check has one id: training must not give away what a gold pair asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign, CheckItem
from annotation.services.campaigns import import_pairs_into
from annotation.services.check_imports import CheckImportReport, import_checks
from benchmark.models import Pair
from tests.annotation.checking import add_checks, check_row
from tests.benchmark.services.files import Rows
from tests.factories import make_campaign, pair_row, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


def run(campaign: Campaign, folder: Path, rows: Rows) -> CheckImportReport:
    return import_checks(campaign=campaign, path=write_jsonl(folder / "more.jsonl", rows))


def turned(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"response_a": row["response_b"], "response_b": row["response_a"]}


FIRST = check_row(1, "training")
GOLD = check_row(1, "gold", pair_id="gold-1")
AGAIN = [
    GOLD,
    turned(GOLD),
    check_row(1, "training", pair_id="training-1"),
    check_row(1, "qualification", pair_id="q-1", persona_id="somebody", source_a="x"),
    GOLD | {"query": " Query 901?\u200b", "response_b": GOLD["response_b"].replace(" ", "\r\n")},
]
OTHER = [
    GOLD | {"persona_id": "other", "persona": {"Name": "Somebody else"}},
    GOLD | {"query": "Another?"},
    GOLD | {"response_a": "Another."},
    GOLD | {"response_b": GOLD["response_b"].upper()},
]
SAME_WORDS = "(persona, query and both responses)"


@pytest.mark.parametrize("again", AGAIN)
def test_within_a_file(campaign: Campaign, tmp_path: Path, again: dict[str, Any]) -> None:
    before = row_digests()
    rows = [FIRST, check_row(2), again, FIRST, check_row(3, use="exam")]
    report = run(campaign, tmp_path, rows)
    assert row_digests() == before
    same, unknown = report.problems
    assert (same.file, same.line, same.field) == ("more.jsonl", 3, "pair_id")
    assert same.reason == f"{again['pair_id']} is the same as check-1 in more.jsonl:1 {SAME_WORDS}"
    # Beside what else is wrong with the file.
    assert (unknown.line, unknown.field) == (5, "use")


@pytest.mark.parametrize("again", AGAIN)
def test_beside_those_there_are(campaign: Campaign, tmp_path: Path, again: dict[str, Any]) -> None:
    add_checks(campaign, tmp_path, [check_row(0), FIRST])
    before = row_digests()
    # Once, whether or not the file has the other one, too.
    for rows, line in (([check_row(2), again], 2), ([again, FIRST], 1), ([FIRST, again], 2)):
        [problem] = run(campaign, tmp_path, rows).problems
        assert (problem.file, problem.line, problem.field) == ("more.jsonl", line, "pair_id")
        same = f"{again['pair_id']} is the same as check-1 of cups-checks {SAME_WORDS}"
        assert problem.reason == same
    assert row_digests() == before


def test_every_row_too_many_is_named(campaign: Campaign, tmp_path: Path) -> None:
    rows = [check_row(1, pair_id=f"c-{n}") for n in range(4)]
    report = run(campaign, tmp_path, rows)
    assert [problem.line for problem in report.problems] == [2, 3, 4]


@pytest.mark.parametrize("other", OTHER)
def test_what_differs_in_one_of_the_texts_is_another_check(
    campaign: Campaign, tmp_path: Path, other: dict[str, Any]
) -> None:
    assert run(campaign, tmp_path, [FIRST, other]).new_checks == 2


def test_what_is_there_twice_already_can_be_imported_again(
    campaign: Campaign, tmp_path: Path
) -> None:
    """From before this was looked at: raters may have answered both."""
    add_checks(campaign, tmp_path, [FIRST, GOLD | {"query": "Query 901"}])
    Pair.objects.filter(pair_id="gold-1").update(query=GOLD["query"])
    before = row_digests()
    assert run(campaign, tmp_path, [FIRST]).rejected == 0
    assert row_digests() == before
    assert run(campaign, tmp_path, [GOLD | {"pair_id": "one-more"}]).rejected == 1
    assert CheckItem.objects.count() == 2


def test_other_campaigns_may_have_it(campaign: Campaign, tmp_path: Path) -> None:
    add_checks(make_campaign("mugs"), tmp_path, [GOLD])
    assert run(campaign, tmp_path, [FIRST]).new_checks == 1


def test_pairs_to_be_judged_may_repeat(campaign: Campaign, tmp_path: Path) -> None:
    rows = [pair_row(0), pair_row(0, pair_id="again")]
    path = write_jsonl(tmp_path / "pairs.jsonl", rows)
    add_checks(campaign, tmp_path, [check_row(0)])
    assert import_pairs_into(campaign=campaign, paths=[path]).new_pairs == 2
