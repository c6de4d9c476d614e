"""Count all votes again and compare with the tallies; --repair sets wrong ones right."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import PairSet
from benchmark.services.tallies import rebuild_tallies


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--repair", action="store_true")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        pair_set = PairSet.objects.filter(slug=options["slug"]).first()
        if pair_set is None:
            raise CommandError(f"There is no campaign {options['slug']}.")
        differences = rebuild_tallies(pair_set=pair_set, repair=options["repair"])
        if options["json"]:
            found = [asdict(difference) for difference in differences]
            self.stdout.write(json.dumps({"differences": found, "repaired": options["repair"]}))
        else:
            for difference in differences:
                self.stdout.write(
                    f"{difference.pair_id} {difference.criterion}: stored {difference.stored},"
                    f" counted {difference.counted} (A, B, tie, skip)"
                )
            self.stdout.write(
                f"{len(differences):,} tallies differ from the votes"
                + (": repaired." if differences and options["repair"] else ".")
            )
        if differences and not options["repair"]:
            raise SystemExit(1)
