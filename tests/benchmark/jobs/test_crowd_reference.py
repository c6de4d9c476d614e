"""Real crowd votes through the whole line: the reference values come out everywhere."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Campaign
from annotation.services.campaigns import import_pairs_into, import_votes_into
from benchmark.jobs.release import write_release
from benchmark.models import Release, Run
from benchmark.selectors.tallies import live_patterns
from benchmark.stats.overview import overview
from benchmark.stats.policy import PERSONAFEEDBACK_V1
from tests.benchmark.jobs.runs import aggregated
from tests.conftest import shared_data
from tests.factories import make_campaign, pair_row, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

CRITERIA = ("helpfulness", "personalization")


def crowd_votes(name: str, first: str) -> Iterator[dict[str, Any]]:
    """Votes of a public set as votes on both criteria; ``first`` is the label that becomes A."""
    with shared_data("agreement", f"{name}_label.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for criterion in CRITERIA:
                yield {
                    "pair_id": f"item-{row['item']}",
                    "rater": f"worker-{row['worker']}",
                    "criterion": criterion,
                    "choice": "A" if row["label"] == first else "B",
                }


def crowd_campaign(folder: Path, name: str, first: str) -> Campaign:
    votes = list(crowd_votes(name, first))
    campaign = make_campaign(name, raters_per_pair=10)
    items = sorted({row["pair_id"] for row in votes})
    pairs = [pair_row(number, pair_id=item) for number, item in enumerate(items)]
    for path, read in (
        (write_jsonl(folder / "pairs.jsonl", pairs), import_pairs_into),
        (write_jsonl(folder / "votes.jsonl", votes), import_votes_into),
    ):
        given = {"paths": [path]} if read is import_pairs_into else {"path": path}
        report = read(campaign=campaign, **given)  # type: ignore[operator]
        assert not report.problems
    return campaign


def check(report: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, name in (("fleiss", "fleiss_gwet"), ("randolph", "randolph"), ("ac1", "ac1")):
        assert report[key]["value"] == pytest.approx(expected[name]["value"], abs=1e-9)
        assert report[key]["se"] == pytest.approx(expected[name]["se"], abs=1e-9)
        assert report[key]["ci"] == pytest.approx(expected[name]["ci95"], abs=1e-9)
    for key, name in (
        ("percent_agreement", "P_o"),
        ("alpha", "alpha_nominal"),
        ("conger", "conger"),
    ):
        assert report[key]["value"] == pytest.approx(expected[name], abs=1e-9)


@pytest.mark.parametrize(("name", "first"), [("rte", "0"), ("temporal", "1")])
def test_reference_values_everywhere(tmp_path: Path, name: str, first: str) -> None:
    expected = json.loads(shared_data("agreement", "expected.json").read_text("utf-8"))
    expected = expected["sets"][name]
    campaign = crowd_campaign(tmp_path, name, first)
    run = aggregated(campaign.pair_set)
    live: Any = overview(
        live_patterns(campaign.pair_set),
        policy=PERSONAFEEDBACK_V1,
        categories=campaign.pair_set.categories,
        engine="own",
    )
    job = Run.objects.create(pair_set=campaign.pair_set, kind=Run.Kind.RELEASE, version="1")
    release = Release.objects.create(
        pair_set=campaign.pair_set, version="1.0.0", aggregation=run, job=job
    )
    out = tmp_path / "out"
    write_release(release, out)
    released = json.loads((out / "agreement.json").read_text("utf-8"))
    said = io.StringIO()
    call_command("agreement", str(out), json=True, stdout=said)
    command = json.loads(said.getvalue())["criteria"]
    for key in CRITERIA:
        # The live page does not know who voted, so Conger's kappa is the run's.
        live["agreement"][key]["conger"] = run.result["agreement"][key]["conger"]
        for report in (run.result["agreement"], live["agreement"], released, command):
            check(report[key], expected)
        majority = command[key]["majority"]
        assert (majority["decided"], majority["tied"], majority["insufficient"]) == (
            *(expected["majority"]["decided"], expected["majority"]["ties"]),
            0,
        )
    assert run.result["statuses"]["tied"] == expected["majority"]["ties"]
