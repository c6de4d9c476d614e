"""Seats as the task page needs them."""

from __future__ import annotations

from annotation.models import Assignment, CheckItem, Flag


def flags_of(seat: Assignment) -> list[Flag]:
    """What the rater has flagged of this pair and nobody has resolved."""
    return list(
        Flag.objects.filter(assignment=seat, resolved_at=None).order_by("id").only("target", "kind")
    )


def stage_number(seat: Assignment) -> tuple[int, int]:
    """Of a training or qualification pair: its number in the round, and how many there are."""
    assert seat.check_item is not None  # assignment_item_iff_known
    items = CheckItem.objects.filter(campaign=seat.campaign_id, purpose=seat.purpose)
    return items.filter(position__lte=seat.check_item.position).count(), items.count()
