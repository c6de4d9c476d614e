"""Bring votes in that were made elsewhere: JSON lines, CSV, Parquet or a release."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management import output
from annotation.models import Campaign
from annotation.services.campaigns import SeatsOnLease, import_votes_into


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH")
        parser.add_argument("--campaign", required=True, metavar="SLUG")
        parser.add_argument(
            "--simulated", action="store_true", help="mark new raters as simulated, not people"
        )
        parser.add_argument("--dry-run", action="store_true", help="check and report only")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["campaign"]
        campaign = Campaign.objects.filter(pair_set__slug=slug).select_related("pair_set").first()
        if campaign is None:
            raise CommandError(f"There is no campaign {slug}: import its pairs first.")
        try:
            report = import_votes_into(
                campaign=campaign,
                path=options["path"],
                is_simulated=options["simulated"],
                dry_run=options["dry_run"],
                progress=output.terminal_progress("votes"),
            )
        except SeatsOnLease as error:
            raise CommandError(str(error)) from error
        output.end_progress()
        if options["json"]:
            output.print_json(self.stdout, {"campaign": slug} | report.as_json())
        elif report.rejected:
            for line in output.problem_lines(report.problems, count=report.rejected):
                self.stderr.write(line)
            self.stderr.write(output.refusal(report.rejected))
        else:
            self.stdout.write(
                f"{report.votes:,} votes by {report.raters:,} raters on {report.pairs:,} pairs,"
                f" {report.repeats:,} repeated rows"
            )
            would = "would be" if report.dry_run else "were"
            self.stdout.write(
                f"{report.new_judgements:,} judgements {would} added to {slug}."
                if report.changed
                else f"All of them are in {slug} already: nothing changed."
            )
        if report.rejected:
            raise SystemExit(1)
