"""Bring training, qualification and gold pairs in: a file of pairs with their expected answers.

Beside the columns of a pairs file it has "use" (training, qualification or gold), a column
"expected_<criterion>" (A or B) for at least one criterion, and "explanation" (Markdown, which
raters see after a training answer).
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management import output
from annotation.models import Campaign
from annotation.services.check_imports import import_checks


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH")
        parser.add_argument("--campaign", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="check and report only")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["campaign"]
        campaign = Campaign.objects.filter(pair_set__slug=slug).select_related("pair_set").first()
        if campaign is None:
            raise CommandError(f"There is no campaign {slug}: import its pairs first.")
        report = import_checks(campaign=campaign, path=options["path"], dry_run=options["dry_run"])
        if options["json"]:
            output.print_json(self.stdout, {"campaign": slug} | report.as_json())
        elif report.rejected:
            for line in output.problem_lines(report.problems, count=report.rejected):
                self.stderr.write(line)
            self.stderr.write(output.refusal(report.rejected))
        else:
            self.stdout.write(
                f"{report.rows:,} rows: {report.training:,} training,"
                f" {report.qualification:,} qualification, {report.gold:,} gold"
            )
            would = "would be" if report.dry_run else "were"
            self.stdout.write(
                f"{report.new_checks:,} new checks {would} added to {slug}."
                if report.changed
                else f"All of them are in {slug} already: nothing changed."
            )
        if report.rejected:
            raise SystemExit(1)
