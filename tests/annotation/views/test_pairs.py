"""The list of a run's pairs and the page of one pair over HTTP."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.audit.pairs_contexts import TABLES
from annotation.models import Campaign, Membership
from annotation.services.campaigns import import_pairs_into, import_votes_into
from benchmark.models import CriterionVerdict, Pair, Run, Verdict
from benchmark.services.exclusions import exclude_votes
from benchmark.stats.majority import majority_posterior
from benchmark.stats.tiers import tier_posterior
from tests.annotation.adjudicating import open_campaign, pair_named, raise_flag
from tests.annotation.views.pages import Page, browser
from tests.benchmark.correcting import correct
from tests.benchmark.jobs.runs import aggregated, judged_campaign, queued_aggregation
from tests.factories import add_pairs, make_campaign, make_member, pair_row, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return open_campaign(tmp_path)


def lead_of(campaign: Campaign) -> Client:
    return browser(make_member(campaign, Membership.Role.LEAD))


def pairs_address(run: Run) -> str:
    return reverse("run_pairs", args=[run.pair_set.slug, run.pk])


def pair_address(run: Run, pair: Pair) -> str:
    return reverse("run_pair", args=[run.pair_set.slug, run.pk, pair.pk])


def shown(client: Client, run: Run, **query: str) -> list[str]:
    """Pair ids of the rows in their order."""
    html = client.get(pairs_address(run), query).content.decode()
    table = html[html.index('id="pairs"') :] if 'id="pairs"' in html else ""
    return re.findall(r'<th scope="row"[^>]*>\s*<a [^>]*>([^<]*)</a>', table)


class TestList:
    def test_rows_say_what_the_run_says(self, campaign: Campaign) -> None:
        run = aggregated(campaign.pair_set)
        client = lead_of(campaign)
        assert shown(client, run) == [f"pair-{n}" for n in range(6)]
        page = Page(client.get(pairs_address(run)))
        assert "6 pairs" in page.text
        # pair-5: 9 to 0 and 8 to 1, hence medium by personalization.
        posterior = tier_posterior(8, 1).medium
        assert posterior is not None
        assert f"9–0 8–1 decided A medium {100 * posterior:.1f}% 7 0.56 0" in page.text

    def test_filters_sorts_and_search(self, campaign: Campaign) -> None:
        run = aggregated(campaign.pair_set)
        client = lead_of(campaign)
        raise_flag(campaign, "pair-4")
        assert shown(client, run, status="conflict") == ["pair-1", "pair-3"]
        assert shown(client, run, tier="easy") == ["pair-0"]
        assert shown(client, run, **{"split-helpfulness": "9-0"}) == ["pair-0", "pair-1", "pair-5"]
        assert shown(client, run, **{"split-helpfulness": "0-9"}, status="conflict") == ["pair-1"]
        assert shown(client, run, flagged="1") == ["pair-4"]
        assert shown(client, run, q="QUERY 2") == ["pair-2"]
        assert shown(client, run, kind="specific") == []
        assert shown(client, run, sort="-pair")[0] == "pair-5"
        assert shown(client, run, sort="k")[:1] == ["pair-4"]
        other = aggregated(campaign.pair_set, "helpfulness-v1")
        changed = shown(client, other, changed=str(run.pk))
        assert changed == ["pair-1", "pair-3", "pair-5"]

    def test_nonsense_is_not_looked_at(self, campaign: Campaign) -> None:
        run = aggregated(campaign.pair_set)
        client = lead_of(campaign)
        queries: list[dict[str, str]] = [
            {"status": "lost"},
            {"tier": "'; DROP TABLE"},
            {"split-helpfulness": "9-"},
            {"changed": "999999999999999999999"},
            {"changed": "-1"},
            {"kind": "odd"},
            {"sort": "query"},
            {"after": "x", "before": "²"},
            {"q": "\0"},
        ]
        for query in queries:
            assert len(shown(client, run, **query)) == 6, query

    def test_a_page_at_a_time(self, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("annotation.audit.pairs_contexts.ROWS", 2)
        run = aggregated(campaign.pair_set)
        client = lead_of(campaign)
        address, seen = pairs_address(run) + "?sort=-margin", []
        pages = [address]
        while True:
            page = Page(client.get(address))
            seen += re.findall(r"pair-\d", " ".join(page.texts[page.texts.index("Pair") :]))
            onwards = page.having(rel="next")
            if not onwards:
                break
            address = onwards[0]["href"]
            pages.append(address)
        order = dict.fromkeys(seen, 0)
        assert len(order) == 6 == len(seen)
        # And back to where it began.
        for expected in pages[-2::-1]:
            (back,) = page.having(rel="prev")
            page = Page(client.get(back["href"]))
            wanted = Page(client.get(expected))
            assert re.findall(r">(pair-\d)<", page.html) == re.findall(r">(pair-\d)<", wanted.html)
        assert not page.having(rel="prev")

    def test_the_filter_goes_along_to_a_pair_and_its_neighbours(self, campaign: Campaign) -> None:
        run = aggregated(campaign.pair_set)
        client = lead_of(campaign)
        page = Page(client.get(pairs_address(run), {"status": "conflict"}))
        first = pair_address(run, pair_named(campaign, "pair-1")) + "?status=conflict"
        assert page.having(href=first)
        onwards = Page(client.get(first))
        (found,) = onwards.having(rel="next")
        assert (
            found["href"] == pair_address(run, pair_named(campaign, "pair-3")) + "?status=conflict"
        )
        assert not onwards.having(rel="prev")

    def test_files_hold_every_row(self, campaign: Campaign) -> None:
        run = aggregated(campaign.pair_set)
        lead = make_member(campaign, Membership.Role.LEAD)
        table = TABLES["pairs"](lead, run, QueryDict("sort=-k"))
        stored = {
            (found.pair.pair_id, found.criterion.key): found
            for found in CriterionVerdict.objects.filter(run=run).select_related(
                "pair", "criterion"
            )
        }
        assert [row["pair"] for row in table.rows] == [f"pair-{n}" for n in range(6)]
        for row in table.rows:
            for key in ("helpfulness", "personalization"):
                found = stored[str(row["pair"]), key]
                assert (row[f"{key}_a"], row[f"{key}_b"]) == (found.a, found.b)
                assert row[f"{key}_k"] == pytest.approx(2 * found.s / found.m - 1)
        few = TABLES["pairs"](lead, run, QueryDict("tier=medium"))
        assert [row["pair"] for row in few.rows] == ["pair-2", "pair-5"]
        answer = browser(lead).get(
            reverse("run_table", args=["cups", run.pk, "pairs", "csv"]), {"tier": "medium"}
        )
        assert answer.status_code == 200
        assert answer.content.decode("utf-8-sig").count("\r\n") == 3

    def test_queries_do_not_grow(self, tmp_path: Path) -> None:
        def count(slug: str, pairs: int) -> list[int]:
            made = judged_campaign(tmp_path, slug=slug, pairs=pairs, choose=lambda *_: "A")
            run, client = aggregated(made.pair_set), lead_of(made)
            pair = made.pair_set.pairs.order_by("id")[0]
            numbers = []
            for address in (pairs_address(run), pair_address(run, pair)):
                with CaptureQueriesContext(connection) as captured:
                    assert client.get(address).status_code == 200
                numbers.append(len(captured))
            return numbers

        few, many = count("few", 2), count("many", 60)
        assert few == many
        assert max(many) <= 20


class TestPair:
    def test_every_vote_and_what_became_of_it(self, campaign: Campaign) -> None:
        pair = pair_named(campaign, "pair-5")
        gone = campaign.pair_set.raters.get(pseudonym="rater-8")
        exclude_votes(rater=gone, reason="too fast to have read", by="lin")
        run = aggregated(campaign.pair_set)
        client = lead_of(campaign)
        page = Page(client.get(pair_address(run, pair)))
        # Rater 8 alone names B on personalization: without them all eight agree.
        assert "The votes decide for A. Its tier is easy, since k is 1.00." in page.text
        assert f"{100 * majority_posterior(8, 8):.1f}%" in page.text
        for number in range(9):
            assert f"rater-{number}" in page.text
        assert page.text.count("counted") >= 8
        assert "too fast to have read" in page.text
        leave = [
            found["href"]
            for tag, found in page.elements
            if tag == "a" and f"/pairs/{pair.pk}/exclusion/" in found.get("href", "")
        ]
        assert len(leave) == 8
        assert page.having(
            action=reverse("lift_exclusion", args=["cups", gone.exclusions.get().pk])
        )
        # Sources are said, and which response was chosen.
        assert "full" in page.text
        assert pair.response_a in page.text

    def test_researchers_change_nothing(self, campaign: Campaign) -> None:
        run = aggregated(campaign.pair_set)
        exclude_votes(
            rater=campaign.pair_set.raters.get(pseudonym="rater-8"), reason="a test", by="lin"
        )
        member = make_member(campaign, Membership.Role.RESEARCHER)
        page = Page(browser(member).get(pair_address(run, pair_named(campaign, "pair-1"))))
        assert "/exclusion/" not in page.html
        assert "/lift/" not in page.html
        assert "left out from the next run on" in page.text

    def test_corrections_are_told_apart_from_what_was_counted(self, campaign: Campaign) -> None:
        pair = pair_named(campaign, "pair-0")
        before = aggregated(campaign.pair_set)
        correct(
            campaign.pair_set,
            pair="pair-0",
            rater="rater-3",
            choice="B",
            comment="<script>alert(1)</script>",
        )
        client = lead_of(campaign)
        old = Page(client.get(pair_address(before, pair)))
        assert "corrected since" in old.text
        assert "after this run" in old.text
        assert "Earlier answers" not in old.text
        new = Page(client.get(pair_address(aggregated(campaign.pair_set), pair)))
        assert "Earlier answers" in new.text
        assert "corrected before this run" in new.text
        assert "<script>alert(1)" not in new.html

    def test_priors_and_other_runs(self, campaign: Campaign) -> None:
        pair = pair_named(campaign, "pair-5")
        Pair.objects.filter(pk=pair.pk).update(
            priors=[
                {"label": "A", "tier": "hard", "origin": "hard.jsonl"},
                {"label": "B", "tier": "", "origin": "easy.jsonl"},
            ],
            meta={"batch": 3, "note": "来自第一批"},
        )
        first = aggregated(campaign.pair_set)
        run = aggregated(campaign.pair_set, "helpfulness-v1")
        page = Page(lead_of(campaign).get(pair_address(first, pair)))
        assert "hard.jsonl A yes hard no" in page.text
        assert "easy.jsonl B no — —" in page.text
        assert page.having(href=pair_address(run, pair))
        assert "来自第一批" in page.text

    def test_a_pair_that_came_later(self, campaign: Campaign, tmp_path: Path) -> None:
        run = aggregated(campaign.pair_set)
        add_pairs(campaign, tmp_path, 7)
        page = Page(lead_of(campaign).get(pair_address(run, pair_named(campaign, "pair-6"))))
        assert "it came into the set later" in page.text
        assert "Nobody has judged this pair." in page.text

    def test_not_of_this_campaign(self, campaign: Campaign, tmp_path: Path) -> None:
        run = aggregated(campaign.pair_set)
        other = make_campaign("others")
        add_pairs(other, tmp_path, 1)
        client = lead_of(campaign)
        assert client.get(pair_address(run, other.pair_set.pairs.get())).status_code == 404
        assert client.get(reverse("run_pair", args=["cups", run.pk, 0])).status_code == 404


ODD = ["=1+1", "<script>alert(1)</script>", "对话 🙂/%?#&", "x" * 200, "a\\b'\"", " "]


def test_odd_names_and_votes(tmp_path: Path) -> None:
    """Ids as people write them, only ties, all skips, unanimity, one rater."""
    campaign = make_campaign(allows_tie=True)
    rows = [pair_row(n, pair_id=name, query=f"{name} {n}?") for n, name in enumerate(ODD[:5])]
    report = import_pairs_into(campaign=campaign, paths=[write_jsonl(tmp_path / "odd.jsonl", rows)])
    assert not report.problems
    choices = dict(zip(ODD, ["tie", "skip", "A", "B", "A"], strict=False))
    votes = vote_rows(campaign.pair_set, raters=9, choose=lambda pair, _r, _k: choices[pair])
    for row in votes:
        row["rater"] = "=" + row["rater"] + "<b>"
        if row["choice"] == "skip":
            row["reason"] = "cannot_judge"
    votes = [row for row in votes if row["pair_id"] != ODD[4] or "-0" in row["rater"]]
    done = import_votes_into(campaign=campaign, path=write_jsonl(tmp_path / "votes.jsonl", votes))
    assert not done.problems
    run, client = aggregated(campaign.pair_set), lead_of(campaign)
    listed = client.get(pairs_address(run)).content.decode()
    assert "<script>alert" not in listed
    for pair in campaign.pair_set.pairs.all():
        answer = client.get(pair_address(run, pair))
        assert answer.status_code == 200
        page = Page(answer)
        assert "<script>alert" not in page.html
        assert "<b>" not in page.html
        assert "nan" not in page.text.lower().split()
    (skipped,) = campaign.pair_set.pairs.filter(pair_id=ODD[1])
    assert "I cannot judge this pair" in Page(client.get(pair_address(run, skipped))).text
    verdicts = dict(Verdict.objects.filter(run=run).values_list("pair__pair_id", "status"))
    assert verdicts[ODD[0]] == "insufficient"
    assert verdicts[ODD[2]] == "decided"


def test_without_any_pairs() -> None:
    campaign = make_campaign()
    run, client = aggregated(campaign.pair_set), lead_of(campaign)
    assert "No pair is like this." in Page(client.get(pairs_address(run))).text


@pytest.mark.parametrize("name", ["run_pairs", "run_compare"])
def test_runs_that_are_not_finished_show_their_own_page(name: str, tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 1)
    run = queued_aggregation(campaign.pair_set)
    answer: Any = lead_of(campaign).get(reverse(name, args=["cups", run.pk]))
    assert (answer.status_code, answer.url) == (302, reverse("run", args=["cups", run.pk]))
