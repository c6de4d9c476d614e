"""Times of an answer: as measured where that is possible, never beyond what the server knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.domain.timing import FIELDS, Timing, read_timing

SINCE = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = SINCE + timedelta(minutes=10)


def after(seconds: float) -> datetime:
    return SINCE + timedelta(seconds=seconds)


def read(now: datetime = NOW, *, is_correction: bool = False, **spans: Any) -> Timing:
    return read_timing(
        {f"{name}_ms": str(value) for name, value in spans.items()},
        since=SINCE,
        now=now,
        is_correction=is_correction,
    )


# What the browser says, and the moments after the claim: opened, first action, submitted, active.
REFERENCE = [
    ({}, (0, None, 600, None)),
    ({"opened": 42_500}, (557.5, None, 600, None)),
    ({"opened": 60_000, "first": 5_000, "active": 41_250}, (540, 545, 600, 41.25)),
    # Ten seconds offline: all of it lies so much earlier.
    ({"opened": 60_000, "first": 0, "active": 60_000, "waited": 10_000}, (530, 530, 590, 60)),
    ({"opened": 0, "first": 0, "active": 0, "waited": 0}, (600, 600, 600, 0)),
    # Only that it waited.
    ({"waited": 10_000}, (0, None, 590, None)),
    # It cannot have been open before it was claimed, nor submitted.
    ({"opened": 601_000}, (0, None, 600, None)),
    ({"waited": 601_000, "opened": 5_000, "active": 5_000}, (0, None, 0, 0)),
    # Nor active for longer than it was open, nor touched after it was sent.
    ({"opened": 60_000, "active": 60_001}, (540, None, 600, 60)),
    ({"opened": 60_000, "first": 60_001}, (540, 600, 600, None)),
    # The first action and active time are parts of a span that nobody has given.
    ({"first": 5_000, "active": 5_000}, (0, None, 600, None)),
    # A page that was open for 100 days is believed, for as long as the seat was held.
    ({"opened": 100 * 86_400_000, "active": 3_000}, (0, None, 600, 3)),
]


@pytest.mark.parametrize(("spans", "expected"), REFERENCE)
def test_reference_cases(spans: dict[str, int], expected: tuple[float | None, ...]) -> None:
    opened, first, submitted, active = expected
    assert opened is not None
    assert submitted is not None
    timing = read(**spans)
    assert timing == Timing(
        opened_at=after(opened),
        first_action_at=None if first is None else after(first),
        submitted_at=after(submitted),
        active_seconds=active,
    )
    assert timing.seconds == submitted - opened


@pytest.mark.parametrize(
    "junk",
    [
        *("", "-1", "+5", "1.5", "1e3", "0x10", " 5", "5 ", "5\x00", "NaN", "Infinity", "null"),
        *("９９", "٣", "²", "五", "𝟗", "१२"),
        *("9" * 11, "9" * 5_000, "10000000000", str(100 * 86_400_000 + 1), "1_000", "\udcff"),
    ],
)
@pytest.mark.parametrize("field", FIELDS)
def test_what_is_no_span_is_no_span(field: str, junk: str) -> None:
    spans = {"opened_ms": "60000", "first_ms": "5000", "active_ms": "40000", "waited_ms": "10000"}
    with_junk = read_timing(spans | {field: junk}, since=SINCE, now=NOW)
    del spans[field]
    assert with_junk == read_timing(spans, since=SINCE, now=NOW)


def test_a_correction_without_spans_takes_no_time() -> None:
    timing = read(is_correction=True)
    assert (timing.opened_at, timing.submitted_at, timing.seconds) == (NOW, NOW, 0)
    assert timing.active_seconds is None
    waited = read(is_correction=True, waited=30_000)
    assert (waited.opened_at, waited.submitted_at) == (after(570), after(570))


def test_a_correction_with_spans_takes_what_it_took() -> None:
    timing = read(is_correction=True, opened=8_000, first=1_000, active=7_000)
    assert (timing.seconds, timing.active_seconds) == (8, 7)
    assert timing.first_action_at == after(593)


def test_clocks_of_the_server_that_run_backwards() -> None:
    """Two machines may differ: then the answer came the moment when the seat was claimed."""
    timing = read(SINCE - timedelta(seconds=2), opened=5_000, active=5_000)
    assert (timing.opened_at, timing.submitted_at, timing.active_seconds) == (SINCE, SINCE, 0)


moments = st.integers(-(10**15), 10**16).map(lambda number: SINCE + timedelta(microseconds=number))
texts = st.one_of(
    st.integers(0, 2 * 10**10).map(str),
    st.integers(-(10**12), 10**12).map(str),
    st.text(max_size=12),
    st.text(alphabet="0123456789", max_size=12),
    st.text(alphabet="0１２٣४²", max_size=6),
)


@given(
    since=moments,
    now=moments,
    spans=st.dictionaries(st.sampled_from([*FIELDS, "clock", ""]), texts),
    is_correction=st.booleans(),
)
@example(since=SINCE, now=SINCE, spans=dict.fromkeys(FIELDS, "8640000000"), is_correction=False)
@example(since=SINCE, now=NOW, spans=dict.fromkeys(FIELDS, "0"), is_correction=True)
def test_whatever_comes_the_order_holds(
    since: datetime, now: datetime, spans: dict[str, str], is_correction: bool
) -> None:
    timing = read_timing(spans, since=since, now=now, is_correction=is_correction)
    assert since <= timing.opened_at <= timing.submitted_at <= max(since, now)
    if timing.first_action_at is not None:
        assert timing.opened_at <= timing.first_action_at <= timing.submitted_at
    if timing.active_seconds is not None:
        assert 0 <= timing.active_seconds <= timing.seconds
    if is_correction and not {"opened_ms"} & set(spans):
        assert timing.seconds == 0
