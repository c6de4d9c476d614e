"""The files of a release: tables as Parquet and as JSON lines, and texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
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
        *(("seconds", _REAL), ("active_seconds", _REAL), ("at", _TEXT)),
        *(("reason", _TEXT), ("comment", _TEXT), ("confidence", _COUNT)),
        *(("reasons", pa.list_(_TEXT)), ("simulated", _BOOL), ("counted", _BOOL)),
    ]
)
DIAGNOSIS = pa.schema(
    [
        *(("pair_id", _TEXT), ("used", _BOOL), ("why", _TEXT), ("status", _TEXT)),
        *(("tier", _TEXT), ("chosen", _TEXT), ("provisional", _BOOL)),
        *(("judgements", _COUNT), ("counted", _COUNT)),
        *((name, _TEXT) for name in ("adjudicated", "adjudicated_because")),
        *((name, _TEXT) for name in ("adjudicated_by", "adjudicated_at")),
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


_OBJECTS = {"persona", "meta"}


def write_table(stem: Path, schema: pa.Schema, rows: Iterable[Row]) -> int:
    """``stem.jsonl`` and ``stem.parquet``, in a folder that may be new; the number of rows.

    In Parquet an object (a profile, ``meta``) is its JSON text, since rows differ in their keys.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    objects = [name for name in schema.names if name in _OBJECTS]
    with (
        JsonlWriter(stem.with_name(f"{stem.name}.jsonl")) as jsonl,
        ParquetWriter(stem.with_name(f"{stem.name}.parquet"), schema) as parquet,
    ):
        for row in rows:
            jsonl.write(row)
            parquet.write(row | {name: _as_text(row[name]) for name in objects} if objects else row)
    return jsonl.rows


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_json(path: Path, value: object) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(text.encode())
