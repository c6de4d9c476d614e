"""Pairs from files into a campaign: what is taken over, what is remembered, what stays as it is."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign, Event, PairSeats
from annotation.services.campaigns import import_pairs_into
from benchmark.models import Pair, Persona
from tests.annotation.threads import together
from tests.benchmark.services.files import (
    published,
    swapped,
    write_csv,
    write_published,
    write_rows,
)
from tests.factories import make_campaign, pair_row, write_jsonl
from tests.tables import row_digests

CONTENT = (
    *("pair_id", "persona__persona_id", "persona__profile", "query", "query_kind"),
    *("response_a", "response_b", "source_a", "source_b", "priors", "meta"),
)


def content(campaign: Campaign) -> list[tuple[Any, ...]]:
    return list(campaign.pair_set.pairs.order_by("pair_id").values_list(*CONTENT))


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv", "pairs.parquet"])
def test_a_table_becomes_pairs_personas_and_seats(name: str, tmp_path: Path) -> None:
    rows = [pair_row(number, topic=f"topic {number}") for number in range(5)]
    campaign = make_campaign(raters_per_pair=7)
    report = import_pairs_into(campaign=campaign, paths=[write_rows(tmp_path / name, rows)])

    assert (report.rows, report.pairs, report.personas) == (5, 5, 3)
    assert (report.new_pairs, report.new_personas, report.updated_pairs) == (5, 3, 0)
    assert (report.repeats, report.contradictions, report.rejected) == (0, 0, 0)
    assert report.changed
    for row, pair in zip(rows, content(campaign), strict=True):
        found = dict(zip(CONTENT, pair, strict=True))
        assert json.loads(found.pop("persona__profile")) == row["persona"]
        assert found.pop("persona__persona_id") == row["persona_id"]
        assert found.pop("meta") == {"topic": row["topic"]}
        assert found.pop("priors") == []
        assert found == {name: row[name] for name in found}
    assert set(campaign.pair_set.pairs.values_list("raters_per_pair", flat=True)) == {7}
    seats = PairSeats.objects.filter(campaign=campaign)
    assert sorted(seats.values_list("position", "free")) == [(n, 7) for n in range(5)]
    assert Event.objects.filter(campaign=campaign, action="pairs:imported").count() == 1


@pytest.mark.django_db
def test_a_published_folder_becomes_pairs_that_remember_label_and_tier(tmp_path: Path) -> None:
    folder = write_published(tmp_path / "set", easy=[published(0)], mid=[published(1)])
    campaign = make_campaign()
    report = import_pairs_into(campaign=campaign, paths=[folder])

    assert (report.rows, report.pairs, report.personas, report.rejected) == (2, 2, 2, 0)
    found = {pair.query: pair for pair in Pair.objects.select_related("persona")}
    for number, tier in ((0, "easy"), (1, "medium")):
        pair, row = found[f"Question {number}?"], published(number)
        assert pair.persona.persona_id == row["user_id"]
        assert pair.query_kind == "general"
        assert {pair.response_a, pair.response_b} == {row["chosen"], row["reject"]}
        label = "A" if pair.response_a == row["chosen"] else "B"
        assert pair.priors == [{"tier": tier, "label": label, "origin": f"general/{tier}"}]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv", "pairs.parquet", "set"])
def test_the_same_file_again_changes_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.suffix:
        write_rows(path, [pair_row(number) for number in range(4)])
    else:
        both_ways = [published(1), swapped(published(1))]
        write_published(path, easy=[published(0), *both_ways], hard=[published(0)])
    campaign = make_campaign()
    first = import_pairs_into(campaign=campaign, paths=[path])
    before = row_digests()
    again = import_pairs_into(campaign=campaign, paths=[path])

    assert first.changed
    assert not again.changed
    assert row_digests() == before
    counted = ("personas", "rows", "pairs", "repeats", "contradictions", "rejected")
    assert [getattr(again, part) for part in counted] == [getattr(first, part) for part in counted]


@pytest.mark.django_db
def test_a_repeat_across_tiers_is_one_pair_that_remembers_both(tmp_path: Path) -> None:
    folder = write_published(
        tmp_path / "set", easy=[published(0), published(1)], hard=[published(0)]
    )
    campaign = make_campaign()
    report = import_pairs_into(campaign=campaign, paths=[folder])

    assert (report.rows, report.pairs, report.repeats, report.contradictions) == (3, 2, 1, 0)
    pair = Pair.objects.get(query="Question 0?")
    assert [prior["tier"] for prior in pair.priors] == ["easy", "hard"]
    assert len({prior["label"] for prior in pair.priors}) == 1


@pytest.mark.django_db
def test_a_pair_labelled_both_ways_is_imported_once_and_listed(tmp_path: Path) -> None:
    row = published(0)
    folder = write_published(tmp_path / "set", easy=[row, published(1)], hard=[swapped(row)])
    campaign = make_campaign()
    report = import_pairs_into(campaign=campaign, paths=[folder])

    assert (report.rows, report.pairs, report.repeats, report.contradictions) == (3, 2, 0, 1)
    pair = Pair.objects.get(query="Question 0?")
    assert report.contradictory_pairs == [pair.pair_id]
    assert sorted(prior["label"] for prior in pair.priors) == ["A", "B"]
    assert sorted(prior["tier"] for prior in pair.priors) == ["easy", "hard"]


@pytest.mark.django_db
def test_a_stored_pair_learns_prior_labels_that_come_later(tmp_path: Path) -> None:
    row = published(0)
    campaign = make_campaign()
    import_pairs_into(campaign=campaign, paths=[write_published(tmp_path / "first", easy=[row])])
    stored = Pair.objects.get()
    report = import_pairs_into(
        campaign=campaign, paths=[write_published(tmp_path / "second", hard=[swapped(row)])]
    )

    assert (report.new_pairs, report.new_personas, report.updated_pairs) == (0, 0, 1)
    assert report.changed
    assert report.contradictory_pairs == [stored.pair_id]
    pair = Pair.objects.get()
    assert [prior["tier"] for prior in pair.priors] == ["easy", "hard"]
    assert (pair.response_a, pair.response_b) == (stored.response_a, stored.response_b)
    assert PairSeats.objects.count() == 1


@pytest.mark.django_db
def test_a_later_file_adds_its_pairs_behind_the_others(tmp_path: Path) -> None:
    campaign = make_campaign()
    first = write_jsonl(tmp_path / "first.jsonl", [pair_row(n) for n in range(6)])
    second = write_jsonl(tmp_path / "second.jsonl", [pair_row(n) for n in range(4, 9)])
    import_pairs_into(campaign=campaign, paths=[first])
    before = dict(PairSeats.objects.values_list("pair__pair_id", "position"))
    report = import_pairs_into(campaign=campaign, paths=[second])

    assert (report.pairs, report.new_pairs, report.new_personas) == (5, 3, 0)
    after = dict(PairSeats.objects.values_list("pair__pair_id", "position"))
    assert {pair: after[pair] for pair in before} == before
    assert sorted(after.values()) == list(range(9))


@pytest.mark.django_db
def test_a_dry_run_reports_and_writes_nothing(tmp_path: Path) -> None:
    campaign = make_campaign()
    before = row_digests()
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(n) for n in range(4)])
    report = import_pairs_into(campaign=campaign, paths=[path], dry_run=True)

    assert (report.dry_run, report.changed) == (True, True)
    assert (report.new_pairs, report.new_personas, report.rejected) == (4, 3, 0)
    assert row_digests() == before
    assert import_pairs_into(campaign=campaign, paths=[path]).new_pairs == 4


@pytest.mark.django_db
def test_the_order_of_responses_is_drawn_from_the_seed_and_not_from_the_label(
    tmp_path: Path,
) -> None:
    rows = [published(number) for number in range(400)]
    mirror = [swapped(row) for row in reversed(rows)]

    def orders(slug: str, seed: str, rows: list[dict[str, Any]]) -> dict[str, str]:
        campaign = make_campaign(slug, seed=seed)
        folder = write_published(tmp_path / slug, easy=rows)
        import_pairs_into(campaign=campaign, paths=[folder])
        return dict(campaign.pair_set.pairs.values_list("query", "response_a"))

    given = orders("given", "one", rows)
    assert orders("mirror", "one", mirror) == given
    other = orders("other", "two", rows)
    moved = sum(given[query] != other[query] for query in given)
    better_first = sum(given[row["question"]] == row["chosen"] for row in rows)
    # Fair coins: five standard deviations of a binomial with n = 400.
    bound = 5 * math.sqrt(400) / 2
    assert abs(moved - 200) < bound
    assert abs(better_first - 200) < bound


@pytest.mark.django_db
def test_pairs_are_handed_out_in_an_order_of_the_seed(tmp_path: Path) -> None:
    rows = [pair_row(number) for number in range(30)]

    def order(slug: str, seed: str, rows: list[dict[str, Any]]) -> list[str]:
        campaign = make_campaign(slug, seed=seed)
        import_pairs_into(campaign=campaign, paths=[write_jsonl(tmp_path / "p.jsonl", rows)])
        seats = campaign.seats.order_by("position")
        return list(seats.values_list("pair__pair_id", flat=True))

    given = order("given", "one", rows)
    assert order("reversed", "one", rows[::-1]) == given
    assert order("other", "two", rows) != given
    assert given != [row["pair_id"] for row in rows]


@pytest.mark.django_db
def test_a_profile_keeps_the_order_in_which_it_was_written(tmp_path: Path) -> None:
    profile = {"Name": "Zoë", "b": 1, "a": {"z": [1, {"y": 0, "x": 0}], "aa": None}, "": "odd"}
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(0, persona=profile)])
    import_pairs_into(campaign=make_campaign(), paths=[path])

    persona = Persona.objects.get()
    assert persona.profile == json.dumps(profile, ensure_ascii=False)
    assert (persona.name, persona.body) == ("Zoë", profile)


ODD_TEXTS = [
    "👩‍👩‍👧‍👦 and 🏳️‍🌈 and 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "e\u0301 is not é",
    "right \u202eto left\u202c and \u2066isolated\u2069",
    "one\u2028line\u2029or three",
    "﻿a mark inside \ufeff and at the start",
    "\\N is not null, \\. is not an end, \\t is not a tab",
    "tab\tquote\" 'single' %s %% {brace} $1 ;--",
    "a carriage\r\nreturn",
    "  spaces around  ",
    "NA",
    "null",
    "007",
    "=1+1",
    "夏天穿什么？\u3000全角空格",
    "\U0010ffff\x01\x7f",
]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv", "pairs.parquet"])
def test_odd_characters_survive(name: str, tmp_path: Path) -> None:
    rows = [
        pair_row(
            number,
            pair_id=text,
            persona_id=text,
            persona={"Name": text, text: [text]},
            query=text,
            response_a=text,
            response_b=f"{text}.",
            source_a=text,
            note=text,
        )
        for number, text in enumerate(ODD_TEXTS)
    ]
    path = write_rows(tmp_path / name, rows)
    report = import_pairs_into(campaign=make_campaign(), paths=[path])

    assert report.problems == []
    stored = {pair.pair_id: pair for pair in Pair.objects.select_related("persona")}
    assert sorted(stored) == sorted(ODD_TEXTS)
    for text, pair in stored.items():
        assert (pair.query, pair.response_a, pair.response_b) == (text, text, f"{text}.")
        assert (pair.source_a, pair.meta) == (text, {"note": text})
        assert (pair.persona.persona_id, pair.persona.name) == (text, text)
        assert pair.persona.body == {"Name": text, text: [text]}
    before = row_digests()
    assert not import_pairs_into(campaign=Campaign.objects.get(), paths=[path]).changed
    assert row_digests() == before


@pytest.mark.django_db
def test_a_byte_order_mark_is_no_part_of_the_data(tmp_path: Path) -> None:
    rows = [pair_row(number) for number in range(2)]
    plain = import_pairs_into(
        campaign=make_campaign("plain"), paths=[write_csv(tmp_path / "a.csv", rows)]
    )
    for number, encoding in enumerate(("utf-8-sig", "utf-16"), start=1):
        campaign = make_campaign(f"marked-{number}")
        path = write_csv(tmp_path / f"{number}.csv", rows, encoding=encoding)
        assert import_pairs_into(campaign=campaign, paths=[path]) == plain
        assert content(campaign) == content(Campaign.objects.get(pair_set__slug="plain"))


@pytest.mark.django_db
def test_progress_tells_how_many_records_were_read(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [pair_row(n) for n in range(2_500)])
    told: list[int] = []
    import_pairs_into(campaign=make_campaign(), paths=[path], progress=told.append)
    assert told == [2_000, 2_503]  # records: the pairs and their three personas


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_give_what_one_gives(tmp_path: Path) -> None:
    campaign = make_campaign()
    both_ways = [published(1), swapped(published(1))]
    folder = write_published(
        tmp_path / "set", easy=[published(n) for n in range(60)], hard=both_ways
    )
    reports = together(
        *(
            lambda: import_pairs_into(campaign=Campaign.objects.get(), paths=[folder])
            for _ in range(4)
        )
    )
    assert sorted(report.new_pairs for report in reports) == [0, 0, 0, 60]
    assert [report.contradictions for report in reports] == [1, 1, 1, 1]
    assert Pair.objects.count() == PairSeats.objects.count() == 60
    before = row_digests()
    assert not import_pairs_into(campaign=campaign, paths=[folder]).changed
    assert row_digests() == before
