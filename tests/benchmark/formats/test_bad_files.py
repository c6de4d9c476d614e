"""Bad files: each fault gets a message with file, line, field and reason, and nothing raises."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.formats import PairRecord, PersonaRecord, Problem, read_pairs, read_votes
from benchmark.formats.lines import MAX_LINE

from .files import PAIR, csv_text, json_lines, pair, problems, put, vote

GOOD = json_lines(pair())
HEADER = b"pair_id,persona_id,query,response_a,response_b\n"


def parquet(rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), sink)
    return sink.getvalue()


def undecodable_parquet() -> bytes:
    """A text column whose second value is not UTF-8, which only another program would write."""
    columns = {name: pa.array([value, value]) for name, value in PAIR.items()}
    columns["query"] = pa.array([b"good", b"\xff\xfe"]).view(pa.string())
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


BAD_PAIRS: list[tuple[str, str, bytes, list[tuple[int | None, str | None, str]]]] = [
    # name of the case, file, content, (line, field, words of the reason) of each problem
    ("empty file", "p.jsonl", b"", [(None, None, "is empty")]),
    ("blank lines only", "p.jsonl", b"\n  \r\n\n", [(None, None, "is empty")]),
    ("only a mark", "p.jsonl", b"\xef\xbb\xbf", [(None, None, "is empty")]),
    ("header only", "p.csv", HEADER, [(None, None, "is empty")]),
    ("empty csv", "p.csv", b"", [(None, None, "is empty")]),
    (
        "unknown extension",
        "p.xlsx",
        GOOD,
        [(None, None, "extension .xlsx; files that can be read")],
    ),
    ("no extension", "pairs", GOOD, [(None, None, "extension (none)")]),
    (
        "broken json",
        "p.jsonl",
        GOOD + b'{"pair_id": "p2", }\n' + json_lines(pair(query="")),
        [(2, None, "not valid JSON at column 19"), (3, "query", "is empty")],
    ),
    (
        "cut off json",
        "p.jsonl",
        GOOD + b'{"a": 1\n',
        [(2, None, "JSON at column 8: Expecting ','")],
    ),
    ("trailing data", "p.jsonl", b'{"a": 1} {"b": 2}\n', [(1, None, "column 10: Extra data")]),
    ("json array", "p.json", b'[{"pair_id": "p1"}]', [(1, None, "found a JSON array")]),
    ("indented json", "p.json", b'{\n "pair_id": "p1"\n}', [(1, None, "several lines")]),
    ("not an object", "p.jsonl", GOOD + b"7\n", [(2, None, "must be a JSON object, not a number")]),
    ("empty object", "p.jsonl", GOOD + b"{}\n", [(2, None, "is an empty object")]),
    (
        "repeated key",
        "p.jsonl",
        GOOD + b'{"pair_id": "p1", "pair_id": "p2"}\n',
        [(2, "pair_id", "stands twice")],
    ),
    ("repeated inner key", "p.jsonl", b'{"m": {"x": 1, "x": 1}}\n', [(1, "x", "stands twice")]),
    ("nan", "p.jsonl", json_lines(pair(score=float("nan"))), [(1, "score", "NaN or infinite")]),
    (
        "infinity in a list",
        "p.jsonl",
        json_lines(pair(scores=[1, float("-inf")])),
        [(1, "scores[1]", "NaN or infinite")],
    ),
    ("too large a float", "p.jsonl", GOOD[:-2] + b', "x": 1e999}\n', [(1, "x", "infinite")]),
    (
        "too large an int",
        "p.jsonl",
        b'{"x": ' + b"9" * 5000 + b"}\n",
        [(1, None, "too many digits")],
    ),
    (
        "deep nesting",
        "p.jsonl",
        GOOD[:-2] + b', "x": ' + b"[" * 100 + b"]" * 100 + b"}\n",
        [(1, "x" + "[0]" * 64, "nested deeper than 64")],
    ),
    (
        "bottomless nesting",
        "p.jsonl",
        b'{"x": ' + b"[" * 200_000 + b"\n",
        [(1, None, "nested deeper than 64")],
    ),
    (
        "broken utf-8",
        "p.jsonl",
        GOOD + '{"pair_id": "é'.encode() + b'\xff"}\n',
        [(2, None, "not valid UTF-8 at column 15 (byte 0xff)")],
    ),
    ("gbk", "p.jsonl", '{"query": "鱼"}\n'.encode("gbk"), [(1, None, "not valid UTF-8")]),
    ("utf-32", "p.jsonl", GOOD.decode().encode("utf-32"), [(None, None, "is UTF-32")]),
    (
        "utf-16 cut off",
        "p.jsonl",
        GOOD.decode().encode("utf-16") + b"{",
        [(2, None, "not valid UTF-16")],
    ),
    (
        "surrogate in utf-16",
        "p.jsonl",
        json_lines(pair(query="?@")).decode().encode("utf-16-le").replace(b"@\0", b"\x00\xd8"),
        [(1, "query", "lone surrogate (U+D800)")],
    ),
    (
        "surrogate in utf-16 csv",
        "p.csv",
        csv_text(pair(query="?@")).encode("utf-16-be").replace(b"\0@", b"\xdc\x01"),
        [(2, "query", "lone surrogate (U+DC01)")],
    ),
    (
        "escaped surrogate",
        "p.jsonl",
        GOOD.replace(b"Soup.", b"\\ud83d"),
        [(1, "response_a", "lone surrogate (U+D83D)")],
    ),
    (
        "surrogate in a persona",
        "p.jsonl",
        GOOD[:-2] + b', "persona": {"Name": "A", "Bias": ["x", "\\udfff"]}}\n',
        [(1, "persona.Bias[1]", "lone surrogate (U+DFFF)")],
    ),
    (
        "surrogate in a name",
        "p.jsonl",
        GOOD[:-2] + b', "m": {"\\ud800": 1}}\n',
        [(1, "m.\\ud800", "has a name that contains a lone surrogate")],
    ),
    ("escaped nul", "p.jsonl", GOOD.replace(b"Soup.", b"a\\u0000"), [(1, "response_a", "NUL")]),
    ("raw nul", "p.jsonl", GOOD.replace(b"Soup.", b"a\0"), [(1, "response_a", "NUL")]),
    (
        "nul in csv",
        "p.csv",
        HEADER + b"p1,anna,q\0,a,b\n",
        [(2, "query", "NUL character (U+0000)")],
    ),
    ("nul in meta", "p.jsonl", GOOD[:-2] + b', "x": "\\u0000"}\n', [(1, "x", "NUL")]),
    (
        "missing column",
        "p.jsonl",
        json_lines(pair(query=...)),
        [(None, "query", "missing column for pairs; found: pair_id, persona_id, query_kind,")],
    ),
    (
        "missing column beside a persona",
        "p.jsonl",
        json_lines(pair(query=..., persona="A cook.")),
        [(None, "query", "missing column")],
    ),
    (
        "missing columns of csv",
        "p.csv",
        b"pair_id;persona_id;query\n1;2;3\n",
        [
            (
                None,
                "pair_id, persona_id, query, response_a, response_b",
                "missing columns for pairs; found: pair_id;persona_id;query",
            )
        ],
    ),
    (
        "missing in one row",
        "p.jsonl",
        GOOD + json_lines(pair(query=...)),
        [(2, "query", "is missing")],
    ),
    (
        "missing from published rows",
        "easy.jsonl",
        json_lines({"user_id": "1", "question": "q", "chosen": "a"}),
        [(None, "reject", "missing column for PersonaFeedback rows")],
    ),
    ("null", "p.jsonl", json_lines(pair(response_a=None)), [(1, "response_a", "is missing")]),
    ("empty text", "p.jsonl", json_lines(pair(response_b="")), [(1, "response_b", "is empty")]),
    ("whitespace", "p.jsonl", json_lines(pair(query=" \t\n\u3000")), [(1, "query", "is empty")]),
    ("empty cell", "p.csv", HEADER + b"p1,,q,a,b\n", [(2, "persona_id", "is empty")]),
    (
        "identical responses",
        "p.jsonl",
        json_lines(pair(response_b="Soup.")),
        [(1, "response_b", "is identical to response_a")],
    ),
    (
        "odd kind",
        "p.jsonl",
        json_lines(pair(query_kind="Specific")),
        [(1, "query_kind", "specific")],
    ),
    (
        "number as id",
        "p.jsonl",
        json_lines(pair(pair_id=7)),
        [(1, "pair_id", "text, not a number")],
    ),
    ("list as text", "p.jsonl", json_lines(pair(query=["q"])), [(1, "query", "text, not a list")]),
    (
        "object as text",
        "p.jsonl",
        json_lines(pair(response_a={})),
        [(1, "response_a", "an object")],
    ),
    (
        "bool as source",
        "p.jsonl",
        json_lines(pair(source_a=True)),
        [(1, "source_a", "true or false")],
    ),
    (
        "number as persona",
        "p.jsonl",
        json_lines(pair(persona=1)),
        [(1, "persona", "object or text")],
    ),
    ("empty persona", "p.jsonl", json_lines(pair(persona={})), [(1, "persona", "is empty")]),
    (
        "too long an id",
        "p.jsonl",
        json_lines(pair(pair_id="x" * 201)),
        [(1, "pair_id", "longer than 200 characters (201)")],
    ),
    (
        "too long a text",
        "p.jsonl",
        json_lines(pair(response_b="文" * 200_001)),
        [(1, "response_b", "longer than 200,000 characters (200,001)")],
    ),
    (
        "too long a persona, twice",
        "p.jsonl",
        json_lines(*[pair(persona={"Name": "x" * 200_000})] * 2),
        [(1, "persona", "longer than 200,000"), (2, "persona", "longer than 200,000")],
    ),
    (
        "too long a line",
        "p.jsonl",
        b'{"pair_id": "' + b"x" * MAX_LINE + b'"}\n' + json_lines(pair(query="")),
        [(1, None, "longer than 64 MiB"), (2, "query", "is empty")],
    ),
    (
        "several faults in one row",
        "p.jsonl",
        json_lines(pair(pair_id=1, query="", query_kind="x", response_a=None, source_b=0)),
        [
            (1, "pair_id", "must be text"),
            (1, "query", "is empty"),
            (1, "query_kind", "must be"),
            (1, "response_a", "is missing"),
            (1, "source_b", "must be text"),
        ],
    ),
    (
        "number of cells",
        "p.csv",
        HEADER + b"p1,anna,q,a\np2,anna,q,a,b,c\n",
        [(2, None, "4 cells where the header has 5"), (3, None, "6 cells")],
    ),
    (
        "repeated header",
        "p.csv",
        HEADER[:-1] + b", query\n1,2,3,4,5,6\n",
        [(1, "query", "stands twice")],
    ),
    (
        "nameless column",
        "p.csv",
        b"," + HEADER + b"0,1,2,3,4,5\n",
        [(1, None, "column 1 has no name")],
    ),
    (
        "open quote",
        "p.csv",
        HEADER + b'p1,anna,q,a,b\np2,anna,"q,a,b\np3,anna,q,a,b\n',
        [(3, None, "a quote is opened and never closed")],
    ),
    (
        "stray quote after a multi-line row",
        "p.csv",
        HEADER + b'p1,anna,"q\n\n",a,b\np2,anna,"q" x,a,b\n',
        [(5, None, "quotes inside a quoted cell are written twice")],
    ),
    (
        "carriage return",
        "p.csv",
        HEADER + b"p1,a\rnna,q,a,b\n",
        [(2, None, "carriage return stands")],
    ),
    (
        "endless cell",
        "p.csv",
        HEADER + b'p1,anna,"' + (b"text " * 1000 + b"\n") * 2000,
        [(2, None, "a cell is longer than 8,388,608 characters; is a quote left open?")],
    ),
    (
        "broken utf-8 in csv",
        "p.csv",
        HEADER + b'p1,anna,"\n\xe9t\xe9",a,b\np2,anna,,a,b\n',
        [(2, None, "UTF-8 at column 1 (byte 0xe9) of line 3"), (4, "query", "is empty")],
    ),
    (
        "persona of csv is not json",
        "p.csv",
        csv_text(pair(persona='{"Name": }')).encode(),
        [(2, "persona", "not valid JSON at column 10")],
    ),
    (
        "persona of csv with a surrogate",
        "p.csv",
        csv_text(pair(persona='{"Name": "\\ud800"}')).encode(),
        [(2, "persona.Name", "lone surrogate")],
    ),
    (
        "not parquet",
        "p.parquet",
        b"PAR1 and then nothing",
        [(None, None, "not a readable Parquet")],
    ),
    ("empty parquet", "p.parquet", b"", [(None, None, "not a readable Parquet file")]),
    ("cut off parquet", "p.parquet", parquet([pair()])[:-40], [(None, None, "not a readable")]),
    (
        "parquet without rows",
        "p.parquet",
        parquet([], pa.schema([(name, pa.string()) for name in PAIR])),
        [(None, None, "is empty")],
    ),
    (
        "number column",
        "p.parquet",
        parquet([pair(pair_id=7)]),
        [(None, "pair_id", "must be a text column, not int64")],
    ),
    (
        "binary column",
        "p.parquet",
        parquet([pair(extra=b"\0")]),
        [(None, "extra", "type binary, which JSON cannot hold")],
    ),
    (
        "unfit values of parquet",
        "p.parquet",
        parquet(
            [pair(score=1.0), pair(score=float("nan")), pair(query="a\0"), pair(query=None)],
            pa.schema([*((name, pa.string()) for name in PAIR), ("score", pa.float64())]),
        ),
        [(2, "score", "NaN"), (3, "query", "NUL"), (4, "query", "is missing")],
    ),
    ("parquet without utf-8", "p.parquet", undecodable_parquet(), [(2, "query", "not UTF-8")]),
    (
        "priors are no list",
        "p.jsonl",
        json_lines(pair(priors={}), pair(priors=[{"label": "C"}, 1]), pair(priors=[], meta=[])),
        [
            (1, "priors", "must be a list, not an object"),
            (2, "priors[0].label", "must be A, B or null"),
            (2, "priors[1]", "must be an object, not a number"),
            (3, "meta", "must be an object, not a list"),
        ],
    ),
    (
        "published rows",
        "hard.jsonl",
        json_lines(
            {"user_id": "", "question": "q", "chosen": "a", "reject": "a"},
            {"user_id": True, "question": 1, "chosen": "a", "reject": None},
        )
        + b'{"user_id": "1", "question": "\\ud800", "chosen": "a", "reject": "b"}\n',
        [
            (1, "user_id", "is empty"),
            (1, "reject", "is identical to chosen"),
            (2, "user_id", "must be text, not true or false"),
            (2, "question", "must be text"),
            (2, "reject", "is missing"),
            (3, "question", "lone surrogate"),
        ],
    ),
    (
        "personas",
        "personas.jsonl",
        json_lines(
            {"persona_id": "a", "persona": None},
            {"persona_id": 1, "persona": " "},
            {"persona_id": "c", "persona": [1]},
        ),
        [
            (1, "persona", "is missing"),
            (2, "persona_id", "must be text"),
            (2, "persona", "is empty"),
            (3, "persona", "must be an object or text, not a list"),
        ],
    ),
    ("list of personas", "all_personas.jsonl", b'{"Name": "A"}\n[]\n', [(2, None, "JSON object")]),
]


def assert_problems(
    found: list[Problem], expected: list[tuple[int | None, str | None, str]], *, file: str
) -> None:
    assert [(p.file, p.line, p.field) for p in found] == [
        (file, line, f) for line, f, _ in expected
    ]
    for problem, (_, _, words) in zip(found, expected, strict=True):
        assert words in problem.reason
        str(problem).encode()  # can be printed and stored, whatever the file held
        assert "\0" not in str(problem)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [case[1:] for case in BAD_PAIRS],
    ids=[case[0] for case in BAD_PAIRS],
)
def test_bad_pairs(
    tmp_path: Path, name: str, data: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    items = list(read_pairs([put(tmp_path / name, data)], seed="s"))
    assert_problems(problems(items), expected, file=name)
    bad_lines = {line for line, _, _ in expected}
    assert not bad_lines & {
        item.at.line for item in items if isinstance(item, PairRecord | PersonaRecord)
    }


BAD_VOTES: list[tuple[str, str, bytes, list[tuple[int | None, str | None, str]]]] = [
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
def test_bad_votes(
    tmp_path: Path, name: str, data: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    items = list(read_votes(put(tmp_path / name, data)))
    assert items == problems(items)
    assert_problems(problems(items), expected, file=name)


def test_reading_goes_on_after_a_bad_row(tmp_path: Path) -> None:
    path = put(tmp_path / "p.jsonl", json_lines(pair(pair_id="1"), 7, pair(pair_id="3")))
    items = list(read_pairs([path], seed=""))
    assert [item.at.line for item in items if isinstance(item, PairRecord)] == [1, 3]


def test_damage_inside_parquet(tmp_path: Path) -> None:
    """The footer is sound, a page is not: the rows before it are given, then the problem."""
    data = bytearray(parquet([pair(pair_id=f"p{i}", query="q" * i) for i in range(3000)]))
    data[1000:3000] = bytes(2000)
    found = problems(list(read_pairs([put(tmp_path / "p.parquet", bytes(data))], seed="")))
    assert [(problem.file, problem.field) for problem in found] == [("p.parquet", None)]
    assert "damaged" in found[0].reason


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


def test_words_of_a_problem() -> None:
    assert str(Problem("p.csv", 3, "query", "is empty")) == "p.csv:3: query: is empty"
    assert str(Problem("p.csv", None, None, "is empty")) == "p.csv: is empty"
    assert Problem("p.csv", 3, None, "x").as_json() == {
        "file": "p.csv",
        "line": 3,
        "field": None,
        "reason": "x",
    }


def test_a_bad_table_does_not_hide_the_others_of_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "f" / "pairs-1.parquet", b"PAR1")
    put(tmp_path / "f" / "pairs-2.jsonl", GOOD.decode().encode("utf-32"))
    put(tmp_path / "f" / "pairs-3.jsonl", GOOD)
    items = list(read_pairs([tmp_path / "f"], seed=""))
    assert [p.file for p in problems(items)] == ["f/pairs-1.parquet", "f/pairs-2.jsonl"]
    assert [item.at.file for item in items if isinstance(item, PairRecord)] == ["f/pairs-3.jsonl"]


def test_parquet_with_names_beyond_utf8(tmp_path: Path) -> None:
    data = parquet([pair(topics="x")]).replace(b"topics", b"t\xffpics")
    (problem,) = problems(list(read_pairs([put(tmp_path / "p.parquet", data)], seed="")))
    assert problem.reason.startswith("not a readable Parquet file")
