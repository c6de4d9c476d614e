"""Overview, tiers, quality and files of a run; the votes as they are now."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.audit.run_tables import TABLES
from annotation.models import Campaign, Event, Membership
from annotation.services.campaigns import import_pairs_into, import_votes_into
from benchmark.models import Analysis, PairSet, Run
from benchmark.services.exclusions import exclude_votes
from benchmark.stats.tiers import tier_posterior
from tests.annotation.test_access import make_run, nobody_else_writes
from tests.annotation.views.pages import HTMX, Page, browser
from tests.benchmark.jobs.runs import aggregated
from tests.factories import add_pairs, make_campaign, make_member, pair_row, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db

# Votes for A among nine on helpfulness and personalization.
SPLITS = [(9, 9), (9, 8), (8, 8), (2, 1), (5, 6), (7, 2), (0, 0), (1, 1)]
# Tables that this page's own files make; those of raters and pairs have tests of their own.
OWN = [
    *("agreement", "agreement-intervals", "agreement-variants", "agreement-by-answer"),
    *("agreement-ties", "votes-per-pair", "splits", "statuses", "verdict-tiers", "left-out"),
    *("tiers", "tier-posterior", "split-half", "held-out", "tier-bands", "tier-chances"),
    *("tier-rules", "tier-raters", "tier-moves", "quality"),
]

Choose = Callable[[str, int, str], str]


@pytest.fixture(autouse=True)
def _one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is written meanwhile, so a run needs no snapshot of its own."""
    monkeypatch.setattr(PairSet, "snapshot", nobody_else_writes)


def by_splits(pair: str, rater: int, criterion: str) -> str:
    split = SPLITS[int(pair.removeprefix("pair-")) % len(SPLITS)]
    return "A" if rater < split[criterion == "personalization"] else "B"


def judged(
    folder: Path,
    choose: Choose = by_splits,
    *,
    pairs: int = len(SPLITS),
    raters: int = 9,
    **options: Any,
) -> Membership:
    """The lead of a campaign with these votes."""
    campaign = make_campaign(f"cups-{pairs}-{raters}", **options)
    add_pairs(campaign, folder, pairs)
    rows = vote_rows(campaign.pair_set, raters=raters, choose=choose)
    for row in rows:
        if row["choice"] == "skip":
            row["reason"] = "unclear"
    report = import_votes_into(campaign=campaign, path=write_jsonl(folder / "v.jsonl", rows))
    assert not report.problems, report.problems
    return make_member(campaign, Membership.Role.LEAD)


@pytest.fixture
def lead(tmp_path: Path) -> Membership:
    return judged(tmp_path)


def address(campaign: Campaign, name: str, *more: Any) -> str:
    return reverse(name, args=[campaign.slug, *more])


def shown(client: Client, where: str, status: int = 200, **options: Any) -> Page:
    response = client.get(where, **options)
    assert response.status_code == status
    page = Page(response)
    assert not {"nan", "inf", "none"} & set(page.text.lower().split())
    return page


def rows_of(client: Client, run: Run, name: str) -> list[dict[str, Any]]:
    """The rows of a table from its JSON file."""
    where = address(run.pair_set.campaign, "run_table", run.pk, name, "json")
    rows: list[dict[str, Any]] = json.loads(client.get(where).content)["rows"]
    return rows


def fleiss(votes_for_a: list[int], n: int = 9) -> float:
    """Fleiss (1971) as printed, for two answers."""
    agreeing = [a * (a - 1) + (n - a) * (n - a - 1) for a in votes_for_a]
    observed = sum(each / (n * (n - 1)) for each in agreeing) / len(votes_for_a)
    p = sum(votes_for_a) / (n * len(votes_for_a))
    chance = p * p + (1 - p) * (1 - p)
    return (observed - chance) / (1 - chance)


class TestARun:
    def test_its_figures_are_those_of_the_votes(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        client = browser(lead)
        page = shown(client, address(lead.campaign, "run", run.pk))
        for column, key in enumerate(("helpfulness", "personalization")):
            expected = fleiss([split[column] for split in SPLITS])
            assert f"{expected:.2f} [" in page.text
            [row] = [
                each
                for each in rows_of(client, run, "agreement")
                if each["criterion"].lower() == key
            ]
            assert row["fleiss"]["value"] == pytest.approx(expected, abs=1e-12)
            assert (row["votes"], row["pairs"]) == (72, 8)
        # 7-2 against 2-7 is the one conflict; by personalization 9-0 is easy, 8-1 medium.
        assert "7 of 8 pairs are decided (87.5%): 2 easy, 4 medium, 1 hard." in page.text
        assert "The others: criteria disagree 1." in page.text
        assert run.digest in page.html

    def test_every_number_leads_to_its_pairs(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        page = shown(browser(lead), address(lead.campaign, "run", run.pk))
        pairs = address(lead.campaign, "run_pairs", run.pk)
        for query in ("status=conflict", "tier=medium", "split-helpfulness=9-0"):
            assert page.having(href=f"{pairs}?{query}"), query
        assert page.having(href=address(lead.campaign, "run_tiers", run.pk))
        assert page.having(aria_current="page", href=address(lead.campaign, "run", run.pk))

    def test_excluded_votes_are_told(self, lead: Membership) -> None:
        rater = lead.campaign.pair_set.raters.get(pseudonym="rater-3")
        exclude_votes(rater=rater, reason="did not read", by="lead")
        run = aggregated(lead.campaign.pair_set)
        rows = rows_of(browser(lead), run, "left-out")
        assert rows[0] == {"what": "raters whose votes are excluded", "number": 1}
        # Eight votes are provisional; on pair 4 they are 4-4 now.
        assert rows[-1] == {"what": "pairs whose tier is provisional", "number": 6}

    def test_one_that_waits_is_watched_until_it_is_done(self, lead: Membership) -> None:
        campaign, client = lead.campaign, browser(lead)
        run = make_run(campaign)
        Run.objects.filter(pk=run.pk).update(state="running", done_steps=1, total_steps=3)
        where = address(campaign, "run", run.pk)
        page = shown(client, where)
        assert page.having(id="live", hx_get=where, hx_trigger="every 1s")
        assert "1 of 3 steps" in page.text
        for name in ("run_tiers", "run_quality"):
            assert client.get(address(campaign, name, run.pk)).headers["Location"] == where
        files = address(campaign, "run_table", run.pk, "tiers", "csv")
        assert client.get(files).status_code == 404
        done = aggregated(campaign.pair_set)
        part = shown(client, address(campaign, "run", done.pk), headers=HTMX)
        assert not part.is_whole
        assert not part.having(hx_trigger="every 1s")

    def test_one_that_failed_and_a_release_say_so(self, lead: Membership) -> None:
        campaign, client = lead.campaign, browser(lead)
        run = make_run(campaign)
        Run.objects.filter(pk=run.pk).update(state="failed", error="ValueError: <b>full</b>")
        page = shown(client, address(campaign, "run", run.pk))
        assert "ValueError: <b>full</b>" in page.text
        release = make_run(campaign, Run.Kind.RELEASE)
        assert "Writing the release" in shown(client, address(campaign, "run", release.pk)).text
        of = aggregated(campaign.pair_set)
        analysis = Run.objects.create(
            pair_set=campaign.pair_set, kind=Run.Kind.ANALYSIS, of=of, version="1"
        )
        page = shown(client, address(campaign, "run", analysis.pk))
        assert page.having(href=address(campaign, "run", of.pk))


ODD: list[tuple[str, Choose, dict[str, Any]]] = [
    ("unanimous", lambda pair, rater, criterion: "A", {}),
    ("skips", lambda pair, rater, criterion: "skip", {}),
    ("ties", lambda pair, rater, criterion: "tie", {"allows_tie": True}),
    (
        "some of each",
        lambda pair, rater, criterion: ["A", "B", "tie", "skip"][rater % 4],
        {"allows_tie": True},
    ),
    ("one pair", lambda pair, rater, criterion: "AB"[rater % 2], {"pairs": 1}),
    ("one rater", lambda pair, rater, criterion: "A", {"raters": 1}),
]


class TestOddVotes:
    @pytest.mark.parametrize(
        ("choose", "options"), [each[1:] for each in ODD], ids=[each[0] for each in ODD]
    )
    def test_pages_and_files(self, tmp_path: Path, choose: Choose, options: dict[str, Any]) -> None:
        lead = judged(tmp_path, choose, **({"pairs": 3} | options))
        run = aggregated(lead.campaign.pair_set)
        client = browser(lead)
        for where in (
            address(lead.campaign, "audit"),
            address(lead.campaign, "run", run.pk),
            address(lead.campaign, "run_tiers", run.pk),
            address(lead.campaign, "run_quality", run.pk),
        ):
            shown(client, where)
        for name in OWN:
            response = client.get(address(lead.campaign, "run_table", run.pk, name, "json"))
            assert response.status_code == 200, name
            assert "NaN" not in response.content.decode()

    def test_every_vote_for_one_side_is_no_kappa(self, tmp_path: Path) -> None:
        lead = judged(tmp_path, lambda pair, rater, criterion: "A", pairs=2)
        run = aggregated(lead.campaign.pair_set)
        page = shown(browser(lead), address(lead.campaign, "run", run.pk))
        assert "Fleiss' kappa is undefined: every vote is for the same response" in page.text

    def test_nothing_at_all(self) -> None:
        lead = make_member(make_campaign(), Membership.Role.LEAD)
        page = shown(browser(lead), address(lead.campaign, "audit"))
        assert "There are no pairs yet, so there is nothing to say." in page.text
        run = aggregated(lead.campaign.pair_set)
        page = shown(browser(lead), address(lead.campaign, "run_tiers", run.pk))
        assert "No pair has a tier" in page.text


class TestNow:
    def test_it_says_what_a_run_of_this_moment_would(self, lead: Membership) -> None:
        client, campaign = browser(lead), lead.campaign
        page = shown(client, address(campaign, "audit"))
        assert "Nothing has been aggregated yet" in page.text
        sentence = "7 of 8 pairs are decided (87.5%): 2 easy, 4 medium, 1 hard."
        assert sentence in page.text
        run = aggregated(campaign.pair_set)
        assert sentence in shown(client, address(campaign, "run", run.pk)).text
        page = shown(client, address(campaign, "audit"))
        assert f"run {run.pk} , counted these same votes" in page.text
        rater = campaign.pair_set.raters.get(pseudonym="rater-0")
        exclude_votes(rater=rater, reason="did not read", by="lead")
        page = shown(client, address(campaign, "audit"))
        assert "have changed since the newest aggregation" in page.text
        # There are no pairs of a run to lead to.
        assert not [e for _, e in page.elements if "/pairs/?" in e.get("href", "")]

    def test_by_another_policy(self, lead: Membership) -> None:
        client, campaign = browser(lead), lead.campaign
        where = address(campaign, "audit")
        page = shown(client, f"{where}?policy=helpfulness-v1")
        assert "8 of 8 pairs are decided (100.0%): 3 easy, 2 medium, 3 hard." in page.text
        assert page.having(name="policy", type="hidden", value="helpfulness-v1@1")
        for name in ("none", "a\0b", "x@" + "9" * 5_000):
            page = Page(client.get(where, {"policy": name}))
            assert "There is no such policy in this campaign." in page.text
        assert client.get(where, {"policy": "none"}).status_code == 422

    def test_a_researcher_reads_and_cannot_aggregate(self, lead: Membership) -> None:
        researcher = make_member(lead.campaign, Membership.Role.RESEARCHER)
        page = shown(browser(researcher), address(lead.campaign, "audit"))
        aggregate = address(lead.campaign, "aggregate")
        assert not page.having(action=aggregate)
        assert shown(browser(lead), address(lead.campaign, "audit")).having(action=aggregate)


class TestTiers:
    def test_how_many_are_truly_so(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set, "personalization-v1")
        rows = {row["tier"]: row for row in rows_of(browser(lead), run, "tiers")}
        assert {tier: row["pairs"] for tier, row in rows.items()} == {
            "easy": 2,
            "medium": 4,
            "hard": 2,
        }
        truth = tier_posterior(8, 1)
        for name in ("easy", "medium", "hard"):
            expected = getattr(truth, name)
            assert rows["medium"][f"truly_{name}"] == pytest.approx(4 * expected)
        # Of 512 outcomes of nine coins 2 are unanimous, 18 have one vote against.
        assert rows["easy"]["coins"] == pytest.approx(8 * 2 / 512)
        assert rows["medium"]["coins"] == pytest.approx(8 * 18 / 512)
        page = shown(browser(lead), address(lead.campaign, "run_tiers", run.pk))
        assert "Of the 4 called medium about 1 are truly medium (26.0%)" in page.text

    def test_other_rules_move_pairs(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set, "personalization-v1")
        client = browser(lead)
        rules = {row["rule"]: row for row in rows_of(client, run, "tier-rules")}
        assert rules["personalization alone"]["moved"] == 0
        # 9-0 against 8-1 and 7-2 against 8-1; where the responses differ, both are hard.
        assert rules["helpfulness alone"]["moved"] == 2
        assert rules["helpfulness alone"]["other_winner"] == 1
        bands = rows_of(client, run, "tier-bands")
        [own] = [row for row in bands if row["own"]]
        assert (own["easy_above"], own["medium_from"], own["moved"]) == ("0.6", "0.4", 0)
        # With medium up to .5 only, 8-1 (.556) is easy.
        [wide] = [r for r in bands if (r["easy_above"], r["medium_from"]) == ("0.5", "0.4")]
        assert (wide["easy"], wide["medium"], wide["moved"]) == (6, 0, 4)

    def test_mean_of_two_criteria(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        Run.objects.filter(pk=run.pk).update(policy={**run.policy, "combine": "mean"})
        page = shown(browser(lead), address(lead.campaign, "run_tiers", run.pk))
        assert "For the mean of two criteria no probabilities are given" in page.text


def report(*findings: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": "cups",
        "pairs": 8,
        "rows": 8,
        "personas": 3,
        "findings": list(findings),
        "measures": {},
    }


def finding(kind: str, severity: str, *ids: str, **numbers: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "severity": severity,
        "sentence": f"As stored: {kind}.",
        "count": len(ids),
        "numbers": numbers,
        "ids": list(ids),
        "details": [],
    }


class TestQuality:
    def test_findings_by_severity(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        many = [f"pair-{n}" for n in range(12)]
        Analysis.objects.create(
            run=run,
            subject=Analysis.Subject.QUALITY,
            data=report(
                finding("contradiction", "error", "pair-0", pairs=1_508, which="easy + hard 1"),
                finding("repeat", "warning", *many, pairs=8),
                finding("misspelt_field", "notice", "<script>x</script>", field="Bias"),
                finding("of_tomorrow", "notice", "=1+1"),
            ),
        )
        client = browser(lead)
        page = shown(client, address(lead.campaign, "run_quality", run.pk))
        assert "Errors: 1, warnings: 1, notices: 2." in page.text
        assert "Pairs that are labelled both ways: 1 of 1,508 (easy + hard 1)." in page.text
        assert "and 2 more in the file" in page.text
        # Numbers that are not there, a kind that nobody knows: the sentence that was stored.
        assert "As stored: misspelt_field." in page.text
        assert "As stored: of_tomorrow." in page.text
        assert "<script>x" not in page.html
        pair = lead.campaign.pair_set.pairs.get(pair_id="pair-0")
        assert page.having(href=address(lead.campaign, "run_pair", run.pk, pair.pk))
        table = client.get(address(lead.campaign, "run_table", run.pk, "quality", "csv"))
        rows = list(csv.DictReader(io.StringIO(table.content.decode("utf-8-sig"))))
        assert [row["ids"] for row in rows[1:]] == [
            "; ".join(many),
            "<script>x</script>",
            "'=1+1",
        ]

    def test_nothing_found_and_nothing_there(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        where = address(lead.campaign, "run_quality", run.pk)
        page = shown(browser(lead), where)
        assert page.having(action=address(lead.campaign, "analyse", run.pk))
        researcher = make_member(lead.campaign, Membership.Role.RESEARCHER)
        page = shown(browser(researcher), where)
        assert not page.having(action=address(lead.campaign, "analyse", run.pk))
        Analysis.objects.create(run=run, subject=Analysis.Subject.QUALITY, data=report())
        assert "Nothing was found" in shown(browser(lead), where).text


class TestFiles:
    def test_names_and_kinds(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        client, campaign = browser(lead), lead.campaign
        assert set(OWN) <= TABLES.keys()
        for name in OWN:
            response = client.get(address(campaign, "run_table", run.pk, name, "csv"))
            filename = f"{campaign.slug}-run{run.pk}-{name}.csv"
            assert response.headers["Content-Disposition"] == f'attachment; filename="{filename}"'
            assert response.content.decode("utf-8-sig").count("\r\n") >= 1
        for name, format in (("none", "csv"), ("tiers", "xml"), ("tiers", "CSV")):
            where = address(campaign, "run_table", run.pk, name, format)
            assert client.get(where).status_code == 404

    def test_what_pages_offer_is_there(self, lead: Membership) -> None:
        """Every file that a page links to answers; every file of ours is linked to."""
        run = aggregated(lead.campaign.pair_set)
        client, campaign = browser(lead), lead.campaign
        linked = set()
        for name in ("run", "run_tiers"):
            page = shown(client, address(campaign, name, run.pk))
            linked |= {e["href"] for _, e in page.elements if "/tables/" in e.get("href", "")}
        for where in linked:
            assert client.get(where).status_code == 200, where
        names = {where.rpartition("/")[2] for where in linked}
        # Those without rows have nothing to download.
        without = {"quality", "agreement-ties", "agreement-by-answer"}
        assert names == {f"{name}.{f}" for name in set(OWN) - without for f in ("csv", "json")}


class TestAnalyse:
    def test_once_and_again_when_it_failed(self, lead: Membership) -> None:
        run = aggregated(lead.campaign.pair_set)
        client = browser(lead)
        where = address(lead.campaign, "analyse", run.pk)
        back = address(lead.campaign, "run", run.pk)
        assert client.get(where).headers["Location"] == back
        assert not Run.objects.filter(of=run).exists()
        for _ in range(2):
            assert client.post(where).headers["Location"] == back
        analysis = Run.objects.get(of=run)
        [event] = Event.objects.filter(action="analysis:started")
        assert (event.actor, event.data) == (
            lead.user,
            {"run": run.pk, "analysis": analysis.pk},
        )
        page = shown(client, back)
        assert page.having(id="analysis", hx_get=back)
        Run.objects.filter(pk=analysis.pk).update(state="failed", error="RuntimeError: stopped")
        page = shown(client, back)
        assert "RuntimeError: stopped" in page.text
        client.post(where)
        analysis.refresh_from_db()
        assert (analysis.state, analysis.error) == ("queued", "")
        assert Event.objects.filter(action="analysis:started").count() == 2

    def test_of_a_release_there_is_none(self, lead: Membership) -> None:
        release = make_run(lead.campaign, Run.Kind.RELEASE)
        browser(lead).post(address(lead.campaign, "analyse", release.pk))
        assert not Run.objects.filter(kind=Run.Kind.ANALYSIS).exists()


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """Statements that go through execute: those of COPY are one a call, whatever comes of them."""
    statements: list[str] = []

    def note(execute: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        return execute(sql, *arguments)

    with connection.execute_wrapper(note):
        yield statements


def test_as_many_queries_for_many_pairs_as_for_few(tmp_path: Path) -> None:
    numbers: dict[str, list[int]] = {}
    for pairs, raters in ((3, 2), (16, 9)):
        lead = judged(tmp_path, pairs=pairs, raters=raters)
        run = aggregated(lead.campaign.pair_set)
        client = browser(lead)
        for name, more in (
            ("audit", ()),
            ("run", (run.pk,)),
            ("run_tiers", (run.pk,)),
            ("policies", ()),
        ):
            with counted_statements() as statements:
                shown(client, address(lead.campaign, name, *more))
            numbers.setdefault(name, []).append(len(statements))
    for name, (few, many) in numbers.items():
        assert few == many, name


def test_odd_ids_are_no_markup(tmp_path: Path) -> None:
    """Of a rater, a pair and a campaign."""
    campaign = make_campaign(allows_tie=True)
    row = pair_row(0, pair_id="=1+1 <script>alert(1)</script> 中文 🙂", query="<b>?</b>")
    import_pairs_into(campaign=campaign, paths=[write_jsonl(tmp_path / "p.jsonl", [row])])
    PairSet.objects.filter(pk=campaign.pk).update(name="<i>名</i>")
    run = aggregated(campaign.pair_set)
    lead = make_member(campaign, Membership.Role.LEAD)
    lead.campaign.pair_set.refresh_from_db()
    for name, more in (("audit", ()), ("run", (run.pk,)), ("run_tiers", (run.pk,))):
        page = shown(browser(lead), address(campaign, name, *more))
        assert "<i>名" not in page.html
        assert "<i>名</i>" in page.text
