"""Bring pairs in: JSON lines, CSV, Parquet, a PersonaFeedback folder or a release."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError, transaction

from annotation.management import output
from annotation.models import Campaign
from annotation.services.campaigns import create_campaign, import_pairs_into
from benchmark.services.pair_imports import PairImportReport

LISTED_CONTRADICTIONS = 20


def _campaign(slug: str) -> Campaign | None:
    return Campaign.objects.filter(pair_set__slug=slug).select_related("pair_set").first()


def _raters(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 99):
        raise ArgumentTypeError("must be a whole number from 1 to 99")
    return int(text)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--campaign", required=True, metavar="SLUG", help="made if it is new")
        parser.add_argument("--name", default="", help="title of a new campaign")
        parser.add_argument(
            "--raters-per-pair", type=_raters, default=9, metavar="N", help="of a new campaign"
        )
        parser.add_argument("--allow-ties", action="store_true", help="in a new campaign")
        parser.add_argument("--dry-run", action="store_true", help="check and report only")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            campaign = _campaign(options["campaign"]) or self._new_campaign(options)
            report = import_pairs_into(
                campaign=campaign,
                paths=options["paths"],
                dry_run=options["dry_run"],
                progress=output.terminal_progress("records"),
            )
            if report.rejected or options["dry_run"]:
                # Nothing of a refused import stays, the new campaign included.
                transaction.set_rollback(True)
        output.end_progress()
        if options["json"]:
            output.print_json(self.stdout, {"campaign": options["campaign"]} | report.as_json())
        else:
            self._say(report, options["campaign"], options["paths"])
        if report.rejected:
            raise SystemExit(1)

    def _new_campaign(self, options: dict[str, Any]) -> Campaign:
        slug = options["campaign"]
        try:
            return create_campaign(
                slug=slug,
                name=options["name"],
                raters_per_pair=options["raters_per_pair"],
                allows_tie=options["allow_ties"],
            )
        except (ValidationError, IntegrityError) as error:
            if made_meanwhile := _campaign(slug):
                return made_meanwhile
            if isinstance(error, IntegrityError):
                raise
            raise CommandError(
                "; ".join(
                    f"--{'campaign' if name == 'slug' else name}: {message}"
                    for name, messages in error.message_dict.items()
                    for message in messages
                )
            ) from error

    def _say(self, report: PairImportReport, slug: str, paths: list[Path]) -> None:
        if report.rejected:
            for line in output.problem_lines(report.problems, count=report.rejected):
                self.stderr.write(line)
            self.stderr.write(output.refusal(report.rejected))
            return
        self.stdout.write(
            f"{report.personas:,} personas, {report.rows:,} rows, {report.pairs:,} distinct pairs,"
            f" {report.repeats:,} repeats, {report.contradictions:,} contradictions"
        )
        for pair_id in report.contradictory_pairs[:LISTED_CONTRADICTIONS]:
            self.stdout.write(f"  {pair_id}: labelled both ways, imported once")
        if report.contradictions > LISTED_CONTRADICTIONS:
            more = report.contradictions - LISTED_CONTRADICTIONS
            self.stdout.write(f"  ... and {more:,} more (all with --json)")
        would = "would be" if report.dry_run else "were"
        if report.changed:
            self.stdout.write(
                f"{report.new_pairs:,} new pairs and {report.new_personas:,} new personas {would}"
                f" added to {slug}; {report.updated_pairs:,} pairs {would} given further prior"
                " labels."
            )
        else:
            self.stdout.write(f"All of it is in {slug} already: nothing changed.")
        for path in paths:
            if (path / "votes").is_dir():
                self.stdout.write(
                    f"The votes beside them come with `manage.py import_votes {path}"
                    f" --campaign {slug}`."
                )
