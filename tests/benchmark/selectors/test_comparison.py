"""Two runs side by side, against rows compared one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import import_votes_into
from benchmark.models import CriterionVerdict, Pair, Rater, Run, Verdict
from benchmark.selectors.comparison import (
    NOWHERE,
    MovedPair,
    VoteChanges,
    exclusion_changes,
    in_order,
    moved_pairs,
    moves,
    other_runs,
    vote_changes,
    vote_changes_of,
)
from benchmark.services.adjudications import adjudicate
from benchmark.services.exclusions import exclude_votes, lift_exclusion
from tests.benchmark.correcting import correct
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import add_pairs, make_campaign, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

Outcome = tuple[str, str, str]


def choose(pair: str, rater: int, criterion: str) -> str:
    number = int(pair.removeprefix("pair-"))
    split = {"helpfulness": number % 5, "personalization": number % 7}[criterion]
    return "B" if rater < split else "A"


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return judged_campaign(tmp_path, pairs=12, choose=choose)


def outcomes(run: Run) -> dict[int, Outcome]:
    rows = Verdict.objects.filter(run=run).values_list("pair", "status", "chosen", "tier")
    return {pair: (status, chosen, tier) for pair, status, chosen, tier in rows}


def rater(number: int) -> Rater:
    return Rater.objects.get(pseudonym=f"rater-{number}")


def test_everything_that_can_differ(campaign: Campaign) -> None:
    pair_set = campaign.pair_set
    pairs = {each.pair_id: each for each in pair_set.pairs.all()}
    gone = exclude_votes(rater=rater(7), reason="a test", by="lead")
    before = aggregated(pair_set)
    correct(pair_set, pair="pair-3", rater="rater-8", choice="B")
    # Twice is still one corrected judgement, and one by an excluded rater is none.
    correct(pair_set, pair="pair-3", rater="rater-8", choice="A")
    correct(pair_set, pair="pair-4", rater="rater-1", choice="A")
    correct(pair_set, pair="pair-6", rater="rater-2", choice="A")
    whole = exclude_votes(rater=rater(2), reason="a test", by="lead")
    one = exclude_votes(rater=rater(0), pair=pairs["pair-5"], reason="a slip", by="lead")
    # Left out already with everything else of the rater.
    exclude_votes(rater=rater(2), pair=pairs["pair-5"], reason="a slip", by="lead")
    lift_exclusion(exclusion=gone, by="lead", now=timezone.now())
    adjudicate(
        pair=pairs["pair-9"], decision="withdrawn", reason="both bad", by="lead", now=timezone.now()
    )
    after = aggregated(pair_set)
    assert in_order(after, before) == (before, after)
    found = moves(before, after)
    assert int(found.pairs.sum()) == 12

    old, new = outcomes(before), outcomes(after)
    changed = {pair for pair in old if old[pair] != new[pair]}
    assert pairs["pair-9"].pk in changed
    listed = moved_pairs(found, found.changed())
    assert {each.id for each in listed} == changed
    assert [each.pair_id for each in listed] == sorted(each.pair_id for each in listed)
    assert int(found.pairs[found.changed()].sum()) == len(changed)

    # Rater 2's twelve judgements, and rater 0's one, are left out; rater 7's twelve are back.
    assert vote_changes(before, after) == VoteChanges(new=0, corrected=2, left_out=13, back=12)
    by_pair = vote_changes_of(before, after, [each.pk for each in pairs.values()])
    assert by_pair[pairs["pair-3"].pk] == VoteChanges(corrected=1, left_out=1, back=1)
    assert by_pair[pairs["pair-5"].pk] == VoteChanges(left_out=2, back=1)
    assert by_pair[pairs["pair-6"].pk] == VoteChanges(left_out=1, back=1)
    assert by_pair[pairs["pair-0"].pk] == VoteChanges(left_out=1, back=1)
    found_changes = exclusion_changes(before, after)
    assert {each.pk for each in found_changes.added} >= {whole.pk, one.pk}
    assert found_changes.lifted == [gone]

    # The counts that changes are put down to are those of the runs.
    for place, first in enumerate(found.before.tolist()):
        made_it = moved_pairs(found, np.arange(len(found.pairs)) == place)
        assert len(made_it) == found.pairs[place]
        for key, counts in found.first.patterns.counts.items():
            rows = CriterionVerdict.objects.filter(
                run=before, criterion__key=key, pair__in=[each.id for each in made_it]
            )
            assert set(rows.values_list("a", "b", "tie", "skip")) == {tuple(counts[first].tolist())}


def test_new_judgements_and_new_pairs(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 4)
    rows = vote_rows(campaign.pair_set, raters=9, choose=choose)

    def judge(chosen: list[dict[str, object]]) -> None:
        report = import_votes_into(
            campaign=campaign, path=write_jsonl(tmp_path / "votes.jsonl", chosen)
        )
        assert not report.problems

    judge([row for row in rows if row["rater"] < "rater-7"])
    before = aggregated(campaign.pair_set)
    judge([row for row in rows if row["rater"] == "rater-7"])
    add_pairs(campaign, tmp_path, 6)
    after = aggregated(campaign.pair_set)
    assert vote_changes(before, after) == VoteChanges(new=4)
    found = moves(before, after)
    came = (found.before == NOWHERE) & (found.compared == NOWHERE)
    assert int(found.pairs[came].sum()) == 2
    assert (found.changed() >= came).all()
    assert [each.pair_id for each in moved_pairs(found, came)] == ["pair-4", "pair-5"]
    # The other way round they are gone.
    assert ((back := moves(after, before)).after == NOWHERE).any()
    assert int(back.pairs.sum()) == 6


def test_the_same_run_policy_apart(campaign: Campaign) -> None:
    before = aggregated(campaign.pair_set)
    again = aggregated(campaign.pair_set)
    other = aggregated(campaign.pair_set, "helpfulness-v1")
    assert not moves(before, again).changed().any()
    assert vote_changes(before, again) == VoteChanges()
    assert not vote_changes(before, again)
    found = moves(before, other)
    causes = {
        found.comparison.causes(row) for row in np.flatnonzero(found.comparison.changed).tolist()
    }
    assert causes == {(("policy",),)}
    assert list(other_runs(again)) == [other, before]


def test_pages_of_what_moved(campaign: Campaign) -> None:
    before = aggregated(campaign.pair_set)
    found = moves(before, aggregated(campaign.pair_set, "helpfulness-v1"))
    everything = moved_pairs(found, np.ones(len(found.pairs), dtype=np.bool_))
    assert len(everything) == 12
    shown: list[MovedPair] = []
    while rows := moved_pairs(
        found,
        np.ones(len(found.pairs), dtype=np.bool_),
        past=shown[-1].id if shown else None,
        limit=5,
    ):
        shown += rows
    assert shown == everything
    assert moved_pairs(found, np.zeros(len(found.pairs), dtype=np.bool_)) == []
    assert Pair.objects.count() == 12
