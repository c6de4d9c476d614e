"""The files of a release: tables as Parquet and as JSON lines, and texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmark.formats import JsonlWriter, ParquetWriter
from benchmark.formats.writers import atomic_file
from benchmark.selectors.release_rows import Row

_TEXT, _COUNT, _REAL, _BOOL = pa.string(), pa.int32(), pa.float64(), pa.bool_()

PAIRS = pa.schema(
    [
        *((name, _TEXT) for name in ("pair_id", "persona_id", "query", "query_kind")),
        *((name, _TEXT) for name in ("response_a", "response_b", "source_a", "source_b")),
        ("priors", pa.list_(pa.struct({"tier": _TEXT, "label": _TEXT, "origin": _TEXT}))),
        ("meta", _TEXT),
    ]
)
PERSONAS = pa.schema([("persona_id", _TEXT), ("persona", _TEXT)])
VOTES = pa.schema(
    [
        *((name, _TEXT) for name in ("pair_id", "rater", "criterion", "choice", "shown_left")),
        *(("seconds", _REAL), ("at", _TEXT), ("reason", _TEXT), ("comment", _TEXT)),
        ("simulated", _BOOL),
    ]
)
TALLIES = pa.schema(
    [
        *(("pair_id", _TEXT), ("criterion", _TEXT)),
        *((name, _COUNT) for name in ("a", "b", "tie", "skip")),
        *(("status", _TEXT), ("winner", _TEXT), ("margin", _COUNT)),
        *(("verdict", _TEXT), ("chosen", _TEXT), ("tier", _TEXT)),
        *(("provisional", _BOOL), ("k", _REAL)),
    ]
)


def case_schema(criteria: list[str]) -> pa.Schema:
    columns = [
        *((name, _TEXT) for name in ("pair_id", "persona_id", "persona", "query", "query_kind")),
        *((name, _TEXT) for name in ("chosen", "rejected", "chosen_side")),
        *((name, _TEXT) for name in ("chosen_source", "rejected_source", "tier")),
        ("provisional", _BOOL),
    ]
    for key in criteria:
        columns += [(f"{key}_{what}", _COUNT) for what in ("chosen", "rejected", "tie", "skip")]
        columns.append((f"{key}_k", _REAL))
    return pa.schema(columns)


class Table:
    """One table, written as Parquet and as JSON lines at once.

    In Parquet an object (a profile, ``meta``) is its JSON text, since rows differ in their keys.
    """

    def __init__(self, stack: ExitStack, stem: Path, schema: pa.Schema, *, parquet: str) -> None:
        folder = stem.parent
        folder.mkdir(parents=True, exist_ok=True)
        self._jsonl = stack.enter_context(JsonlWriter(stem.with_suffix(".jsonl")))
        self._parquet = stack.enter_context(ParquetWriter(folder / parquet, schema))
        self._text_columns = [
            field.name for field in schema if field.type == _TEXT and field.name in _OBJECTS
        ]

    def write(self, row: Row) -> None:
        self._jsonl.write(row)
        if self._text_columns:
            row = row | {name: _as_text(row[name]) for name in self._text_columns}
        self._parquet.write(row)

    @property
    def rows(self) -> int:
        return self._jsonl.rows


_OBJECTS = {"persona", "meta"}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_table(folder: Path, name: str, schema: pa.Schema, rows: Iterable[Row]) -> int:
    """``name/name.jsonl`` and ``name/name.parquet``; the number of rows."""
    with ExitStack() as stack:
        table = Table(stack, folder / name / name, schema, parquet=f"{name}.parquet")
        for row in rows:
            table.write(row)
    return table.rows


def write_json(path: Path, value: object) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(text.encode())
