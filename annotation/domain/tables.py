"""Tables of figures as data: the same rows for a page, a CSV file and a JSON file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

# A string, or one that is translated only when it is written out.
Text = object

Kind = Literal[
    "text", "int", "real", "share", "value", "value_share", "seconds", "moment", "flag", "tags"
]

# By the key of a column. A cell may be missing or None. "<key>_href" links a cell, "_kind" marks
# the row ("ok", "warn", "bad"), "_header" is the key of the row's header, else the first column.
Row = Mapping[str, object]

NUMBERS: frozenset[str] = frozenset({"int", "real", "share", "value", "value_share", "seconds"})
VALUES: frozenset[str] = frozenset({"value", "value_share"})

# What spreadsheets take for a formula (OWASP, "CSV injection").
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; what its cells hold depends on ``kind``.

    text: words. int, real: numbers. share: a part of one. seconds: a time span. moment: an aware
    datetime. flag: a bool. tags: Tags or words. value, value_share: the JSON form of
    ``benchmark.stats.values.Value``, the latter a part of one.
    """

    key: str
    title: Text
    kind: Kind = "text"
    help: Text = ""
    sortable: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """One word of a cell of tags; ``kind`` is "ok", "warn", "bad" or nothing."""

    words: Text
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``name`` is the id on the page and the name of the file; ``note`` has n and method.

    ``empty`` says why there are no rows.
    """

    name: str
    title: Text
    columns: tuple[Column, ...]
    rows: Sequence[Row] = field(default_factory=list)
    note: Text = ""
    empty: Text = ""

    def header_of(self, row: Row) -> str:
        """The key of the cell that names the row."""
        return str(row.get("_header") or self.columns[0].key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """Addresses of the pages before and after, empty where there is none; ``words`` say where."""

    previous: str = ""
    next: str = ""
    words: Text = ""


def csv_header(table: Table) -> list[str]:
    """Keys; a value takes five columns: itself, its error, both ends of its interval, a reason."""
    names: list[str] = []
    for column in table.columns:
        names.append(column.key)
        if column.kind in VALUES:
            names += [f"{column.key}_{part}" for part in ("se", "low", "high", "reason")]
    return names


def csv_rows(table: Table) -> Iterator[list[str]]:
    """Cells as a spreadsheet reads them safely; what is not known is empty."""
    for row in table.rows:
        cells: list[str] = []
        for column in table.columns:
            cell = row.get(column.key)
            if column.kind in VALUES:
                cells += _value_cells(cell)
            else:
                cells.append(_csv_cell(cell))
        yield cells


def as_json(table: Table) -> dict[str, object]:
    """The table as JSON values; numbers that are not finite become null."""
    return {
        "name": table.name,
        "title": str(table.title),
        "note": str(table.note),
        "columns": [
            {"key": column.key, "kind": column.kind, "title": str(column.title)}
            for column in table.columns
        ],
        "rows": [
            {column.key: _json_cell(row.get(column.key)) for column in table.columns}
            for row in table.rows
        ],
    }


def _value_cells(cell: object) -> list[str]:
    value = cell if isinstance(cell, Mapping) else {}
    low, high = value.get("ci") or (None, None)
    reason = value.get("reason") or value.get("se_reason")
    return [_csv_cell(part) for part in (value.get("value"), value.get("se"), low, high, reason)]


def _csv_cell(cell: object) -> str:
    match _json_cell(cell):
        case None:
            return ""
        case bool(flag):
            return "true" if flag else "false"
        case int() | float() as number:
            return repr(number)
        case list(parts):
            return _harmless("; ".join(_words(part) for part in parts))
        case words:
            return _harmless(_words(words))


def _words(cell: object) -> str:
    return "" if cell is None else str(cell)


def _harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _json_cell(cell: object) -> object:
    match cell:
        case float():
            return cell if math.isfinite(cell) else None
        case None | bool() | int():
            return cell
        case datetime():
            return cell.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case Tag():
            return str(cell.words)
        case Mapping():
            return {str(key): _json_cell(part) for key, part in cell.items()}
        case list() | tuple():
            return [_json_cell(part) for part in cell]
        case words:
            return str(words)
