"""How a campaign is judged: what raters are asked, the checks among their pairs, the guidelines."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from annotation.models import Campaign, Event, Guideline, User

SWITCHES = ("allows_skip", "asks_confidence", "asks_reasons", "shows_gold_accuracy")

# Number -> least and most.
LIMITS: dict[str, tuple[int, int]] = {
    "undo_seconds": (0, 3_600),
    "idle_seconds": (10, 600),
    "lease_seconds": (30, 24 * 3_600),
    "gold_percent": (0, 50),
    "repeat_percent": (0, 50),
    "gold_pass_percent": (0, 100),
    "gold_minimum": (1, 100),
    "qualification_pass_percent": (0, 100),
    "qualification_tries": (1, 10),
}
# Gold and repeats together: what is left are pairs that count.
CHECKS_LIMIT = 50

GUIDELINES_LIMIT = 100_000


class CannotPublish(Exception):
    """Another version was published since this one was begun."""


def update_settings(
    *, campaign: Campaign, values: Mapping[str, int | bool], actor: User
) -> dict[str, list[int | bool]]:
    """Change what differs; each changed setting with its value before and after.

    Raises ValueError for settings that there are not, or values that are out of bounds.
    """
    _check(values)
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        changed: dict[str, list[int | bool]] = {
            name: [getattr(locked, name), value]
            for name, value in values.items()
            if getattr(locked, name) != value
        }
        for name, (_, value) in changed.items():
            setattr(locked, name, value)
            setattr(campaign, name, value)
        if changed:
            locked.save(update_fields=list(changed))
            Event.objects.create(
                campaign=campaign, actor=actor, action="settings:changed", data={"changed": changed}
            )
    return changed


def publish_guidelines(
    *, campaign: Campaign, body: str, actor: User, after: int | None = None
) -> Guideline:
    """The next version, which raters must acknowledge before they go on.

    With ``after``, the version that its author has read, raises CannotPublish if that is not the
    newest any more.
    """
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        newest = locked.guidelines.order_by("-version").first()
        before = newest.version if newest else 0
        if after is not None and after != before:
            raise CannotPublish(f"version {before} was published after version {after}")
        guideline = Guideline.objects.create(campaign=locked, version=before + 1, body=body)
        locked.guideline_version = campaign.guideline_version = guideline.version
        locked.save(update_fields=["guideline_version"])
        Event.objects.create(
            campaign=campaign,
            actor=actor,
            action="guidelines:published",
            data={"version": guideline.version},
        )
    return guideline


def _check(values: Mapping[str, int | bool]) -> None:
    for name, value in values.items():
        if name in SWITCHES:
            continue
        low, high = LIMITS.get(name, (None, None))
        if low is None or high is None or not low <= value <= high:
            raise ValueError(f"{name}: {value}")
    if values.get("gold_percent", 0) + values.get("repeat_percent", 0) > CHECKS_LIMIT:
        raise ValueError("more checks than pairs that count")
