"""manage.py import_checks: words for people, one JSON object for programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from annotation.models import Campaign, CheckItem
from annotation.services.demo import OPEN
from tests.annotation.checking import check_row
from tests.annotation.management.calling import call, manage
from tests.factories import make_campaign, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(tmp_path: Path) -> Path:
    uses = ["training", "training", "qualification", "gold"]
    return write_jsonl(tmp_path / "checks.jsonl", (check_row(n, use) for n, use in enumerate(uses)))


def test_it_says_what_it_found_and_did(path: Path) -> None:
    make_campaign()
    found = call("import_checks", path, campaign="cups")
    assert found.out.splitlines() == [
        "4 rows: 2 training, 1 qualification, 1 gold",
        "4 new checks were added to cups.",
    ]
    assert (found.code, found.err) == (0, "")
    again = call("import_checks", path, campaign="cups")
    assert again.out.splitlines()[-1] == "All of them are in cups already: nothing changed."


def test_it_prints_one_json_object(path: Path) -> None:
    make_campaign()
    found = call("import_checks", path, campaign="cups", json=True).json
    assert found == {
        "campaign": "cups",
        "rows": 4,
        "training": 2,
        "qualification": 1,
        "gold": 1,
        "new_checks": 4,
        "rejected": 0,
        "dry_run": False,
        "changed": True,
        "problems": [],
    }


def test_a_dry_run_says_what_would_be(path: Path) -> None:
    make_campaign()
    before = row_digests()
    found = call("import_checks", path, campaign="cups", dry_run=True)
    assert found.out.splitlines()[-1] == "4 new checks would be added to cups."
    assert row_digests() == before


def test_problems_are_listed_and_end_with_an_error(tmp_path: Path) -> None:
    make_campaign()
    bad = write_jsonl(tmp_path / "bad.jsonl", [check_row(0), check_row(1, use="exam")])
    found = call("import_checks", bad, campaign="cups")
    assert (found.code, found.out) == (1, "")
    assert found.err.splitlines() == [
        "bad.jsonl:2: use: must be training, qualification or gold",
        "1 problem: nothing was imported.",
    ]
    as_json = call("import_checks", bad, campaign="cups", json=True)
    assert as_json.code == 1
    assert as_json.json["problems"] == [
        {
            "file": "bad.jsonl",
            "line": 2,
            "field": "use",
            "reason": "must be training, qualification or gold",
        }
    ]
    assert not CheckItem.objects.exists()


def test_there_must_be_a_campaign(path: Path) -> None:
    with pytest.raises(CommandError, match="There is no campaign cups"):
        call("import_checks", path, campaign="cups")
    # A set of checks is none.
    make_campaign()
    call("import_checks", path, campaign="cups")
    with pytest.raises(CommandError, match="There is no campaign cups-checks"):
        call("import_checks", path, campaign="cups-checks")


@pytest.mark.django_db(transaction=True)
def test_at_a_terminal(path: Path) -> None:
    make_campaign()
    found = manage("import_checks", path, "--campaign", "cups")
    assert (found.code, found.err) == (0, "")
    assert CheckItem.objects.count() == 4


def test_the_demo_has_checks() -> None:
    call("load_demo")
    campaign = Campaign.objects.get(pair_set__slug=OPEN)
    assert (campaign.gold_percent, campaign.repeat_percent) == (10, 5)
    assert campaign.asks_confidence
    assert campaign.asks_reasons
    uses = [item.purpose for item in campaign.check_items.all()]
    assert (uses.count("training"), uses.count("qualification"), uses.count("gold")) == (4, 3, 6)
