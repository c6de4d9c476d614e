"""The whole line: a file goes in, people judge over HTTP, a worker decides, a dataset comes out."""

from __future__ import annotations

import io
import re
import zipfile
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django.live_server_helper import LiveServer

from benchmark.models import Judgement, Rater
from tests.annotation.management.calling import call, manage
from tests.annotation.threads import together
from tests.benchmark.jobs.releasing import as_json_lines, files_of, load_with_datasets, rows_of
from tests.conftest import wait_until
from tests.factories import PASSWORD, pair_row, write_jsonl

RATERS = [f"rater-{number}" for number in range(9)]
# Of nine raters, how many prefer response A: by helpfulness and by personalization.
PREFER_A = {0: (9, 9), 1: (1, 1), 2: (5, 4), 3: (9, 0), 4: (6, 5)}
EXPECTED = {  # verdict, chosen, tier
    "pair-0": ("decided", "A", "easy"),
    "pair-1": ("decided", "B", "medium"),
    "pair-2": ("conflict", None, None),
    "pair-3": ("conflict", None, None),
    "pair-4": ("decided", "A", "hard"),
}


class Browser:
    """A person with a session, who reads pages and sends their forms."""

    def __init__(self, address: str) -> None:
        self.http = httpx.Client(
            base_url=address, headers={"Origin": address}, follow_redirects=True, timeout=60
        )

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.http.close()

    def get(self, path: str, *, fragment: bool = False) -> str:
        headers = {"HX-Request": "true"} if fragment else {}
        answer = self.http.get(path, headers=headers)
        assert answer.status_code == 200, (path, answer.status_code)
        return unescape(answer.text)

    def send(self, path: str, page: str, **fields: str) -> str:
        """Post a form of the page, with the token that stands in it; the page one ends at."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        answer = self.http.post(path, data={"csrfmiddlewaretoken": token[1]} | fields)
        assert answer.status_code == 200, (path, answer.status_code)
        return unescape(answer.text)

    def sign_in(self, username: str) -> str:
        page = self.get("/accounts/login/")
        home = self.send("/accounts/login/", page, username=username, password=PASSWORD)
        assert username in home
        return home


def judge_everything(address: str, number: int) -> int:
    """Sign in as a rater and answer until nothing is left; the number of answers."""
    with Browser(address) as browser:
        home = browser.sign_in(RATERS[number])
        link = re.search(r'href="(/campaigns/line/(?:guidelines|task)/)"', home)
        assert link
        page = browser.get(link[1])
        if link[1].endswith("guidelines/"):
            # Reading them is confirmed, and leads to the first pair.
            page = browser.send(link[1], page, version="1")
        answers = 0
        while seat := re.search(r'action="(/seats/[0-9a-f-]{36}/)"', page):
            page = browser.send(seat[1], page, **answer_to(page, number))
            answers += 1
    return answers


def answer_to(page: str, number: int) -> dict[str, str]:
    """The places of the responses that this rater prefers, read from the page alone."""
    pair = re.search(r"Query (\d)\?", page)
    assert pair
    places = [page.index(f"Response of {kind} kind to {pair[1]}.") for kind in ("one", "another")]
    place_of_a, place_of_b = ("1", "2") if places[0] < places[1] else ("2", "1")
    helpful, fitting = PREFER_A[int(pair[1])]
    return {
        "helpfulness": place_of_a if number < helpful else place_of_b,
        "personalization": place_of_a if number < fitting else place_of_b,
        "comment": "",
    }


@pytest.mark.django_db(transaction=True)
def test_from_a_file_to_a_dataset(
    live_server: LiveServer,
    celery_worker: object,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    # Import.
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(number) for number in PREFER_A])
    imported = manage("import_pairs", path, "--campaign", "line", "--json")
    assert (imported.code, imported.json["new_pairs"]) == (0, 5)
    monkeypatch.setenv("PASSWORD", PASSWORD)
    for username in RATERS:
        call("add_member", "line", username)
    call("add_member", "line", "lead", role="lead")

    # Judge: nine people at once.
    people = [partial(judge_everything, live_server.url, n) for n in range(len(RATERS))]
    assert together(*people) == [5] * 9
    assert Judgement.objects.count() == 45

    # Count and decide, release, download: the lead's buttons, and a worker.
    with Browser(live_server.url) as lead:
        lead.sign_in("lead")
        folder = release_by_buttons(lead, tmp_path)
    check_release(folder, tmp_path / "cache")

    # Import again: the same campaign knows all of it, a new one gets the same.
    assert "nothing changed" in call("import_pairs", folder, campaign="line").out
    assert "nothing changed" in call("import_votes", folder, campaign="line").out
    call("import_pairs", folder, campaign="copy")
    call("import_votes", folder, campaign="copy")
    assert manage("aggregate", "copy", "--json").code == 0
    out = tmp_path / "copy"
    call("export_release", "copy", "--version", "1.0.0", "--out", out)
    parts = ("data/", "pairs/", "personas/", "votes/", "tallies/")
    first = {name: digest for name, digest in files_of(folder).items() if name.startswith(parts)}
    again = {name: digest for name, digest in files_of(out).items() if name.startswith(parts)}
    assert again == first


def release_by_buttons(lead: Browser, tmp_path: Path) -> Path:
    page = lead.get("/campaigns/line/")
    assert "45" in page
    lead.send("/campaigns/line/aggregate/", page)
    run = polled(lead, r'href="(/campaigns/line/runs/\d+/)"')
    assert "personafeedback-v1" in lead.get(run)

    lead.send("/campaigns/line/releases/", lead.get("/campaigns/line/"), version="1.0.0")
    link = polled(lead, r'href="(/campaigns/line/releases/1\.0\.0/download/)"')
    download = lead.http.get(link)
    assert "line-1.0.0.zip" in download.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(download.content)) as archive:
        archive.extractall(tmp_path / "unzipped")
    return tmp_path / "unzipped" / "line-1.0.0"


def polled(browser: Browser, pattern: str) -> str:
    """What the live part of the campaign's page shows once the job is done."""
    fragments: list[str] = []

    def shows() -> bool:
        fragments.append(browser.get("/campaigns/line/", fragment=True))
        return bool(re.search(pattern, fragments[-1])) and "No job is running" in fragments[-1]

    wait_until(shows, what=pattern)
    assert "<html" not in fragments[-1]
    found = re.search(pattern, fragments[-1])
    assert found
    return found[1]


def check_release(folder: Path, cache: Path) -> None:
    tallies = rows_of(folder / "tallies" / "tallies.jsonl")
    verdicts = {row["pair_id"]: (row["verdict"], row["chosen"], row["tier"]) for row in tallies}
    assert verdicts == EXPECTED
    votes_for_a = {(row["pair_id"], row["criterion"]): row["a"] for row in tallies}
    assert votes_for_a == {
        (f"pair-{number}", key): wanted
        for number, both in PREFER_A.items()
        for key, wanted in zip(("helpfulness", "personalization"), both, strict=True)
    }
    pseudonyms = set(
        Rater.objects.filter(pair_set__slug="line").values_list("pseudonym", flat=True)
    )
    assert {row["rater"] for row in rows_of(folder / "votes" / "votes.jsonl")} == pseudonyms
    assert not pseudonyms & set(RATERS)

    loaded = load_with_datasets(folder, ["easy", "medium", "hard"], cache=cache)
    cases: dict[str, dict[str, Any]] = {}
    for tier, rows in loaded["rows"].items():
        for row in map(as_json_lines, rows):
            assert row["tier"] == tier
            cases[row["pair_id"]] = row
    assert {pair: ("decided", row["chosen_side"], row["tier"]) for pair, row in cases.items()} == {
        pair: verdict for pair, verdict in EXPECTED.items() if verdict[0] == "decided"
    }
    assert cases["pair-1"]["chosen"] == "Response of another kind to 1."
    assert cases["pair-1"]["persona"] == pair_row(1)["persona"]
