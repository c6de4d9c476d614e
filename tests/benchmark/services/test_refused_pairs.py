"""Bad files of pairs: each flaw with its place, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign
from annotation.services.campaigns import import_pairs_into
from benchmark.services.staging import LISTED_PROBLEMS
from tests.benchmark.services.files import published, write_csv, write_published
from tests.factories import add_pairs, make_campaign, pair_row, write_jsonl
from tests.tables import row_digests

# file, line, field, words of the reason
Expected = list[tuple[str, int | None, str | None, str]]


def lines(*rows: Any) -> bytes:
    return b"".join(
        row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() + b"\n"
        for row in rows
    )


BAD_FILES: list[tuple[str, bytes, Expected]] = [
    (
        "broken JSON beside good rows",
        lines(pair_row(0), b'{"pair_id": "pair-1", \n', pair_row(2)),
        [("bad.jsonl", 2, None, "JSON")],
    ),
    (
        "broken UTF-8",
        lines(pair_row(0), json.dumps(pair_row(1)).encode() + b"\xff\n"),
        [("bad.jsonl", 2, None, "not valid UTF-8")],
    ),
    (
        "a lone surrogate",
        lines(pair_row(0), json.dumps(pair_row(1, query="\ud800")).encode() + b"\n"),
        [("bad.jsonl", 2, "query", "lone surrogate")],
    ),
    (
        "a NUL, deep in a persona",
        lines(pair_row(0, persona={"Name": "Ada", "Likes": ["tea", "\0"]})),
        [("bad.jsonl", 1, "persona.Likes[1]", "NUL")],
    ),
    (
        "wrong columns",
        lines({"pair_id": "p", "persona_id": "a", "prompt": "Why?"}),
        [("bad.jsonl", None, "query, response_a, response_b", "missing columns")],
    ),
    (
        "empty and identical responses",
        lines(pair_row(0, response_a=" "), pair_row(1, response_a="same", response_b="same")),
        [
            ("bad.jsonl", 1, "response_a", "is empty"),
            ("bad.jsonl", 2, "response_b", "is identical to response_a"),
        ],
    ),
    (
        "a missing persona",
        lines(pair_row(0), {n: v for n, v in pair_row(1).items() if n != "persona"}),
        [("bad.jsonl", 2, "persona_id", "persona persona-1 is in no file and not in the campaign")],
    ),
    (
        "the same pair with other content",
        lines(pair_row(0), pair_row(1), pair_row(0, query="Another?"), pair_row(1)),
        [("bad.jsonl", 3, "pair_id", "pair-0 stands with other content in bad.jsonl:1")],
    ),
    (
        "the same persona with another profile",
        lines(pair_row(0), pair_row(3, persona={"Name": "Somebody else"})),
        [("bad.jsonl", 2, "persona_id", "persona-0 stands with other content in bad.jsonl:1")],
    ),
    ("no rows", b"\n", [("bad.jsonl", None, None, "is empty")]),
]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("data", "expected"), [case[1:] for case in BAD_FILES], ids=[case[0] for case in BAD_FILES]
)
def test_a_bad_file_is_refused_with_its_flaws(
    data: bytes, expected: Expected, tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_bytes(data)
    refused(make_campaign(), tmp_path / "bad.jsonl", expected)


def refused(campaign: Campaign, path: Path, expected: Expected) -> None:
    before = row_digests()
    report = import_pairs_into(campaign=campaign, paths=[path])

    places = [(problem.file, problem.line, problem.field) for problem in report.problems]
    assert places == [case[:3] for case in expected]
    for problem, (*_, words) in zip(report.problems, expected, strict=True):
        assert words in problem.reason
    assert report.rejected == len(expected)
    assert not report.changed
    assert row_digests() == before


@pytest.mark.django_db
def test_a_clash_with_what_is_stored_is_refused(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 3)
    path = write_jsonl(
        tmp_path / "later.jsonl",
        [
            pair_row(0),
            pair_row(1, response_a="A response that was not there."),
            pair_row(5, persona={"Name": "Somebody else"}),
            pair_row(9),
        ],
    )
    refused(
        campaign,
        path,
        [
            ("later.jsonl", 3, "persona_id", "persona-2 is in the campaign already, with other"),
            ("later.jsonl", 2, "pair_id", "pair-1 is in the campaign already, with other content"),
        ],
    )


@pytest.mark.django_db
def test_a_stored_persona_need_not_be_in_the_file(tmp_path: Path) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 1)
    row = {name: value for name, value in pair_row(3).items() if name != "persona"}
    report = import_pairs_into(
        campaign=campaign, paths=[write_jsonl(tmp_path / "later.jsonl", [row])]
    )
    assert (report.problems, report.new_pairs, report.new_personas) == ([], 1, 0)


@pytest.mark.django_db
def test_personas_and_pairs_of_another_campaign_do_not_count(tmp_path: Path) -> None:
    add_pairs(make_campaign("first"), tmp_path, 3)
    row = {name: value for name, value in pair_row(0).items() if name != "persona"}
    refused(
        make_campaign("second"),
        write_jsonl(tmp_path / "pairs.jsonl", [row]),
        [("pairs.jsonl", 1, "persona_id", "persona persona-0 is in no file")],
    )


@pytest.mark.django_db
def test_lines_of_a_table_are_physical_lines(tmp_path: Path) -> None:
    rows = [pair_row(0, query="one\ntwo\nthree"), pair_row(1, response_b="")]
    path = write_csv(tmp_path / "bad.csv", rows)
    refused(make_campaign(), path, [("bad.csv", 5, "response_b", "is empty")])


@pytest.mark.django_db
def test_files_of_a_folder_are_named_by_their_place_in_it(tmp_path: Path) -> None:
    folder = write_published(
        tmp_path / "set", easy=[published(0)], hard=[published(1), published(2, reject="")]
    )
    (folder / "persona_all" / "Ada_1.json").write_text('{"Name": ', "utf-8")
    refused(
        make_campaign(),
        folder,
        [
            ("set/persona_all/Ada_1.json", 1, None, "JSON"),
            ("set/general/hard.jsonl", 2, "reject", "is empty"),
            ("set/general/hard.jsonl", 1, "persona_id", "persona Ada_1 is in no file"),
        ],
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.mkdir(), "holds nothing that can be read"),
        (lambda path: path.write_bytes(b"PAR1 but no table"), "files that can be read end in"),
    ],
    ids=["no such file", "empty folder", "unknown extension"],
)
def test_a_path_that_holds_no_pairs_is_named(
    make: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    make(tmp_path / "pairs")
    refused(make_campaign(), tmp_path / "pairs", [("pairs", None, None, words)])


@pytest.mark.django_db
def test_one_bad_file_among_good_ones_stops_all(tmp_path: Path) -> None:
    campaign = make_campaign()
    good = write_jsonl(tmp_path / "good.jsonl", [pair_row(0)])
    bad = write_jsonl(tmp_path / "bad.jsonl", [pair_row(1, query="")])
    before = row_digests()
    report = import_pairs_into(campaign=campaign, paths=[good, bad])
    assert [(p.file, p.line, p.field) for p in report.problems] == [("bad.jsonl", 1, "query")]
    assert row_digests() == before


@pytest.mark.django_db
def test_of_very_many_problems_all_are_counted_and_the_first_listed(tmp_path: Path) -> None:
    number = LISTED_PROBLEMS + 500
    path = write_jsonl(tmp_path / "bad.jsonl", [pair_row(n, query="") for n in range(number)])
    report = import_pairs_into(campaign=make_campaign(), paths=[path])
    assert report.rejected == number
    assert [problem.line for problem in report.problems] == list(range(1, LISTED_PROBLEMS + 1))
