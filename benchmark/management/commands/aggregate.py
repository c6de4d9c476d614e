"""Turn tallies into verdicts and tiers: a background job, waited for."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import PairSet, Run
from benchmark.services.aggregation import DEFAULT_POLICY, start_aggregation
from benchmark.services.workers import worker_answers
from benchmark.stats.codes import STATUSES, TIERS
from benchmark.stats.policy import PolicyError

POLL_SECONDS = 0.05
# A living worker takes a job at once; after this long we ask whether there is one.
PATIENCE_SECONDS = 10.0


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--policy", default=DEFAULT_POLICY, metavar="NAME")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        pair_set = PairSet.objects.filter(slug=options["slug"]).first()
        if pair_set is None:
            raise CommandError(f"There is no campaign {options['slug']}.")
        try:
            run = start_aggregation(pair_set=pair_set, policy=options["policy"])
        except PolicyError as error:
            raise CommandError(str(error)) from error
        run = self._wait(run)
        if run.state == Run.State.FAILED:
            raise CommandError(f"Run {run.pk} failed: {run.error}")
        if options["json"]:
            self.stdout.write(_json(run))
        else:
            self._say(run)

    def _wait(self, run: Run) -> Run:
        asked_at = time.monotonic()
        while not run.is_over:
            time.sleep(POLL_SECONDS)
            run.refresh_from_db()
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{run.get_state_display()} {run.percent} % ")
            if run.state != Run.State.QUEUED:
                continue
            if time.monotonic() - asked_at > PATIENCE_SECONDS:
                if not worker_answers():
                    raise CommandError(
                        f"No worker answers, so run {run.pk} waits: start one with"
                        " `make services` or `celery -A annotation worker`."
                    )
                asked_at = time.monotonic()
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        return run

    def _say(self, run: Run) -> None:
        result = run.result
        self.stdout.write(
            f"Run {run.pk}, policy {run.policy['name']}: {result['pairs']:,} pairs,"
            f" {result['judgements']:,} judgements"
        )
        for title, part, names in (
            ("verdicts", "statuses", STATUSES),
            ("tiers", "tiers", (*TIERS[1:], "none")),
        ):
            counts = ", ".join(f"{result[part][name]:,} {name}" for name in names)
            self.stdout.write(f"  {title}: {counts}")
        for key, report in result["agreement"].items():
            fleiss, observed = report["fleiss"], report["percent_agreement"]
            self.stdout.write(
                f"  {key}: Fleiss' kappa {_number(fleiss)}, observed agreement {_number(observed)},"
                f" Randolph {_number(report['randolph'])}"
            )
        self.stdout.write(f"  digest {run.digest}")


def _json(run: Run) -> str:
    return json.dumps(
        {
            "run": run.pk,
            "policy": run.policy,
            "digest": run.digest,
            "last_judgement": run.last_judgement,
            "version": run.version,
            **run.result,
        },
        ensure_ascii=False,
        allow_nan=False,
    )


def _number(value: dict[str, Any]) -> str:
    if value["value"] is None:
        return f"undefined ({value['reason']})"
    interval = value.get("ci")
    return f"{value['value']:.2f}" + (
        f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""
    )
