"""How fast somebody works: over what is known, and None with a reason where nothing is."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.pace import (
    EDGES,
    NO_ANSWERS,
    NO_TIMES,
    Day,
    Pace,
    Timed,
    by_day,
    pace_of,
    time_per_pair,
)

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def timed(active: float | None = None, seconds: float | None = None, hours: float = 0) -> Timed:
    return Timed(START + timedelta(hours=hours), seconds, active)


def test_pace_is_pairs_an_hour_of_active_time() -> None:
    # Two minutes and four: three minutes a pair, twenty pairs an hour. Breaks do not count.
    assert pace_of([timed(120, 9_999), timed(240, 99_999)]) == Pace(20.0, 2)


def test_answers_without_active_time_are_left_out_of_the_pace() -> None:
    assert pace_of([timed(120), timed(None, 5_000), timed(240)]) == Pace(20.0, 2)


def test_an_unknown_pace_has_a_reason() -> None:
    assert pace_of([]) == Pace(None, 0, NO_ANSWERS)
    assert pace_of([timed(None, 60)]) == Pace(None, 0, NO_TIMES)
    assert pace_of([timed(0.0, 60)]) == Pace(None, 0, NO_TIMES)


def test_what_is_left_takes_as_long_as_at_this_pace() -> None:
    assert pace_of([timed(120), timed(240)]).seconds_for(7) == 7 * 180
    assert pace_of([timed(120)]).seconds_for(0) == 0
    assert pace_of([]).seconds_for(7) is None


def test_the_median_is_of_active_time_where_any_is_known() -> None:
    found = time_per_pair([timed(10), timed(None, 9_999), timed(40), timed(100)])
    assert (found.median, found.is_active, found.n) == (40, True, 3)
    assert [(b.low, b.high) for b in found.bins if b.n] == [(0, 15), (30, 60), (60, 120)]
    assert (found.bins[-1].low, found.bins[-1].high) == (600, None)


def test_without_active_time_the_median_is_of_all_of_it() -> None:
    found = time_per_pair([timed(None, 20), timed(None, 30), timed(None, None)])
    assert (found.median, found.is_active, found.n) == (25, False, 2)


def test_without_times_there_is_no_median_and_a_reason() -> None:
    for answers, reason in (([], NO_ANSWERS), ([timed()], NO_TIMES)):
        found = time_per_pair(answers)
        assert (found.median, found.n, found.bins, found.reason) == (None, 0, [], reason)


@given(st.lists(st.floats(0, 10_000), min_size=1, max_size=30))
def test_every_time_is_in_one_bin(times: list[float]) -> None:
    bins = time_per_pair([timed(time) for time in times]).bins
    assert sum(found.n for found in bins) == len(times)
    assert [found.low for found in bins] == list(EDGES)
    for found in bins:
        assert found.n == sum(found.low <= t < (found.high or 10_001) for t in times)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", [(3, 1), (2, 2)]),
        ("Asia/Shanghai", [(3, 2), (2, 1)]),  # 16:30 there is the next day's half past midnight
    ],
)
def test_a_day_begins_where_the_zone_says(zone: str, expected: list[tuple[int, int]]) -> None:
    answers = [timed(30), timed(hours=7.5), timed(60, hours=16)]
    days = by_day(answers, zone=ZoneInfo(zone), days=14)
    assert [(day.date.day, day.n) for day in days] == expected


def test_the_newest_days_with_work_are_kept() -> None:
    answers = [timed(10, hours=48 * n) for n in range(20)]
    days = by_day(answers, zone=UTC, days=14)
    assert len(days) == 14
    assert days[0] == Day(date(2026, 4, 9), 1, 10)
    assert days[-1].date == date(2026, 3, 14)


def test_active_time_of_a_day_is_none_where_it_is_known_of_nothing() -> None:
    answers = [timed(10), timed(None), timed(None, hours=24), timed(20)]
    newer, older = by_day(answers, zone=UTC, days=2)
    assert (newer.n, newer.active_seconds) == (1, None)
    assert (older.n, older.active_seconds) == (3, 30)
