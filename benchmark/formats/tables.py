"""Rows of JSON Lines, CSV and Parquet files as dictionaries, one at a time."""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

from benchmark.formats.checks import Flaw, character_flaw, kind_of, printable
from benchmark.formats.jsontext import BadJsonError, parse_json
from benchmark.formats.lines import (
    MAX_LINE,
    Encoding,
    UnreadableFileError,
    detect_encoding,
    read_lines,
)
from benchmark.formats.rows import BrokenTableError, Layout, Row

JSON_LINES = (".jsonl", ".ndjson", ".json")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = ".parquet"
EXTENSIONS = (*JSON_LINES, *DELIMITERS, PARQUET)

MAX_CELL = 8 * 1024 * 1024  # characters; beyond it a quote was most likely left open
_SNIFFED_ROWS = 100


def read_table(path: Path, layout: Layout) -> Iterator[Row]:
    """Rows of a file, by its extension.

    Raises OSError, UnreadableFileError and BrokenTableError.
    """
    suffix = path.suffix.lower()
    if suffix in JSON_LINES:
        return read_json_lines(path)
    if suffix in DELIMITERS:
        return read_csv(path, DELIMITERS[suffix])
    if suffix == PARQUET:
        from benchmark.formats.parquet import read_parquet  # pyarrow costs 0.2 s and 60 MB to load

        return read_parquet(path, layout)
    raise _unknown_extension(path)


def column_names(path: Path) -> list[str]:
    """The columns of a table; in JSON Lines those of its first rows together.

    Empty where not one row can be read. Raises as `read_table` does.
    """
    suffix = path.suffix.lower()
    if suffix in JSON_LINES:
        rows = itertools.islice(read_json_lines(path), _SNIFFED_ROWS)
        return list(dict.fromkeys(name for row in rows for name in row.values))
    if suffix in DELIMITERS:
        for _, cells, flaws in _csv_rows(path, DELIMITERS[suffix]):
            return [] if flaws else [cell.strip() for cell in cells]
        return []
    if suffix == PARQUET:
        from benchmark.formats.parquet import parquet_columns

        return parquet_columns(path)
    raise _unknown_extension(path)


def _unknown_extension(path: Path) -> UnreadableFileError:
    return UnreadableFileError(
        f"has the extension {printable(path.suffix) or '(none)'}; "
        f"files that can be read end in {', '.join(EXTENSIONS)}"
    )


def read_json_lines(path: Path) -> Iterator[Row]:
    """One JSON object a line."""
    encoding = detect_encoding(path)
    started = False
    for number, text, flaw in read_lines(path, encoding):
        if flaw is not None:
            yield Row(number, {}, (flaw,))
            continue
        if text.isspace():
            continue
        if not started:
            _refuse_other_json(number, text)
            started = True
        try:
            value, flaws = parse_json(text, suspicious=encoding.name != "utf-8")
        except BadJsonError as error:
            yield Row(number, {}, (Flaw(error.field, error.reason),))
            continue
        if type(value) is not dict:
            value, flaws = {}, (Flaw(None, f"must be a JSON object, not {kind_of(value)}"),)
        yield Row(number, value, flaws)


def _refuse_other_json(number: int, text: str) -> None:
    start = text.strip()
    if start.startswith("["):
        found = "a JSON array"
    elif start == "{":
        found = "an object that goes on over several lines"
    else:
        return
    raise BrokenTableError(
        number, Flaw(None, f"expected JSON Lines, which is one object a line, but found {found}")
    )


def read_csv(path: Path, delimiter: str) -> Iterator[Row]:
    """Rows under a header; every cell is text. Lines in which every cell is empty are skipped."""
    header: list[str] | None = None
    for line, cells, flaws in _csv_rows(path, delimiter):
        if header is None:
            header = [cell.strip() for cell in cells]
            if bad := [*flaws, *_header_flaws(header)]:
                raise BrokenTableError(line, bad[0])
        elif flaws:
            yield Row(line, {}, flaws)
        elif not any(cell and not cell.isspace() for cell in cells):
            continue
        elif len(cells) != len(header):
            reason = f"has {len(cells)} cells where the header has {len(header)}"
            yield Row(line, {}, (Flaw(None, reason),))
        else:
            values = dict(zip(header, cells, strict=True))
            yield Row(line, values, tuple(_cell_flaws(values)), as_text=True)


def _header_flaws(header: list[str]) -> Iterator[Flaw]:
    for number, name in enumerate(header, 1):
        if not name:
            yield Flaw(None, f"column {number} has no name in the header")
        elif reason := character_flaw(name):
            yield Flaw(printable(name), f"has a name that {reason}")
        elif name in header[: number - 1]:
            yield Flaw(name, "stands twice in the header")


def _cell_flaws(values: dict[str, str]) -> Iterator[Flaw]:
    # isascii is a flag of the string, and only UTF-16 files can bring surrogates this far.
    for name, cell in values.items():
        if ("\0" in cell or not cell.isascii()) and (reason := character_flaw(cell)):
            yield Flaw(name, reason)


class _Feed:
    """Lines for csv.reader; counts them and keeps what is wrong with those of the current row."""

    def __init__(self, path: Path, encoding: Encoding) -> None:
        self.lines = read_lines(path, encoding)
        self.number = 0
        self.begin_row()

    def begin_row(self) -> None:
        self.start = self.number + 1
        self.flaws: list[Flaw] = []
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, text, flaw = next(self.lines)
        self.size += len(text)
        if self.size > MAX_LINE:
            raise csv.Error("the row is too long")
        if flaw is not None:
            place = "" if self.number == self.start else f" of line {self.number}"
            self.flaws.append(Flaw(flaw.field, flaw.reason + place))
        return text or "\n"


def _csv_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str], list[Flaw]]]:
    """First physical line, cells and flaws of each row that is not blank."""
    csv.field_size_limit(MAX_CELL)
    feed = _Feed(path, detect_encoding(path))
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.begin_row()
        cells: list[str] = []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if feed.size > MAX_CELL:
                # The reader stands somewhere inside a cell: what follows would be noise.
                reason = f"a cell is longer than {MAX_CELL:,} characters; is a quote left open?"
                raise BrokenTableError(feed.start, Flaw(None, reason)) from None
            feed.flaws.append(Flaw(None, _csv_reason(str(error))))
        if cells or feed.flaws:
            yield feed.start, cells, feed.flaws


def _csv_reason(message: str) -> str:
    if message == "unexpected end of data":
        return "not valid CSV: a quote is opened and never closed"
    if message.startswith("new-line character"):
        return "not valid CSV: a carriage return stands alone; lines end in LF or CR LF"
    return f"not valid CSV: {message}; quotes inside a quoted cell are written twice"
