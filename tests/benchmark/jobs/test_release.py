"""What a release holds, and that others can read it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, User
from annotation.services.answers import Outcome
from annotation.services.campaigns import import_pairs_into, import_votes_into
from annotation.services.jobs import export_release
from annotation.services.seats import claim_seat
from benchmark.formats import sha256_file
from benchmark.models import Rater, Release
from tests.annotation.seating import submit
from tests.benchmark.jobs.releasing import (
    SPLITS,
    TIERS,
    as_json_lines,
    files_of,
    judged,
    load_with_datasets,
    released,
    rows_of,
)
from tests.factories import add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = ("diagnosis", "pairs", "personas", "tallies", "votes")


def json_of(path: Path) -> object:
    return json.loads(path.read_text("utf-8"))


def test_cases_are_the_decided_pairs_by_tier(tmp_path: Path) -> None:
    out = tmp_path / "out"
    released(judged(tmp_path), out)
    found = {}
    for tier in ("easy", "medium", "hard"):
        for case in rows_of(out / "data" / tier / "test-00000-of-00001.jsonl"):
            found[case["pair_id"]] = (case["tier"], case["chosen_side"])
            assert case["tier"] == tier
            for_a, for_a_fit = SPLITS[case["pair_id"]]
            side = case["chosen_side"]
            chosen, rejected = ("One", "Two") if side == "A" else ("Two", "One")
            assert case["chosen"].startswith(f"{chosen} for {case['pair_id']}")
            assert case["rejected"].startswith(f"{rejected} for {case['pair_id']}")
            sources = {"A": "full", "B": "none"}
            assert case["chosen_source"] == sources.pop(side)
            assert [case["rejected_source"]] == list(sources.values())
            assert case["helpfulness_chosen"] == (for_a if side == "A" else 9 - for_a)
            fit = for_a_fit if side == "A" else 9 - for_a_fit
            assert (case["personalization_chosen"], case["personalization_rejected"]) == (
                *(fit, 9 - fit),
            )
            assert case["personalization_k"] == pytest.approx(
                2 * (fit * (fit - 1) + (9 - fit) * (8 - fit)) / 72 - 1
            )
            assert not case["provisional"]
    assert found == TIERS


def test_the_manifest_names_every_file_with_its_checksum(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = released(judged(tmp_path), out)
    manifest = json.loads((out / "MANIFEST.json").read_text("utf-8"))
    files = files_of(out)
    assert release.digest == files.pop("MANIFEST.json")
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == files
    assert {name: entry["bytes"] for name, entry in manifest["files"].items()} == {
        name: (out / name).stat().st_size for name in files
    }
    counts = manifest["counts"]
    assert counts["cases"] == {"easy": 2, "medium": 1, "hard": 2}
    assert {name: counts[name] for name in TABLES} == {
        name: len(rows_of(out / name / f"{name}.jsonl")) for name in TABLES
    }
    assert (counts["raters"], counts["simulated_raters"]) == (9, 1)
    assert manifest["simulated"] is True
    assert manifest["data_digest"] == release.aggregation.digest
    assert manifest["statuses"] == {
        "decided": 5,
        "tied": 0,
        "insufficient": 0,
        "conflict": 1,
        "withdrawn": 0,
    }
    assert release.counts == counts


def test_texts_and_figures_are_those_of_the_aggregation(tmp_path: Path) -> None:
    out = tmp_path / "out"
    campaign = judged(tmp_path)
    release = released(campaign, out)
    run = release.aggregation
    assert json_of(out / "policy.json") == run.policy
    assert json_of(out / "agreement.json") == run.result["agreement"]
    assert (out / "GUIDELINES.md").read_text("utf-8") == campaign.guidelines.get().body
    figures = {path.name: path.read_text("utf-8") for path in (out / "figures").iterdir()}
    assert sorted(figures) == [
        "agreement.svg",
        "tiers.svg",
        "vote-splits-helpfulness.svg",
        "vote-splits-personalization.svg",
    ]
    for svg in figures.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")  # noqa: S314 - our own
    card = (out / "README.md").read_text("utf-8")
    head = yaml.safe_load(card.split("---\n")[1])
    assert [config["config_name"] for config in head["configs"]] == [
        *("easy", "medium", "hard"),
        *TABLES,
    ]
    assert head["annotations_creators"] == ["machine-generated"]
    fleiss = run.result["agreement"]["helpfulness"]["fleiss"]["value"]
    assert f"| helpfulness | 6 | {fleiss:.2f} |" in card
    assert run.digest in card


def test_parquet_and_json_lines_hold_the_same_rows(tmp_path: Path) -> None:
    out = tmp_path / "out"
    released(judged(tmp_path), out)
    tables = list(out.rglob("*.parquet"))
    assert len(tables) == 8
    for path in tables:
        rows = rows_of(path.with_suffix(".jsonl"))
        assert [as_json_lines(row) for row in pq.read_table(path).to_pylist()] == rows


def test_datasets_reads_every_configuration(tmp_path: Path) -> None:
    out = tmp_path / "out"
    released(judged(tmp_path), out)
    names = ["easy", "medium", "hard", *TABLES]
    loaded = load_with_datasets(out, names, cache=tmp_path / "cache")
    assert sorted(loaded["configs"]) == sorted(names)
    for name in names:
        folder = out / "data" / name if name in ("easy", "medium", "hard") else out / name
        (table,) = folder.glob("*.jsonl")
        assert [as_json_lines(row) for row in loaded["rows"][name]] == rows_of(table)


def test_a_release_with_an_empty_tier_loads_the_others(tmp_path: Path) -> None:
    out = tmp_path / "out"
    campaign = judged(tmp_path, pairs={"pair-0": (9, 9), "pair-3": (7, 1)})
    release = released(campaign, out)
    assert release.counts["cases"] == {"easy": 1, "medium": 0, "hard": 0}
    for tier in ("medium", "hard"):
        assert pq.read_table(out / "data" / tier / "test-00000-of-00001.parquet").num_rows == 0
    loaded = load_with_datasets(out, ["easy", "votes"], cache=tmp_path / "cache")
    assert sorted(loaded["configs"]) == sorted(["easy", *TABLES])
    assert [row["pair_id"] for row in loaded["rows"]["easy"]] == ["pair-0"]
    assert len(loaded["rows"]["votes"]) == 2 * 9 * 2


def test_a_release_without_votes_is_whole(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 2)
    out = tmp_path / "out"
    release = released(campaign, out)
    assert (release.counts["votes"], release.counts["pairs"]) == (0, 2)
    loaded = load_with_datasets(out, ["pairs"], cache=tmp_path / "cache")
    assert sorted(loaded["configs"]) == ["diagnosis", "pairs", "personas", "tallies"]


def test_the_archive_is_the_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = released(judged(tmp_path), out)
    assert release.size == release.archive.stat().st_size
    assert files_of(release.folder) == files_of(out)
    with zipfile.ZipFile(release.archive) as archive:
        archive.extractall(tmp_path / "unzipped")
    assert [path.name for path in (tmp_path / "unzipped").iterdir()] == ["cups-1.0.0"]
    assert files_of(tmp_path / "unzipped" / "cups-1.0.0") == files_of(out)


def test_importing_a_release_gives_the_same_pairs_and_votes(tmp_path: Path) -> None:
    first = tmp_path / "first"
    released(judged(tmp_path), first)
    # Whatever the seed is: the files say which response is A and who saw which one left.
    copy = make_campaign("copy", seed="another")
    assert not import_pairs_into(campaign=copy, paths=[first]).problems
    assert not import_votes_into(campaign=copy, path=first).problems
    again = tmp_path / "again"
    released(copy, again)

    one, two = files_of(first), files_of(again)
    kept = {name for name in one if name.split("/")[0] in ("data", *TABLES, "figures")}
    assert len(kept) == 20
    kept |= {"policy.json", "agreement.json", "GUIDELINES.md"}
    assert {name: two[name] for name in kept} == {name: one[name] for name in kept}
    simulated = Rater.objects.filter(is_simulated=True)
    assert sorted(simulated.values_list("pair_set__slug", "pseudonym")) == [
        ("copy", "rater-8"),
        ("cups", "rater-8"),
    ]
    assert not import_pairs_into(campaign=copy, paths=[first]).changed
    assert not import_votes_into(campaign=copy, path=first).changed


def judge_all(campaign: Campaign, user: User) -> str:
    """Let a person judge what is left; the pseudonym."""
    member = make_member(campaign, user=user)
    while isinstance(seat := claim_seat(membership=member), Assignment):
        choices = {"helpfulness": "A", "personalization": "B"}
        answer = Answer(choices=choices, comment="plain")
        assert submit(seat=seat, answer=answer) is Outcome.ACCEPTED
        member.refresh_from_db()
    assert member.rater is not None
    return member.rater.pseudonym


def test_people_are_in_it_by_pseudonym_only(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 3)
    names = {
        "username": "wilhelmina",
        "email": "w.mustermann@mail.example",
        "first_name": "Willa",
        "last_name": "Mustermann",
    }
    user = User.objects.create(**names)
    pseudonym = judge_all(campaign, user)
    out = tmp_path / "out"
    release = released(campaign, out)

    votes = rows_of(out / "votes" / "votes.jsonl")
    assert {vote["rater"] for vote in votes} == {pseudonym}
    assert {vote["shown_left"] for vote in votes} <= {"A", "B"}
    texts = [path.read_text("utf-8") for path in out.rglob("*") if is_text(path)]
    texts += [str(pq.read_table(path).to_pylist()) for path in out.rglob("*.parquet")]
    texts += [*files_of(out), release.archive.read_bytes().decode("latin-1")]
    for name in names.values():
        assert not [text for text in texts if name.lower() in text.lower()]


def is_text(path: Path) -> bool:
    return path.is_file() and path.suffix != ".parquet"


def test_later_judgements_do_not_change_an_old_release(tmp_path: Path) -> None:
    campaign = make_campaign(raters_per_pair=9)
    add_pairs(campaign, tmp_path, 3)
    judge_all(campaign, User.objects.create(username="one"))
    released(campaign, tmp_path / "before")
    judge_all(campaign, User.objects.create(username="two"))
    add_later = make_campaign("another")  # judgements of other sets come between
    add_pairs(add_later, tmp_path, 2)
    judge_all(add_later, User.objects.create(username="three"))

    export_release(campaign=campaign, version="1.0.0", out=tmp_path / "after")
    assert files_of(tmp_path / "after") == files_of(tmp_path / "before")
    newer = released(campaign, tmp_path / "newer", version="2.0.0")
    assert newer.counts["votes"] == 12
    assert Release.objects.get(version="1.0.0").counts["votes"] == 6
    assert sha256_file(tmp_path / "before" / "MANIFEST.json") != newer.digest
