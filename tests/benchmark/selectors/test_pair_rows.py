"""Pages of a run's pairs against all its rows looked at one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign
from annotation.services.campaigns import import_votes_into
from benchmark.models import CriterionVerdict, Judgement, Pair, Run, Verdict
from benchmark.selectors import pair_rows
from benchmark.selectors.pair_rows import (
    Order,
    PairFilter,
    Sort,
    all_pairs,
    decided,
    median_seconds,
    pair_page,
    patterns_of_run,
)
from benchmark.services.exclusions import exclude_votes
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import add_pairs, make_campaign, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)


def choose(pair: str, rater: int, criterion: str) -> str:
    """Every kind of verdict, and several pairs of the same pattern."""
    number = int(pair.removeprefix("pair-"))
    split = {"helpfulness": number % 5, "personalization": number % 7}[criterion]
    return "B" if rater < split else "A"


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = make_campaign(allows_tie=True)
    add_pairs(made, tmp_path, 24)
    rows = vote_rows(made.pair_set, raters=9, choose=choose)
    drawn = random.Random(4)
    for row in rows:
        if row["rater"] == "rater-0" and row["pair_id"] in ("pair-3", "pair-4"):
            row |= {"choice": "skip", "reason": "cannot_judge"}
        elif row["rater"] > {"pair-20": "rater-3", "pair-0": "rater-5"}.get(row["pair_id"], "z"):
            row |= {"choice": "tie"}
        row["seconds"] = drawn.uniform(5, 90)
    # Some pairs have too few votes, and one has none.
    rows = [
        row
        for row in rows
        if row["pair_id"] != "pair-23"
        and not (row["pair_id"] in ("pair-7", "pair-8") and row["rater"] > "rater-3")
        and not (row["pair_id"] == "pair-9" and row["rater"] > "rater-6")
    ]
    report = import_votes_into(campaign=made, path=write_jsonl(tmp_path / "votes.jsonl", rows))
    assert not report.problems
    Pair.objects.filter(pair_id="pair-5").update(query="Is 100% of_it a\\b?", source_b="model x")
    Pair.objects.filter(pair_id="pair-6").update(query_kind="specific", source_a="")
    return made


def every_row(run: Run) -> list[dict[str, Any]]:
    """The run's pairs with all that filters and orders are about, from the stored rows."""
    rows = []
    for verdict in Verdict.objects.filter(run=run).select_related("pair__persona"):
        criteria = {
            found.criterion.key: found
            for found in CriterionVerdict.objects.filter(run=run, pair=verdict.pair).select_related(
                "criterion"
            )
        }
        basis = criteria["personalization"]
        n = basis.a + basis.b
        rows.append(
            {
                "id": verdict.pair_id,
                "pair_id": verdict.pair.pair_id,
                "verdict": verdict,
                "criteria": criteria,
                "margin": min(found.margin for found in criteria.values()),
                "k": 2 * basis.s / basis.m - 1 if n >= 7 else None,
                "skips": sum(found.skip for found in criteria.values()),
            }
        )
    return rows


def ids(found: Any, wanted: PairFilter, order: Order, *, limit: int) -> list[int]:
    """By going forwards from page to page."""
    shown: list[int] = []
    past: int | None = None
    while True:
        page = pair_page(found, wanted, order=order, past=past, limit=limit)
        assert len(page.rows) <= limit
        shown += [row.id for row in page.rows]
        if not page.has_more:
            return shown
        past = shown[-1]


def in_order(rows: list[dict[str, Any]], order: Order) -> list[int]:
    if order.by == "pair":
        chosen = sorted(rows, key=lambda row: row["pair_id"], reverse=order.descending)
        return [row["id"] for row in chosen]
    sign = -1 if order.descending else 1

    def place(row: dict[str, Any]) -> tuple[bool, float, int]:
        value = row[order.by]
        return value is None, sign * (value or 0), row["id"]

    return [row["id"] for row in sorted(rows, key=place)]


WANTED: dict[str, tuple[PairFilter, Callable[[dict[str, Any]], bool]]] = {
    "all": (PairFilter(), lambda row: True),
    "status": (PairFilter(status="conflict"), lambda row: row["verdict"].status == "conflict"),
    "tier": (PairFilter(tier="hard"), lambda row: row["verdict"].tier == "hard"),
    "no tier": (
        PairFilter(tier="none"),
        lambda row: row["verdict"].status == "decided" and not row["verdict"].tier,
    ),
    "provisional": (PairFilter(is_provisional=True), lambda row: row["verdict"].is_provisional),
    "skips": (PairFilter(has_skips=True), lambda row: row["skips"] > 0),
    "split": (
        PairFilter(splits={"helpfulness": (8, 1), "personalization": (6, 3)}),
        lambda row: (
            {row["criteria"]["helpfulness"].a, row["criteria"]["helpfulness"].b} == {8, 1}
            and {row["criteria"]["personalization"].a, row["criteria"]["personalization"].b}
            == {6, 3}
        ),
    ),
    "kind": (PairFilter(query_kind="specific"), lambda row: row["pair_id"] == "pair-6"),
    "sources": (
        PairFilter(sources="full · model x"),
        lambda row: row["pair_id"] == "pair-5",
    ),
    "one source": (PairFilter(sources="none"), lambda row: row["pair_id"] == "pair-6"),
    "search": (PairFilter(search="AIR-1"), lambda row: "air-1" in row["pair_id"]),
    "persona": (
        PairFilter(search="persona-2"),
        lambda row: row["verdict"].pair.persona.persona_id == "persona-2",
    ),
    "percent": (PairFilter(search="100% of_"), lambda row: row["pair_id"] == "pair-5"),
    "backslash": (PairFilter(search="a\\b"), lambda row: row["pair_id"] == "pair-5"),
    "no pattern": (PairFilter(search="1__%"), lambda row: False),
    "both": (
        PairFilter(status="decided", search="pair-1"),
        lambda row: row["verdict"].status == "decided" and "pair-1" in row["pair_id"],
    ),
    "none": (PairFilter(only=[]), lambda row: False),
    "nothing of the kind": (PairFilter(status="withdrawn"), lambda row: False),
}


def test_filters_and_orders(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_rows, "_AT_ONCE", 5)
    run = aggregated(campaign.pair_set)
    found, rows = decided(run), every_row(run)
    statuses = {row["verdict"].status for row in rows}
    assert {"decided", "conflict", "tied", "insufficient"} <= statuses
    orders = [
        Order(by=by, descending=descending)
        for by in ("pair", "margin", "k", "skips")
        for descending in (False, True)
    ]
    for name, (wanted, is_meant) in WANTED.items():
        meant = [row for row in rows if is_meant(row)]
        assert bool(meant) == (name not in ("no pattern", "none", "nothing of the kind")), name
        for order in orders:
            assert ids(found, wanted, order, limit=7) == in_order(meant, order), (name, order)
        if wanted.is_of_patterns:
            patterns = wanted.patterns(found)
            assert int(found.patterns.pairs[patterns].sum()) == len(meant), name
        assert [row.id for page in all_pairs(found, wanted) for row in page] == in_order(
            meant, Order()
        )


@pytest.mark.parametrize("by", ["pair", "k"])
def test_back_and_forth(campaign: Campaign, by: Sort) -> None:
    """Every pair has the neighbours that it has in the list."""
    found = decided(aggregated(campaign.pair_set))
    order = Order(by=by, descending=True)
    listed = ids(found, PairFilter(), order, limit=100)
    assert len(listed) == 24
    for before, after in pairwise(listed):
        on = pair_page(found, PairFilter(), order=order, past=before, limit=1)
        back = pair_page(found, PairFilter(), order=order, past=after, backwards=True, limit=1)
        assert (on.rows[0].id, back.rows[0].id) == (after, before)
        assert back.has_more == (before != listed[0])
    page = pair_page(found, PairFilter(), order=order, past=listed[9], backwards=True, limit=4)
    assert [row.id for row in page.rows] == listed[5:9]
    assert page.has_more


def test_a_pair_that_the_run_has_not(campaign: Campaign, tmp_path: Path) -> None:
    found = decided(aggregated(campaign.pair_set))
    elsewhere = judged_campaign(tmp_path, slug="others", pairs=1, choose=lambda *_: "A")
    pair = elsewhere.pair_set.pairs.get()
    for by in ("pair", "margin"):
        page = pair_page(found, PairFilter(), order=Order(by=by), past=pair.pk, limit=5)
        assert (page.rows, page.has_more) == ([], False)


def test_changed_since_another_run(campaign: Campaign) -> None:
    before = aggregated(campaign.pair_set)
    after = aggregated(campaign.pair_set, "personalization-v1")
    outcomes = [
        {
            row["id"]: (row["verdict"].status, row["verdict"].chosen, row["verdict"].tier)
            for row in every_row(run)
        }
        for run in (before, after)
    ]
    changed = {pair for pair in outcomes[0] if outcomes[0][pair] != outcomes[1][pair]}
    assert 0 < len(changed) < 24
    wanted = PairFilter(changed_since=before.pk)
    assert set(ids(decided(after), wanted, Order(), limit=50)) == changed


def test_median_of_what_was_counted(campaign: Campaign) -> None:
    pair_set = campaign.pair_set
    exclude_votes(rater=pair_set.raters.get(pseudonym="rater-2"), reason="a test", by="lead")
    run = aggregated(pair_set)
    pairs = list(pair_set.pairs.values_list("pk", flat=True))
    found = median_seconds(run, pairs)
    for pair in pair_set.pairs.all():
        seconds = sorted(
            each.seconds or 0
            for each in Judgement.objects.filter(pair=pair).exclude(rater__pseudonym="rater-2")
        )
        if not seconds:
            assert pair.pk not in found
            continue
        middle = (seconds[(len(seconds) - 1) // 2] + seconds[len(seconds) // 2]) / 2
        assert found[pair.pk] == pytest.approx(middle)


def test_runs_from_before_patterns_were_kept(campaign: Campaign) -> None:
    run = aggregated(campaign.pair_set)
    kept = patterns_of_run(run)
    run.patterns = {}
    found = patterns_of_run(run)
    assert found.as_json() == kept.as_json()
