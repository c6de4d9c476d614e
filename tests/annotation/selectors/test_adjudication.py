"""The queue of what waits for a decision."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.models import Campaign
from annotation.selectors.adjudication import (
    Kind,
    QueueCounts,
    adjudications_of,
    flagged_pairs,
    flags_of,
    newest_aggregation,
    queue,
    queue_counts,
    queue_row,
)
from annotation.services.flags import resolve_flag
from benchmark.models import Adjudication, Run
from benchmark.services.adjudications import adjudicate, revoke
from benchmark.services.exclusions import exclude_votes
from tests.annotation.adjudicating import open_campaign, pair_named, raise_flag
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import UserFactory, add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return open_campaign(tmp_path)


def names(campaign: Campaign, run: Run | None, kind: Kind | None = None) -> list[str]:
    return [row.pair_id for row in queue(campaign, run, kind=kind, limit=50)]


def decide(campaign: Campaign, name: str, decision: str = "A") -> Adjudication:
    return adjudicate(
        pair=pair_named(campaign, name),
        decision=decision,
        reason="by the profile",
        by="lead",
        now=timezone.now(),
    )


def test_what_stands_first(campaign: Campaign) -> None:
    # Without two votes for A, pair-4 is 3 to 4 on one criterion and 4 to 3 on the other.
    for number in (0, 1):
        rater = campaign.pair_set.raters.get(pseudonym=f"rater-{number}")
        exclude_votes(rater=rater, reason="a test", by="lead")
    for number in (4, 5):
        rater = campaign.pair_set.raters.get(pseudonym=f"rater-{number}")
        exclude_votes(rater=rater, pair=pair_named(campaign, "pair-0"), reason="a slip", by="lead")
    run = aggregated(campaign.pair_set)
    statuses = dict(run.verdicts.values_list("pair__pair_id", "status"))
    assert statuses["pair-0"] == "insufficient"
    assert {name for name, status in statuses.items() if status == "conflict"} == {
        "pair-1",
        "pair-3",
        "pair-4",
    }
    raise_flag(campaign, "pair-5")
    raise_flag(campaign, "pair-3")
    raise_flag(campaign, "pair-3", rater=make_member(campaign))
    assert names(campaign, run) == ["pair-3", "pair-5", "pair-1", "pair-4", "pair-0"]
    assert names(campaign, run, "flagged") == ["pair-3", "pair-5"]
    assert names(campaign, run, "conflict") == ["pair-3", "pair-1", "pair-4"]
    assert names(campaign, run, "insufficient") == ["pair-0"]
    assert queue_counts(campaign, run) == QueueCounts(
        flagged=2, conflict=3, tied=0, insufficient=1, total=5
    )
    flags = {row.pair_id: row.flags for row in queue(campaign, run, limit=9)}
    assert (flags["pair-3"], flags["pair-5"], flags["pair-1"]) == (2, 1, 0)


def test_pages_of_the_queue(campaign: Campaign) -> None:
    run = aggregated(campaign.pair_set)
    raise_flag(campaign, "pair-0")
    raise_flag(campaign, "pair-2")
    whole = queue(campaign, run, limit=50)
    assert [row.pair_id for row in whole] == ["pair-0", "pair-2", "pair-1", "pair-3"]
    for before, after in pairwise(whole):
        assert queue(campaign, run, after=before, limit=1) == [after]
    assert queue(campaign, run, after=whole[-1], limit=1) == []
    assert queue_row(campaign, run, whole[1].id) == whole[1]
    assert queue_row(campaign, run, pair_named(campaign, "pair-4").pk) is None


def test_what_is_decided_leaves_the_queue_and_comes_back(campaign: Campaign) -> None:
    run = aggregated(campaign.pair_set)
    raise_flag(campaign, "pair-5")
    made = decide(campaign, "pair-1", "withdrawn")
    decide(campaign, "pair-5")
    assert names(campaign, run) == ["pair-3"]
    assert queue_counts(campaign, run) == QueueCounts(conflict=1, total=1)
    revoke(adjudication=made, by="lead", now=timezone.now())
    assert names(campaign, run) == ["pair-1", "pair-3"]
    # Once an aggregation has followed the decision, the pair is decided anyhow.
    decide(campaign, "pair-3")
    assert names(campaign, aggregated(campaign.pair_set)) == ["pair-1"]
    assert len(adjudications_of(campaign)) == 3


def test_resolved_flags_do_not_wait(campaign: Campaign) -> None:
    run = aggregated(campaign.pair_set)
    flag = raise_flag(campaign, "pair-5")
    assert flagged_pairs(campaign) == [pair_named(campaign, "pair-5").pk]
    resolve_flag(flag=flag, actor=UserFactory.create(), now=timezone.now())
    assert flagged_pairs(campaign) == []
    assert "pair-5" not in names(campaign, run)
    assert [found.pk for found in flags_of(campaign, pair_named(campaign, "pair-5").pk)] == [
        flag.pk
    ]


def test_before_any_aggregation_flags_alone_wait(tmp_path: Path) -> None:
    campaign = make_campaign()
    assert (newest_aggregation(campaign), names(campaign, None)) == (None, [])
    assert queue_counts(campaign, None) == QueueCounts()
    add_pairs(campaign, tmp_path, 2)
    raise_flag(campaign, "pair-1")
    (row,) = queue(campaign, None, limit=5)
    assert (row.pair_id, row.status, row.pattern, row.flags) == ("pair-1", "", None, 1)


def test_other_campaigns_do_not_show(campaign: Campaign, tmp_path: Path) -> None:
    run = aggregated(campaign.pair_set)
    other = judged_campaign(
        tmp_path, slug="others", pairs=2, choose=lambda _p, _r, key: "AB"[key == "helpfulness"]
    )
    raise_flag(other, "pair-0")
    assert flagged_pairs(campaign) == []
    assert names(campaign, run) == ["pair-1", "pair-3"]
    assert names(other, aggregated(other.pair_set)) == ["pair-0", "pair-1"]
