"""Bad files: each fault gets a message with file, line, field and reason, and nothing raises."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.formats import PairRecord, PersonaRecord, Problem, read_pairs
from benchmark.formats.lines import MAX_LINE

from .files import (
    PAIR,
    Expected,
    assert_problems,
    csv_text,
    json_lines,
    pair,
    parquet,
    problems,
    put,
)

GOOD = json_lines(pair())
HEADER = b"pair_id,persona_id,query,response_a,response_b\n"


def undecodable_parquet() -> bytes:
    """A text column whose second value is not UTF-8, which only another program would write."""
    columns = {name: pa.array([value, value]) for name, value in PAIR.items()}
    columns["query"] = pa.array([b"good", b"\xff\xfe"]).view(pa.string())
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


BAD_PAIRS: list[tuple[str, str, bytes, Expected]] = [
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
    (
        "nothing to be seen",
        "p.jsonl",
        json_lines(pair(response_a="\u200b\ufeff \u202e")),
        [(1, "response_a", "is empty")],
    ),
    ("empty cell", "p.csv", HEADER + b"p1,,q,a,b\n", [(2, "persona_id", "is empty")]),
    (
        "identical responses",
        "p.jsonl",
        json_lines(pair(response_b="Soup.")),
        [(1, "response_b", "is identical to response_a")],
    ),
    (
        "responses that look the same",
        "p.jsonl",
        json_lines(pair(response_b=" Soup.\n")),
        [(1, "response_b", "differs in white space only from response_a")],
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


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [case[1:] for case in BAD_PAIRS],
    ids=[case[0] for case in BAD_PAIRS],
)
def test_bad_pairs(tmp_path: Path, name: str, data: bytes, expected: Expected) -> None:
    items = list(read_pairs([put(tmp_path / name, data)], seed="s"))
    assert_problems(problems(items), expected, file=name)
    bad_lines = {line for line, _, _ in expected}
    assert not bad_lines & {
        item.at.line for item in items if isinstance(item, PairRecord | PersonaRecord)
    }


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
