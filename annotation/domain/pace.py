"""How fast somebody works, from the times of their answers.

Undefined numbers are None with a reason, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import pairwise
from statistics import median

NO_ANSWERS = "no_answers"
NO_TIMES = "no_times"

# Lower edges, in seconds, of the bins of times per pair; the last one is open.
EDGES = (0, 15, 30, 60, 120, 300, 600)


@dataclass(frozen=True, slots=True)
class Timed:
    """When an answer was stored first, and what it took; None when that is not known."""

    at: datetime
    seconds: float | None
    active_seconds: float | None


@dataclass(frozen=True, slots=True)
class Pace:
    """Pairs an hour of active time, over the ``n`` answers whose active time is known."""

    per_hour: float | None
    n: int
    reason: str = ""

    def seconds_for(self, pairs: int) -> float | None:
        """How long so many pairs take at this pace."""
        return None if self.per_hour is None else pairs * 3600 / self.per_hour


def pace_of(answers: Sequence[Timed]) -> Pace:
    times = _active(answers)
    total = sum(times)
    if not answers:
        return Pace(None, 0, NO_ANSWERS)
    if total <= 0:
        return Pace(None, 0, NO_TIMES)
    return Pace(len(times) * 3600 / total, len(times))


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers that took at least ``low`` seconds and less than ``high``; None for no upper edge."""

    low: int
    high: int | None
    n: int


@dataclass(frozen=True, slots=True)
class TimePerPair:
    """Over the ``n`` answers with a known time: active, or if that is known of none, all of it."""

    median: float | None
    is_active: bool
    n: int
    bins: list[Bin]
    reason: str = ""


def time_per_pair(answers: Sequence[Timed]) -> TimePerPair:
    active = _active(answers)
    times = active or [answer.seconds for answer in answers if answer.seconds is not None]
    if not times:
        return TimePerPair(None, False, 0, [], NO_TIMES if answers else NO_ANSWERS)
    edges: list[tuple[int, int | None]] = [*pairwise(EDGES), (EDGES[-1], None)]
    bins = [
        Bin(low, high, sum(1 for time in times if low <= time and (high is None or time < high)))
        for low, high in edges
    ]
    return TimePerPair(median(times), bool(active), len(times), bins)


@dataclass(frozen=True, slots=True)
class Day:
    date: date
    n: int
    # Of those answers whose active time is known; None when it is known of none.
    active_seconds: float | None


def by_day(answers: Iterable[Timed], *, zone: tzinfo, days: int) -> list[Day]:
    """The last ``days`` days with any answer, the newest first; days begin in ``zone``."""
    counts: Counter[date] = Counter()
    active: dict[date, float] = {}
    for answer in answers:
        day = answer.at.astimezone(zone).date()
        counts[day] += 1
        if answer.active_seconds is not None:
            active[day] = active.get(day, 0.0) + answer.active_seconds
    newest = sorted(counts, reverse=True)[:days]
    return [Day(day, counts[day], active.get(day)) for day in newest]


def _active(answers: Iterable[Timed]) -> list[float]:
    return [answer.active_seconds for answer in answers if answer.active_seconds is not None]
