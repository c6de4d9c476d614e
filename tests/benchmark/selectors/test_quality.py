"""A stored set gives a check what its files gave, and labels from votes where it has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Campaign
from annotation.services.campaigns import import_pairs_into
from benchmark.formats import PairRecord, PersonaRecord, read_pairs
from benchmark.models import PairSet
from benchmark.quality import check
from benchmark.selectors.quality import set_records
from benchmark.services.vote_imports import import_votes
from tests.benchmark.services.files import published, swapped, write_published
from tests.factories import add_pairs, make_campaign, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db


def vote(campaign: Campaign, folder: Path, choices: dict[str, dict[str, str]]) -> None:
    """Nine raters who all choose the same on a pair and criterion; "-" for no vote."""

    def choose(pair: str, rater: int, criterion: str) -> str:
        return choices.get(pair, {}).get(criterion, "-")

    rows = vote_rows(campaign.pair_set, raters=9, choose=choose)
    path = write_jsonl(folder / "votes.jsonl", (row for row in rows if row["choice"] != "-"))
    report = import_votes(pair_set=campaign.pair_set, path=path)
    assert not report.problems, report.problems


def labels(pair_set: PairSet) -> dict[str, list[str | None]]:
    return {
        record.pair_id: [prior.label for prior in record.priors]
        for record in set_records(pair_set)()
        if isinstance(record, PairRecord)
    }


def test_a_campaign_is_checked_as_its_files_are(tmp_path: Path) -> None:
    folder = write_published(
        tmp_path / "set",
        easy=[published(1), published(2), published(3, chosen="Ada_1, a response.")],
        hard=[swapped(published(1)), published(2), published(4, chosen="The better answer to 3.")],
    )
    campaign = make_campaign()
    assert not import_pairs_into(campaign=campaign, paths=[folder]).problems
    records = set_records(campaign.pair_set)
    stored = check(records, source="set", labels_from=records.labels_from).as_json()
    read = check(lambda: read_pairs([folder], seed="s"), source="set").as_json()
    assert stored["rows"] == 6
    assert {"contradiction", "several_tiers"} <= {f["kind"] for f in stored["findings"]}
    for report in (stored, read):
        for finding in report["findings"]:
            for detail in finding["details"]:
                detail.pop("places", None)  # a file and line there, a tier's name here
    assert stored == read


def test_a_record_holds_what_was_stored(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 2, note="kept")
    personas = [r for r in set_records(campaign.pair_set)() if isinstance(r, PersonaRecord)]
    assert [(p.persona_id, p.body) for p in personas] == [
        ("persona-0", {"Name": "Persona 0", "Demographics": {"Age": 30}}),
        ("persona-1", {"Name": "Persona 1", "Demographics": {"Age": 31}}),
    ]
    pairs = {r.pair_id: r for r in set_records(campaign.pair_set)() if isinstance(r, PairRecord)}
    stored = campaign.pair_set.pairs.get(pair_id="pair-1")
    assert pairs["pair-1"].digest == bytes(stored.digest)
    assert pairs["pair-1"].meta == {"note": "kept"}


def test_votes_name_the_label_where_no_prior_does(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 6)
    other = make_campaign("other")
    add_pairs(other, tmp_path)
    assert set_records(campaign.pair_set).labels_from == "votes"
    assert labels(campaign.pair_set) == {f"pair-{n}": [None] for n in range(6)}
    vote(
        campaign,
        tmp_path,
        {
            "pair-0": {"helpfulness": "A", "personalization": "A"},
            "pair-1": {"helpfulness": "B", "personalization": "B"},
            "pair-2": {"helpfulness": "A", "personalization": "B"},  # in conflict
            "pair-3": {"helpfulness": "skip", "personalization": "skip"},
            "pair-4": {"helpfulness": "A", "personalization": "skip"},
        },
    )
    expected = {"pair-0": ["A"], "pair-1": ["B"], "pair-2": [None]}
    assert labels(campaign.pair_set) == expected | {f"pair-{n}": [None] for n in (3, 4, 5)}
    assert labels(other.pair_set) == {f"pair-{n}": [None] for n in range(3)}
    records = set_records(campaign.pair_set)
    measures = check(records, source="cups", labels_from=records.labels_from).measures
    assert measures["labels_from"] == "votes"
    assert measures["longer_wins"]["all"]["rows"] == 2


def test_prior_labels_come_before_votes(tmp_path: Path) -> None:
    folder = write_published(tmp_path / "set", easy=[published(1)])
    campaign = make_campaign()
    import_pairs_into(campaign=campaign, paths=[folder])
    pair = campaign.pair_set.pairs.get()
    prior = pair.priors[0]["label"]
    against = "B" if prior == "A" else "A"
    vote(
        campaign,
        tmp_path,
        {pair.pair_id: {"helpfulness": against, "personalization": against}},
    )
    assert set_records(campaign.pair_set).labels_from == "prior"
    assert labels(campaign.pair_set) == {pair.pair_id: [prior]}
