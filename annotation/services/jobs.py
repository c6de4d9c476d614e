"""Jobs that a lead starts: the benchmark's services, with an event."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from annotation.models import Campaign, Event, User
from annotation.selectors.campaigns import guidelines_read, newest_guideline
from benchmark.models import Release, Run
from benchmark.services import aggregation, releases
from benchmark.services.releases import CannotRelease

__all__ = ["CannotRelease", "export_release", "start_aggregation", "start_release"]


def start_aggregation(
    *, campaign: Campaign, policy: str = aggregation.DEFAULT_POLICY, actor: User | None = None
) -> Run:
    with transaction.atomic():
        run = aggregation.start_aggregation(pair_set=campaign.pair_set, policy=policy)
        Event.objects.create(
            campaign=campaign, actor=actor, action="aggregation:started", data={"run": run.pk}
        )
    return run


def start_release(*, campaign: Campaign, version: str, actor: User | None = None) -> Release:
    """Raises CannotRelease with a code: bad_version, version_taken or no_aggregation."""
    with transaction.atomic():
        release = releases.start_release(
            pair_set=campaign.pair_set, version=version, guidelines=_guidelines(campaign)
        )
        Event.objects.create(
            campaign=campaign,
            actor=actor,
            action="release:started",
            data={"version": version, "run": release.job_id},
        )
    return release


def export_release(*, campaign: Campaign, version: str, out: Path) -> Release:
    """Write the release into ``out``, made first if it is new. Raises CannotRelease."""
    release = releases.export_release(
        pair_set=campaign.pair_set, version=version, guidelines=_guidelines(campaign), out=out
    )
    Event.objects.create(campaign=campaign, action="release:exported", data={"version": version})
    return release


def _guidelines(campaign: Campaign) -> str:
    """What raters have read: each version that one of them has acknowledged, else the newest."""
    read = list(guidelines_read(campaign))
    newest = newest_guideline(campaign)
    if not read and newest:
        read = [newest]
    if len(read) < 2:
        return read[0].body if read else ""
    return "\n\n".join(
        f"# Version {each.version}, published {each.created_at:%Y-%m-%d}\n\n{each.body.strip()}"
        for each in read
    )
