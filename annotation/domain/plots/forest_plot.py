"""A forest plot: one value with its interval a row, against a line of reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.domain.plots.scales import (
    GAP,
    WIDTH,
    Label,
    Text,
    Tick,
    Unit,
    domain_of,
    finite,
    fitted,
    label_column,
    rounded,
    scale,
)

# Up to so many rows there is room to breathe; above, rows are as low as their text allows.
_FEW = 30
_ROW, _DENSE_ROW = 22.0, 14.0
_VALUE = 44.0
_AXIS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """A value and its interval; ``expected`` is drawn as a small line to compare it with."""

    label: Text
    value: float | None
    low: float | None = None
    high: float | None = None
    expected: float | None = None
    n: int | None = None
    href: str = ""
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class ForestMark:
    """``at`` is None without a value, ``start`` and ``end`` without an interval."""

    label: Label
    value: float | None
    low: float | None
    high: float | None
    expected: float | None
    n: int | None
    href: str
    flagged: bool
    y: float
    at: float | None
    start: float | None
    end: float | None
    expected_at: float | None


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """``left`` and ``right`` are the edges of the plot, ``top`` and ``bottom`` of its lines."""

    label: str
    unit: Unit
    width: float
    height: float
    label_x: float
    left: float
    right: float
    top: float
    bottom: float
    reference: float | None
    ticks: tuple[Tick, ...]
    marks: tuple[ForestMark, ...]

    @property
    def has_links(self) -> bool:
        return any(mark.href for mark in self.marks)

    @property
    def is_long(self) -> bool:
        """Whether it scrolls in a box of its own, and has its axis above as well as below."""
        return len(self.marks) > _FEW


def forest(
    rows: Sequence[ForestRow],
    *,
    reference: float | None,
    label: Text,
    domain: tuple[float, float] | None = None,
    unit: Unit = "coefficient",
) -> ForestPlot:
    """Without a ``domain`` it holds every interval, expected value and the reference."""
    column = label_column(row.label for row in rows)
    numbers = [number for row in rows for number in (row.value, row.low, row.high, row.expected)]
    low, high = domain or domain_of(numbers, holding=[reference])
    along = scale(low, high, start=column + 2 * GAP, end=WIDTH - _VALUE)
    is_long = len(rows) > _FEW
    step = _DENSE_ROW if is_long else _ROW
    top = _AXIS if is_long else 0.0
    bottom = top + max(len(rows), 1) * step

    def place(number: float | None) -> float | None:
        known = finite(number)
        return None if known is None else along(known)

    marks = []
    for index, row in enumerate(rows):
        value = finite(row.value)
        start, end = (place(row.low), place(row.high)) if value is not None else (None, None)
        marks.append(
            ForestMark(
                label=fitted(row.label, width=column),
                value=value,
                low=finite(row.low),
                high=finite(row.high),
                expected=finite(row.expected),
                n=row.n,
                href=row.href,
                flagged=row.flagged,
                y=rounded(top + (index + 0.5) * step),
                at=place(value),
                start=start if end is not None else None,
                end=end if start is not None else None,
                expected_at=place(row.expected),
            )
        )
    return ForestPlot(
        label=str(label),
        unit=unit,
        width=WIDTH,
        height=bottom + _AXIS,
        label_x=column,
        left=along.start,
        right=along.end,
        top=top,
        bottom=bottom,
        reference=place(reference),
        ticks=along.ticks(4),
        marks=tuple(marks),
    )
