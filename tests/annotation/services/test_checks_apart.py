"""A pair is either judged or a check: raters could not tell the one from the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign
from annotation.services.campaigns import import_pairs_into
from annotation.services.check_imports import CheckImportReport, import_checks
from benchmark.models import Pair
from benchmark.services.pair_imports import PairImportReport
from tests.annotation.checking import add_checks, check_row
from tests.annotation.threads import together
from tests.benchmark.services.files import Rows
from tests.factories import make_campaign, pair_row, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


def as_pair(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The pair of a checks row, to be judged."""
    known = ("use", "expected_helpfulness", "expected_personalization", "explanation")
    return {name: row[name] for name in row if name not in known} | {"pair_id": "pair-x"} | changes


def turned(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"response_a": row["response_b"], "response_b": row["response_a"]}


def run(campaign: Campaign, folder: Path, rows: Rows) -> CheckImportReport:
    return import_checks(campaign=campaign, path=write_jsonl(folder / "checks.jsonl", rows))


def run_pairs(campaign: Campaign, folder: Path, rows: Rows, **options: Any) -> PairImportReport:
    path = write_jsonl(folder / "pairs.jsonl", rows)
    return import_pairs_into(campaign=campaign, paths=[path], **options)


# Under another id, and whatever else is known of it.
SAME: list[dict[str, Any]] = [
    as_pair(check_row(1)),
    turned(as_pair(check_row(1))),
    as_pair(check_row(1), persona_id="somebody", pair_id="check-1"),
    as_pair(check_row(1), source_a="x", source_b="y", query_kind="", note="of another file"),
    # Only a machine tells these from it.
    as_pair(check_row(1), query="\ufeffQuery\xa0901?\r\n"),
    as_pair(check_row(1), response_a="Response  of one\u3000kind to 901. "),
    as_pair(check_row(1), response_b="Response of ano\u200bther\U000e0100 kind\tto\r\n901.\u3164"),
]
# Something else for a rater to judge.
OTHER: list[dict[str, Any]] = [
    as_pair(check_row(1), persona_id="other", persona={"Name": "Somebody else"}),
    as_pair(check_row(1), query="Another?"),
    as_pair(check_row(1), response_a="Another."),
    as_pair(check_row(1), response_b="Another."),
    as_pair(check_row(1), query="query 901?"),
    as_pair(check_row(1), query="Query 901\uff1f"),
]
SAME_WORDS = "(persona, query and both responses)"


@pytest.mark.parametrize("pair", SAME)
@pytest.mark.parametrize("use", ["training", "qualification", "gold"])
def test_a_check_that_is_to_be_judged_is_refused(
    campaign: Campaign, tmp_path: Path, use: str, pair: dict[str, Any]
) -> None:
    assert run_pairs(campaign, tmp_path, [pair_row(0), pair]).changed
    before = row_digests()
    rows = [check_row(0), check_row(1, use), check_row(2, use="exam")]
    report = run(campaign, tmp_path, rows)
    assert row_digests() == before
    same, unknown = report.problems
    assert (same.file, same.line, same.field) == ("checks.jsonl", 2, "pair_id")
    assert same.reason == f"check-1 is the same as {pair['pair_id']} of cups {SAME_WORDS}"
    # Beside what else is wrong with the file.
    assert (unknown.line, unknown.field) == (3, "use")


@pytest.mark.parametrize("pair", SAME)
def test_a_pair_that_is_a_check_is_refused(
    campaign: Campaign, tmp_path: Path, pair: dict[str, Any]
) -> None:
    add_checks(campaign, tmp_path, [check_row(0), check_row(1)])
    before = row_digests()
    # Through an object that has not heard of the checks.
    stale = Campaign.objects.get(pk=campaign.pk)
    stale.checks = None
    report = run_pairs(stale, tmp_path, [pair_row(0), pair, as_pair(check_row(0), pair_id="y")])
    assert row_digests() == before
    assert [(problem.file, problem.line, problem.field) for problem in report.problems] == [
        ("pairs.jsonl", 2, "pair_id"),
        ("pairs.jsonl", 3, "pair_id"),
    ]
    assert [problem.reason for problem in report.problems] == [
        f"{pair['pair_id']} is the same as check-1 of cups-checks {SAME_WORDS}",
        f"y is the same as check-0 of cups-checks {SAME_WORDS}",
    ]
    assert run_pairs(campaign, tmp_path, [pair_row(0)], dry_run=True).changed


@pytest.mark.parametrize("pair", OTHER)
def test_what_differs_in_one_of_the_texts_is_another_pair(
    campaign: Campaign, tmp_path: Path, pair: dict[str, Any]
) -> None:
    add_checks(campaign, tmp_path, [check_row(1)])
    assert run_pairs(campaign, tmp_path, [pair]).new_pairs == 1


def test_a_persona_that_only_the_campaign_has_is_looked_up(
    campaign: Campaign, tmp_path: Path
) -> None:
    run_pairs(campaign, tmp_path, [as_pair(check_row(1))])
    bare = {name: value for name, value in check_row(1).items() if name != "persona"}
    [problem] = run(campaign, tmp_path, [bare]).problems
    assert problem.reason.startswith("check-1 is the same as pair-x of cups")


def test_other_campaigns_may_judge_it(campaign: Campaign, tmp_path: Path) -> None:
    run_pairs(make_campaign("mugs"), tmp_path, SAME[:1])
    assert run(campaign, tmp_path, [check_row(1)]).changed


def test_what_stands_on_both_sides_already_can_be_imported_again(
    campaign: Campaign, tmp_path: Path
) -> None:
    """From before this was looked at: neither side can be taken away, and files must go on."""
    run(campaign, tmp_path, [check_row(1)])
    Pair.objects.update(query="For a moment something else")
    run_pairs(campaign, tmp_path, SAME[:1])
    Pair.objects.update(query=check_row(1)["query"])
    before = row_digests()
    assert (run(campaign, tmp_path, [check_row(1)]).rejected, row_digests()) == (0, before)
    assert (run_pairs(campaign, tmp_path, SAME[:1]).rejected, row_digests()) == (0, before)
    assert run_pairs(campaign, tmp_path, [SAME[0] | {"pair_id": "one-more"}]).rejected == 1


def test_many_pairs_are_compared_in_few_questions(campaign: Campaign, tmp_path: Path) -> None:
    """As many questions for a thousand pairs on both sides as for one."""
    add_checks(campaign, tmp_path, [check_row(5_000)])
    counts = []
    for number in (1, 1_000):
        rows = [pair_row(n, pair_id=f"{number}-{n}") for n in range(number)]
        with CaptureQueriesContext(connection) as asked:
            assert run_pairs(campaign, tmp_path, rows).new_pairs == number
        changes = (
            {"pair_id": f"{number}-{n}", "query": f"Check {number}-{n}?"} for n in range(number)
        )
        checks = [check_row(n, **changed) for n, changed in enumerate(changes)]
        with CaptureQueriesContext(connection) as asked_of_checks:
            assert run(campaign, tmp_path, checks).new_checks == number
        counts.append((len(asked), len(asked_of_checks)))
    assert counts[0] == counts[1]


@pytest.mark.django_db(transaction=True)
def test_pairs_and_checks_at_once_see_each_other(tmp_path: Path) -> None:
    campaign = make_campaign()
    checks = [check_row(n) for n in range(50)]
    pairs = [as_pair(row, pair_id=f"p-{n}") for n, row in enumerate(checks)]
    rejected = together(
        lambda: run_pairs(Campaign.objects.get(pk=campaign.pk), tmp_path, pairs).rejected,
        lambda: run(Campaign.objects.get(pk=campaign.pk), tmp_path, checks).rejected,
    )
    assert sorted(rejected) == [0, 50]
