"""Exclusions and adjudications: what the next aggregation makes of them, and undoing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmark.jobs.release import write_release
from benchmark.models import (
    Adjudication,
    CriterionVerdict,
    Exclusion,
    Judgement,
    Rater,
    Release,
    Run,
    Verdict,
    Vote,
)
from benchmark.selectors.run_votes import run_counts, run_votes
from benchmark.selectors.tallies import live_patterns
from benchmark.services.adjudications import adjudicate, revoke
from benchmark.services.exclusions import AlreadyExcluded, exclude_votes, lift_exclusion
from benchmark.stats.patterns import Patterns
from tests.benchmark.jobs.releasing import rows_of
from tests.benchmark.jobs.runs import aggregated, judged_campaign, verdict_rows

pytestmark = pytest.mark.django_db(transaction=True)

# Votes for A among nine on helpfulness and personalization.
SPLITS = {"pair-0": (9, 9), "pair-1": (8, 5), "pair-2": (4, 8), "pair-3": (9, 1)}


def choose(pair: str, rater: int, criterion: str) -> str:
    return "A" if rater < SPLITS[pair][criterion == "personalization"] else "B"


@pytest.fixture
def campaign(tmp_path: Path) -> Any:
    return judged_campaign(tmp_path, pairs=4, choose=choose)


def rater(number: int) -> Rater:
    return Rater.objects.get(pseudonym=f"rater-{number}")


def counts_of(run: Run) -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (pair, key): (a, b)
        for pair, key, a, b in CriterionVerdict.objects.filter(run=run).values_list(
            "pair__pair_id", "criterion__key", "a", "b"
        )
    }


def recounted(left_out: set[str], of_pair: set[tuple[str, str]]) -> dict[Any, tuple[int, int]]:
    """The counts by going through every vote."""
    found: dict[tuple[str, str], list[int]] = {}
    for vote in Vote.objects.filter(judgement__superseded_by=None).select_related(
        "judgement__pair", "judgement__rater", "criterion"
    ):
        pair, who = vote.judgement.pair.pair_id, vote.judgement.rater.pseudonym
        row = found.setdefault((pair, vote.criterion.key), [0, 0])
        if who not in left_out and (who, pair) not in of_pair:
            row["AB".index(vote.choice)] += 1
    return {key: (a, b) for key, (a, b) in found.items()}


def test_excluded_votes_are_not_counted_and_come_back(campaign: Any) -> None:
    pair_set = campaign.pair_set
    before = aggregated(pair_set)
    whole = exclude_votes(rater=rater(0), reason="did not read", by="lead")
    pair = pair_set.pairs.get(pair_id="pair-1")
    one = exclude_votes(rater=rater(8), pair=pair, reason="a slip", by="lead")
    # The same judgement is also the rater's: it must be left out once.
    exclude_votes(rater=rater(0), pair=pair, reason="both", by="lead")
    during = aggregated(pair_set)
    assert counts_of(during) == recounted({"rater-0"}, {("rater-8", "pair-1")})
    assert during.result["left_out"] == {"raters": 1, "judgements": 1}
    assert during.result["agreement"]["helpfulness"]["votes"] == 4 * 8 - 1
    assert before.digest != during.digest
    assert Vote.objects.count() == 4 * 9 * 2
    votes = run_votes(during)
    assert len(votes.pair) == 4 * 8 - 1
    assert "rater-0" not in votes.pseudonyms
    for exclusion in (whole, one, *Exclusion.objects.in_force()):
        lift_exclusion(exclusion=exclusion, by="lead", now=timezone.now())
    after = aggregated(pair_set)
    assert after.digest == before.digest
    assert verdict_rows(after) == verdict_rows(before)
    assert after.result == before.result
    # An earlier run stays what it was, whatever has been lifted since.
    assert len(run_votes(during).pair) == 4 * 8 - 1


def test_an_exclusion_of_a_judgement_holds_for_its_corrections(campaign: Any) -> None:
    pair = campaign.pair_set.pairs.get(pair_id="pair-0")
    exclude_votes(rater=rater(3), pair=pair, reason="a slip", by="lead")
    first = Judgement.objects.get(pair=pair, rater=rater(3))
    with transaction.atomic():
        # The constraint that ties the two is checked at the end.
        newer = first.pk + 1_000
        Judgement.objects.filter(pk=first.pk).update(superseded_by_id=newer)
        votes = list(first.votes.all())
        first.pk, first.revision, first.superseded_by = newer, 2, None
        first.save(force_insert=True)
        Vote.objects.bulk_create(
            Vote(judgement=first, criterion=vote.criterion, choice=vote.choice) for vote in votes
        )
    assert counts_of(aggregated(campaign.pair_set))["pair-0", "helpfulness"] == (8, 0)


def test_only_one_exclusion_of_the_same_votes_is_in_force(campaign: Any) -> None:
    first = exclude_votes(rater=rater(0), reason="one", by="lead")
    with pytest.raises(AlreadyExcluded):
        exclude_votes(rater=rater(0), reason="two", by="lead")
    assert lift_exclusion(exclusion=first, by="lead", now=timezone.now())
    assert not lift_exclusion(exclusion=first, by="other", now=timezone.now())
    assert first.lifted_by == "lead"
    exclude_votes(rater=rater(0), reason="again", by="lead")
    with pytest.raises(IntegrityError), transaction.atomic():
        Exclusion.objects.create(rater=rater(1), reason="", by="lead")


def test_adjudications_decide_what_is_open_and_withdraw_what_is_not(campaign: Any) -> None:
    pair_set = campaign.pair_set
    before = aggregated(pair_set)
    statuses = {v.pair.pair_id: v.status for v in before.verdicts.select_related("pair")}
    assert statuses == {
        "pair-0": "decided",
        "pair-1": "decided",
        "pair-2": "conflict",
        "pair-3": "conflict",
    }
    pairs = {pair.pair_id: pair for pair in pair_set.pairs.all()}
    now = timezone.now()
    adjudicate(pair=pairs["pair-2"], decision="B", reason="by the profile", by="lead", now=now)
    adjudicate(pair=pairs["pair-0"], decision="withdrawn", reason="broken", by="lead", now=now)
    # Votes that agree are not overruled.
    adjudicate(pair=pairs["pair-1"], decision="B", reason="my taste", by="lead", now=now)
    during = aggregated(pair_set)
    found = {
        verdict.pair.pair_id: (
            *(verdict.status, verdict.chosen, verdict.tier),
            verdict.adjudication and verdict.adjudication.decision,
        )
        for verdict in Verdict.objects.filter(run=during).select_related("pair", "adjudication")
    }
    assert found == {
        "pair-0": ("withdrawn", "", "", "withdrawn"),
        "pair-1": ("decided", "A", "hard", None),
        "pair-2": ("decided", "B", "medium", "B"),
        "pair-3": ("conflict", "", "", None),
    }
    assert during.result["adjudicated"] == 2
    assert during.result["statuses"] == {
        **{"decided": 2, "tied": 0, "insufficient": 0},
        **{"conflict": 1, "withdrawn": 1},
    }
    assert during.digest != before.digest
    assert counts_of(during) == counts_of(before)
    # A later decision takes the place of the earlier one, which stays on record.
    adjudicate(pair=pairs["pair-2"], decision="A", reason="read again", by="other", now=now)
    assert list(
        Adjudication.objects.filter(pair=pairs["pair-2"])
        .order_by("id")
        .values_list("decision", "revoked_by")
    ) == [("B", "other"), ("A", "")]
    for adjudication in Adjudication.objects.in_force():
        assert revoke(adjudication=adjudication, by="lead", now=now)
    after = aggregated(pair_set)
    assert (after.digest, verdict_rows(after)) == (before.digest, verdict_rows(before))
    with pytest.raises(ValueError, match="no decision"):
        adjudicate(pair=pairs["pair-2"], decision="tie", reason="x", by="lead", now=now)


def test_live_patterns_are_those_of_a_run_made_now(campaign: Any) -> None:
    pair_set = campaign.pair_set
    pair = pair_set.pairs.get(pair_id="pair-2")
    exclude_votes(rater=rater(5), reason="did not read", by="lead")
    adjudicate(pair=pair, decision="A", reason="by the profile", by="lead", now=timezone.now())
    live = live_patterns(pair_set)
    run = aggregated(pair_set)
    stored = Patterns.from_json(run.patterns)
    assert live.as_json() == stored.as_json() == run.patterns
    assert stored.total == 4
    pairs = np.sort(np.array([each.pk for each in pair_set.pairs.all()]))
    counts = run_counts(run, pairs)
    assert {key: table.sum() for key, table in counts.items()} == {
        key: (table * stored.pairs[:, None]).sum() for key, table in stored.counts.items()
    }


def test_a_release_says_what_was_counted_and_why_a_pair_is_no_case(
    campaign: Any, tmp_path: Path
) -> None:
    pair_set = campaign.pair_set
    pairs = {pair.pair_id: pair for pair in pair_set.pairs.all()}
    now = timezone.now()
    exclude_votes(rater=rater(8), reason="did not read", by="lead")
    adjudicate(pair=pairs["pair-2"], decision="B", reason="by the profile", by="zoe", now=now)
    adjudicate(pair=pairs["pair-0"], decision="withdrawn", reason="broken", by="ann", now=now)
    run = aggregated(pair_set)
    job = Run.objects.create(pair_set=pair_set, kind=Run.Kind.RELEASE, version="1")
    release = Release.objects.create(pair_set=pair_set, version="1.0.0", aggregation=run, job=job)
    manifest = write_release(release, tmp_path / "out")
    assert (manifest["adjudicated"], manifest["left_out"]["raters"]) == (2, 1)
    votes = rows_of(tmp_path / "out" / "votes" / "votes.jsonl")
    assert {(row["rater"], row["counted"]) for row in votes} == {
        (f"rater-{n}", n < 8) for n in range(9)
    }
    diagnosis = rows_of(tmp_path / "out" / "diagnosis" / "diagnosis.jsonl")
    columns = ("pair_id", "used", "why", "judgements", "counted", "adjudicated_by")
    assert [tuple(row[name] for name in columns) for row in diagnosis] == [
        ("pair-0", False, "withdrawn", 9, 8, "adjudicator-1"),
        ("pair-1", True, "case", 9, 8, None),
        ("pair-2", True, "case", 9, 8, "adjudicator-2"),
        ("pair-3", False, "conflict", 9, 8, None),
    ]
    assert diagnosis[2]["adjudicated_because"] == "by the profile"
    everything = "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.jsonl"))
    assert "zoe" not in everything
