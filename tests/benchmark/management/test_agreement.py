"""`manage.py agreement`: public sets, bad files, and a machine on which nothing runs."""

import csv
import json
import os
import random
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.benchmark.formats.files import csv_text, json_lines, parquet, put, vote
from tests.benchmark.stats.reference import AGREEMENT_DATA, load, needs_shared_data
from tests.conftest import ROOT

TABLE = [
    {"item": item, "rater": rater, "label": label}
    for item, labels in [("1", "xxxxxxxxx"), ("2", "xxxxxxxxy"), ("3", "yyyyyyyxx")]
    for rater, label in zip("abcdefghi", labels, strict=True)
]


def said(path, **options):
    """What the command prints. No database is open to it: the tests have no mark for one."""
    out = StringIO()
    call_command("agreement", str(path), stdout=out, no_color=True, **options)
    return out.getvalue()


def found(path, **options):
    """The one object that the command prints."""

    def no_constant(name):
        raise AssertionError(f"{name} is no JSON")

    text = said(path, json=True, **options)
    assert text.count("\n") == 1
    return json.loads(text, parse_constant=no_constant)


def table(tmp_path, rows, name="t.csv"):
    suffix = name.rpartition(".")[2]
    data = {
        "csv": lambda: csv_text(*rows).encode(),
        "tsv": lambda: csv_text(*rows, delimiter="\t").encode(),
        "jsonl": lambda: json_lines(*rows),
        "parquet": lambda: parquet(rows),
    }
    return put(tmp_path / name, data[suffix]())


def ratings(*labels, item=1):
    """One rating by each of the raters r0, r1, ..."""
    return [{"item": item, "rater": f"r{i}", "label": label} for i, label in enumerate(labels)]


def reasons(report):
    return [(row["line"], row["reason"]) for row in report["dropped"]]


@needs_shared_data
@pytest.mark.parametrize("name", ["rte", "temporal", "face_sentiment"])
@pytest.mark.parametrize("extension", ["csv", "tsv", "jsonl", "parquet"])
def test_the_public_sets_in_every_format(tmp_path, name, extension):
    expected = load("expected.json")["sets"][name]
    path = AGREEMENT_DATA / f"{name}_label.csv"
    if extension != "csv":
        with path.open() as file:
            rows = list(csv.DictReader(file))
        if extension in ("jsonl", "parquet"):
            rows = [{key: int(value) for key, value in row.items()} for row in rows]
        path = table(tmp_path, rows, f"{name}.{extension}")
    report = found(path)

    def near(value):
        return pytest.approx(value, abs=1e-9, rel=0)

    assert (report["items"], report["ratings"], report["raters"]) == (
        *(expected["items"], expected["votes"], expected["raters"]),
    )
    assert report["categories"] == [str(label) for label in expected["categories"]]
    per_item = {int(n): items for n, items in expected["votes_per_item_histogram"].items()}
    assert report["ratings_per_item"]["min"] == min(per_item)
    assert report["ratings_per_item"]["max"] == max(per_item)
    assert report["percent_agreement"]["value"] == near(expected["P_o"])
    assert report["alpha"]["value"] == near(expected["alpha_nominal"])
    assert report["conger"]["value"] == near(expected["conger"])
    for ours, theirs in [("fleiss", "fleiss_gwet"), ("randolph", "randolph"), ("ac1", "ac1")]:
        assert report[ours]["value"] == near(expected[theirs]["value"])
        assert report[ours]["se"] == near(expected[theirs]["se"])
        assert report[ours]["ci"] == near(expected[theirs]["ci95"])
    assert report["fleiss"]["variant"] == "fleiss_gwet"
    shares = [share["value"] for share in report["pooled_shares"].values()]
    assert shares == near(expected["category_share_pooled"])
    majority = expected["majority"]
    assert (report["majority"]["decided"], report["majority"]["tied"]) == (
        *(majority["decided"], majority["ties"]),
    )
    if len(expected["categories"]) == 2:
        # With ten votes 10-0 lies above .6, 9-1 is exactly .6, and 8-2 is .2889.
        votes = expected["histogram_of_votes_for_first_category"]
        assert report["tiers"]["easy"] == votes.get("0", 0) + votes.get("10", 0)
        assert report["tiers"]["medium"] == votes.get("1", 0) + votes.get("9", 0)
    else:
        assert report["tiers"]["hard"] == {"value": None, "reason": "not_two_categories"}
    assert report["dropped"] == []


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "model"), [("rte", 0.9275), ("temporal", 435 / 462), ("face_sentiment", 374 / 584)]
)
def test_the_truth_of_the_public_sets(name, model):
    expected = load("expected.json")["sets"][name]["majority"]
    path = AGREEMENT_DATA / f"{name}_label.csv"
    truth = found(path, truth=AGREEMENT_DATA / f"{name}_truth.csv")["truth"]
    majority = truth["majority"]
    for ours, theirs in [("fair", "fair_ties"), ("decided_only",) * 2, ("ties_wrong",) * 2]:
        assert majority[ours]["value"] == pytest.approx(expected[f"accuracy_{theirs}"], abs=1e-9)
    assert (majority["ties"], majority["correct_decided"], majority["truth_among_tied"]) == (
        *(expected["ties"], expected["correct_decided"], expected["truth_among_tied"]),
    )
    assert truth["dawid_skene"]["fair"]["value"] == pytest.approx(model, abs=1e-9)
    assert truth["dawid_skene"]["converged"]


def test_truth_that_fits_the_table_in_part(tmp_path):
    path = table(tmp_path, [*TABLE, *ratings("x", item="8"), *ratings(*"xy", item="9")])
    truth = put(tmp_path / "truth.csv", "item,truth\n1,x\n2,z\n3,x\n9,y\n8,x\n8,y\n77,x\n5\n")
    report = found(path, truth=truth)["truth"]
    # Right on 1, never right on 2, wrong on 3, tied on 9; two truths of 8, and no ratings of 77.
    assert (report["items"], report["unknown_label"]) == (4, 1)
    assert [report["majority"][k]["value"] for k in ("fair", "decided_only", "ties_wrong")] == [
        *(pytest.approx(3 / 8), pytest.approx(1 / 3), pytest.approx(1 / 4))
    ]
    assert report["contradictory"] == ["8"]
    assert [problem["line"] for problem in report["unreadable"]] == [9]
    lines = said(path, truth=truth).splitlines()
    (first,) = [
        i for i, line in enumerate(lines) if line.startswith("Against the truth of 4 items")
    ]
    assert lines[first + 1].split() == [
        *("Label", "given", "most", "often", "0.3750", "0.3333", "0.2500", "1", "tied")
    ]
    assert lines[first + 3 : first + 6] == [
        "  Left out: 1 with two different true labels",
        "  Left out: 1 that cannot be read",
        "  True labels that are no category, hence never met: 1",
    ]


def test_truth_without_ratings_or_columns(tmp_path):
    path = table(tmp_path, ratings("skip", "skip"))
    truth = put(tmp_path / "truth.csv", "item,gold\n1,A\n")
    report = found(path, truth=truth)["truth"]
    assert report["dawid_skene"] == {"value": None, "reason": "no_votes"}
    assert report["majority"]["fair"]["value"] is None
    assert "Dawid and Skene" in said(path, truth=truth)
    with pytest.raises(CommandError, match="no column for the truth"):
        said(path, truth=put(tmp_path / "none.csv", "item,score\n1,A\n"))


def test_the_object_has_these_keys(tmp_path):
    report = found(table(tmp_path, TABLE))
    assert {
        *("items", "ratings", "raters", "categories", "ratings_per_item", "percent_agreement"),
        *("fleiss", "randolph", "ac1", "alpha", "conger", "majority", "tiers", "dropped"),
        *("categories_from", "dropped_by_reason", "warnings", "columns", "file", "rows"),
    } <= report.keys()
    assert report["tiers"] == {"easy": 1, "medium": 1, "hard": 1, "provisional": 0, "none": 0}
    assert report["majority"] == {"decided": 3, "tied": 0, "insufficient": 0, "minimum": 7}
    assert report["columns"] == {
        **{"item": "item", "rater": "rater", "label": "label", "criterion": None}
    }


def test_the_report_in_words(tmp_path):
    rows = [*TABLE, TABLE[0], {"item": "3", "rater": "z", "label": ""}]
    lines = said(table(tmp_path, rows)).splitlines()
    assert lines[:5] == [
        "t.csv: 3 items, 27 ratings by 9 raters",
        "Ratings per item: 9 to 9, median 9",
        "Categories (the labels that occur), with their shares of the ratings:",
        "  70.4 %  x",
        "  29.6 %  y",
    ]
    assert lines[7].startswith("Percent agreement         0.7963  ")
    assert "Majority (of 7 ratings or more): 3 decided, 0 tied, 0 insufficient" in lines
    assert "Tiers: 1 easy, 1 medium, 1 hard (0 of them provisional), 0 without" in lines
    assert any(line.startswith("Krippendorff's alpha") and "bootstrap" in line for line in lines)
    assert any(line.startswith("Note: The categories are the labels that") for line in lines)
    assert lines[-3:] == [
        "Rows that do not count: 2 (1 repeated, 1 missing label)",
        "  t.csv:29: item 1, rater a, label x: the same again; the first counts",
        "  t.csv:30: item 3, rater z: no label",
    ]


def test_words_name_the_first_ten_dropped_rows_and_json_all(tmp_path):
    path = table(tmp_path, [*TABLE, *[TABLE[0]] * 25])
    assert said(path).splitlines()[-1] == "  ... and 15 more; --json lists all"
    assert found(path)["dropped_by_reason"] == {"repeated": 25}
    assert len(found(path)["dropped"]) == 25


def test_names_from_a_file_do_not_steer_the_terminal(tmp_path):
    path = table(tmp_path, ratings("\x1b[31mred\u202e", "👨‍👩‍👧", "y" * 99))
    text = said(path)
    assert not {"\x1b", "\u202e"} & set(text)
    assert "\\x1b[31mred\\u202e" in text
    assert "👨‍👩‍👧" in text
    assert "y" * 60 not in text


def test_rows_that_do_not_count(tmp_path):
    rows = [
        {"item": "1", "rater": "a", "label": "x"},
        {"item": "1", "rater": "a", "label": "x"},
        {"item": "1", "rater": "b", "label": "x"},
        {"item": "1", "rater": "b", "label": "y"},
        {"item": "", "rater": "c", "label": "x"},
        {"item": "1", "rater": "", "label": "x"},
        {"item": "1", "rater": "c", "label": ""},
        {"item": "1", "rater": "d", "label": "z"},
        {"item": "1", "rater": "e", "label": "y"},
    ]
    report = found(table(tmp_path, rows), categories=["x", "y"])
    assert reasons(report) == [
        *((3, "repeated"), (4, "contradictory"), (5, "contradictory"), (6, "missing_item")),
        *((7, "missing_rater"), (8, "missing_label"), (9, "unknown_label")),
    ]
    assert report["dropped"][6] == {
        **{"file": "t.csv", "line": 9, "item": "1", "rater": "d", "label": "z"},
        "reason": "unknown_label",
    }
    assert report["dropped_by_reason"]["contradictory"] == 2
    assert (report["rows"], report["ratings"], report["raters"]) == (9, 2, 2)
    assert (report["categories"], report["categories_from"]) == (["x", "y"], "option")


def test_rows_that_cannot_be_read(tmp_path):
    path = put(tmp_path / "t.jsonl", json_lines(*ratings("x", ["y"], "y")) + b"{]\n")
    report = found(path)
    assert reasons(report) == [(2, "unreadable"), (4, "unreadable")]
    assert report["dropped"][0]["detail"].startswith("label: must be text")
    assert (report["ratings"], report["rows"]) == (2, 4)


def test_labels_of_any_kind(tmp_path):
    labels = [1, "1", 1.0, True, None, "喜欢", "👨‍👩‍👧", "True", " x", "X"]
    report = found(table(tmp_path, ratings(*labels), "t.jsonl"))
    assert report["categories"] == [" x", "1", "True", "X", "true", "喜欢", "👨‍👩‍👧"]
    assert report["pooled_shares"]["1"]["value"] == pytest.approx(3 / 9)
    assert reasons(report) == [(5, "missing_label")]
    assert [word.partition(":")[0] for word in report["warnings"][1:]] == [
        "These categories differ only in capital letters or spaces",
        "These categories differ only in capital letters or spaces",
        "Given both as text and as a number or truth value, and counted as one label",
    ]


def undefined(report):
    names = ("percent_agreement", "fleiss", "randolph", "ac1", "alpha", "conger")
    return {name: report[name]["reason"] for name in names if report[name]["value"] is None}


ALL = ("percent_agreement", "fleiss", "randolph", "ac1", "alpha", "conger")


@pytest.mark.parametrize(
    ("rows", "reasons_expected", "majority"),
    [
        (ratings(*"xxxxxxxyy"), {}, (1, 0, 0)),  # one item
        (
            [row for item in range(3) for row in ratings("x", item=item)],  # one rater
            {**dict.fromkeys(ALL, "no_item_with_two_votes"), "conger": "no_rater_ids"},
            (0, 0, 3),
        ),
        (
            [row for item in range(3) for row in ratings(*"xxxxxxxxx", item=item)],  # unanimous
            dict.fromkeys(("fleiss", "alpha", "conger"), "single_category"),
            (3, 0, 0),
        ),
        (ratings(*["skip"] * 9), dict.fromkeys(ALL, "no_item_with_two_votes"), (0, 0, 1)),
        (
            [row for item in range(3) for row in ratings(*["tie"] * 9, item=item)],
            dict.fromkeys(("fleiss", "alpha", "conger"), "single_category"),
            (0, 0, 3),
        ),
        ([*TABLE, *ratings("y", item="9")], {}, (3, 0, 1)),  # a rater with one vote
        (
            [row for n in range(1, 10) for row in ratings(*"xyxyxyxyx"[:n], item=n)],
            {},
            (2, 1, 6),
        ),
    ],
)
def test_tables_that_say_little(tmp_path, rows, reasons_expected, majority):
    path = table(tmp_path, rows)
    report = found(path)
    assert undefined(report) == reasons_expected
    assert tuple(report["majority"][k] for k in ("decided", "tied", "insufficient")) == majority
    said(path)  # has words for all of it


def test_one_item_has_no_interval(tmp_path):
    report = found(table(tmp_path, ratings(*"xxxxxxxyy")))
    assert (report["fleiss"]["se"], report["fleiss"]["ci"]) == (None, None)
    assert report["fleiss"]["se_reason"] == "single_item"


def test_300_raters(tmp_path):
    rng = random.Random(7)
    rows = [
        {"item": item, "rater": f"r{rater}", "label": rng.choice("AB")}
        for item in range(100)
        for rater in rng.sample(range(300), 9)
    ]
    rows += [{"item": 1000, "rater": f"r{rater}", "label": "A"} for rater in range(300)]
    report = found(table(tmp_path, rows))
    assert (report["raters"], report["ratings_per_item"]["max"]) == (300, 300)
    assert report["fleiss"]["ci"][0] < 0 < report["fleiss"]["ci"][1]


def test_votes_have_a_report_for_each_criterion(tmp_path):
    rows = [
        vote(rater=f"r{i}", criterion=criterion, choice=choice)
        for criterion, choices in [
            ("personalization", ["A"] * 8 + ["B"]),
            ("helpfulness", ["A"] * 6 + ["tie", "skip", "b"]),
        ]
        for i, choice in enumerate(choices)
    ]
    rows.append(vote(rater="r9", criterion=""))
    path = table(tmp_path, rows)
    report = found(path)
    assert list(report["criteria"]) == ["personalization", "helpfulness"]
    first, second = report["criteria"].values()
    # A campaign allows ties on all criteria or on none.
    assert first["categories"] == second["categories"] == ["A", "B", "tie"]
    assert (first["categories_from"], first["tiers"]["medium"]) == ("votes", 1)
    # The seed that releases take: the command gives their intervals again.
    assert [one["bootstrap"]["seed"] for one in (first, second)] == list(report["criteria"])
    assert reasons(second) == [(18, "skip"), (19, "unknown_label")]
    assert (second["majority"]["decided"], second["tiers"]["none"]) == (1, 1)
    assert reasons(report) == [(20, "missing_criterion")]

    alone = found(path, criterion="helpfulness")
    assert (alone["criterion"], alone["fleiss"]) == ("helpfulness", second["fleiss"])
    assert [reason for _, reason in reasons(alone)] == [
        *("skip", "unknown_label", "missing_criterion")
    ]
    assert "t.csv, personalization: 1 item, 9 ratings by 9 raters" in said(path)
    with pytest.raises(CommandError, match="has no criterion 'style'; there are: personalization"):
        said(path, criterion="style")


def test_a_release_folder(tmp_path):
    put(tmp_path / "r" / "MANIFEST.json", "{}")
    put(tmp_path / "r" / "votes" / "votes.jsonl", json_lines(vote(), vote(rater="r2")))
    report = found(tmp_path / "r", criterion="helpfulness")
    assert (report["file"], report["ratings"]) == ("r/votes/votes.jsonl", 2)
    assert report["categories"] == ["A", "B"]


def test_the_ten_lines_of_the_documentation(tmp_path):
    rng = random.Random(3)
    rows = [
        vote(pair_id=f"p{pair}", rater=f"r{rater}", criterion=criterion, choice=choice)
        for pair in range(60)
        for criterion in ("personalization", "helpfulness")
        for lean in [rng.choice((0.01, 0.1, 0.5, 0.95))]
        for rater in range(9)
        for choice in ["skip" if rng.random() < 0.02 else "A" if rng.random() < lean else "B"]
    ]
    put(tmp_path / "MANIFEST.json", "{}")
    put(tmp_path / "votes" / "votes.jsonl", json_lines(*rows))
    report = found(tmp_path, criterion="personalization")

    text = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    words = done.stdout.split()
    for name, key in [("P_o", "percent_agreement"), ("Fleiss", "fleiss"), ("Randolph", "randolph")]:
        value = float(words[words.index(name) + 1])
        assert value == pytest.approx(report[key]["value"], abs=1e-9, rel=0)
    tiers = report["tiers"]
    of_nine = sum(int(words[words.index(split) + 1]) for split in ("9-0", "8-1"))
    assert 0 < of_nine <= tiers["easy"] + tiers["medium"] <= of_nine + tiers["provisional"]


def test_a_majority_of_fewer(tmp_path):
    path = table(tmp_path, [*ratings(*"xxy"), *ratings(*"xy", item=2)])
    assert found(path)["majority"]["insufficient"] == 2
    assert found(path, minimum=2)["majority"] == {
        **{"decided": 1, "tied": 1, "insufficient": 0, "minimum": 2}
    }


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.csv", b"", "t.csv: is empty: it holds no rows."),
        ("t.csv", b"item,rater,label\n", "t.csv: is empty: it holds no rows."),
        ("t.csv", b"a,rater,label\n1,2,3\n", "there are: a, rater, label. Name it with --item."),
        ("t.csv", b"item,user,rater,label\n1,2,3,4\n", "(user, rater)"),
        ("t.parquet", b"PAR1", "not a readable Parquet file"),
        ("t.jsonl", b"\x80\x81\x82\x83", "not valid UTF-8"),
        ("t.png", b"\x89PNG", "has the extension .png"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, data, words):
    with pytest.raises(CommandError) as error:
        said(put(tmp_path / name, data))
    assert words in str(error.value)
    assert error.value.returncode == 1


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(CommandError, match=r"none\.csv: does not exist"):
        said(tmp_path / "none.csv")
    with pytest.raises(CommandError, match="holds no file of votes"):
        said(tmp_path)
    with pytest.raises(CommandError, match="has no column criterion"):
        said(table(tmp_path, TABLE), criterion="x")


def test_on_a_machine_where_nothing_else_runs(tmp_path):
    """Neither variables nor servers; as a person calls it."""
    home = tmp_path / "home"
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(home / "var")}

    def manage(*arguments):
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "agreement", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    good = manage(table(tmp_path, ratings(*"是是是是是是是否否")), "--json")
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout)["categories"] == ["否", "是"]
    bad = manage(tmp_path / "none.csv")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr == "CommandError: none.csv: does not exist.\n"
