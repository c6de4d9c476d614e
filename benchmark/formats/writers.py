"""Streaming writers whose output depends on the data alone, and which never leave half a file.

Each writes under a temporary name in the target's folder, syncs it and renames it into place; if
anything raises before that, the temporary file is removed and an older target stays as it was.
"""

import csv
import hashlib
import io
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 1_000
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format can hold
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A new binary file that becomes `path` when the block ends without an exception."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself
    finally:
        os.close(folder)


class _Writer:
    """A context manager around `atomic_file`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self._file = atomic_file(path)

    def __enter__(self) -> Self:
        self._handle = self._file.__enter__()
        try:
            self._open()
        except BaseException as failure:
            self._file.__exit__(type(failure), failure, failure.__traceback__)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._close(failed=error is not None)
        except BaseException as failure:
            self._file.__exit__(type(failure), failure, failure.__traceback__)
            raise
        self._file.__exit__(kind, error, traceback)

    def _open(self) -> None:
        """Prepares to write to `self._handle`."""

    def _close(self, *, failed: bool) -> None:
        """Writes what is still buffered, unless the block has failed."""


class JsonlWriter(_Writer):
    """JSON Lines in UTF-8: keys in the order given, LF after each row, no needless escapes.

    `write` raises ValueError for NaN, infinities and lone surrogates.
    """

    def write(self, row: Mapping[str, Any]) -> None:
        text = _JSON.encode(row if type(row) is dict else dict(row))
        self._handle.write(f"{text}\n".encode())
        self.rows += 1


class CsvWriter(_Writer):
    """CSV in UTF-8 under a header, CR LF after each row (RFC 4180), quotes where needed.

    A text that a spreadsheet would run as a formula gets a leading apostrophe, so such texts are
    not the same when read again; numbers stay as they are. None is an empty cell. `bom` adds the
    mark by which spreadsheets recognise UTF-8. Rows must have exactly the columns given.
    """

    def __init__(self, path: Path, columns: Sequence[str], *, bom: bool = False) -> None:
        super().__init__(path)
        self._columns = list(columns)
        self._bom = bom

    def _open(self) -> None:
        encoding = "utf-8-sig" if self._bom else "utf-8"
        self._text = io.TextIOWrapper(self._handle, encoding, newline="")
        # Not LF alone: csv quotes a carriage return only where the line terminator has one.
        self._csv = csv.writer(self._text, lineterminator="\r\n")
        self._csv.writerow(neutral_cell(name) for name in self._columns)

    def write(self, row: Mapping[str, Any]) -> None:
        if len(row) != len(self._columns):
            raise ValueError(f"a row has the columns {list(row)}, the file has {self._columns}")
        self._csv.writerow(neutral_cell(row[name]) for name in self._columns)
        self.rows += 1

    def _close(self, *, failed: bool) -> None:
        self._text.detach()  # flushes, and leaves the file open for the sync


def neutral_cell(value: Any) -> Any:
    """`value`, with an apostrophe before a text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


class ParquetWriter(_Writer):
    """Parquet with zstd and row groups of 1,000 rows; holds one row group in memory.

    Rows must have the schema's fields. The bytes depend on rows, schema and the version of pyarrow;
    metadata that pandas left in the schema is dropped, because it names versions and index ranges.
    """

    def __init__(self, path: Path, schema: "pa.Schema") -> None:
        super().__init__(path)
        metadata = {k: v for k, v in (schema.metadata or {}).items() if k != b"pandas"}
        self._schema = schema.with_metadata(metadata or None)
        self._names = frozenset(schema.names)
        self._rows: list[Mapping[str, Any]] = []

    def _open(self) -> None:
        import pyarrow.parquet as pq

        self._parquet = pq.ParquetWriter(self._handle, self._schema, compression="zstd")

    def write(self, row: Mapping[str, Any]) -> None:
        if row.keys() != self._names:
            raise ValueError(
                f"a row has the fields {list(row)}, the schema has {self._schema.names}"
            )
        self._rows.append(row)
        self.rows += 1
        if len(self._rows) == ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        batch = pa.RecordBatch.from_pylist(self._rows, schema=self._schema)
        self._parquet.write_batch(batch, row_group_size=ROW_GROUP)
        self._rows = []

    def _close(self, *, failed: bool) -> None:
        try:
            if self._rows and not failed:
                self._flush()
        finally:
            self._parquet.close()


def zip_folder(folder: Path, target: Path, *, prefix: str = "") -> None:
    """Writes all files of `folder` to the archive `target`, the same bytes for the same files.

    Names are sorted and begin with `prefix` (such as "release-1.0/"); dates and permissions are
    fixed. A target inside the folder is left out of itself. Raises ValueError for a symbolic link,
    which could carry files from elsewhere into a published archive.
    """
    files = []
    for path in folder.rglob("*"):
        if path.is_symlink():
            raise ValueError(f"{path} is a symbolic link")
        if path.is_file() and path != target:
            files.append((path.relative_to(folder).as_posix(), path))
    with atomic_file(target) as handle, zipfile.ZipFile(handle, "w") as archive:
        for name, path in sorted(files):
            info = zipfile.ZipInfo(prefix + name, _ZIP_DATE)
            # Parquet is compressed already; on text more effort costs seconds for a few per cent.
            is_packed = name.endswith(".parquet")
            info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            info._compresslevel = 1  # type: ignore[attr-defined]  # no public name before 3.13
            info.create_system = 3  # Unix, on whatever system this runs
            info.external_attr = 0o100644 << 16
            info.file_size = path.stat().st_size  # decides whether the entry needs ZIP64
            with path.open("rb") as source, archive.open(info, "w") as entry:
                shutil.copyfileobj(source, entry, 1024 * 1024)


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
