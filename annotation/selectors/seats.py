"""Seats as the task page needs them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Sum

from annotation.domain.scoring import Score
from annotation.models import Assignment, CheckAnswer, CheckItem, Flag


def flags_of(seat: Assignment) -> list[Flag]:
    """What the rater has flagged of this pair and nobody has resolved."""
    return list(
        Flag.objects.filter(assignment=seat, resolved_at=None).order_by("id").only("target", "kind")
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a pair stands in its round of training or qualification."""

    number: int
    items: int
    # Of the try before this one.
    before: Score | None


def stage_of(seat: Assignment) -> Stage:
    """Of a training or qualification seat."""
    assert seat.check_item is not None  # assignment_item_iff_known
    items = CheckItem.objects.filter(campaign=seat.campaign_id, purpose=seat.purpose)
    return Stage(
        number=items.filter(position__lte=seat.check_item.position).count(),
        items=items.count(),
        before=_score_of_try(seat, seat.attempt - 1) if seat.attempt > 1 else None,
    )


def _score_of_try(seat: Assignment, attempt: int) -> Score | None:
    found = (
        CheckAnswer.objects.current()
        .filter(
            assignment__membership=seat.membership_id,
            assignment__purpose=seat.purpose,
            assignment__attempt=attempt,
        )
        .aggregate(asked=Sum("asked"), right=Sum("right"))
    )
    return None if found["asked"] is None else Score(asked=found["asked"], right=found["right"])
