"""`aggregate` and `export_release`, with a worker and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from annotation.models import Campaign, Event
from benchmark.models import Release, Run
from benchmark.stats.policy import policy_named
from tests.annotation.management.calling import Called, call, manage
from tests.benchmark.jobs.releasing import files_of, judged
from tests.benchmark.jobs.runs import aggregated

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return judged(tmp_path)


def test_aggregate_waits_for_the_worker_and_tells_what_it_found(
    campaign: Campaign, celery_worker: object
) -> None:
    found = call("aggregate", "cups")
    run = Run.objects.get(kind=Run.Kind.AGGREGATION)
    lines = found.out.splitlines()
    assert lines[:3] == [
        f"Run {run.pk}, policy personafeedback-v1: 6 pairs, 54 judgements",
        "  verdicts: 5 decided, 0 tied, 0 insufficient, 1 conflict, 0 withdrawn",
        "  tiers: 2 easy, 1 medium, 2 hard, 0 none",
    ]
    agreement = run.result["agreement"]["helpfulness"]
    value, (low, high) = agreement["fleiss"]["value"], agreement["fleiss"]["ci"]
    assert f"  helpfulness: Fleiss' kappa {value:.2f} [{low:.2f}, {high:.2f}]" in lines[3]
    assert f"observed agreement {agreement['percent_agreement']['value']:.2f}" in lines[3]
    assert lines[-1] == f"  digest {run.digest}"
    assert len(lines) == 6

    as_json = call("aggregate", "cups", policy="personalization-v1", json=True).json
    newest = Run.objects.aggregations().latest("id")
    assert as_json == {
        "run": newest.pk,
        "policy": policy_named("personalization-v1").as_json(),
        "digest": run.digest,
        "last_judgement": run.last_judgement,
        "version": run.version,
        **newest.result,
    }
    assert as_json["statuses"]["decided"] == 6


def test_aggregate_refuses_a_policy_that_does_not_exist(campaign: Campaign) -> None:
    with pytest.raises(CommandError, match="there are personafeedback-v1") as refusal:
        call("aggregate", "cups", policy="coin-toss")
    assert "\n" not in str(refusal.value)
    assert not Run.objects.exists()


def test_aggregate_without_a_worker_says_what_to_start(
    campaign: Campaign, empty_queue: None
) -> None:
    found = manage("aggregate", "cups")
    run = Run.objects.get(kind=Run.Kind.AGGREGATION)
    assert (found.code, found.out) == (1, "")
    assert found.err.splitlines() == [
        f"CommandError: No worker answers, so run {run.pk} waits: start one with"
        " `make services` or `celery -A annotation worker`."
    ]
    assert run.state == Run.State.QUEUED


def export(out: Path, version: str, **options: bool) -> Called:
    return call("export_release", "cups", "--version", version, "--out", out, **options)


def test_export_release_writes_the_folder(campaign: Campaign, tmp_path: Path) -> None:
    run = aggregated(campaign.pair_set)
    out = tmp_path / "out"
    found = export(out, "1.0.0")
    release = Release.objects.get()
    assert found.out.splitlines() == [
        f"{out}: release 1.0.0 of run {run.pk}: 2 easy, 1 medium, 2 hard cases, 108 votes",
        f"manifest {release.digest}",
    ]
    assert Event.objects.filter(action="release:exported").count() == 1

    as_json = export(tmp_path / "two", "1.0.0", json=True).json
    manifest = json.loads((out / "MANIFEST.json").read_text("utf-8"))
    assert as_json == {
        "campaign": "cups",
        "version": "1.0.0",
        "out": str(tmp_path / "two"),
        "digest": release.digest,
        "data_digest": run.digest,
        "run": run.pk,
        "counts": manifest["counts"],
    }
    assert files_of(tmp_path / "two") == files_of(out)


def test_export_release_refuses_in_one_line(campaign: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(CommandError, match=r"no verdicts yet: run `manage\.py aggregate` first"):
        export(out, "1.0.0")
    aggregated(campaign.pair_set)
    with pytest.raises(CommandError, match="Use letters, digits"):
        export(out, "../1")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CommandError, match="exists already: give a new or empty folder"):
        export(tmp_path / "file", "1.0.0")

    found = manage("export_release", "cups", "--version", "1.0.0", "--out", tmp_path / "file" / "x")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("CommandError: The release cannot be written: ")
    assert len(found.err.splitlines()) == 1
    assert not out.exists()
