"""Write a release folder: cases by tier, votes, personas, tallies, card, checksums."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management import output
from annotation.models import Campaign
from annotation.services.jobs import CannotRelease, export_release
from benchmark.models import Tier


class Command(BaseCommand):
    help = __doc__

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Ours is the version of the release; Django's own --version gives way.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--version", dest="release_version", required=True, metavar="V")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = (
            Campaign.objects.filter(pair_set__slug=options["slug"])
            .select_related("pair_set")
            .first()
        )
        if campaign is None:
            raise CommandError(f"There is no campaign {options['slug']}.")
        try:
            release = export_release(
                campaign=campaign, version=options["release_version"], out=options["out"]
            )
        except CannotRelease as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The release cannot be written: {error}") from error
        if options["json"]:
            output.print_json(
                self.stdout,
                {
                    "campaign": options["slug"],
                    "version": release.version,
                    "out": str(options["out"]),
                    "digest": release.digest,
                    "data_digest": release.aggregation.digest,
                    "run": release.aggregation_id,
                    "counts": release.counts,
                },
            )
            return
        cases = release.counts["cases"]
        self.stdout.write(
            f"{options['out']}: release {release.version} of run {release.aggregation_id}: "
            + ", ".join(f"{cases[tier]:,} {tier}" for tier in Tier.values)
            + f" cases, {release.counts['votes']:,} votes"
        )
        self.stdout.write(f"manifest {release.digest}")
