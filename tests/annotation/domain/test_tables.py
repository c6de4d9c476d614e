"""Tables as rows of files."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.tables import Column, Kind, Table, Tag, as_json, csv_header, csv_rows
from benchmark.stats.values import Reason, Value


def one_cell(cell: object, kind: Kind = "text") -> list[str]:
    table = Table(name="t", title="T", columns=(Column(key="k", title="K", kind=kind),))
    (row,) = csv_rows(
        Table(name=table.name, title=table.title, columns=table.columns, rows=[{"k": cell}])
    )
    return row


def test_a_value_takes_five_columns() -> None:
    columns = (Column(key="rater", title="Rater"), Column(key="k", title="Kappa", kind="value"))
    value = Value(value=0.43, se=0.02, ci=(0.39, 0.47)).as_json()
    missing = Value.undefined(Reason.SINGLE_CATEGORY).as_json()
    table = Table(
        name="raters",
        title="Raters",
        columns=columns,
        rows=[{"rater": "r1", "k": value}, {"rater": "r2", "k": missing}, {"rater": "r3"}],
    )
    assert csv_header(table) == ["rater", "k", "k_se", "k_low", "k_high", "k_reason"]
    assert list(csv_rows(table)) == [
        ["r1", "0.43", "0.02", "0.39", "0.47", ""],
        ["r2", "", "", "", "", "single_category"],
        ["r3", "", "", "", "", ""],
    ]


def test_a_value_without_an_interval_says_why() -> None:
    value = Value(value=1.0, se_reason=Reason.SINGLE_ITEM).as_json()
    assert one_cell(value, "value_share") == ["1.0", "", "", "", "single_item"]


@pytest.mark.parametrize(
    ("cell", "kind", "written"),
    [
        (8298, "int", "8298"),
        (-0.25, "real", "-0.25"),
        (float("nan"), "real", ""),
        (float("inf"), "seconds", ""),
        (True, "flag", "true"),
        (False, "flag", "false"),
        (None, "text", ""),
        (
            datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=8))),
            "moment",
            "2026-07-01T04:00:00Z",
        ),
        ([Tag(words="fast", kind="warn"), "new"], "tags", "fast; new"),
        ([], "tags", ""),
    ],
)
def test_cells_are_written_for_machines(cell: object, kind: Kind, written: str) -> None:
    assert one_cell(cell, kind) == [written]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_is_never_a_formula(start: str) -> None:
    assert one_cell(f"{start}1+1") == [f"'{start}1+1"]
    assert one_cell([f"{start}1", "x"], "tags") == [f"'{start}1; x"]
    assert one_cell(f"1{start}") == [f"1{start}"]


@given(st.text())
def test_no_text_at_all_begins_as_a_formula_does(text: str) -> None:
    (cell,) = one_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell.removeprefix("'") == text.removeprefix("'")


@given(st.floats())
def test_numbers_are_written_so_that_nothing_is_lost(number: float) -> None:
    (cell,) = one_cell(number, "real")
    assert cell == "" or float(cell) == number


def test_json_has_the_columns_and_no_more_than_they_name() -> None:
    table = Table(
        name="raters",
        title="Raters",
        columns=(
            Column(key="rater", title="Rater"),
            Column(key="k", title="Kappa", kind="value"),
            Column(key="t", title="Time", kind="seconds"),
        ),
        rows=[
            {
                "rater": "<b>",
                "rater_href": "/x",
                "_kind": "warn",
                "k": {"value": float("nan"), "ci": (0.1, 0.2)},
                "t": float("inf"),
            }
        ],
        note="n = 1",
    )
    assert as_json(table) == {
        "name": "raters",
        "title": "Raters",
        "note": "n = 1",
        "columns": [
            {"key": "rater", "kind": "text", "title": "Rater"},
            {"key": "k", "kind": "value", "title": "Kappa"},
            {"key": "t", "kind": "seconds", "title": "Time"},
        ],
        "rows": [{"rater": "<b>", "k": {"value": None, "ci": [0.1, 0.2]}, "t": None}],
    }
    json.dumps(as_json(table), allow_nan=False)


def test_the_first_column_names_a_row_unless_the_row_says_otherwise() -> None:
    table = Table(
        name="t", title="T", columns=(Column(key="a", title="A"), Column(key="b", title="B"))
    )
    assert table.header_of({}) == "a"
    assert table.header_of({"_header": "b"}) == "b"
