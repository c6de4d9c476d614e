"""Rows of Parquet files, read in batches."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from benchmark.formats.checks import Flaw, json_flaws
from benchmark.formats.lines import UnreadableFileError
from benchmark.formats.rows import BrokenTableError, Layout, Row

_BATCH_ROWS = 1_000


def parquet_columns(path: Path) -> list[str]:
    with path.open("rb") as handle:
        return list(_open(handle)[1].names)


def read_parquet(path: Path, layout: Layout) -> Iterator[Row]:
    """Rows numbered from 1; columns that the layout neither knows nor keeps are not read at all.

    Raises BrokenTableError for a column of the wrong type and for damage that shows up on the way.
    """
    with path.open("rb") as handle:
        file, schema = _open(handle)
        fields = [f for f in schema if layout.keeps_unknown or f.name in layout.known]
        _check_types(fields, layout)
        number = 0
        try:
            for batch in file.iter_batches(_BATCH_ROWS, columns=[f.name for f in fields]):
                for values, flaws in _batch_rows(batch):
                    number += 1
                    yield Row(number, values, flaws, as_text=True)
        except (pa.ArrowException, OSError) as error:
            raise BrokenTableError(
                number + 1, Flaw(None, f"the Parquet file is damaged: {_first_line(error)}")
            ) from error


def _open(handle: Any) -> tuple[Any, Any]:
    """The file and its Arrow schema."""
    try:
        # Without pre_buffer and with a buffer, a row group is read in pieces and not as a whole.
        file = pq.ParquetFile(handle, pre_buffer=False, buffer_size=1024 * 1024)
        return file, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: names beyond UTF-8
        raise UnreadableFileError(f"not a readable Parquet file: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _check_types(fields: list[Any], layout: Layout) -> None:
    names = [field.name for field in fields]
    for field in fields:
        if names.count(field.name) > 1:
            raise BrokenTableError(None, Flaw(field.name, "stands twice among the columns"))
        if field.name in layout.text and not _is_text(field.type):
            raise BrokenTableError(
                None, Flaw(field.name, f"must be a text column, not {field.type}")
            )
        if not _has_json_form(field.type, outermost=True):
            reason = f"is a column of type {field.type}, which JSON cannot hold"
            raise BrokenTableError(None, Flaw(field.name, reason))


def _is_text(kind: Any) -> bool:
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return any(
        test(kind)
        for test in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    )


def _has_json_form(kind: Any, *, outermost: bool) -> bool:
    """Whether `_values` can turn a type into JSON; moments and decimals only as a whole column."""
    if (
        _is_text(kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
    ):
        return True
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _has_json_form(kind.value_type, outermost=False)
    if types.is_struct(kind):
        return all(_has_json_form(field.type, outermost=False) for field in kind)
    return outermost and (
        types.is_timestamp(kind)
        or types.is_date(kind)
        or types.is_time(kind)
        or types.is_decimal(kind)
    )


def _batch_rows(batch: Any) -> Iterator[tuple[dict[str, Any], list[Flaw]]]:
    names = batch.schema.names
    flaws: dict[int, list[Flaw]] = {}
    columns = [
        _values(name, column, flaws) for name, column in zip(names, batch.columns, strict=True)
    ]
    if not columns:
        yield from (({}, []) for _ in range(batch.num_rows))
        return
    for index, cells in enumerate(zip(*columns, strict=True)):
        yield dict(zip(names, cells, strict=True)), flaws.get(index, [])


def _values(name: str, column: Any, flaws: dict[int, list[Flaw]]) -> list[Any]:
    """A column as Python values that JSON has; what is wrong with them goes to `flaws` by index."""
    if types.is_timestamp(column.type):
        # Python has no nanoseconds, and other zones depend on the machine's time zone data.
        column = column.cast(pa.timestamp("us", "UTC" if column.type.tz else None), safe=False)
    values: list[Any]
    try:
        values = column.to_pylist()
    except (ValueError, OverflowError):
        values = []
        for index, cell in enumerate(column):
            try:
                values.append(cell.as_py())
            except (ValueError, OverflowError) as error:
                kind = (
                    "text that is not UTF-8" if isinstance(error, UnicodeError) else "an odd value"
                )
                values.append(None)
                flaws.setdefault(index, []).append(Flaw(name, f"holds {kind}: {error}"))
    if convert := _converter(column.type):
        values = [None if value is None else convert(value) for value in values]
    for index, value in enumerate(values):
        if found := json_flaws(name, value):
            flaws.setdefault(index, []).extend(found)
    return values


def _iso(value: datetime | date | time) -> str:
    return value.isoformat()


def _plain_number(value: Decimal) -> str:
    return str(value)


def _converter(kind: Any) -> Callable[[Any], str] | None:
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return _iso
    return _plain_number if types.is_decimal(kind) else None
