"""What is wrong with a set of pairs: repeats, contradictions, leaks, length bias, schema drift.

PATH_OR_SLUG is a file of pairs (JSON Lines, CSV, TSV, Parquet), a PersonaFeedback folder, a
release, or the slug of a campaign. What exists as a path is read as one, which needs no database;
a campaign of the same name can be checked from another folder.
"""

from __future__ import annotations

import json
import textwrap
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from benchmark.formats import Problem, read_pairs
from benchmark.models import PairSet
from benchmark.quality import Finding, Kind, QualityReport, Severity, check
from benchmark.selectors.quality import set_records

SHOWN = 10
GROUPS = 3
VALUES = 5
WIDTH = 100
JOINERS = "\u200c\u200d"  # unseen parts of words and of emoji
TITLES = {
    Severity.ERROR: "Errors",
    Severity.WARNING: "Warnings",
    Severity.NOTICE: "Notices",
}


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", metavar="PATH_OR_SLUG")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--fail-on",
            choices=(Severity.ERROR.value, Severity.WARNING.value),
            help="exit with 1 if there is a finding of this severity or a worse one",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source: str = options["source"]
        report = _of_path(Path(source)) if _exists(Path(source)) else _of_campaign(source)
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False))
        else:
            for line in _lines(report):
                self.stdout.write(_shown(line))
        if options["fail_on"] and report.has(Severity(options["fail_on"])):
            raise SystemExit(1)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # such as a name longer than the file system allows
        return False


def _of_path(path: Path) -> QualityReport:
    # The seed says which response is A, and no finding depends on that.
    report = check(lambda: read_pairs([path], seed=""), source=str(path))
    if not report.rows and not report.personas:
        for refused in report.findings:
            raise CommandError("\n".join(_examples(refused)))
    return report


def _of_campaign(slug: str) -> QualityReport:
    try:
        pair_set = PairSet.objects.filter(slug=slug).first()
        if pair_set is None:
            raise CommandError(f"There is neither a file or folder nor a campaign {slug}.")
        records = set_records(pair_set)
        return check(records, source=slug, labels_from=records.labels_from)
    except OperationalError as error:
        raise CommandError(
            f"There is no file or folder {slug}, and the database, in which a campaign of this name"
            f" could be, does not answer: {error}"
        ) from error


def _lines(report: QualityReport) -> Iterator[str]:
    """The report in words, a paragraph a finding."""
    yield (
        f"{report.source}: pairs {report.pairs:,}, rows {report.rows:,}, personas"
        f" {report.personas:,}"
    )
    for severity, title in TITLES.items():
        findings = report.of(severity)
        if findings:
            yield ""
            yield f"{title} ({len(findings)})"
            for finding in findings:
                yield ""
                yield from textwrap.wrap(finding.sentence, WIDTH, break_long_words=False)
                yield from (f"  {line}" for line in _examples(finding))
    if not report.findings:
        yield ""
        yield "Nothing was found."
    yield ""
    yield from _measure_lines(report.measures)


def _examples(finding: Finding) -> Iterator[str]:
    """The first of the cases; all of them are in the JSON."""
    if finding.kind is Kind.REFUSED:
        yield from (str(Problem(**detail)) for detail in finding.details[:SHOWN])
        yield from _more(finding.count - SHOWN)
        return
    if finding.details and "texts" in finding.details[0]:
        for group in finding.details[:GROUPS]:
            yield "- " + "\n    ".join(group["texts"][:SHOWN])
        yield from _more(len(finding.details) - GROUPS)
        return
    if finding.ids:
        ids = ", ".join(finding.ids[:SHOWN])
        rest = len(finding.ids) - SHOWN
        yield ids + (f", and {rest:,} more" if rest > 0 else "")


def _more(rest: int) -> Iterator[str]:
    if rest > 0:
        yield f"... and {rest:,} more"


def _measure_lines(measures: Mapping[str, Any]) -> Iterator[str]:
    labels = measures["labels_from"]
    if labels is None:
        yield "No labels, so nothing can be said of what wins."
    else:
        yield f"By tier (labels: {labels}; 95 % intervals of Wilson)"
        yield (
            f"  {'':8}{'rows':>8}{'longer wins, %':>24}{'more overlap wins, %':>24}"
            f"{'characters':>14}{'persona named, %':>18}"
        )
        for tier, longer in measures["longer_wins"].items():
            lengths = f"{_whole(longer['chosen'])} / {_whole(longer['rejected'])}"
            named = measures["names"][tier]
            yield (
                f"  {tier:8}{longer['rows']:8,}{_share(longer):>24}"
                f"{_share(measures['overlap_wins'][tier]):>24}{lengths:>14}"
                f"{_percent(named['chosen']) + ' / ' + _percent(named['rejected']):>18}"
            )
        yield "  Characters (means) and names: chosen / rejected."
    per_persona = measures["pairs_per_persona"]
    if per_persona["n"]:
        yield (
            f"Pairs per persona: {per_persona['min']:g} to {per_persona['max']:g},"
            f" median {per_persona['median']:g}"
        )
    for name, found in measures["demographics"].items():
        if "values" in found:
            first = islice(found["values"].items(), VALUES)
            words = ", ".join(f"{value} {count:,}" for value, count in first)
            rest = found["distinct"] - VALUES
            yield f"{name}: {words}" + (f", and {rest:,} other values" if rest > 0 else "")
        else:
            yield f"{name}: {found['min']:g} to {found['max']:g}, median {found['median']:g}"


def _share(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return "-"
    low, high = found["ci"]
    return f"{100 * found['value']:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _percent(found: Mapping[str, Any]) -> str:
    return "-" if found["value"] is None else f"{100 * found['value']:.1f}"


def _whole(summary: Mapping[str, Any]) -> str:
    return "-" if summary["mean"] is None else f"{summary['mean']:,.0f}"


def _shown(line: str) -> str:
    """A line fit for a terminal: nothing from a file moves its cursor or turns its text."""
    return "".join(
        char
        if char.isprintable() or char in JOINERS or char == "\n"
        else char.encode("unicode_escape").decode()
        for char in line
    )
