"""Tables as downloads."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from annotation.audit.table_files import Format, table_response
from annotation.domain.tables import Column, Row, Table
from benchmark.stats.values import Value

COLUMNS = (
    Column(key="rater", title=_("Raters")),
    Column(key="n", title="n", kind="int"),
    Column(key="k", title="kappa", kind="value"),
    Column(key="at", title="at", kind="moment"),
)
ROWS: list[Row] = [
    {
        "rater": 'a "quoted", 🙂\nname 李鹏',
        "n": 8298,
        "k": Value(value=-0.4, se=0.02, ci=(-0.5, -0.3)).as_json(),
        "at": datetime(2026, 7, 1, 12, tzinfo=UTC),
    },
    {"rater": "=HYPERLINK(1)", "n": None, "k": None, "at": None},
]
TABLE = Table(name="raters", title=_("Raters"), columns=COLUMNS, rows=ROWS)


def read_csv(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_csv_comes_back_as_it_was_written() -> None:
    response = table_response(TABLE, format="csv", filename="raters")
    assert response.content.startswith(b"\xef\xbb\xbfrater,n,k,")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="raters.csv"'
    assert read_csv(response.content) == [
        ["rater", "n", "k", "k_se", "k_low", "k_high", "k_reason", "at"],
        [
            *('a "quoted", 🙂\nname 李鹏', "8298", "-0.4", "0.02", "-0.5", "-0.3", ""),
            "2026-07-01T12:00:00Z",
        ],
        ["'=HYPERLINK(1)", *[""] * 7],
    ]


def test_json_comes_back_as_it_was_written() -> None:
    response = table_response(TABLE, format="json", filename="raters")
    assert response["Content-Type"] == "application/json"
    read = json.loads(response.content)
    assert read["rows"][0]["rater"] == 'a "quoted", 🙂\nname 李鹏'
    assert read["rows"][0]["k"]["ci"] == [-0.5, -0.3]
    # A formula is harmless in JSON, and stands as it is.
    assert read["rows"][1]["rater"] == "=HYPERLINK(1)"


@pytest.mark.parametrize("format", ["csv", "json"])
def test_numbers_know_no_language(format: Format) -> None:
    with override("de"):
        german = table_response(TABLE, format=format, filename="x").content
    with override("zh-hans"):
        chinese = table_response(TABLE, format=format, filename="x").content
    if format == "csv":
        assert german == chinese
    else:
        assert json.loads(german)["rows"] == json.loads(chinese)["rows"]


def test_a_table_without_rows_is_its_header() -> None:
    empty = Table(name="x", title="X", columns=COLUMNS)
    assert len(read_csv(table_response(empty, format="csv", filename="x").content)) == 1
    assert json.loads(table_response(empty, format="json", filename="x").content)["rows"] == []


def test_a_file_may_have_any_name() -> None:
    response = table_response(TABLE, format="csv", filename='评审 "1"\r\nX-Bad: 1')
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''%E8%AF%84")
    assert "\n" not in response["Content-Disposition"]


def test_every_row_of_a_whole_benchmark_is_there() -> None:
    rows: list[Row] = [{**ROWS[0], "n": n} for n in range(8298)]
    table = Table(name="x", title="X", columns=COLUMNS, rows=rows)
    read = read_csv(table_response(table, format="csv", filename="x").content)
    assert [row[1] for row in read[1:]] == [str(n) for n in range(8298)]
