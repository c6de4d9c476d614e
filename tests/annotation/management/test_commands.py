"""Commands that bring data and people in: words for people, one JSON object for programs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.test import Client
from pytest_django import Settings

from annotation.models import Campaign, Event, Membership, User
from annotation.services.demo import JUDGED, LOGINS, OPEN
from benchmark.models import Judgement, Pair, PairSet, Rater
from benchmark.services.tallies import rebuild_tallies
from tests.annotation.management.calling import call, manage
from tests.annotation.threads import together
from tests.benchmark.services.files import published, swapped, write_published
from tests.conftest import ROOT, process_environment
from tests.factories import add_pairs, make_campaign, pair_row, vote_rows, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db


@pytest.fixture
def published_set(tmp_path: Path) -> Path:
    """Four rows of two people: one pair in two tiers, one labelled both ways."""
    return write_published(
        tmp_path / "set",
        easy=[published(0), published(1)],
        hard=[published(0), swapped(published(1))],
    )


def test_import_pairs_says_what_it_found_and_did(published_set: Path) -> None:
    found = call("import_pairs", published_set, campaign="new")
    contradictory = Pair.objects.get(query="Question 1?").pair_id
    assert found.out.splitlines() == [
        "2 personas, 4 rows, 2 distinct pairs, 1 repeats, 1 contradictions",
        f"  {contradictory}: labelled both ways, imported once",
        "2 new pairs and 2 new personas were added to new;"
        " 0 pairs were given further prior labels.",
    ]
    assert (found.code, found.err) == (0, "")

    again = call("import_pairs", published_set, campaign="new")
    assert again.out.splitlines()[-1] == "All of it is in new already: nothing changed."


def test_import_pairs_prints_one_json_object(published_set: Path) -> None:
    found = call("import_pairs", published_set, campaign="new", json=True).json
    counts = ("personas", "rows", "pairs", "repeats", "contradictions", "rejected")
    assert [found[name] for name in counts] == [2, 4, 2, 1, 1, 0]
    assert found["contradictory_pairs"] == [Pair.objects.get(query="Question 1?").pair_id]
    assert (found["campaign"], found["changed"], found["dry_run"]) == ("new", True, False)
    assert (found["new_pairs"], found["new_personas"], found["updated_pairs"]) == (2, 2, 0)
    again = call("import_pairs", published_set, campaign="new", json=True).json
    assert again == found | {"changed": False, "new_pairs": 0, "new_personas": 0}


def test_import_pairs_makes_the_campaign_as_asked(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(0)])
    call(
        *("import_pairs", path, "--campaign", "new", "--name", "New one"),
        *("--raters-per-pair", "5", "--allow-ties"),
    )
    pair_set = PairSet.objects.get()
    assert (pair_set.name, pair_set.raters_per_pair, pair_set.allows_tie) == ("New one", 5, True)
    assert pair_set.campaign.is_open
    assert pair_set.campaign.guidelines.get().body


def test_a_dry_run_of_a_new_campaign_leaves_nothing(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(0)])
    found = call("import_pairs", path, campaign="new", dry_run=True)
    assert "1 new pairs and 1 new personas would be added to new" in found.out
    assert not Campaign.objects.exists()


def test_a_refused_import_leaves_no_campaign(tmp_path: Path) -> None:
    rows = [pair_row(0, query=""), pair_row(1, response_b=""), pair_row(2)]
    path = write_jsonl(tmp_path / "bad.jsonl", rows)
    before = row_digests()
    found = call("import_pairs", path, campaign="new")
    assert (found.code, found.out) == (1, "")
    assert found.err.splitlines() == [
        "bad.jsonl:1: query: is empty",
        "bad.jsonl:2: response_b: is empty",
        "2 problems: nothing was imported.",
    ]
    as_json = call("import_pairs", path, campaign="new", json=True)
    assert (as_json.code, as_json.err) == (1, "")
    assert (as_json.json["rejected"], as_json.json["changed"]) == (2, False)
    assert as_json.json["problems"] == [
        {"file": "bad.jsonl", "line": 1, "field": "query", "reason": "is empty"},
        {"file": "bad.jsonl", "line": 2, "field": "response_b", "reason": "is empty"},
    ]
    assert row_digests() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--campaign", "Not a slug"], "--campaign: Enter a valid"),
        (["--campaign", "new", "--name", "x" * 201], "--name: Ensure this value has at most 200"),
        (["--campaign", "new", "--name", "\u200b"], "--name: There is nothing in it"),
        (["--campaign", "new", "--raters-per-pair", "0"], "must be a whole number from 1 to 99"),
        (["--campaign", "new", "--raters-per-pair", "nine"], "must be a whole number from 1 to 99"),
    ],
)
def test_a_campaign_that_cannot_be_made_is_refused(
    options: list[str], words: str, tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(0)])
    with pytest.raises(CommandError, match=words) as refusal:
        call("import_pairs", path, *options)
    assert "\n" not in str(refusal.value)
    assert not Campaign.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_make_one_new_campaign(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(n) for n in range(50)])
    found = together(
        *(lambda: call("import_pairs", path, campaign="new", json=True) for _ in range(4))
    )
    assert [called.code for called in found] == [0, 0, 0, 0]
    assert sorted(called.json["new_pairs"] for called in found) == [0, 0, 0, 50]
    assert Campaign.objects.count() == 1
    assert Event.objects.filter(action="pairs:imported").count() == 1


@pytest.mark.django_db(transaction=True)
def test_errors_are_lines_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"pair_id": "p",\n\xff\n')
    found = manage("import_pairs", path, "--campaign", "new")
    assert (found.code, found.out) == (1, "")
    assert len(found.err.splitlines()) == 3
    assert found.err.endswith("2 problems: nothing was imported.\n")
    found = manage("rebuild_tallies", "nowhere")
    assert (found.code, found.out) == (1, "")
    assert found.err == "CommandError: There is no campaign nowhere.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["import_votes", "votes.jsonl", "--campaign", "nowhere"],
        ["add_member", "nowhere", "somebody"],
        ["rebuild_tallies", "nowhere"],
        ["aggregate", "nowhere"],
        ["export_release", "nowhere", "--version", "1.0.0", "--out", "nowhere"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_campaign_that_is_not_there_is_named(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match=r"^There is no campaign nowhere"):
        call(*arguments)


@pytest.mark.django_db(transaction=True)
def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(n) for n in range(2_100)])
    ours, terminal = pty.openpty()
    command = [sys.executable, "manage.py", "import_pairs", str(path), "--campaign", "new"]
    done = subprocess.run(
        [*command, "--json"],
        cwd=ROOT,
        env=process_environment(),
        stdout=subprocess.PIPE,
        stderr=terminal,
        timeout=120,
        check=True,
    )
    shown = os.read(ours, 4_096).decode()
    os.close(ours)
    os.close(terminal)
    assert "\r2,000 records read" in shown
    assert shown.endswith("\r\x1b[K")  # and nothing of it stays
    assert done.stdout.startswith(b'{"campaign": "new"')
    assert manage("import_pairs", path, "--campaign", "new").err == ""


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    campaign = make_campaign(raters_per_pair=2)
    add_pairs(campaign, tmp_path, 3)
    return campaign


def test_import_votes_says_what_it_found_and_did(campaign: Campaign, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=2))
    trial = call("import_votes", path, campaign="cups", dry_run=True)
    assert trial.out.splitlines()[-1] == "6 judgements would be added to cups."
    found = call("import_votes", path, campaign="cups", simulated=True)
    assert found.out.splitlines() == [
        "12 votes by 2 raters on 3 pairs, 0 repeated rows",
        "6 judgements were added to cups.",
    ]
    assert set(Rater.objects.values_list("is_simulated", flat=True)) == {True}
    again = call("import_votes", path, campaign="cups")
    assert again.out.splitlines()[-1] == "All of them are in cups already: nothing changed."


def test_import_votes_prints_one_json_object(campaign: Campaign, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=2))
    found = call("import_votes", path, campaign="cups", json=True).json
    names = ("rows", "votes", "judgements", "raters", "pairs", "repeats", "rejected")
    assert [found[name] for name in names] == [12, 12, 6, 2, 3, 0, 0]
    assert (found["campaign"], found["new_judgements"], found["changed"]) == ("cups", 6, True)


def test_refused_votes_are_listed(campaign: Campaign, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=1)
    path = write_jsonl(tmp_path / "votes.jsonl", [rows[0] | {"choice": "C"}, *rows[1:]])
    found = call("import_votes", path, campaign="cups")
    assert (found.code, found.out) == (1, "")
    assert found.err.splitlines()[0] == "votes.jsonl:1: choice: must be exactly A, B, tie or skip"
    as_json = call("import_votes", path, campaign="cups", json=True)
    assert (as_json.code, as_json.json["rejected"]) == (1, len(as_json.json["problems"]))
    assert not Judgement.objects.exists()


def test_rebuild_tallies_compares_and_repairs(campaign: Campaign, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=2))
    call("import_votes", path, campaign="cups")
    right = call("rebuild_tallies", "cups")
    assert (right.code, right.out) == (0, "0 tallies differ from the votes.\n")
    tally = Pair.objects.get(pair_id="pair-1").tallies.get(criterion__key="helpfulness")
    tally.a = 7
    tally.save()

    wrong = call("rebuild_tallies", "cups")
    assert (wrong.code, wrong.out.splitlines()) == (
        1,
        [
            "pair-1 helpfulness: stored (7, 0, 0, 0), counted (2, 0, 0, 0) (A, B, tie, skip)",
            "1 tallies differ from the votes.",
        ],
    )
    repaired = call("rebuild_tallies", "cups", repair=True, json=True)
    difference = {
        "pair_id": "pair-1",
        "criterion": "helpfulness",
        "stored": [7, 0, 0, 0],
        "counted": [2, 0, 0, 0],
    }
    assert (repaired.code, repaired.json) == (0, {"differences": [difference], "repaired": True})
    assert call("rebuild_tallies", "cups", json=True).json["differences"] == []


def test_load_demo_loads_once() -> None:
    assert call("load_demo").out == "Demo loaded.\n"
    campaigns = {campaign.slug: campaign for campaign in Campaign.objects.all()}
    assert campaigns.keys() == {OPEN, JUDGED}
    pairs = campaigns[JUDGED].pair_set.pairs.count()
    assert pairs >= 60
    assert campaigns[JUDGED].pair_set.personas.count() >= 12
    assert Judgement.objects.count() == 9 * pairs
    assert set(
        Rater.objects.filter(pair_set=campaigns[JUDGED].pair_set).values_list(
            "is_simulated", flat=True
        )
    ) == {True}
    assert rebuild_tallies(pair_set=campaigns[JUDGED].pair_set, repair=False) == []
    before = row_digests()
    assert call("load_demo").out == "The demo is there already: nothing changed.\n"
    assert row_digests() == before


def test_the_demo_logins_are_printed_and_work(client: Client) -> None:
    printed = call("load_demo", print_logins=True).out
    assert not User.objects.exists()
    call("load_demo")
    for login in LOGINS:
        assert f"{login.username} " in printed
        assert f"{login.password} " in printed
        assert client.login(username=login.username, password=login.password)


def test_the_demo_stays_off_public_addresses(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://annotate.example"
    with pytest.raises(CommandError, match="passwords are public"):
        call("load_demo")
    # make run, which starts without a demo there.
    assert call("load_demo", if_local=True).out == (
        "No demo: https://annotate.example is not this machine.\n"
    )
    assert call("load_demo", if_local=True, print_logins=True).out == ""
    assert not User.objects.exists()


def test_add_member_makes_accounts_and_places(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD", "correct horse battery staple")
    assert call("add_member", "cups", "ann").out == "ann is in cups as annotator.\n"
    assert call("add_member", "cups", "lee", role="lead").out == "lee is in cups as lead.\n"
    make_campaign("second")
    monkeypatch.delenv("PASSWORD")  # an account is made once
    assert call("add_member", "second", "ann").out == "ann is in second as annotator.\n"
    ann = User.objects.get(username="ann")
    assert ann.check_password("correct horse battery staple")
    assert Membership.objects.filter(user=ann).count() == 2
    with pytest.raises(CommandError, match=r"^ann is in cups already\.$"):
        call("add_member", "cups", "ann")


@pytest.mark.parametrize(
    ("username", "password", "words"),
    [
        ("ann", "12345", "too short"),
        ("an n", "correct horse battery staple", "valid username"),
        ("ann", "", "set PASSWORD"),
        ("\u3164\u115f", "correct horse battery staple", "nothing in this name that can be seen"),
        ("", "correct horse battery staple", "nothing in this name that can be seen"),
    ],
)
def test_add_member_refuses_what_is_no_account(
    campaign: Campaign,
    monkeypatch: pytest.MonkeyPatch,
    username: str,
    password: str,
    words: str,
) -> None:
    monkeypatch.setenv("PASSWORD", password)
    with pytest.raises(CommandError, match=words) as refusal:
        call("add_member", "cups", username)
    assert "\n" not in str(refusal.value)
    assert not User.objects.exists()
