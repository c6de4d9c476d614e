"""Tallies into verdicts: the same as by hand, the same every time, and of one moment."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, Membership
from annotation.services.answers import Outcome
from annotation.services.campaigns import import_votes_into
from annotation.services.seats import claim_seat
from benchmark.jobs.aggregate import aggregate
from benchmark.jobs.recording import recorded
from benchmark.models import CriterionVerdict, Judgement, PairSet, Run, Verdict, Vote
from benchmark.stats.majority import majority
from benchmark.stats.policy import POLICIES, policy_named
from benchmark.stats.verdicts import PairTally, decide_one
from tests.annotation.seating import submit
from tests.annotation.threads import together
from tests.benchmark.jobs.runs import aggregated, queued_aggregation, verdict_rows
from tests.conftest import shared_data
from tests.factories import add_pairs, make_campaign, make_member, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

CHOICES = ("A", "B", "tie", "skip")


def random_campaign(folder: Path, *, seed: int, pairs: int, allows_tie: bool) -> Campaign:
    """Zero to nine raters a pair, from unanimous to divided, with a few skips."""
    campaign = make_campaign(allows_tie=allows_tie)
    add_pairs(campaign, folder, pairs)
    draw = random.Random(seed)
    raters = {pair: draw.choice([0, 1, 4, 6, 7, 8, 9, 9, 9]) for pair in pair_ids(campaign)}
    lean = {pair: draw.random() for pair in raters}

    def choose(pair: str, rater: int, criterion: str) -> str:
        if draw.random() < 0.03:
            return "skip"
        if allows_tie and draw.random() < 0.15:
            return "tie"
        return "A" if draw.random() < lean[pair] else "B"

    rows = [
        row
        for row in vote_rows(campaign.pair_set, raters=9, choose=choose)
        if int(row["rater"].removeprefix("rater-")) < raters[row["pair_id"]]
    ]
    report = import_votes_into(campaign=campaign, path=write_jsonl(folder / "votes.jsonl", rows))
    assert not report.problems
    return campaign


def pair_ids(campaign: Campaign) -> list[str]:
    return list(campaign.pair_set.pairs.order_by("id").values_list("pair_id", flat=True))


def counted(
    pair_set: PairSet, last_judgement: int | None = None
) -> dict[str, dict[str, PairTally]]:
    """Votes a pair and criterion, counted one by one."""
    votes = Vote.objects.filter(judgement__pair__pair_set=pair_set)
    if last_judgement is not None:
        votes = votes.filter(judgement_id__lte=last_judgement)
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for pair, key, choice in votes.values_list(
        "judgement__pair__pair_id", "criterion__key", "choice"
    ):
        found[pair, key][choice] += 1
    keys = list(pair_set.criteria.values_list("key", flat=True))
    return {
        pair: {key: PairTally(*(found[pair, key][choice] for choice in CHOICES)) for key in keys}
        for pair in pair_set.pairs.values_list("pair_id", flat=True)
    }


def stored_counts(run: Run) -> dict[str, dict[str, PairTally]]:
    found: dict[str, dict[str, PairTally]] = defaultdict(dict)
    for row in CriterionVerdict.objects.filter(run=run).select_related("pair", "criterion"):
        found[row.pair.pair_id][row.criterion.key] = PairTally(row.a, row.b, row.tie, row.skip)
    return dict(found)


@pytest.mark.parametrize("allows_tie", [False, True])
def test_every_verdict_is_the_one_worked_out_pair_by_pair(allows_tie: bool, tmp_path: Path) -> None:
    campaign = random_campaign(tmp_path, seed=11, pairs=150, allows_tie=allows_tie)
    tallies = counted(campaign.pair_set)
    seen: set[tuple[str, str]] = set()
    for name in POLICIES:
        policy = policy_named(name)
        run = aggregated(campaign.pair_set, name)
        assert run.policy == policy.as_json()
        assert stored_counts(run) == tallies
        verdicts = {row.pair.pair_id: row for row in run.verdicts.select_related("pair")}
        assert verdicts.keys() == tallies.keys()
        for pair, tally in tallies.items():
            expected, row = decide_one(policy, tally), verdicts[pair]
            assert (row.status, row.chosen, row.tier, row.is_provisional) == (
                *(expected.status, expected.chosen or "", expected.tier or ""),
                expected.provisional,
            )
            seen.add((row.status, row.tier))
        for part in run.criterion_verdicts.select_related("pair", "criterion"):
            check_part(part, policy.minimum)
    # The random votes reach every outcome that votes can have.
    outcomes = {("decided", tier) for tier in ("easy", "medium", "hard")}
    outcomes |= {(status, "") for status in ("tied", "insufficient", "conflict")}
    if allows_tie:  # ties count towards the minimum of a decision, but not of a tier
        outcomes.add(("decided", ""))
    assert seen >= outcomes


def check_part(part: CriterionVerdict, minimum: int) -> None:
    expected = majority(part.a, part.b, ties=part.tie, skips=part.skip, minimum=minimum)
    assert (part.status, part.winner, part.margin) == (
        *(expected.status, expected.winner or ""),
        expected.margin,
    )
    n = part.a + part.b
    assert (part.s, part.m) == (part.a * (part.a - 1) + part.b * (part.b - 1), n * (n - 1))


def test_the_summary_counts_what_the_rows_say(tmp_path: Path) -> None:
    campaign = random_campaign(tmp_path, seed=5, pairs=80, allows_tie=True)
    run = aggregated(campaign.pair_set)
    rows = list(Verdict.objects.filter(run=run).values_list("status", "tier", "is_provisional"))
    result = run.result
    statuses = Counter(status for status, *_ in rows)
    assert result["statuses"] == {name: statuses[name] for name in result["statuses"]}
    assert sum(result["statuses"].values()) == result["pairs"] == len(rows) == 80
    tiers = Counter(tier or "none" for status, tier, _ in rows if status == "decided")
    assert result["tiers"] == {name: tiers[name] for name in ("none", "easy", "medium", "hard")}
    assert result["provisional"] == sum(provisional for *_, provisional in rows)
    assert result["judgements"] == Judgement.objects.count()
    for key, splits in result["splits"].items():
        parts = CriterionVerdict.objects.filter(run=run, criterion__key=key)
        expected = Counter((max(a, b), min(a, b)) for a, b in parts.values_list("a", "b"))
        assert {(most, least): pairs for most, least, pairs in splits} == expected


def test_ten_runs_give_identical_rows(tmp_path: Path) -> None:
    campaign = random_campaign(tmp_path, seed=7, pairs=40, allows_tie=True)
    runs = [aggregated(campaign.pair_set) for _ in range(10)]
    first = runs[0]
    rows = verdict_rows(first)
    assert len(rows) == 40 * 3
    for run in runs[1:]:
        assert verdict_rows(run) == rows
        assert (run.digest, run.result, run.policy) == (first.digest, first.result, first.policy)
        assert (run.last_judgement, run.version) == (first.last_judgement, first.version)


def test_the_digest_is_of_the_votes_and_of_nothing_else(tmp_path: Path) -> None:
    def digest(slug: str, rows: list[dict[str, Any]]) -> str:
        campaign = make_campaign(slug)
        add_pairs(campaign, tmp_path, 4)
        path = write_jsonl(tmp_path / f"{slug}.jsonl", rows)
        assert not import_votes_into(campaign=campaign, path=path).problems
        return aggregated(campaign.pair_set).digest

    campaign = make_campaign("given")
    add_pairs(campaign, tmp_path, 4)
    rows = vote_rows(campaign.pair_set, raters=3)
    given = digest("first", rows)
    assert digest("backwards", rows[::-1]) == given
    assert digest("other", [*rows[:-1], rows[-1] | {"choice": "B"}]) != given


def test_an_aggregation_of_nothing_is_undefined_and_says_so(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 2)
    result = aggregated(campaign.pair_set).result
    assert result["statuses"]["insufficient"] == 2
    for report in result["agreement"].values():
        assert report["fleiss"]["value"] is None
        assert report["fleiss"]["reason"]
    assert json.loads(json.dumps(result, allow_nan=False)) == result


@pytest.mark.parametrize("name", ["rte", "temporal"])
def test_agreement_of_public_votes_is_the_published_one(name: str, tmp_path: Path) -> None:
    expected = json.loads(shared_data("agreement", "expected.json").read_text("utf-8"))
    reference = expected["sets"][name]
    with shared_data("agreement", f"{name}_label.csv").open(encoding="utf-8") as file:
        labels = list(csv.DictReader(file))
    campaign = make_campaign(raters_per_pair=10)
    add_pairs(campaign, tmp_path, reference["items"])
    side = dict(zip(map(str, reference["categories"]), "AB", strict=True))
    rows = [
        {
            "pair_id": f"pair-{row['item']}",
            "rater": row["worker"],
            "criterion": key,
            "choice": side[row["label"]],
        }
        for row in labels
        for key in ("helpfulness", "personalization")
    ]
    report = import_votes_into(campaign=campaign, path=write_jsonl(tmp_path / "v.jsonl", rows))
    assert (report.problems, report.raters) == ([], reference["raters"])

    result = aggregated(campaign.pair_set).result
    for found in result["agreement"].values():
        assert (found["items"], found["votes"]) == (reference["items"], reference["votes"])
        assert found["percent_agreement"]["value"] == pytest.approx(reference["P_o"], abs=1e-9)
        assert found["alpha"]["value"] == pytest.approx(reference["alpha_nominal"], abs=1e-9)
        for ours, theirs in (("fleiss", "fleiss_gwet"), ("randolph", "randolph"), ("ac1", "ac1")):
            assert found[ours]["value"] == pytest.approx(reference[theirs]["value"], abs=1e-9)
            assert found[ours]["se"] == pytest.approx(reference[theirs]["se"], abs=1e-9)
            assert found[ours]["ci"] == pytest.approx(reference[theirs]["ci95"], abs=1e-9)
    assert result["statuses"]["decided"] == reference["majority"]["decided"]
    assert result["statuses"]["tied"] == reference["majority"]["ties"]


def test_a_run_counts_one_moment_while_people_go_on_judging(tmp_path: Path) -> None:
    campaign = make_campaign(raters_per_pair=5)
    add_pairs(campaign, tmp_path, 12)
    members = [make_member(campaign) for _ in range(5)]
    runs: list[Run] = []
    some_are_counted = Event()

    def judge(member: int) -> None:
        draw = random.Random(member)
        for number in count(1):
            # However slow the machine is, one run falls into the middle.
            assert number < 6 or some_are_counted.wait(timeout=60)
            membership = Membership.objects.select_related("campaign__pair_set").get(pk=member)
            seat = claim_seat(membership=membership)
            if not isinstance(seat, Assignment):
                return
            choices = {key: draw.choice("AB") for key in ("helpfulness", "personalization")}
            assert submit(seat=seat, answer=Answer(choices=choices)) is Outcome.ACCEPTED

    def aggregate_on() -> None:
        while True:
            runs.append(aggregated(campaign.pair_set))
            if runs[-1].result["judgements"] > 0:
                some_are_counted.set()
            if runs[-1].result["judgements"] == 60:
                return

    together(*(partial(judge, member.pk) for member in members), aggregate_on)

    assert Judgement.objects.count() == 60
    assert any(0 < run.result["judgements"] < 60 for run in runs)
    for run in runs:
        assert stored_counts(run) == counted(campaign.pair_set, run.last_judgement)


def test_an_interrupted_attempt_leaves_no_trace(tmp_path: Path) -> None:
    campaign = random_campaign(tmp_path, seed=3, pairs=10, allows_tie=False)
    done = aggregated(campaign.pair_set)
    again = queued_aggregation(campaign.pair_set)
    # What a worker that was killed after some rows leaves behind, from votes of an earlier moment.
    pair = campaign.pair_set.pairs.get(pair_id="pair-0")
    Verdict.objects.create(run=again, pair=pair, status="tied", is_provisional=False, pattern=0)
    Run.objects.filter(pk=again.pk).update(state=Run.State.RUNNING, done_steps=1, total_steps=3)
    recorded(again.pk, aggregate)
    assert verdict_rows(again) == verdict_rows(done)
