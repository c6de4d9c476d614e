"""Tables of labels under many names, in every format, and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from benchmark.formats.labels import (
    MISSING,
    ColumnError,
    LabelColumns,
    LabelsError,
    LabelTable,
    read_labels,
    read_truth,
)

from .files import csv_text, json_lines, parquet, put, vote

ROWS: list[dict[str, Any]] = [
    {"item": "007", "rater": "anna", "label": "yes"},
    {"item": "7", "rater": "anna", "label": "no"},
    {"item": "007", "rater": "bert", "label": "不是"},
]


def cells(table: LabelTable) -> list[tuple[str | None, ...]]:
    """Item, rater and label of each row, by name."""
    columns = (
        (table.items, table.item),
        (table.raters, table.rater),
        (table.labels, table.label),
    )
    return list(
        zip(
            *(
                [names[code] if code != MISSING else None for code in codes]
                for names, codes in columns
            ),
            strict=True,
        )
    )


@pytest.mark.parametrize(
    ("name", "data", "first_line"),
    [
        ("t.csv", csv_text(*ROWS).encode(), 2),
        ("mark.csv", b"\xef\xbb\xbf" + csv_text(*ROWS, ending="\r\n").encode(), 2),
        ("t.tsv", csv_text(*ROWS, delimiter="\t").encode("utf-16"), 2),
        ("t.jsonl", json_lines(*ROWS), 1),
        ("t.parquet", parquet(ROWS), 1),
    ],
)
def test_a_table_is_the_same_in_every_format(tmp_path, name, data, first_line):
    table = read_labels(put(tmp_path / name, data))
    assert cells(table) == [
        ("007", "anna", "yes"),
        ("7", "anna", "no"),
        ("007", "bert", "不是"),
    ]
    assert [table.place(row) for row in range(3)] == [(name, first_line + i) for i in range(3)]
    assert (table.columns, table.problems) == (LabelColumns("item", "rater", "label", None), [])


def test_numbers_and_truth_values_are_their_text(tmp_path):
    labels = [1, "1", 1.0, True, "true", 0, False, 0.5, -0.0, "01", 2**70]
    rows = [{"item": i, "rater": "r", "label": label} for i, label in enumerate(labels)]
    table = read_labels(put(tmp_path / "t.jsonl", json_lines(*rows)))
    assert [label for _, _, label in cells(table)] == [
        *("1", "1", "1", "true", "true", "0", "false", "0.5", "0", "01", str(2**70))
    ]
    assert table.mixed == ["1", "true"]
    assert table.items == [str(i) for i in range(len(labels))]


def test_parquet_numbers_and_missing_values(tmp_path):
    rows = [
        {"item": 1, "rater": 5, "label": 1.0},
        {"item": 1, "rater": 6, "label": None},
        {"item": None, "rater": 6, "label": 2.0},
    ]
    table = read_labels(put(tmp_path / "t.parquet", parquet(rows)))
    assert cells(table) == [("1", "5", "1"), ("1", "6", None), (None, "6", "2")]


def test_blank_cells_are_missing_and_others_stay_as_they_are(tmp_path):
    rows = [
        {"item": "a", "rater": "", "label": " x"},
        {"item": "\u200b", "rater": "r", "label": "x"},
        {"item": "a", "rater": "r", "label": "👨‍👩‍👧"},
    ]
    table = read_labels(put(tmp_path / "t.csv", csv_text(*rows)))
    assert cells(table) == [("a", None, " x"), (None, "r", "x"), ("a", "r", "👨‍👩‍👧")]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("item,worker,label", LabelColumns("item", "worker", "label", None)),
        ("Task ID,Annotator,Answer", LabelColumns("Task ID", "Annotator", "Answer", None)),
        ("unit,coder,category,seconds", LabelColumns("unit", "coder", "category", None)),
        (
            "example_id,user_id,rating,criterion",
            LabelColumns("example_id", "user_id", "rating", "criterion"),
        ),
        # The files of releases have further columns that could be taken for a label or an item.
        (
            "pair_id,rater,criterion,choice,answer,item",
            LabelColumns("pair_id", "rater", "choice", "criterion"),
        ),
    ],
)
def test_columns_are_found_by_what_they_are_called(tmp_path, header, expected):
    cells_of_row = ",".join(map(str, range(header.count(",") + 1)))
    path = put(tmp_path / "t.csv", f"{header}\n{cells_of_row}\n")
    assert read_labels(path).columns == expected


@pytest.mark.parametrize(
    ("header", "given", "role", "words"),
    [
        ("item,label,score", {}, "rater", "no column for the rater"),
        ("item,task,rater,label", {}, "item", "several columns may hold the item (item, task)"),
        ("item,rater,label", {"label": "Label"}, "label", "has no column 'Label'"),
        ("a,rater,label", {}, "item", "there are: a, rater, label"),
    ],
)
def test_a_column_that_is_missing_or_ambiguous(tmp_path, header, given, role, words):
    path = put(tmp_path / "t.csv", header + "\n" + header + "\n")
    with pytest.raises(ColumnError) as error:
        read_labels(path, **given)
    assert error.value.role == role
    assert str(error.value).startswith("t.csv: ")
    assert words in str(error.value)


def test_a_long_header_is_cut_in_messages(tmp_path):
    header = ",".join(f"column_{number}" for number in range(10_000))
    with pytest.raises(ColumnError) as error:
        read_labels(put(tmp_path / "t.csv", header + "\n"))
    assert len(str(error.value)) < 700


def test_named_columns_are_taken(tmp_path):
    path = put(tmp_path / "t.csv", "item,task,who,label,x\n1,2,3,4,5\n")
    table = read_labels(path, item="task", rater="who", label="x")
    assert cells(table) == [("2", "3", "5")]
    assert read_labels(path, item="label", rater="who", label="x").columns[0] == "label"
    with pytest.raises(LabelsError, match="three different columns"):
        read_labels(path, item="x", rater="x", label="label")


def test_rows_that_cannot_be_taken_apart_are_problems_among_the_others(tmp_path):
    data = (
        json_lines({"item": 1, "rater": 1, "label": [1]}, ROWS[0])
        + b"{bad\n"
        + b'{"item": 1, "rater": 2, "label": "\\ud800"}\n'
        + b'{"item": 1, "rater": 3, "label": "x", "note": "\\u0000"}\n'
        + b'{"item": 1, "rater": 4, "label": NaN}\n'
        + b"[]\n"
    )
    table = read_labels(put(tmp_path / "t.jsonl", data))
    assert cells(table) == [("007", "anna", "yes"), ("1", "3", "x")]
    assert [(p.file, p.line, p.field) for p in table.problems] == [
        ("t.jsonl", 1, "label"),
        ("t.jsonl", 3, None),
        ("t.jsonl", 4, "label"),
        ("t.jsonl", 6, "label"),
        ("t.jsonl", 7, None),
    ]
    assert "not a list" in table.problems[0].reason
    assert "lone surrogate" in table.problems[2].reason


def test_a_row_with_too_few_cells(tmp_path):
    table = read_labels(put(tmp_path / "t.csv", "item,rater,label\n1,2\n1,2,x\n"))
    assert cells(table) == [("1", "2", "x")]
    assert str(table.problems[0]) == "t.csv:2: has 2 cells where the header has 3"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"item,rater,label\n", "is empty"),
        ("t.jsonl", b"\n\n", "is empty"),
        ("t.parquet", b"", "not a readable Parquet file"),
        ("t.parquet", parquet([], None), "is empty"),
        ("t.csv", bytes(range(256)), "t.csv"),
        ("t.jsonl", bytes(range(128, 256)), "not valid UTF-8"),
        ("t.jsonl", b"[{}]\n", "a JSON array"),
        ("t.jsonl", b'{"item": 1, "rater": 2, "label": {}}\n', "no other row can be read"),
        ("t.xlsx", b"PK", "has the extension .xlsx"),
        ("t.csv", b'item,rater,label\n1,2,"x\n', "a quote is opened"),
        ("t.csv", b"item,item,label\n", "stands twice"),
    ],
)
def test_a_file_that_holds_no_table(tmp_path, name, data, words):
    with pytest.raises(LabelsError, match=words) as error:
        read_labels(put(tmp_path / name, data))
    str(error.value).encode()


def test_paths_at_which_there_is_no_table(tmp_path):
    for path, words in [
        (tmp_path / "none.csv", "none.csv: does not exist"),
        (tmp_path, "is a folder that holds no file of votes"),
        (Path("/dev/null"), "is not a file"),
        (tmp_path / ("x" * 5000), "File name too long"),
    ]:
        with pytest.raises(LabelsError, match=words):
            read_labels(path)


def test_the_votes_of_a_release(tmp_path):
    release = tmp_path / "cups-1.0.0"
    put(release / "MANIFEST.json", "{}")
    put(release / "votes" / "votes.jsonl", json_lines(vote(), vote(rater="r2", choice="B")))
    put(release / "votes" / "votes.parquet", parquet([vote(), vote(rater="r2", choice="B")]))
    table = read_labels(release)
    assert cells(table) == [("p1", "r1", "A"), ("p1", "r2", "B")]
    assert table.place(1) == ("cups-1.0.0/votes/votes.jsonl", 2)
    assert table.columns.are_votes
    assert table.criteria == ["helpfulness"]


def test_several_files_of_votes_keep_their_lines(tmp_path):
    put(tmp_path / "votes-1.csv", csv_text(vote(), vote(rater="r2")))
    put(tmp_path / "votes-2.jsonl", json_lines(vote(rater="r3")))
    table = read_labels(tmp_path)
    name = tmp_path.name
    assert [table.place(row) for row in range(3)] == [
        (f"{name}/votes-1.csv", 2),
        (f"{name}/votes-1.csv", 3),
        (f"{name}/votes-2.jsonl", 1),
    ]
    put(tmp_path / "votes-3.csv", csv_text(ROWS[0]))
    with pytest.raises(LabelsError, match="are not those of"):
        read_labels(tmp_path)


def test_true_labels(tmp_path):
    data = "item,truth\n1,x\n2,y\n1,x\n3,x\n3,y\n4,\n,x\n5\n"
    table = read_truth(put(tmp_path / "t.csv", data))
    assert (table.truth, table.contradictory) == ({"1": "x", "2": "y"}, ["3"])
    assert [problem.line for problem in table.problems] == [9]
    with pytest.raises(ColumnError) as error:
        read_truth(put(tmp_path / "u.csv", "item,score\n1,x\n"))
    assert error.value.role == "truth"
