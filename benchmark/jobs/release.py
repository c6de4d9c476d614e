"""Verdicts into the files of a release.

The files depend on the release's aggregation alone: its verdicts, the judgements up to the newest
one that it counted, and the texts, which never change. Nothing in them says when or where they were
written, so writing them again gives the same bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import transaction

from benchmark import charts
from benchmark.formats import MANIFEST, sha256_file, zip_folder
from benchmark.jobs.release_card import card
from benchmark.jobs.release_files import (
    DIAGNOSIS,
    PAIRS,
    PERSONAS,
    TALLIES,
    VOTES,
    case_schema,
    write_json,
    write_table,
    write_text,
)
from benchmark.models import Release, Run, Tier
from benchmark.selectors import release_rows as rows

Progress = Callable[[int, int], None]
STEPS = 8
SHARD = "test-00000-of-00001"


def build_release(run: Run, *, progress: Progress) -> None:
    """Write the run's release into its folder and archive; complete, or not there at all."""
    release = Release.objects.select_related("pair_set", "aggregation").get(job=run)
    draft = release.folder.with_name(f".{release.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)  # of an interrupted attempt
    try:
        manifest = write_release(release, draft, progress=progress)
        zip_folder(draft, release.archive, prefix=f"{release.name}/")
        shutil.rmtree(release.folder, ignore_errors=True)
        draft.rename(release.folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        release.archive.unlink(missing_ok=True)
        raise
    release.digest = sha256_file(release.folder / MANIFEST)
    release.counts = manifest["counts"]
    release.size = release.archive.stat().st_size
    release.save(update_fields=["digest", "counts", "size"])
    run.total_steps = STEPS
    run.result = {"version": release.version, "digest": release.digest}


def write_release(
    release: Release, folder: Path, *, progress: Progress = lambda done, total: None
) -> dict[str, Any]:
    """Write all files of the release into a new folder; the manifest."""
    folder.mkdir(parents=True)
    aggregation = release.aggregation
    with transaction.atomic():  # cursors on the server live in a transaction
        counts: dict[str, Any] = {"cases": _write_cases(release, folder)}
        progress(1, STEPS)
        for step, (name, schema, source) in enumerate(
            (
                ("pairs", PAIRS, rows.pairs),
                ("personas", PERSONAS, rows.personas),
                ("tallies", TALLIES, rows.tallies),
                ("votes", VOTES, rows.votes),
                ("diagnosis", DIAGNOSIS, rows.diagnosis),
            ),
            start=2,
        ):
            counts[name] = write_table(folder / name / name, schema, source(release))
            progress(step, STEPS)
        people = rows.raters(release)
    counts |= {"raters": len(people), "simulated_raters": sum(people.values())}
    write_json(folder / "policy.json", aggregation.policy)
    write_json(folder / "agreement.json", aggregation.result["agreement"])
    write_text(folder / "GUIDELINES.md", release.guidelines)
    for name, svg in charts.release_figures(aggregation.result).items():
        write_text(folder / "figures" / f"{name}.svg", svg)
    progress(7, STEPS)
    write_text(folder / "README.md", card(release, counts=counts))
    manifest = {
        "name": release.pair_set.slug,
        "version": release.version,
        "counts": counts,
        "statuses": aggregation.result["statuses"],
        "adjudicated": aggregation.result["adjudicated"],
        "left_out": aggregation.result["left_out"],
        "data_digest": aggregation.digest,
        "policy": aggregation.policy["name"],
        "last_judgement": aggregation.last_judgement,
        "simulated": counts["simulated_raters"] > 0,
        "software": {"personafeedback": aggregation.version},
        "files": _checksums(folder),
    }
    write_json(folder / MANIFEST, manifest)
    progress(STEPS, STEPS)
    return manifest


def _write_cases(release: Release, folder: Path) -> dict[str, int]:
    """``data/<tier>/test-00000-of-00001`` for each tier, the empty ones too; rows a tier."""
    schema = case_schema(rows.criteria_keys(release))
    return {
        tier: write_table(folder / "data" / tier / SHARD, schema, rows.cases(release, tier))
        for tier in Tier.values
    }


def _checksums(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        path.relative_to(folder).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": sha256_file(path),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
