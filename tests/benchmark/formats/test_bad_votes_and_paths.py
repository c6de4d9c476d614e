"""Bad files of votes, and paths at which nothing can be read."""

from pathlib import Path

import pyarrow as pa
import pytest

from benchmark.formats import read_pairs, read_votes

from .files import (
    Expected,
    assert_problems,
    csv_text,
    json_lines,
    pair,
    parquet,
    problems,
    put,
    vote,
)

GOOD = json_lines(pair())

BAD_VOTES: list[tuple[str, str, bytes, Expected]] = [
    ("empty", "v.jsonl", b"", [(None, None, "is empty")]),
    (
        "missing column",
        "v.csv",
        b"pair_id,rater,choice\n1,2,A\n",
        [(None, "criterion", "missing column for votes; found: pair_id, rater, choice")],
    ),
    (
        "choices",
        "v.jsonl",
        json_lines(*(vote(choice=choice) for choice in ("a", "Tie", "", 1, "A "))),
        [
            (1, "choice", "must be exactly A, B, tie or skip"),
            (2, "choice", "must be exactly"),
            (3, "choice", "is empty"),
            (4, "choice", "must be text"),
            (5, "choice", "must be exactly"),
        ],
    ),
    ("side", "v.jsonl", json_lines(vote(shown_left="left")), [(1, "shown_left", "A, B or empty")]),
    (
        "seconds",
        "v.jsonl",
        json_lines(
            vote(seconds=-0.5),
            vote(seconds="3"),
            vote(seconds=True),
            vote(seconds=10**400),
            vote(seconds=[]),
        )
        + b'{"pair_id": "1", "rater": "2", "criterion": "c", "choice": "A", "seconds": NaN}\n',
        [
            (1, "seconds", "at least 0"),
            (2, "seconds", "must be a number, not text"),
            (3, "seconds", "must be a number, not true or false"),
            (4, "seconds", "at least 0"),
            (5, "seconds", "must be a number, not a list"),
            (6, "seconds", "NaN"),
        ],
    ),
    (
        "seconds of csv",
        "v.csv",
        csv_text(vote(seconds="inf")).encode(),
        [(2, "seconds", "at least 0")],
    ),
    (
        "active seconds",
        "v.jsonl",
        json_lines(vote(active_seconds=-1), vote(active_seconds="3"), vote(active_seconds=10**400)),
        [
            (1, "active_seconds", "at least 0"),
            (2, "active_seconds", "must be a number, not text"),
            (3, "active_seconds", "at least 0"),
        ],
    ),
    (
        "confidence",
        "v.jsonl",
        json_lines(*(vote(confidence=value) for value in (0, 4, 1.5, -1, "2", True, [], 10**400))),
        [
            *((line, "confidence", "must be 1, 2 or 3") for line in (1, 2, 3, 4)),
            (5, "confidence", "must be a number, not text"),
            (6, "confidence", "must be a number, not true or false"),
            (7, "confidence", "must be a number, not a list"),
            (8, "confidence", "must be 1, 2 or 3"),
        ],
    ),
    (
        "confidence of csv",
        "v.csv",
        csv_text(*(vote(confidence=value) for value in ("sure", "nan", "2.5"))).encode(),
        [(line, "confidence", "must be 1, 2 or 3") for line in (2, 3, 4)],
    ),
    (
        "reasons",
        "v.jsonl",
        json_lines(
            vote(reasons="taste"),
            vote(reasons={"taste": 1}),
            vote(reasons=["taste", 3]),
            vote(reasons=["taste", " ", None]),
            vote(reasons=["x" * 41]),
            vote(reasons=["x"] * 21),
            vote(reasons=["a", "b\0"]),
            vote(reasons=[["a"]]),
        ),
        [
            (1, "reasons", "must be a list, not text"),
            (2, "reasons", "must be a list, not an object"),
            (3, "reasons[1]", "must be text, not a number"),
            (4, "reasons[1]", "is empty"),
            (4, "reasons[2]", "is missing"),
            (5, "reasons[0]", "is longer than 40 characters (41)"),
            (6, "reasons", "has more than 20 items (21)"),
            (7, "reasons[1]", "NUL"),
            (8, "reasons[0]", "must be text, not a list"),
        ],
    ),
    (
        "reasons of csv",
        "v.csv",
        csv_text(
            *(
                vote(reasons=cell)
                for cell in ("taste", '["taste"', '"taste"', '["a", "\\u0000"]', '[""]', "null")
            )
        ).encode(),
        [
            (2, "reasons", "must be a list as JSON: not valid JSON at column 1"),
            (3, "reasons", "must be a list as JSON: not valid JSON at column 9"),
            (4, "reasons", "must be a list, not text"),
            (5, "reasons[1]", "NUL"),
            (6, "reasons[0]", "is empty"),
            (7, "reasons", "must be a list, not null"),
        ],
    ),
    (
        "reasons of parquet",
        "v.parquet",
        parquet([vote(reasons=["a", "x" * 41]), vote(reasons=["b", None])]),
        [(1, "reasons[1]", "longer than 40"), (2, "reasons[1]", "is missing")],
    ),
    (
        "moments",
        "v.jsonl",
        json_lines(
            *(
                vote(at=value)
                for value in ("2026-01-31T12:00:00", "yesterday", 5, "0001-01-01T00:00:00+05:00")
            )
        ),
        [
            (1, "at", "has no time zone"),
            (2, "at", "ISO 8601"),
            (3, "at", "must be text"),
            (4, "at", "ISO 8601"),
        ],
    ),
    (
        "naive column",
        "v.parquet",
        parquet(
            [vote(at=1)],
            pa.schema([*((n, pa.string()) for n in vote()), ("at", pa.timestamp("s"))]),
        ),
        [(1, "at", "has no time zone")],
    ),
    (
        "ids",
        "v.jsonl",
        json_lines(vote(rater=3, pair_id=" ")),
        [(1, "pair_id", ""), (1, "rater", "")],
    ),
    ("nul", "v.jsonl", json_lines(vote(comment="a\0")), [(1, "comment", "NUL")]),
]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [case[1:] for case in BAD_VOTES],
    ids=[case[0] for case in BAD_VOTES],
)
def test_bad_votes(tmp_path: Path, name: str, data: bytes, expected: Expected) -> None:
    items = list(read_votes(put(tmp_path / name, data)))
    assert items == problems(items)
    assert_problems(problems(items), expected, file=name)


def test_missing_and_unreadable_paths(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("x")
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    paths = [tmp_path / "no.jsonl", tmp_path / "folder", tmp_path / ("x" * 300), loop]
    found = list(read_pairs(paths, seed=""))
    assert [p.file for p in problems(found)] == ["no.jsonl", "folder", "x" * 300, "loop.jsonl"]
    words = ["does not exist", "holds nothing that can be read", "cannot be read", "does not exist"]
    for problem, expected in zip(problems(found), words, strict=True):
        assert expected in problem.reason
    for path, expected in zip(
        paths, ("does not exist", "no file of votes", "cannot be read", "not"), strict=True
    ):
        (problem,) = problems(list(read_votes(path)))
        assert expected in problem.reason


def test_unreadable_file(tmp_path: Path) -> None:
    path = put(tmp_path / "p.jsonl", GOOD)
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        pass
    else:
        pytest.skip("this user may read every file")
    (problem,) = problems(list(read_pairs([path], seed="")))
    assert problem.reason == "cannot be read: Permission denied"


def test_files_with_one_name_are_told_apart(tmp_path: Path) -> None:
    one, two = put(tmp_path / "1" / "p.jsonl", b""), put(tmp_path / "2" / "p.jsonl", b"")
    assert [p.file for p in problems(list(read_pairs([one, two], seed="")))] == [str(one), str(two)]
