"""Tallies counted again from the votes."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Campaign
from annotation.services.campaigns import import_votes_into
from benchmark.models import Tally
from benchmark.services.tallies import TallyDifference, rebuild_tallies
from tests.factories import add_pairs, make_campaign, vote_rows, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    """Two of three pairs judged by three raters, A for helpfulness and B for personalization."""
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 3)
    rows = vote_rows(
        campaign.pair_set,
        raters=3,
        choose=lambda pair, rater, key: "A" if key == "helpfulness" else "B",
    )
    rows = [row for row in rows if row["pair_id"] != "pair-2"]
    report = import_votes_into(campaign=campaign, path=write_jsonl(tmp_path / "v.jsonl", rows))
    assert not report.problems
    return campaign


def tally(pair: str, key: str) -> Tally:
    return Tally.objects.get(pair__pair_id=pair, criterion__key=key)


def test_right_tallies_differ_from_nothing(campaign: Campaign) -> None:
    before = row_digests()
    for repair in (False, True):
        assert rebuild_tallies(pair_set=campaign.pair_set, repair=repair) == []
    assert row_digests() == before


def test_wrong_missing_and_superfluous_counters_are_found(campaign: Campaign) -> None:
    Tally.objects.filter(pk=tally("pair-0", "helpfulness").pk).update(a=2, tie=1)
    tally("pair-1", "personalization").delete()
    Tally.objects.create(
        pair=campaign.pair_set.pairs.get(pair_id="pair-2"),
        criterion=campaign.pair_set.criteria.get(key="helpfulness"),
        skip=4,
    )
    before = row_digests()
    expected = [
        TallyDifference("pair-0", "helpfulness", stored=(2, 0, 1, 0), counted=(3, 0, 0, 0)),
        TallyDifference("pair-1", "personalization", stored=(0, 0, 0, 0), counted=(0, 3, 0, 0)),
        TallyDifference("pair-2", "helpfulness", stored=(0, 0, 0, 4), counted=(0, 0, 0, 0)),
    ]
    assert rebuild_tallies(pair_set=campaign.pair_set, repair=False) == expected
    assert row_digests() == before

    assert rebuild_tallies(pair_set=campaign.pair_set, repair=True) == expected
    assert rebuild_tallies(pair_set=campaign.pair_set, repair=False) == []
    counts = Tally.objects.order_by("pair__pair_id", "criterion__position")
    assert list(counts.values_list("a", "b", "tie", "skip")) == [
        *((3, 0, 0, 0), (0, 3, 0, 0)),
        *((3, 0, 0, 0), (0, 3, 0, 0)),
        (0, 0, 0, 0),
    ]


def test_another_set_is_left_alone(campaign: Campaign, tmp_path: Path) -> None:
    other = make_campaign("other")
    add_pairs(other, tmp_path, 1)
    Tally.objects.update(a=7)
    assert rebuild_tallies(pair_set=other.pair_set, repair=True) == []
    assert tally("pair-0", "helpfulness").a == 7
