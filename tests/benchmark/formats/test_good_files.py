"""Files as people have them are read as they stand: marks, UTF-16, line ends, odd texts."""

import csv
import io
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats import (
    JsonlWriter,
    Location,
    PairRecord,
    ParquetWriter,
    PersonaRecord,
    Prior,
    VoteRecord,
    read_pairs,
    read_votes,
)
from benchmark.formats.checks import is_blank

from .files import (
    PAIR,
    VOTE,
    csv_text,
    json_lines,
    pair,
    pairs,
    parquet,
    personas,
    problems,
    put,
    vote,
)


def read(path: Path) -> list[Any]:
    return list(read_pairs([path], seed="s"))


def test_a_plain_row(tmp_path: Path) -> None:
    (record,) = read(put(tmp_path / "p.jsonl", json_lines(pair(topic="food", n=[1, None]))))
    assert record == PairRecord(
        pair_id="p1",
        persona_id="anna",
        query="What shall I cook?",
        query_kind="general",
        response_a="Soup.",
        response_b="烤鱼。",
        source_a="full",
        source_b="none",
        priors=(),
        meta={"topic": "food", "n": [1, None]},
        at=Location("p.jsonl", 1),
    )


@pytest.mark.parametrize("extension", ["jsonl", "ndjson", "json", "JSONL"])
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", ""),
        ("utf-8", "\ufeff"),
        ("utf-16-le", "\ufeff"),
        ("utf-16-be", "\ufeff"),
        ("utf-16-le", ""),
        ("utf-16-be", ""),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_encodings_and_line_ends(
    tmp_path: Path, extension: str, encoding: str, mark: str, ending: str
) -> None:
    rows = [pair(pair_id="1", query="a\u2028b\x85c\u000bd\x1ce 🐟"), pair(pair_id="2")]
    text = ending.join(["", *(json.dumps(row, ensure_ascii=False) for row in rows)])
    if not mark:
        text = text.lstrip()
    records = pairs(read(put(tmp_path / f"p.{extension}", (mark + text).encode(encoding))))
    assert [(r.pair_id, r.query) for r in records] == [(r["pair_id"], r["query"]) for r in rows]
    assert records[0].at.line == (2 if mark else 1)


@pytest.mark.parametrize(("extension", "delimiter"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_csv_is_text_and_knows_its_physical_lines(
    tmp_path: Path, extension: str, delimiter: str, encoding: str
) -> None:
    rows = [
        pair(pair_id="007", persona_id="NA", query="null", response_a="1e5", note="", n="NaN"),
        pair(pair_id="2", response_a='two\r\nlines, one "tab"\there', note=" kept ", n="0.10"),
        pair(pair_id="3", note="x", n="TRUE"),
    ]
    text = csv_text(*rows, delimiter=delimiter, ending="\r\n").replace("\r\n3", "\r\n\r\n,,\r\n3")
    if delimiter == "\t":
        text = text.replace(",,", "\t\t")
    records = pairs(read(put(tmp_path / f"p.{extension}", text.encode(encoding))))
    assert [{**r.as_row(), **r.meta} for r in records] == [
        {**row, "priors": [], "meta": {"note": row["note"], "n": row["n"]}} for row in rows
    ]
    assert [r.at.line for r in records] == [2, 3, 7]


def test_optional_columns(tmp_path: Path) -> None:
    data = json_lines(
        pair(query_kind=..., source_a=..., source_b=...), pair(query_kind=None, source_a=None)
    )
    for record in pairs(read(put(tmp_path / "p.jsonl", data))):
        assert (record.query_kind, record.source_a) == ("", "")


def test_escaped_pairs_of_surrogates_are_characters(tmp_path: Path) -> None:
    data = json_lines(pair()).replace(b"Soup.", b"\\ud83d\\udc1f \\\\u0000 \\u00e9")
    (record,) = pairs(read(put(tmp_path / "p.jsonl", data)))
    assert record.response_a == "🐟 \\u0000 é"


def test_inline_personas_come_once_before_their_pair(tmp_path: Path) -> None:
    profile = {"Name": "Anna", "Demographics": {"Age": 30, "Language": ["de"]}}
    other_order = {"Demographics": {"Language": ["de"], "Age": 30}, "Name": "Anna"}
    rows = [
        pair(pair_id="1", persona=profile),
        pair(pair_id="2", persona=profile),
        pair(pair_id="3", persona=other_order),
        pair(pair_id="4", persona={**profile, "Name": "Ann"}),
        pair(pair_id="5", persona_id="ben", persona=profile),
        pair(pair_id="6", persona_id="ben", persona="A cook {of soups}."),
        pair(pair_id="7", persona=None),
        pair(pair_id="8"),
    ]
    items = read(put(tmp_path / "p.jsonl", json_lines(*rows)))
    ids = [i.pair_id if isinstance(i, PairRecord) else f"*{i.persona_id}" for i in items]
    assert ids == ["*anna", "1", "2", "3", "*anna", "4", "*ben", "5", "*ben", "6", "7", "8"]
    first = items[0]
    assert first == PersonaRecord("anna", profile, Location("p.jsonl", 1))
    assert [p.name for p in personas(items)] == ["Anna", "Ann", "Anna", "ben"]
    assert first.digest == PersonaRecord("x", other_order, Location("", None)).digest


def test_personas_of_csv_are_objects_or_text(tmp_path: Path) -> None:
    rows = [
        pair(persona='{"Name": "Anna", "Bias": null}'),
        pair(persona_id="ben", persona="A cook."),
        pair(persona_id="cleo", persona=""),
    ]
    items = read(put(tmp_path / "p.csv", csv_text(*rows)))
    assert [p.body for p in personas(items)] == [{"Name": "Anna", "Bias": None}, "A cook."]
    assert len(pairs(items)) == 3


def test_personas_file_comes_first_wherever_it_is_named(tmp_path: Path) -> None:
    p = put(tmp_path / "p.jsonl", json_lines(pair()))
    who = put(
        tmp_path / "who.csv", csv_text({"persona_id": "anna", "persona": "A cook.", "x": "1"})
    )
    items = list(read_pairs([p, who], seed=""))
    assert items[0] == PersonaRecord("anna", "A cook.", Location("who.csv", 2))
    assert isinstance(items[1], PairRecord)


def test_folder_of_tables(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    put(folder / "pairs-1.jsonl", json_lines(pair(pair_id="1")))
    put(folder / "pairs-2.csv", csv_text(pair(pair_id="2")))
    put(folder / "personas.jsonl", json_lines({"persona_id": "anna", "persona": {"Name": "A"}}))
    put(folder / "votes.jsonl", json_lines(vote()))
    put(folder / "README.md", "# A set")
    items = read(folder)
    assert [item.at for item in items] == [
        Location("set/personas.jsonl", 1),
        Location("set/pairs-1.jsonl", 1),
        Location("set/pairs-2.csv", 2),
    ]
    assert problems(items) == []
    (found,) = read_votes(folder)
    assert isinstance(found, VoteRecord)
    assert found.at == Location("set/votes.jsonl", 1)


def test_parquet_types(tmp_path: Path) -> None:
    """Strings of every width, dictionaries, a struct with gaps, and columns that become meta."""
    count = 2500  # several batches
    data = {name: pa.array([value] * count) for name, value in PAIR.items()}
    data["pair_id"] = pa.array([f"{i:05}" for i in range(count)], pa.large_string())
    data["query_kind"] = data["query_kind"].dictionary_encode()
    data["response_a"] = data["response_a"].cast(pa.string_view())
    data["source_a"] = pa.nulls(count)
    data["persona"] = pa.array(
        [{"Name": "Anna", "Age": 3}, {"Name": "Ben", "Age": None}] * (count // 2)
    )
    data["score"] = pa.array([0.5] * count, pa.float32())
    data["tags"] = pa.array([["x", "y"]] * count)
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    data["seen"] = pa.array([moment] * count, pa.timestamp("ns", "Asia/Shanghai"))
    pq.write_table(pa.table(data), tmp_path / "p.parquet", row_group_size=700)
    items = read(tmp_path / "p.parquet")
    records = pairs(items)
    assert [(r.pair_id, r.at.line) for r in records] == [(f"{i:05}", i + 1) for i in range(count)]
    assert records[-1].as_row() | {"pair_id": "p1", "source_a": "full"} == PAIR | {
        "priors": [],
        "meta": {"score": 0.5, "tags": ["x", "y"], "seen": "2026-01-31T12:00:00+00:00"},
    }
    assert [p.body for p in personas(items)] == [{"Name": "Anna", "Age": 3}, {"Name": "Ben"}]


def test_votes(tmp_path: Path) -> None:
    rows = [
        VOTE,
        vote(choice="skip", shown_left=None, seconds=None, at=None, reason="too long"),
        vote(choice="tie", shown_left="B", seconds=3, at="2026-01-31T12:00:00+08:00", comment="hm"),
        vote(choice="B", shown_left="A", seconds=0.25, at="2026-01-31T04:00:00.5Z", unknown=[]),
    ]
    found = list(read_votes(put(tmp_path / "v.jsonl", json_lines(*rows))))
    moment = datetime(2026, 1, 31, 4, tzinfo=UTC)
    start = ("p1", "r1", "helpfulness")
    assert found == [
        VoteRecord(*start, "A", None, None, None, "", "", Location("v.jsonl", 1)),
        VoteRecord(*start, "skip", None, None, None, "too long", "", Location("v.jsonl", 2)),
        VoteRecord(*start, "tie", "B", 3.0, moment, "", "hm", Location("v.jsonl", 3)),
        VoteRecord(
            *start,
            "B",
            "A",
            0.25,
            moment.replace(microsecond=500_000),
            "",
            "",
            Location("v.jsonl", 4),
        ),
    ]


def test_votes_of_csv_and_parquet(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 31, 4, tzinfo=UTC)
    rows = [
        vote(shown_left="", seconds="", at=""),
        vote(shown_left="A", seconds="1.5", at="2026-01-31T12:00+08:00"),
    ]
    found = list(read_votes(put(tmp_path / "v.csv", csv_text(*rows))))
    columns = {name: pa.array([value, value]) for name, value in VOTE.items()}
    columns["shown_left"] = pa.array([None, "A"]).dictionary_encode()
    columns["seconds"] = pa.array([None, 1.5])
    columns["at"] = pa.array([None, moment], pa.timestamp("ms", "UTC"))
    columns["blob"] = pa.array([b"", b""])  # not a column of votes, not looked at
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    for records in (found, list(read_votes(tmp_path / "v.parquet"))):
        assert problems(records) == []
        values = [
            (v.shown_left, v.seconds, v.submitted_at) for v in records if isinstance(v, VoteRecord)
        ]
        assert values == [(None, None, None), ("A", 1.5, moment)]


def test_what_else_a_judgement_says(tmp_path: Path) -> None:
    """Active time, confidence and reasons, in every format; each of them may be missing."""
    given: list[tuple[float | None, int | None, list[str]]] = [
        (0.0, 1, ["taste", '说得 "好"']),
        (12.25, 3, ["x" * 40] * 20),
        (None, None, []),
    ]
    names = ("active_seconds", "confidence", "reasons")
    rows = [vote(**dict(zip(names, values, strict=True))) for values in given]
    cells = [
        {n: "" if row[n] is None else row[n] for n in row} | {"reasons": json.dumps(row["reasons"])}
        for row in rows
    ]
    cells[2]["reasons"] = ""
    # Numbers beside gaps as pandas has them, and lists as texts.
    loose = [
        row | {"confidence": row["confidence"] and float(row["confidence"]), "reasons": cell}
        for row, cell in zip(rows, (cell["reasons"] for cell in cells), strict=True)
    ]
    put(tmp_path / "v.parquet", parquet(rows))
    put(tmp_path / "loose.parquet", parquet(loose))
    put(tmp_path / "v.jsonl", json_lines(*rows, vote()))
    put(tmp_path / "v.csv", csv_text(*cells))
    for name in ("v.jsonl", "v.csv", "v.parquet", "loose.parquet"):
        found = list(read_votes(tmp_path / name))
        assert problems(found) == []
        votes = [record for record in found if isinstance(record, VoteRecord)]
        read_back = [(v.active_seconds, v.confidence, list(v.reasons)) for v in votes]
        assert read_back == [*given, *([(None, None, [])] if name == "v.jsonl" else [])]


def test_a_release_read_again_is_the_same(tmp_path: Path) -> None:
    """Write, read, write: the same records and the same bytes; order of rows and meta included."""
    at = Location("", None)
    people = [
        PersonaRecord("anna", {"Name": "Anna", "Age": 3}, at),
        PersonaRecord("ben", "A cook.", at),
    ]
    prior = (Prior("hard", "A", "general/hard"), Prior(None, None, ""))
    base = PairRecord(
        "1", "anna", "q\n", "", "=a", "@b", "", "", prior, {"meta": {"x": [1.5, None]}}, at
    )
    moment = datetime(2026, 1, 31, 4, 0, 0, 500, tzinfo=UTC)
    given_vote = VoteRecord(
        *("1", "r", "helpfulness", "skip", "B", 1.25, moment, "why", "", at),
        **{"active_seconds": 0.75, "confidence": 2, "reasons": ("tone", "说得好")},
    )
    written: list[list[bytes]] = []
    expected = [*(p.as_row() for p in people), base.as_row(), given_vote.as_row()]
    rows: tuple[list[Any], list[Any], list[Any]] = (people, [base], [given_vote])
    for name in ("first", "second"):
        folder = tmp_path / name
        put(folder / "MANIFEST.json", "{}")
        put(folder / "data" / "hard" / "test.jsonl", "not read")
        for kind, records in zip(("personas", "pairs", "votes"), rows, strict=True):
            (folder / kind).mkdir()
            with JsonlWriter(folder / kind / "part-0.jsonl") as writer:
                for record in records:
                    writer.write(record.as_row())
        items = read(folder)
        rows = (personas(items), pairs(items), list(read_votes(folder)))
        written.append([path.read_bytes() for path in sorted(folder.rglob("*.jsonl"))])
        assert [r.as_row() for kind in rows for r in kind] == expected
        assert rows[1][0].digest == base.digest
        assert rows[1][0].at == Location(f"{name}/pairs/part-0.jsonl", 1)
    assert written[0] == written[1]


def test_release_without_pairs(tmp_path: Path) -> None:
    put(tmp_path / "r" / "MANIFEST.json", "{}")
    assert [str(p) for p in read(tmp_path / "r")] == ["r: is a release without pairs/*.jsonl"]
    assert [str(p) for p in read_votes(tmp_path / "r")] == ["r: holds no file of votes"]


def test_digest_covers_the_content_only() -> None:
    at = Location("x", 1)
    base = PairRecord("1", "p", "q", "", "a", "b", "", "", (), {}, at)
    same = PairRecord("2", "p", "q", "", "a", "b", "", "", (Prior(None, "A", ""),), {"m": 1}, at)
    assert len(base.digest) == 32
    assert base.digest == same.digest
    fields = (
        "persona_id",
        "query",
        "query_kind",
        "response_a",
        "response_b",
        "source_a",
        "source_b",
    )
    values = {name: getattr(base, name) for name in base.__slots__}
    others = [PairRecord(**{**values, name: "general"}) for name in fields]
    assert len({base.digest, *(other.digest for other in others)}) == len(fields) + 1


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
).filter(lambda text: not is_blank(text))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def rows_of_pairs(draw: st.DrawFn) -> dict[str, str]:
    row = {name: draw(texts) for name in ("pair_id", "persona_id", "query", "response_a", "note")}
    row["response_b"] = draw(texts.filter(lambda text: text.split() != row["response_a"].split()))
    return row | {"query_kind": draw(st.sampled_from(["specific", "general", ""]))}


@given(st.lists(rows_of_pairs(), min_size=1, max_size=3), json_values)
@settings(max_examples=30, deadline=None)
def test_any_text_survives_every_format(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], extra: Any
) -> None:
    folder = tmp_path_factory.mktemp("formats")
    with JsonlWriter(folder / "p.jsonl") as writer:
        for row in rows:
            writer.write({**row, "extra": extra})
    schema = pa.schema([(name, pa.string()) for name in rows[0]])
    with ParquetWriter(folder / "p.parquet", schema) as parquet_writer:
        for row in rows:
            parquet_writer.write(row)
    text = io.StringIO(newline="")
    plain = csv.writer(text)
    plain.writerows([list(rows[0]), *(row.values() for row in rows)])
    put(folder / "p.csv", text.getvalue())
    put(folder / "p16.csv", text.getvalue().encode("utf-16"))
    for name in ("p.jsonl", "p.parquet", "p.csv", "p16.csv"):
        records = pairs(read(folder / name))
        assert [
            {**{column: getattr(r, column) for column in rows[0] if column != "note"}, **r.meta}
            for r in records
        ] == [{**row, "extra": extra} if name == "p.jsonl" else row for row in rows]


def test_a_large_file_does_not_fill_memory(tmp_path: Path) -> None:
    """60 MB of rows, of which at no time more than a few are held."""
    persona = {"Name": "Anna", "Preference": {"Travel": "坐火车" * 300}}
    block = json_lines(
        *(pair(query="q" * 3000, response_a="a" * 5000, persona=persona) for _ in range(50))
    )
    path = tmp_path / "p.jsonl"
    with path.open("wb") as handle:
        while handle.tell() < 60_000_000:
            handle.write(block)
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_pairs([path], seed=""))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == path.stat().st_size // len(block) * 50 + 1
    assert peak < 8_000_000
