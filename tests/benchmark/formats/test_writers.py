"""Writers: exact bytes, the same each time, and never half a file."""

import csv
import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.formats import (
    CsvWriter,
    JsonlWriter,
    ParquetWriter,
    canonical_digest,
    canonical_hexdigest,
    canonical_json,
    sha256_file,
    zip_folder,
)

from .files import put

SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int64()), ("tags", pa.list_(pa.string()))])


def row(i: int) -> dict[str, Any]:
    return {"id": f"鱼{i}", "n": i, "tags": ["a"] * (i % 3)}


def test_jsonl_bytes(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "x.jsonl") as writer:
        writer.write({"b": "鱼\u2028\n", "a": None})
        writer.write({})
        assert writer.rows == 2
    assert (tmp_path / "x.jsonl").read_bytes() == '{"b": "鱼\u2028\\n", "a": null}\n{}\n'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_jsonl_refuses_what_is_not_json(tmp_path: Path, value: Any) -> None:
    with (
        pytest.raises(ValueError, match=r"JSON|surrogates"),
        JsonlWriter(tmp_path / "x.jsonl") as writer,
    ):
        writer.write({"a": value})
    assert list(tmp_path.iterdir()) == []


WRITERS: list[Callable[[Path], Any]] = [
    JsonlWriter,
    lambda path: CsvWriter(path, ["id", "n", "tags"]),
    lambda path: ParquetWriter(path, SCHEMA),
]


def write_and_fail(writer: Any) -> None:
    writer.write(row(1))
    raise KeyError("stop")


@pytest.mark.parametrize("make", WRITERS, ids=["jsonl", "csv", "parquet"])
def test_a_failure_leaves_no_file_and_spares_the_old_one(
    tmp_path: Path, make: Callable[[Path], Any]
) -> None:
    path = tmp_path / "file"
    with pytest.raises(KeyError, match="stop"), make(path) as writer:
        write_and_fail(writer)
    assert list(tmp_path.iterdir()) == []
    put(path, "old")
    with pytest.raises(KeyError, match="stop"), make(path) as writer:
        write_and_fail(writer)
    assert path.read_text() == "old"
    with make(path) as writer:
        writer.write(row(1))
        assert path.read_text() == "old"
        assert len(list(tmp_path.iterdir())) == 2
    assert path.read_bytes() != b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("make", WRITERS, ids=["jsonl", "csv", "parquet"])
def test_bytes_depend_on_the_rows_alone(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    digests = set()
    for name in ("one", "another"):
        with make(tmp_path / name) as writer:
            for i in range(12_000):
                writer.write(
                    row(i) if writer.__class__ is not CsvWriter else row(i) | {"tags": None}
                )
        digests.add(sha256_file(tmp_path / name))
    assert len(digests) == 1


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        with JsonlWriter(tmp_path / "x.jsonl"):
            pass
    finally:
        os.umask(old)
    assert (tmp_path / "x.jsonl").stat().st_mode & 0o777 == 0o644


def test_parquet_layout(tmp_path: Path) -> None:
    schema = SCHEMA.with_metadata({"pandas": "{}", "huggingface": "{}"})
    with ParquetWriter(tmp_path / "x.parquet", schema) as writer:
        for i in range(12_000):
            writer.write(row(i))
    file = pq.ParquetFile(tmp_path / "x.parquet")
    groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == [1000] * 12
    assert {group.column(0).compression for group in groups} == {"ZSTD"}
    assert file.schema_arrow.metadata == {b"huggingface": b"{}"}
    assert file.read().to_pylist() == [row(i) for i in range(12_000)]


def test_parquet_without_rows(tmp_path: Path) -> None:
    with ParquetWriter(tmp_path / "x.parquet", SCHEMA):
        pass
    assert pq.read_table(tmp_path / "x.parquet").schema == SCHEMA


@pytest.mark.parametrize("bad", [{"id": "x"}, row(1) | {"more": 1}])
def test_rows_must_fit(tmp_path: Path, bad: dict[str, Any]) -> None:
    for make in WRITERS[1:]:
        with pytest.raises(ValueError, match="a row has the"), make(tmp_path / "x") as writer:
            writer.write(bad)
    with pytest.raises(pa.ArrowInvalid), ParquetWriter(tmp_path / "x", SCHEMA) as writer:
        writer.write(row(1) | {"n": "text"})
    assert list(tmp_path.iterdir()) == []


def test_csv_cells(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@a", "\tx", "\rx", "a=b", "", "'x", 'say "hi", twice\n', "鱼"]
    with CsvWriter(tmp_path / "x.csv", ["@text", "n", "none"], bom=True) as writer:
        for text in texts:
            writer.write({"@text": text, "n": -1.5, "none": None})
    data = (tmp_path / "x.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf'@text,n,none\r\n")
    with (tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.reader(handle))[1:]
    assert [cells[0] for cells in rows] == [f"'{t}" for t in texts[:6]] + texts[6:]
    assert {tuple(cells[1:]) for cells in rows} == {("-1.5", "")}


def test_zip_is_the_same_each_time(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "another"]
    names = ["b.txt", "a/z.txt", "a/鱼.txt", "a.txt"]
    for folder, order in zip(folders, (names, names[::-1]), strict=True):
        for name in order:
            put(folder / name, name * 1000)
            (folder / name).chmod(0o600 if order is names else 0o755)
    os.utime(folders[0] / "b.txt", (1, 1))
    zip_folder(folders[0], tmp_path / "one.zip", prefix="release/")
    zip_folder(folders[1], folders[1] / "self.zip", prefix="release/")
    zip_folder(folders[1], folders[1] / "self.zip", prefix="release/")
    assert sha256_file(tmp_path / "one.zip") == sha256_file(folders[1] / "self.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"release/{name}" for name in sorted(names)]
        assert archive.read("release/a/鱼.txt").decode() == "a/鱼.txt" * 1000
        assert {(i.date_time, i.external_attr >> 16) for i in archive.infolist()} == {
            ((1980, 1, 1, 0, 0, 0), 0o100644)
        }


def test_zip_refuses_links(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "link").symlink_to("/etc/hostname")
    with pytest.raises(ValueError, match="symbolic link"):
        zip_folder(tmp_path / "f", tmp_path / "f.zip")
    assert not (tmp_path / "f.zip").exists()


def test_failing_to_begin_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no")

    monkeypatch.setattr("benchmark.formats.writers.csv.writer", refuse)
    with pytest.raises(OSError, match="no"), CsvWriter(tmp_path / "x.csv", ["a"]):
        pass
    assert list(tmp_path.iterdir()) == []


def test_sha256_of_a_file(tmp_path: Path) -> None:
    path = put(tmp_path / "x", b"abc" * 100_000)
    assert sha256_file(path) == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_canonical_json() -> None:
    assert canonical_json({"b": [1, None, "鱼"], "a": {"d": 1.5, "c": True}}) == (
        '{"a":{"c":true,"d":1.5},"b":[1,null,"鱼"]}'.encode()
    )
    assert canonical_digest({"a": 1, "b": 2}) == canonical_digest({"b": 2, "a": 1})
    assert canonical_hexdigest([]) == hashlib.sha256(b"[]").hexdigest()
    assert json.loads(canonical_json("\u2028")) == "\u2028"
    for bad in (float("nan"), "\ud800"):
        with pytest.raises(ValueError, match=r"JSON|surrogates"):
            canonical_json(bad)
