"""Releases: made from the newest aggregation, never changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from benchmark.formats import MANIFEST, sha256_file
from benchmark.jobs.recording import recorded
from benchmark.jobs.release import build_release, write_release
from benchmark.models import PairSet, Release, Run
from benchmark.services.workers import hand_over
from benchmark.tasks import run_release


class CannotRelease(Exception):
    """Why there is no release; ``code`` for pages, the message for people at a terminal."""

    def __init__(
        self,
        code: Literal["bad_version", "version_taken", "no_aggregation", "differs", "out_exists"],
        message: str,
    ) -> None:
        super().__init__(message)
        self.code = code


def start_release(*, pair_set: PairSet, version: str, guidelines: str) -> Release:
    """Queue the files of a new release; they are written when the transaction is committed."""
    release = _new_release(pair_set=pair_set, version=version, guidelines=guidelines)
    hand_over(run_release, release.job)
    return release


def export_release(*, pair_set: PairSet, version: str, guidelines: str, out: Path) -> Release:
    """Write the release into the folder ``out``, new or empty, here and now.

    A version that exists is written again from its aggregation and compared with what it was. A new
    one is made from the newest aggregation.
    """
    is_new = not out.exists()
    if not is_new and (not out.is_dir() or any(out.iterdir())):
        raise CannotRelease("out_exists", f"{out} exists already: give a new or empty folder.")
    release = (
        Release.objects.select_related("pair_set", "aggregation")
        .filter(pair_set=pair_set, version=version)
        .exclude(digest="")
        .first()
    )
    is_stored = release is not None
    if release is None:
        release = _new_release(pair_set=pair_set, version=version, guidelines=guidelines)
        recorded(release.job_id, build_release)
        release.refresh_from_db()
    # A folder that is there may be a mount point or somebody's working folder: it stays what it is.
    draft = out.with_name(f".{out.name}.draft") if is_new else out / "unfinished"
    shutil.rmtree(draft, ignore_errors=True)
    try:
        if is_stored:
            write_release(release, draft)
        else:
            shutil.copytree(release.folder, draft)
        if sha256_file(draft / MANIFEST) != release.digest:
            raise CannotRelease(
                "differs",
                f"Release {version} cannot be written again as it was: the data under it or the"
                " software changed. Use its archive instead.",
            )
        if is_new:
            draft.rename(out)
        else:
            for path in sorted(draft.iterdir(), key=lambda path: path.name == MANIFEST):
                path.rename(out / path.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return release


def _new_release(*, pair_set: PairSet, version: str, guidelines: str) -> Release:
    try:
        Release._meta.get_field("version").clean(version, None)
    except ValidationError as error:
        raise CannotRelease("bad_version", "; ".join(error.messages)) from error
    with transaction.atomic():
        aggregation = Run.objects.filter(pair_set=pair_set).aggregations().done()
        newest = aggregation.newest_first().first()
        if newest is None:
            raise CannotRelease(
                "no_aggregation", "There are no verdicts yet: run `manage.py aggregate` first."
            )
        # A version whose files were never completed is free again.
        Release.objects.filter(
            pair_set=pair_set, version=version, digest="", job__state=Run.State.FAILED
        ).delete()
        job = Run.objects.create(pair_set=pair_set, kind=Run.Kind.RELEASE, version=settings.VERSION)
        release = Release(
            pair_set=pair_set,
            version=version,
            guidelines=guidelines,
            aggregation=newest,
            job=job,
        )
        try:
            with transaction.atomic():
                release.save()
        except IntegrityError as error:
            raise CannotRelease(
                "version_taken", f"Version {version} exists already: releases never change."
            ) from error
    return release
