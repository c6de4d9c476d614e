"""Bars: lying, one a row, and standing, as a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.domain.plots.scales import (
    FONT,
    GAP,
    WIDTH,
    Label,
    Text,
    Unit,
    finite,
    fitted,
    label_column,
    rounded,
    scale,
    text_width,
)

_ROW = 26.0
_THICK = 14.0
_VALUE = 56.0
_HEIGHT = 150.0
# Room for four digits and a comma; less cannot hold numbers that are worth reading.
_FITTING = 26.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BarRow:
    """``value`` None is drawn as a dash; ``kind`` is "", easy, medium, hard, none, warn or bad.

    ``note`` is shown on hovering, beside the label.
    """

    label: Text
    value: float | None
    kind: str = ""
    note: Text = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle from (x, y); ``text_x`` and ``text_y`` are where its number stands."""

    label: Label
    value: float | None
    kind: str
    note: str
    href: str
    x: float
    y: float
    width: float
    height: float
    text_x: float
    text_y: float
    # Below the zero line the number stands on its other side.
    is_negative: bool = False
    # Whether the number has room above a standing bar.
    number_fits: bool = True


@dataclass(frozen=True, slots=True)
class BarChart:
    """``zero`` is the line that the bars begin at: x of lying bars, y of standing ones."""

    label: str
    unit: Unit
    width: float
    height: float
    label_x: float
    zero: float
    bars: tuple[Bar, ...]
    axis: str = ""

    @property
    def has_links(self) -> bool:
        return any(bar.href for bar in self.bars)


def bars(rows: Sequence[BarRow], *, label: Text, unit: Unit = "count") -> BarChart:
    """Lying bars from zero, as long as their values; negative ones run the other way."""
    column = label_column(row.label for row in rows)
    values = [number for row in rows if (number := finite(row.value)) is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    start = column + GAP + (_VALUE if low < 0 else 0)
    along = scale(low, high if high > low else 1.0, start=start, end=WIDTH - _VALUE)
    zero = along(0)
    drawn = []
    for index, row in enumerate(rows):
        value = finite(row.value)
        at = along(value or 0)
        negative = at < zero
        middle = index * _ROW + _ROW / 2
        drawn.append(
            Bar(
                label=fitted(row.label, width=column),
                value=value,
                kind=row.kind,
                note=str(row.note),
                href=row.href,
                x=min(zero, at),
                y=rounded(middle - _THICK / 2),
                width=rounded(abs(at - zero)),
                height=_THICK,
                text_x=rounded(at - GAP if negative else at + GAP),
                text_y=rounded(middle),
                is_negative=negative,
            )
        )
    height = max(len(rows), 1) * _ROW
    return BarChart(str(label), unit, WIDTH, height, column, zero, tuple(drawn))


def histogram(
    rows: Sequence[BarRow], *, label: Text, unit: Unit = "count", axis: Text = ""
) -> BarChart:
    """Standing bars in the order given, each with its number above and its label below.

    ``axis`` says what the labels are. Of many labels only every second, third ... is shown.
    """
    top, bottom = FONT + GAP, _HEIGHT
    values = [number for row in rows if (number := finite(row.value)) is not None]
    up = scale(0.0, max([0.0, *values]) or 1.0, start=bottom, end=top)
    place = WIDTH / max(len(rows), 1)
    thick = min(0.8 * place, 48.0)
    widest = max((text_width(str(row.label)) for row in rows), default=0.0)
    every = max(1, -(-int(widest + 2) // max(int(place), 1)))
    drawn = []
    for index, row in enumerate(rows):
        value = finite(row.value)
        at = up(value or 0)
        middle = (index + 0.5) * place
        drawn.append(
            Bar(
                label=Label(str(row.label)) if index % every == 0 else Label("", str(row.label)),
                value=value,
                kind=row.kind,
                note=str(row.note),
                href=row.href,
                x=rounded(middle - thick / 2),
                y=at,
                width=rounded(thick),
                height=rounded(bottom - at),
                text_x=rounded(middle),
                text_y=rounded(at - 4),
                number_fits=place >= _FITTING,
            )
        )
    height = bottom + 1.5 * FONT + (1.5 * FONT if str(axis) else 0)
    return BarChart(
        str(label), unit, WIDTH, height, WIDTH / 2, bottom, tuple(drawn), axis=str(axis)
    )
