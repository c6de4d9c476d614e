"""Times of an answer, from what a browser measured and what the server knows.

A browser's clock may be wrong by a day, and anybody can send any number. So a page sends spans
alone, in milliseconds by its monotonic clock, and the server lays them back from the moment at
which they arrive, never beyond what it knows to be possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

# How the fields of a form are called, and what they say.
OPENED = "opened_ms"  # from the pair's being on screen until the answer was given
FIRST_ACTION = "first_ms"  # from the pair's being on screen until the first choice or word
ACTIVE = "active_ms"  # of that, with the page in sight and somebody at work
WAITED = "waited_ms"  # from the answer's being given until it was sent: offline, signed out
FIELDS = (OPENED, FIRST_ACTION, ACTIVE, WAITED)


@dataclass(frozen=True, slots=True)
class Timing:
    """claimed_at <= opened_at <= first_action_at <= submitted_at <= the moment of arrival.

    `seconds` is the span from opening to submitting, `active_seconds` at most that.
    """

    opened_at: datetime
    first_action_at: datetime | None
    submitted_at: datetime
    active_seconds: float | None

    @property
    def seconds(self) -> float:
        return (self.submitted_at - self.opened_at).total_seconds()


def read_timing(
    spans: Mapping[str, str], *, since: datetime, now: datetime, is_correction: bool = False
) -> Timing:
    """``spans`` by the names above, in any shape; ``since`` is when the seat was claimed.

    Without them (no scripts) an answer took from ``since`` until ``now``, and a correction, whose
    beginning nobody knows, no time; for one, ``since`` is when the answer before it was given.
    """
    now = max(now, since)
    waited = _span(spans.get(WAITED))
    submitted_at = max(since, now - waited) if waited is not None else now
    opened = _span(spans.get(OPENED))
    if opened is not None:
        opened_at = max(since, submitted_at - opened)
    else:
        opened_at = submitted_at if is_correction else since
    first = _span(spans.get(FIRST_ACTION)) if opened is not None else None
    active = _span(spans.get(ACTIVE)) if opened is not None else None
    seconds = (submitted_at - opened_at).total_seconds()
    return Timing(
        opened_at=opened_at,
        first_action_at=None if first is None else min(opened_at + first, submitted_at),
        submitted_at=submitted_at,
        active_seconds=None if active is None else min(active.total_seconds(), seconds),
    )


def total(before: float | None, more: float | None) -> float | None:
    """Seconds of an answer and of its correction; None where one of them is not known."""
    return None if before is None or more is None else before + more


def _span(value: str | None) -> timedelta | None:
    """None for what is no span of at most 100 days."""
    if not value or not value.isascii() or not value.isdigit() or len(value) > 10:
        return None
    milliseconds = int(value)
    return timedelta(milliseconds=milliseconds) if milliseconds <= 100 * 86_400_000 else None
