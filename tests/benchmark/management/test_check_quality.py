"""`manage.py check_quality`: files of every kind, campaigns, and what it exits with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from annotation.services.campaigns import import_pairs_into
from tests.annotation.management.calling import Called, call
from tests.benchmark.formats.files import csv_text, json_lines, parquet, put
from tests.benchmark.services.files import published, swapped, write_published
from tests.conftest import ROOT
from tests.factories import add_pairs, make_campaign, pair_row

ROWS = [pair_row(n, persona=json.dumps({"Name": f"P{n % 3}"})) for n in range(4)]
TWICE = [*ROWS, pair_row(0, pair_id="again", persona=ROWS[0]["persona"])]


def checked(source: object, **options: Any) -> Called:
    return call("check_quality", source, **options)


def kinds(called: Called) -> list[str]:
    return [finding["kind"] for finding in called.json["findings"]]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv", "parquet"])
def test_a_file_of_pairs_needs_no_database(tmp_path: Path, suffix: str) -> None:
    data = {
        "jsonl": lambda: json_lines(*TWICE),
        "csv": lambda: csv_text(*TWICE),
        "tsv": lambda: csv_text(*TWICE, delimiter="\t"),
        "parquet": lambda: parquet(TWICE),
    }
    path = put(tmp_path / f"pairs.{suffix}", data[suffix]())
    found = checked(path, json=True)
    assert found.out.count("\n") == 1
    assert list(found.json) == ["source", "pairs", "rows", "personas", "findings", "measures"]
    assert (found.json["source"], found.json["pairs"], found.json["rows"]) == (str(path), 4, 5)
    repeat = next(f for f in found.json["findings"] if f["kind"] == "repeat")
    assert repeat["ids"] == ["again", "pair-0"]


def test_a_published_folder_in_words(tmp_path: Path) -> None:
    folder = write_published(
        tmp_path / "set",
        easy=[published(n) for n in range(30)],
        hard=[swapped(published(n)) for n in range(12)],
    )
    text = checked(folder).out
    assert text.startswith(f"{folder}: pairs 30, rows 42, personas 2\n\nErrors (1)\n")
    assert "Pairs that are labelled both ways: 12 of 30 (easy + hard 12)." in text
    assert ", and 2 more\n" in text
    assert text.index("\nErrors (") < text.index("\nWarnings (") < text.index("\nNotices (")
    assert "By tier (labels: prior" in text
    assert "  easy          30" in text


def test_rows_that_an_import_refuses_are_a_finding(tmp_path: Path) -> None:
    path = put(tmp_path / "pairs.jsonl", json_lines(*ROWS, pair_row(9, query=""), {"x": 1}))
    found = checked(path, json=True)
    refused = found.json["findings"][0]
    assert (refused["kind"], refused["severity"]) == ("refused", "error")
    assert {"file": "pairs.jsonl", "line": 5, "field": "query", "reason": "is empty"} in refused[
        "details"
    ]
    assert "pairs.jsonl:5: query: is empty" in checked(path).out


def test_personas_alone_are_checked(tmp_path: Path) -> None:
    folder = tmp_path / "persona"
    for n in range(9):
        age = "Age" if n else "Aeg"
        put(folder / f"p{n}.json", json.dumps({"Name": f"P{n}", "Gender": "f", age: 3}))
    found = checked(folder, json=True)
    assert (found.json["pairs"], found.json["personas"]) == (0, 9)
    assert "missing_field" in kinds(found) or "other_layout" in kinds(found)
    assert "No labels" in checked(folder).out


@pytest.mark.parametrize(
    ("rows", "fail_on", "code"),
    [
        (ROWS, None, 0),
        (ROWS, "error", 0),
        (TWICE, None, 0),
        (TWICE, "error", 0),
        (TWICE, "warning", 1),
        ([*ROWS, pair_row(5, response_a="Same.", response_b="SAME.")], "error", 1),
        ([*ROWS, pair_row(5, response_a="Same.", response_b="SAME.")], "warning", 1),
    ],
)
def test_exit_codes(tmp_path: Path, rows: list[Any], fail_on: str | None, code: int) -> None:
    path = put(tmp_path / "pairs.jsonl", json_lines(*rows))
    texts = [checked(path, json=as_json, fail_on=fail_on) for as_json in (True, False)]
    assert [text.code for text in texts] == [code, code]
    assert all(text.out for text in texts)


def test_nothing_that_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"notes.md: has the extension .md"):
        checked(put(tmp_path / "notes.md", "hello"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match="holds nothing that can be read"):
        checked(tmp_path / "empty")


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["nowhere", "a/b", "x" * 5_000])
def test_neither_a_path_nor_a_campaign(name: str) -> None:
    with pytest.raises(CommandError, match="neither a file or folder nor a campaign"):
        checked(name)


def test_nothing_moves_the_cursor_of_a_terminal(tmp_path: Path) -> None:
    rows = [pair_row(n, pair_id=f"\x1b[2J\u202e{n}", query="\x1b]0;T\x07 Same?") for n in range(2)]
    path = put(tmp_path / "pairs.jsonl", json_lines(*rows, {**rows[0], "pair_id": "\x1b[1m"}))
    text = checked(path).out
    assert r"\x1b[2J\u202e0" in text
    assert all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.django_db(transaction=True)
def test_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make_campaign("mugs")
    rows = [published(1), published(2)]
    folder = write_published(tmp_path / "set", easy=rows, hard=[swapped(published(1))])
    import_pairs_into(campaign=campaign, paths=[folder])
    monkeypatch.chdir(tmp_path)
    found = checked("mugs", json=True)
    assert (found.json["source"], found.json["pairs"], found.json["rows"]) == ("mugs", 2, 3)
    contradiction = next(f for f in found.json["findings"] if f["kind"] == "contradiction")
    assert contradiction["details"][0]["places"] == ["general/easy", "general/hard"]
    # A path of this name comes first.
    put(tmp_path / "mugs", "")
    with pytest.raises(CommandError, match="has the extension"):
        checked("mugs")


@pytest.mark.django_db
def test_a_campaign_without_labels(tmp_path: Path) -> None:
    campaign = make_campaign("mugs")
    add_pairs(campaign, tmp_path)
    wins = checked("mugs", json=True).json["measures"]["longer_wins"]["all"]
    assert (wins["value"], wins["reason"]) == (None, "no_votes")
    assert "No labels" in checked("mugs").out


def test_a_machine_without_a_database(tmp_path: Path) -> None:
    path = put(tmp_path / "pairs.jsonl", json_lines(*ROWS))

    def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", "check_quality", *arguments],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": "postgres://nobody@127.0.0.1:9/none"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    done = manage(str(path), "--json")
    assert (done.returncode, json.loads(done.stdout)["pairs"]) == (0, 4)
    refused = manage("nowhere")
    assert refused.returncode == 1
    assert "There is no file or folder nowhere, and the database" in refused.stderr
