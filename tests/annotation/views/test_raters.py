"""The pages about a run's raters, groups of pairs and biases."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.audit.raters_contexts import TABLES
from annotation.models import Campaign, Membership
from annotation.services.campaigns import import_votes_into
from annotation.services.exclusions import exclude_rater, lift_exclusion
from benchmark.models import Analysis, Judgement, Pair, Rater, Run, Vote
from tests.annotation.analyses import analysed
from tests.annotation.views.pages import Page, browser
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import add_pairs, make_campaign, make_member, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

PAIRS = 60
PAGES = ("run_raters", "run_breakdowns", "run_biases")
ODD = ["<script>alert(1)</script>", "=1+1", "张伟 \N{GRINNING FACE}", "x" * 200]


def left_of(pair: str, rater: int) -> str:
    return random.Random(f"{pair} before {rater}").choice("AB")


def choose(pair: str, rater: int, criterion: str) -> str:
    chance = random.Random(f"{pair} {rater} {criterion}")
    if rater == 8:  # whatever stands left, on both criteria
        return left_of(pair, rater)
    if rater == 7 and pair == "pair-3":
        return "skip"
    return "AB"[chance.random() < 0.2]


@dataclass
class World:
    campaign: Campaign
    lead: Membership
    run: Run
    client: Client

    def address(self, name: str, *arguments: Any) -> str:
        return reverse(name, args=[self.campaign.slug, *arguments])

    def page(self, name: str, *arguments: Any, query: str = "") -> Page:
        response = self.client.get(self.address(name, *arguments) + query)
        assert response.status_code == 200
        return Page(response)

    def rater(self, number: int) -> Rater:
        return self.campaign.pair_set.raters.get(pseudonym=f"rater-{number}")

    def table(self, name: str, query: str = "") -> dict[str, Any]:
        """The rows of a table as they are downloaded."""
        answer = self.client.get(self.address("run_table", self.run.pk, name, "json") + query)
        assert answer.status_code == 200
        found: dict[str, Any] = json.loads(answer.content)
        return found


def world_of(campaign: Campaign, *, is_analysed: bool = True) -> World:
    lead = make_member(campaign, Membership.Role.LEAD)
    run = aggregated(campaign.pair_set)
    return World(campaign, lead, analysed(run) if is_analysed else run, browser(lead))


@pytest.fixture
def world(tmp_path: Path) -> World:
    campaign = judged_campaign(tmp_path, pairs=PAIRS, choose=choose)
    for number, pair in enumerate(Pair.objects.order_by("pair_id")):
        Pair.objects.filter(pk=pair.pk).update(
            query_kind=("general", "specific")[number % 2], response_a="a" * (10 + number)
        )
    judgements = list(Judgement.objects.select_related("rater", "pair"))
    for row in judgements:
        number = int(row.rater.pseudonym.removeprefix("rater-"))
        row.shown_left = left_of(row.pair.pair_id, number)
        if number == 8:
            row.seconds = 0.1
    Judgement.objects.bulk_update(judgements, ["shown_left", "seconds"])
    return world_of(campaign)


class TestRaters:
    def test_who_stands_out_is_said_without_a_verdict(self, world: World) -> None:
        page = world.page("run_raters", world.run.pk)
        assert "1 of 9 raters stands out in at least one test." in page.text
        assert "chooses the left response more often than by chance" in page.text
        assert "at most 5% of those named here are named by chance" in page.text
        for word in ("cheat", "fraud", "spam", "bad rater"):
            assert word not in page.text.lower()

    def test_the_figures_are_those_of_the_votes(self, world: World) -> None:
        rows = world.table("raters")["rows"]
        assert len(rows) == 18
        votes: dict[tuple[str, str], dict[int, str]] = {}
        for pair, who, key, choice in Vote.objects.exclude(choice="skip").values_list(
            "judgement__pair_id", "judgement__rater__pseudonym", "criterion__key", "choice"
        ):
            votes.setdefault((who, key), {})[pair] = choice
        for row in rows:
            own = votes[row["rater"], row["criterion"]]
            others = [
                [
                    theirs[pair] == choice
                    for (who, key), theirs in votes.items()
                    if key == row["criterion"] and who != row["rater"] and pair in theirs
                ]
                for pair, choice in own.items()
            ]
            agreement = sum(sum(each) / len(each) for each in others) / len(others)
            assert row["agreement"]["value"] == pytest.approx(agreement)
            assert row["votes"] == len(own)
        assert {row["skips"] for row in rows if row["rater"] == "rater-7"} == {1}
        left = next(row for row in rows if row["rater"] == "rater-8")
        assert left["side"]["value"] == 1
        assert "left" in left["flags"]

    def test_sorting_searching_and_the_other_tables(self, world: World) -> None:
        rows = [row for row in world.table("raters")["rows"] if row["criterion"] == "helpfulness"]

        def order(query: str) -> list[str]:
            html = world.page("run_raters", world.run.pk, query=query).html
            table = html[html.index('id="raters"') : html.index("rater-pairs-title")]
            names = [rater["rater"] for rater in rows]
            found = [name for name in names if f">{name}</a>" in table]
            return sorted(found, key=lambda name: table.index(f">{name}</a>"))

        value = {row["rater"]: row["agreement"]["value"] for row in rows}
        base = "?criterion=helpfulness&sort="
        ascending = [value[name] for name in order(f"{base}agreement")]
        assert ascending == sorted(value.values())
        assert [value[name] for name in order(f"{base}-agreement")] == ascending[::-1]
        assert order(f"{base}-rater")[0] == "rater-8"
        assert order("?q=TER-3") == ["rater-3"]
        assert order("?q=%25&sort=nonsense&criterion=nothing") == []

        pairs = world.table("rater-pairs")["rows"]
        assert len(pairs) == 2 * 9 * 8 // 2
        assert pairs[0]["share"]["value"] <= pairs[1]["share"]["value"]
        model = world.table("label-model")["rows"]
        assert len(model) == 18
        page = world.page("run_raters", world.run.pk)
        assert "Model and majority name the same response on" in page.text
        assert "verdicts and releases rest on the majority alone" in page.text


class TestRater:
    def test_own_judgements_stand_beside_the_others(self, world: World) -> None:
        rater = world.rater(8)
        rows = world.table("rater-items", f"?rater={rater.pk}")["rows"]
        assert len(rows) == PAIRS
        for row in rows:
            for key in ("helpfulness", "personalization"):
                votes = Vote.objects.filter(
                    judgement__pair__pair_id=row["pair"], criterion__key=key
                )
                others = votes.exclude(judgement__rater=rater)
                a, b = (others.filter(choice=side).count() for side in "AB")
                own = votes.get(judgement__rater=rater).choice
                assert row[f"{key}_choice"] == own
                assert row[f"{key}_others"] == f"{a}–{b}"
                most = None if a == b else own == ("A" if a > b else "B")
                assert row[f"{key}_agrees"] == most
        page = world.page("run_rater", world.run.pk, rater.pk)
        assert "60 of 60 judgements" in page.text
        assert "page 1 of 2" in page.text
        assert (
            "page 2 of 2" in world.page("run_rater", world.run.pk, rater.pk, query="?page=9").text
        )

    def test_filters(self, world: World) -> None:
        def found(number: int, query: str) -> list[dict[str, Any]]:
            rater = world.rater(number).pk
            rows: list[dict[str, Any]] = world.table("rater-items", f"?rater={rater}&{query}")[
                "rows"
            ]
            return rows

        for row in found(8, "show=against&criterion=helpfulness"):
            a, b = (int(n) for n in row["helpfulness_others"].split("–"))
            assert max(a, b) >= 0.75 * (a + b)
            assert row["helpfulness_agrees"] is False
        assert len(found(8, "show=left")) == PAIRS
        assert found(8, "show=right") == []
        assert len(found(8, "show=fast")) == PAIRS
        assert found(7, "show=fast") == []
        assert [row["pair"] for row in found(7, "show=skipped")] == ["pair-3"]
        by_pair = [row["pair"] for row in found(7, "sort=-pair")]
        assert by_pair == sorted(by_pair, reverse=True)
        seconds = [row["seconds"] for row in found(7, "sort=seconds")]
        assert seconds == sorted(seconds)
        assert len(found(7, "show=nonsense&sort=x&page=-1&criterion=%00")) == PAIRS

        # Of nobody there is no table.
        address = world.address("run_table", world.run.pk, "rater-items", "csv")
        for query in ("", "?rater=x", "?rater=99999999", f"?rater={'9' * 30}"):
            assert world.client.get(address + query).status_code == 404

    def test_left_out_and_back(self, world: World) -> None:
        rater = world.rater(8)
        exclusion = exclude_rater(
            campaign=world.campaign,
            rater=rater,
            actor=world.lead.user,
            reason="Never <read> a pair.",
            now=timezone.now(),
        )
        before = world.page("run_rater", world.run.pk, rater.pk)
        assert "This run counts their votes" in before.text
        assert "the next aggregation leaves their votes out" in before.text
        assert before.having(action=world.address("lift_exclusion", exclusion.pk))
        assert "excluded since" in world.page("run_raters", world.run.pk).text
        run = analysed(aggregated(world.campaign.pair_set))
        after = world.page("run_rater", run.pk, rater.pk)
        assert "This run leaves their votes out" in after.text
        assert "Never <read> a pair." in after.text
        assert "Compute these figures" not in after.text
        raters = world.page("run_raters", run.pk)
        assert "None of the 8 raters stands out in any test." in raters.text
        assert "Never <read> a pair." in raters.text
        # A judgement that is not among the counts is not taken off them.
        rows = world.client.get(
            world.address("run_table", run.pk, "rater-items", "json") + f"?rater={rater.pk}"
        ).json()["rows"]
        assert {row["counted"] for row in rows} == {False}
        assert {sum(map(int, row["helpfulness_others"].split("–"))) for row in rows} == {7, 8}
        lift_exclusion(
            campaign=world.campaign,
            exclusion=exclusion,
            actor=world.lead.user,
            now=timezone.now(),
        )
        lifted = world.page("run_rater", run.pk, rater.pk)
        assert "the next aggregation counts their votes again" in lifted.text
        # Researchers see it and can do nothing.
        researcher = browser(make_member(world.campaign, Membership.Role.RESEARCHER))
        page = Page(researcher.get(world.address("run_rater", world.run.pk, world.rater(8).pk)))
        assert "Stands out in" in page.text
        assert "See the effect of excluding" not in page.text


class TestBreakdownsAndBiases:
    def test_groups(self, world: World) -> None:
        page = world.page("run_breakdowns", world.run.pk)
        assert "Kind of question" in page.text
        (general, specific) = [
            row
            for row in world.table("breakdown-query-kind")["rows"]
            if row["criterion"] == "helpfulness"
        ]
        assert (general["group"], specific["group"]) == ("general", "specific")
        assert general["pairs"] + specific["pairs"] == PAIRS
        assert general["votes"] + specific["votes"] == 9 * PAIRS - 1
        for row in (general, specific):
            kind = Vote.objects.filter(
                judgement__pair__query_kind=row["group"], criterion__key="helpfulness"
            )
            shares = []
            for pair in kind.values_list("judgement__pair", flat=True).distinct():
                choices = list(
                    kind.filter(judgement__pair=pair)
                    .exclude(choice="skip")
                    .values_list("choice", flat=True)
                )
                n, a = len(choices), choices.count("A")
                shares.append((a * (a - 1) + (n - a) * (n - a - 1)) / (n * (n - 1)))
            mean = sum(shares) / len(shares)
            assert row["percent_agreement"]["value"] == pytest.approx(mean)
        links = [
            found["href"] for found in page.having() if "kind=general" in found.get("href", "")
        ]
        assert links
        assert "The same for all pairs, so not shown:" in page.text

        Pair.objects.filter(pair_id__in=["pair-1", "pair-2"]).update(query_kind="")
        Analysis.objects.filter(run=world.run).delete()
        analysed(world.run)
        marks = {row["group"]: row["small"] for row in world.table("breakdown-query-kind")["rows"]}
        assert marks["not known"] == ["few pairs"]
        assert "few pairs" in world.page("run_breakdowns", world.run.pk).text

    def test_biases(self, world: World) -> None:
        page = world.page("run_biases", world.run.pk)
        votes = list(
            Vote.objects.filter(criterion__key="personalization")
            .exclude(choice="skip")
            .values_list("choice", "judgement__shown_left")
        )
        left = sum(choice == side for choice, side in votes)
        row = world.table("position-bias")["rows"][1]
        assert row["share"]["value"] == pytest.approx(left / len(votes))
        assert "above chance" in page.text
        longer = world.table("length-bias")["rows"]
        assert longer[0]["pairs"] == sum(
            len(a) != len(b) for a, b in Pair.objects.values_list("response_a", "response_b")
        )
        (first, _second) = world.table("source-wins")["rows"]
        assert (first["first"], first["second"], first["pairs"]) == ("full", "none", PAIRS)
        same = world.table("identical-answers")["rows"]
        assert (same[0]["rater"], same[0]["share"]["value"]) == ("rater-8", 1)
        assert "Both criteria get the same answer in" in page.text


class TestWithoutFigures:
    def test_they_can_be_asked_for(self, tmp_path: Path) -> None:
        world = world_of(
            judged_campaign(tmp_path, pairs=2, choose=lambda *_: "A"), is_analysed=False
        )
        researcher = browser(make_member(world.campaign, Membership.Role.RESEARCHER))
        for name in (*PAGES, "run_rater"):
            arguments = [world.run.pk, *([world.rater(1).pk] if name == "run_rater" else [])]
            page = world.page(name, *arguments)
            assert page.having(action=world.address("analyse", world.run.pk))
            read_only = Page(researcher.get(world.address(name, *arguments)))
            assert "A campaign lead can have them computed." in read_only.text
            assert not read_only.having(action=world.address("analyse", world.run.pk))
        analysis = Run.objects.create(
            pair_set=world.campaign.pair_set, kind=Run.Kind.ANALYSIS, of=world.run, version="1"
        )
        for name in PAGES:
            page = world.page(name, world.run.pk)
            assert page.having(hx_trigger="every 2s")
            assert not page.having(action=world.address("analyse", world.run.pk))
        analysis.state, analysis.error = Run.State.FAILED, "the disk is <full>"
        analysis.save()
        page = world.page("run_biases", world.run.pk)
        assert "the disk is <full>" in page.text
        assert page.having(action=world.address("analyse", world.run.pk))
        assert not page.having(hx_trigger="every 2s")

    def test_only_finished_aggregations_of_the_campaign(self, world: World) -> None:
        theirs = make_campaign("mugs")
        other = Run.objects.create(
            pair_set=theirs.pair_set, kind=Run.Kind.AGGREGATION, state=Run.State.DONE, version="1"
        )
        mine: Callable[..., Run] = lambda **options: Run.objects.create(  # noqa: E731
            pair_set=world.campaign.pair_set, version="1", **options
        )
        runs = [
            other,
            mine(kind=Run.Kind.AGGREGATION),
            mine(kind=Run.Kind.RELEASE, state=Run.State.DONE),
        ]
        for run in runs:
            for name in PAGES:
                assert world.client.get(world.address(name, run.pk)).status_code == 404
        stranger = Rater.objects.create(pair_set=theirs.pair_set, pseudonym="them")
        for rater in (stranger.pk, 10**30):
            address = world.address("run_rater", world.run.pk, rater)
            assert world.client.get(address).status_code == 404


def one_judges(choice: str) -> Callable[[str, int, str], str]:
    return lambda pair, rater, criterion: choice if rater == 0 else "skip"


@pytest.mark.parametrize(
    ("pairs", "choice", "options"),
    [
        (1, lambda *_: "A", {}),
        (1, one_judges("A"), {}),
        (3, lambda *_: "skip", {}),
        (3, lambda *_: "tie", {"allows_tie": True}),
        (3, lambda pair, rater, criterion: "AB"[rater % 2], {}),
    ],
    ids=["unanimous", "one vote", "all skip", "all tie", "split"],
)
def test_what_says_little(tmp_path: Path, pairs: int, choice: Any, options: Any) -> None:
    campaign = make_campaign(**options)
    add_pairs(campaign, tmp_path, pairs)
    rows = [
        {
            "pair_id": f"pair-{pair}",
            "rater": ODD[rater] if rater < len(ODD) else f"rater-{rater}",
            "criterion": criterion,
            "choice": choice(f"pair-{pair}", rater, criterion),
        }
        for pair in range(pairs)
        for rater in range(9)
        for criterion in ("helpfulness", "personalization")
    ]
    path = write_jsonl(tmp_path / "votes.jsonl", rows)
    assert not import_votes_into(campaign=campaign, path=path).problems
    world = world_of(campaign)
    for name in PAGES:
        page = world.page(name, world.run.pk)
        assert "nan" not in page.text.lower().split()
        assert "<script>alert" not in page.html
    for rater in campaign.pair_set.raters.all():
        page = world.page("run_rater", world.run.pk, rater.pk)
        assert rater.pseudonym in " ".join(page.texts)
        assert world.client.get(world.address("exclude_rater", rater.pk)).status_code == 200
    for name in TABLES:
        query = f"?rater={rater.pk}"
        for form in ("csv", "json"):
            answer = world.client.get(world.address("run_table", world.run.pk, name, form) + query)
            assert answer.status_code == 200, name
            assert b"NaN" not in answer.content
    table = world.client.get(world.address("run_table", world.run.pk, "raters", "csv"))
    cells = {row[0] for row in csv.reader(io.StringIO(table.content.decode("utf-8-sig")))}
    assert "'=1+1" in cells
    assert "=1+1" not in cells


@pytest.mark.parametrize("pairs", [0, 2])
def test_nobody_has_voted(tmp_path: Path, pairs: int) -> None:
    campaign = make_campaign()
    if pairs:
        add_pairs(campaign, tmp_path, pairs)
    world = world_of(campaign)
    assert "No rater has a counted vote." in world.page("run_raters", world.run.pk).text
    assert world.page("run_breakdowns", world.run.pk)
    assert "There are no votes that could tell" in world.page("run_biases", world.run.pk).text
    for name in set(TABLES) - {"rater-items"}:
        assert world.table(name)["rows"] is not None


def test_queries_do_not_grow(tmp_path: Path) -> None:
    def queries(slug: str, pairs: int, choice: Any) -> list[int]:
        world = world_of(judged_campaign(tmp_path, slug=slug, pairs=pairs, choose=choice))
        rater = world.rater(0).pk
        counts = []
        for address in (
            *(world.address(name, world.run.pk) for name in PAGES),
            world.address("run_rater", world.run.pk, rater),
            world.address("exclude_rater", rater),
        ):
            asked: list[str] = []

            def note(execute: Any, sql: str, *rest: Any, asked: list[str] = asked) -> Any:
                asked.append(sql)
                return execute(sql, *rest)

            with connection.execute_wrapper(note):
                assert world.client.get(address).status_code == 200
            counts.append(len(asked))
        return counts

    # A tie to begin with, so that both sets have pairs that would change.
    few = queries("few", 2, lambda pair, rater, criterion: "AB"[rater < 5])
    many = queries("many", 20, lambda pair, rater, criterion: "AB"[rater < 5])
    assert few == many
    assert max(many) <= 16, many
