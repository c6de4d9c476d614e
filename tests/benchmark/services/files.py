"""Files to import, in every format that is read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.factories import write_jsonl

Rows = list[dict[str, Any]]


def write_csv(path: Path, rows: Rows, *, encoding: str = "utf-8") -> Path:
    """Objects become their JSON, as in a table made by hand."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return path


def write_parquet(path: Path, rows: Rows) -> Path:
    pq.write_table(
        pa.Table.from_pylist([{name: _cell(value) for name, value in row.items()} for row in rows]),
        path,
    )
    return path


def write_rows(path: Path, rows: Rows) -> Path:
    """In the format that the extension names."""
    if path.suffix == ".csv":
        return write_csv(path, rows)
    return write_parquet(path, rows) if path.suffix == ".parquet" else write_jsonl(path, rows)


def published(number: int, **changes: Any) -> dict[str, Any]:
    """A row of the published PersonaFeedback set."""
    return {
        "user_id": f"Ada_{number % 2}",
        "question": f"Question {number}?",
        "chosen": f"The better answer to {number}.",
        "reject": f"Another answer to {number}.",
    } | changes


def swapped(row: dict[str, Any]) -> dict[str, Any]:
    """The same row with the opposite label."""
    return row | {"chosen": row["reject"], "reject": row["chosen"]}


def write_published(folder: Path, **tiers: Iterable[dict[str, Any]]) -> Path:
    """A PersonaFeedback folder: general/<tier>.jsonl and one JSON file a persona."""
    (folder / "general").mkdir(parents=True)
    people = set()
    for tier, rows in tiers.items():
        rows = list(rows)
        write_jsonl(folder / "general" / f"{tier}.jsonl", rows)
        people |= {row["user_id"] for row in rows}
    (folder / "persona_all").mkdir()
    for user_id in people:
        profile = {"Name": user_id, "Demographics": {"Age": 36}, "Bias": "none"}
        (folder / "persona_all" / f"{user_id}.json").write_text(json.dumps(profile), "utf-8")
    return folder


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
