"""How far do the raters of a table agree? Any table of items, raters and labels; no database.

PATH is CSV, TSV, JSON Lines or Parquet, one label a row, or a folder with votes such as a release.
A table with a column "criterion" gives a report for each criterion. Rows that do not count are
listed with the reason.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from benchmark.formats.labels import (
    ColumnError,
    LabelsError,
    LabelTable,
    TruthTable,
    read_labels,
    read_truth,
)
from benchmark.stats.codes import Ints
from benchmark.stats.label_report import (
    DROPPED,
    NO_TRUTH,
    UNKNOWN_LABEL,
    Dropped,
    Scheme,
    label_report,
    scheme_of,
    sift,
)
from benchmark.stats.majority import DEFAULT_MINIMUM
from benchmark.stats.values import Reason

Report = dict[str, Any]

SHOWN = 10
NAME_WIDTH = 60
JOINERS = "\u200c\u200d"  # unseen parts of words and of emoji

COEFFICIENTS = (  # key, name, and the least value that an interval is shown down to
    ("percent_agreement", "Percent agreement", 0.0),
    ("fleiss", "Fleiss' kappa", -1.0),
    ("randolph", "Randolph's kappa", -1.0),
    ("ac1", "Gwet's AC1", -1.0),
    ("alpha", "Krippendorff's alpha", -1.0),
    ("conger", "Conger's kappa", -1.0),
)
REASONS = {
    Reason.NO_ITEM_WITH_TWO_VOTES: "no item has two ratings",
    Reason.SINGLE_CATEGORY: "all ratings are in one category",
    Reason.SINGLE_ITEM: "there is one item only",
    Reason.NO_SE_FOR_VARIANT: "no formula for this coefficient",
    Reason.NO_RATER_IDS: "there are fewer than two raters",
    Reason.NO_RATER_OVERLAP: "no two raters share an item",
    Reason.NOT_TWO_CATEGORIES: "tiers are for two categories",
    Reason.NO_VOTES: "there are no ratings",
}
DROPPED_WORDS = {
    Dropped.MISSING_ITEM: "no item",
    Dropped.MISSING_RATER: "no rater",
    Dropped.MISSING_LABEL: "no label",
    Dropped.MISSING_CRITERION: "no criterion",
    Dropped.SKIP: "skipped",
    Dropped.UNKNOWN_LABEL: "not a category",
    Dropped.REPEATED: "the same again; the first counts",
    Dropped.CONTRADICTORY: "this rater gave the item different labels; none counts",
    Dropped.UNREADABLE: "cannot be read",
}


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH")
        for role in ("item", "rater", "label"):
            parser.add_argument(f"--{role}", metavar="NAME", help=f"the column of the {role}")
        parser.add_argument("--criterion", metavar="KEY", help="report on this criterion alone")
        parser.add_argument(
            "--categories",
            type=_names,
            metavar="A,B,...",
            help="what raters could choose; other labels are left out and listed"
            " (default: the labels that occur; for votes A, B, and tie where it occurs)",
        )
        parser.add_argument(
            "--minimum",
            type=_positive,
            default=DEFAULT_MINIMUM,
            metavar="N",
            help="ratings that a majority takes (default: %(default)s)",
        )
        parser.add_argument(
            "--truth",
            type=Path,
            metavar="PATH",
            help="a table of true labels (item, truth) to hold the majority against",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            table = read_labels(
                options["path"],
                item=options["item"],
                rater=options["rater"],
                label=options["label"],
            )
        except ColumnError as error:
            raise CommandError(f"{error} Name it with --{error.role}.") from error
        except LabelsError as error:
            raise CommandError(_sentence(error)) from error
        try:
            truth = None if options["truth"] is None else read_truth(options["truth"])
        except LabelsError as error:
            raise CommandError(_sentence(error)) from error
        try:
            rules = {name: options[name] for name in ("categories", "minimum")}
            result = _result(table, criterion=options["criterion"], truth=truth, **rules)
        except ValueError as error:
            raise CommandError(_sentence(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, allow_nan=False))
        else:
            for line in _lines(result):
                self.stdout.write(line)


def _sentence(error: Exception) -> str:
    # Libraries whose words a message may end in write a full stop, or do not.
    return f"{str(error).rstrip('.')}."


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or "" in names:
        raise ArgumentTypeError("give two or more different names, separated by commas")
    return names


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise ArgumentTypeError("give a whole number of at least 1")
    return number


def _result(table: LabelTable, *, criterion: str | None, **rules: Any) -> Report:
    """One report; or one for each criterion, beside the rows that belong to none."""
    head = {"file": table.files[0][0], "columns": table.columns._asdict()}
    lost = [
        {
            "file": problem.file,
            "line": problem.line,
            "item": None,
            "rater": None,
            "label": None,
            "reason": Dropped.UNREADABLE.value,
            "detail": f"{problem.field}: {problem.reason}" if problem.field else problem.reason,
        }
        for problem in table.problems
    ]
    if table.columns.criterion is None:
        if criterion is not None:
            raise ValueError(f"{head['file']}: has no column criterion")
        return head | _report(table, np.arange(len(table)), lost, **rules)
    lost += [
        _row(table, row, Dropped.MISSING_CRITERION)
        for row in np.flatnonzero(table.criterion < 0).tolist()
    ]
    if criterion is not None:
        if criterion not in table.criteria:
            there = ", ".join(table.criteria) or "none"
            raise ValueError(f"{head['file']}: has no criterion {criterion!r}; there are: {there}")
        rows = np.flatnonzero(table.criterion == table.criteria.index(criterion))
        return head | {"criterion": criterion} | _report(table, rows, lost, seed=criterion, **rules)
    return {
        **head,
        "criteria": {
            key: _report(table, np.flatnonzero(table.criterion == code), [], seed=key, **rules)
            for code, key in enumerate(table.criteria)
        },
        **_dropped(lost),
    }


def _report(
    table: LabelTable,
    rows: Ints,
    lost: list[Report],
    *,
    categories: list[str] | None,
    minimum: int,
    truth: TruthTable | None,
    seed: str = "",
) -> Report:
    """The report on some rows of the table; ``lost`` are rows that are dropped beside those."""
    used = [table.labels[code] for code in np.unique(table.label[rows]) if code >= 0]
    scheme = scheme_of(table.labels, used=used, given=categories, are_votes=table.columns.are_votes)
    codes = sift(table.item[rows], table.rater[rows], table.label[rows], scheme=scheme)
    kept = rows[codes == 0]
    items = np.unique(table.item[rows])
    items = items[items >= 0]
    found: Report = label_report(
        np.searchsorted(items, table.item[kept]),
        table.rater[kept],
        scheme.column[table.label[kept]],
        n_items=len(items),
        categories=scheme.categories,
        truth=None if truth is None else _true_columns(table, items, scheme, truth),
        minimum=minimum,
        # As in releases, where the name of a criterion is its seed.
        seed=seed,
    )
    dropped = [
        _row(table, int(rows[position]), DROPPED[codes[position]])
        for position in np.flatnonzero(codes != 0)
    ]
    if truth is not None:
        found["truth"] |= {
            "contradictory": truth.contradictory,
            "unreadable": [problem.as_json() for problem in truth.problems],
        }
    return {
        "rows": len(rows) + len(lost),
        **found,
        "categories_from": scheme.known_from,
        "warnings": list(_warnings(table, scheme, used)),
        **_dropped(dropped + lost),
    }


def _true_columns(table: LabelTable, items: Ints, scheme: Scheme, truth: TruthTable) -> Ints:
    """The true label of each item as `label_report` takes it."""
    columns = {name: column for column, name in enumerate(scheme.categories)}
    return np.asarray(
        [
            columns.get(truth.truth[name], UNKNOWN_LABEL) if name in truth.truth else NO_TRUTH
            for name in (table.items[code] for code in items)
        ],
        dtype=np.int64,
    )


def _row(table: LabelTable, row: int, reason: Dropped | None) -> Report:
    assert reason is not None
    file, line = table.place(row)
    names = {
        "item": (table.items, table.item),
        "rater": (table.raters, table.rater),
        "label": (table.labels, table.label),
    }
    return {
        "file": file,
        "line": line,
        **{
            name: known[codes[row]] if codes[row] >= 0 else None
            for name, (known, codes) in names.items()
        },
        "reason": reason.value,
    }


def _dropped(rows: list[Report]) -> Report:
    """The rows that do not count, in the order of the file, and their number by reason."""
    rows = sorted(rows, key=lambda row: (row["file"], row["line"]))
    return {"dropped_by_reason": dict(Counter(row["reason"] for row in rows)), "dropped": rows}


def _warnings(table: LabelTable, scheme: Scheme, used: list[str]) -> Iterator[str]:
    if scheme.known_from == "labels":
        yield (
            "The categories are the labels that occur. One that nobody used is unknown, and"
            " Randolph's kappa and AC1 depend on how many there are: name them all with"
            " --categories."
        )
        alike: dict[str, list[str]] = {}
        for name in scheme.categories:
            alike.setdefault(name.strip().casefold(), []).append(name)
        for names in alike.values():
            if len(names) > 1:
                yield (
                    "These categories differ only in capital letters or spaces: "
                    + ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
                    + "."
                )
    if mixed := [name for name in table.mixed if name in used]:
        yield (
            "Given both as text and as a number or truth value, and counted as one label: "
            + ", ".join(map(_shown, mixed))
            + "."
        )


def _lines(result: Report) -> Iterator[str]:
    """The result in words."""
    if "criteria" not in result:
        yield from _report_lines(result, title=result["file"])
        return
    for key, report in result["criteria"].items():
        yield from _report_lines(report, title=f"{result['file']}, {_shown(key)}")
        yield ""
    if not result["criteria"]:
        yield f"{result['file']}: no row names a criterion"
    yield from _dropped_lines(result)


def _report_lines(report: Report, *, title: str) -> Iterator[str]:
    per_item = report["ratings_per_item"]
    yield (
        f"{title}: {_count(report['items'], 'item')}, {_count(report['ratings'], 'rating')}"
        f" by {_count(report['raters'], 'rater')}"
    )
    if report["items"]:
        yield (
            f"Ratings per item: {per_item['min']} to {per_item['max']},"
            f" median {per_item['median']:g}"
        )
    known_from = {"labels": "the labels that occur", "votes": "those of votes", "option": "given"}
    yield f"Categories ({known_from[report['categories_from']]}), with their shares of the ratings:"
    for name in report["categories"]:
        share = report["pooled_shares"][name]["value"]
        yield ("       -" if share is None else f"{100 * share:6.1f} %") + f"  {_shown(name)}"
    yield ""
    yield f"{'':24}{'value':>8}  95 % interval, for these raters"
    for key, name, least in COEFFICIENTS:
        replicates = report["bootstrap"].get(key, {})
        yield f"{name:24}" + _figure(report[key], replicates, least=least)
    majority, tiers = report["majority"], report["tiers"]
    yield ""
    yield (
        f"Majority (of {_count(majority['minimum'], 'rating')} or more):"
        f" {majority['decided']:,} decided, {majority['tied']:,} tied,"
        f" {majority['insufficient']:,} insufficient"
    )
    if isinstance(tiers["easy"], int):
        yield (
            f"Tiers: {tiers['easy']:,} easy, {tiers['medium']:,} medium, {tiers['hard']:,} hard"
            f" ({tiers['provisional']:,} of them provisional), {tiers['none']:,} without"
        )
    else:
        yield f"Tiers: none; {_reason(tiers['easy']['reason'])}"
    if "truth" in report:
        yield from _truth_lines(report["truth"])
    for warning in report["warnings"]:
        yield f"Note: {warning}"
    yield from _dropped_lines(report)


def _truth_lines(truth: Report) -> Iterator[str]:
    yield ""
    yield f"{'Against the truth of ' + _count(truth['items'], 'item'):32}" + "".join(
        f"{name:>14}" for name in ("fair", "decided only", "ties wrong")
    )
    for key, name in (("majority", "Label given most often"), ("dawid_skene", "Dawid and Skene")):
        found = truth[key]
        values = [found.get(k, found)["value"] for k in ("fair", "decided_only", "ties_wrong")]
        figures = "".join(f"{'-' if v is None else format(v, '.4f'):>14}" for v in values)
        yield f"  {name:30}{figures}" + (f"  {found['ties']:,} tied" if "ties" in found else "")
    for what, left_out in (
        ("with two different true labels", truth["contradictory"]),
        ("that cannot be read", truth["unreadable"]),
    ):
        if left_out:
            yield f"  Left out: {len(left_out):,} {what}"
    if truth["unknown_label"]:
        yield f"  True labels that are no category, hence never met: {truth['unknown_label']:,}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _figure(figure: Report, replicates: Report, *, least: float) -> str:
    """A coefficient with the interval of its formula, else with that of the bootstrap."""
    value, interval, remark = figure["value"], figure.get("ci"), ""
    if value is None:
        return f"{'-':>8}  undefined: {_reason(figure['reason'])}"
    reason = figure.get("se_reason")
    if interval and figure.get("warning"):
        remark = " (the items do not differ in what they add)"
    elif reason == Reason.NO_SE_FOR_VARIANT and replicates.get("ci"):
        interval, remark = replicates["ci"], " (bootstrap)"
    if not interval:
        return f"{value:8.4f}  none: {_reason(replicates.get('reason') or figure['se_reason'])}"
    # Clipped where it is shown; as JSON it is not. On few items a value itself can lie below -1.
    low, high = max(interval[0], min(value, least)), min(interval[1], 1.0)
    return f"{value:8.4f}  {low:.4f} to {high:.4f}{remark}"


def _reason(code: str) -> str:
    return REASONS.get(Reason(code), code.replace("_", " "))


def _dropped_lines(report: Report) -> Iterator[str]:
    rows = report["dropped"]
    if not rows:
        return
    by_reason = ", ".join(
        f"{count:,} {reason.replace('_', ' ')}"
        for reason, count in report["dropped_by_reason"].items()
    )
    yield ""
    yield f"Rows that do not count: {len(rows):,} ({by_reason})"
    for row in rows[:SHOWN]:
        named = ", ".join(
            f"{name} {_shown(row[name])}"
            for name in ("item", "rater", "label")
            if row[name] is not None
        )
        words = row.get("detail") or DROPPED_WORDS[Dropped(row["reason"])]
        yield f"  {row['file']}:{row['line']}: " + (f"{named}: " if named else "") + words
    if len(rows) > SHOWN:
        yield f"  ... and {len(rows) - SHOWN:,} more; --json lists all"


def _shown(name: str) -> str:
    """A name from a file, fit for a terminal: nothing moves its cursor or turns its text."""
    name = name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1]}…"
    return "".join(
        char if char.isprintable() or char in JOINERS else char.encode("unicode_escape").decode()
        for char in name
    )
