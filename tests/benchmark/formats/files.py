"""Small files for the tests of this package."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark.formats import PairRecord, PersonaRecord, Problem, VoteRecord

PAIR: dict[str, Any] = {
    "pair_id": "p1",
    "persona_id": "anna",
    "query": "What shall I cook?",
    "query_kind": "general",
    "response_a": "Soup.",
    "response_b": "烤鱼。",
    "source_a": "full",
    "source_b": "none",
}
VOTE: dict[str, Any] = {
    "pair_id": "p1",
    "rater": "r1",
    "criterion": "helpfulness",
    "choice": "A",
}


def pair(**changes: Any) -> dict[str, Any]:
    """A good row with changes; a value of `...` takes the column out."""
    return {name: value for name, value in {**PAIR, **changes}.items() if value is not ...}


def vote(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**VOTE, **changes}.items() if value is not ...}


def json_lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def csv_text(*rows: dict[str, Any], delimiter: str = ",", ending: str = "\n") -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator=ending)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def put(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


Item = PairRecord | PersonaRecord | VoteRecord | Problem


def problems(items: list[Any]) -> list[Problem]:
    return [item for item in items if isinstance(item, Problem)]


def pairs(items: list[Any]) -> list[PairRecord]:
    """The pairs, when nothing was wrong."""
    assert problems(items) == []
    return [item for item in items if isinstance(item, PairRecord)]


def personas(items: list[Any]) -> list[PersonaRecord]:
    assert problems(items) == []
    return [item for item in items if isinstance(item, PersonaRecord)]


def parquet(rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), sink)
    return sink.getvalue()


# line, field and words of the reason of each problem, in order
Expected = list[tuple[int | None, str | None, str]]


def assert_problems(found: list[Problem], expected: Expected, *, file: str) -> None:
    assert [(p.file, p.line, p.field) for p in found] == [
        (file, line, f) for line, f, _ in expected
    ]
    for problem, (_, _, words) in zip(found, expected, strict=True):
        assert words in problem.reason
        str(problem).encode()  # can be printed and stored, whatever the file held
        assert "\0" not in str(problem)
