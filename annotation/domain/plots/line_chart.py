"""Lines over time or over a number, with the intervals of their points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.domain.plots.scales import (
    FONT,
    GAP,
    WIDTH,
    Label,
    Scale,
    Text,
    Tick,
    Unit,
    domain_of,
    finite,
    fitted,
    label_column,
    rounded,
    scale,
    text_width,
)

_HEIGHT = 170.0
_AXIS = 22.0
_TOP = 8.0
_LEFT = 40.0
# Above so many points their marks would run into each other.
_MARKED = 40
# Styles that differ without colour as well; the style sheet has as many.
STYLES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePoint:
    """``value`` None breaks the line; points of all series stand by their ``x_label``."""

    x_label: Text
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSeries:
    name: Text
    points: Sequence[LinePoint]


@dataclass(frozen=True, slots=True)
class Dot:
    """A point; ``start`` and ``end`` are the ends of its interval unless a band shows it."""

    x: float
    y: float
    start: float | None
    end: float | None
    x_label: str
    value: float
    low: float | None
    high: float | None
    n: int | None


@dataclass(frozen=True, slots=True)
class Line:
    """``paths`` are the unbroken pieces, ``bands`` their intervals; the name stands at its end."""

    name: Label
    style: int
    paths: tuple[str, ...]
    bands: tuple[str, ...]
    dots: tuple[Dot, ...]
    name_y: float


@dataclass(frozen=True, slots=True)
class AxisLabel:
    text: str
    x: float


@dataclass(frozen=True, slots=True)
class LineChart:
    label: str
    unit: Unit
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    reference: float | None
    name_x: float
    y_ticks: tuple[Tick, ...]
    x_labels: tuple[AxisLabel, ...]
    lines: tuple[Line, ...]
    is_marked: bool


def lines(
    series: Sequence[LineSeries],
    *,
    label: Text,
    domain: tuple[float, float] | None = None,
    reference: float | None = None,
    unit: Unit = "coefficient",
) -> LineChart:
    """Points are evenly spaced in the order in which their labels first appear."""
    order = list(dict.fromkeys(str(point.x_label) for one in series for point in one.points))
    points = [point for one in series for point in one.points]
    numbers = [number for point in points for number in (point.value, point.low, point.high)]
    names = label_column((one.name for one in series), most=84.0) if len(series) > 1 else 0.0
    right = WIDTH - (names + GAP + 4 if names else 12.0)
    bottom = _TOP + _HEIGHT
    low, high = domain or domain_of(numbers, holding=[reference])
    up = scale(low, high, start=bottom, end=_TOP)
    place = scale(0.0, float(max(len(order) - 1, 1)), start=_LEFT + 8, end=right - 8)
    alone = len(order) == 1
    xs = {
        text: rounded((_LEFT + right) / 2) if alone else place(float(index))
        for index, text in enumerate(order)
    }
    drawn = [
        _line(one, index % STYLES, xs=xs, up=up, room=names, banded=len(series) == 1)
        for index, one in enumerate(series)
    ]
    known = finite(reference)
    return LineChart(
        label=str(label),
        unit=unit,
        width=WIDTH,
        height=bottom + _AXIS,
        left=_LEFT,
        right=rounded(right),
        top=_TOP,
        bottom=bottom,
        reference=None if known is None else up(known),
        name_x=rounded(right + 4),
        y_ticks=up.ticks(4),
        x_labels=_x_labels(order, xs, left=_LEFT, right=right),
        lines=tuple(_apart(drawn, low=_TOP + FONT / 2, high=bottom)),
        is_marked=len(order) <= _MARKED,
    )


def _line(
    one: LineSeries,
    style: int,
    *,
    xs: Mapping[str, float],
    up: Scale,
    room: float,
    banded: bool,
) -> Line:
    """The pieces between points that are missing; ``banded`` draws intervals as a band.

    Bands of several series would hide each other: these have a line at each point, and so has a
    point that stands alone.
    """
    pieces: list[list[Dot]] = [[]]
    for point in one.points:
        value = finite(point.value)
        if value is None:
            pieces.append([])
            continue
        low, high = finite(point.low), finite(point.high)
        has_interval = low is not None and high is not None
        pieces[-1].append(
            Dot(
                x=xs[str(point.x_label)],
                y=up(value),
                start=up(low) if low is not None and has_interval else None,
                end=up(high) if high is not None and has_interval else None,
                x_label=str(point.x_label),
                value=value,
                low=low,
                high=high,
                n=point.n,
            )
        )
    whole = [piece for piece in pieces if piece]
    has_band = [banded and _can_have_band(piece) for piece in whole]
    dots = tuple(
        replace(dot, start=None, end=None) if has else dot
        for piece, has in zip(whole, has_band, strict=True)
        for dot in piece
    )
    return Line(
        name=fitted(one.name, width=room or WIDTH),
        style=style,
        paths=tuple(_path([(dot.x, dot.y) for dot in piece]) for piece in whole),
        bands=tuple(_band(piece) for piece, has in zip(whole, has_band, strict=True) if has),
        dots=dots,
        name_y=dots[-1].y if dots else 0.0,
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _can_have_band(piece: Sequence[Dot]) -> bool:
    return len(piece) > 1 and all(dot.start is not None for dot in piece)


def _band(piece: Sequence[Dot]) -> str:
    upper = [(dot.x, dot.end) for dot in piece if dot.end is not None]
    lower = [(dot.x, dot.start) for dot in piece if dot.start is not None]
    return _path([*upper, *reversed(lower)]) + "z"


def _apart(drawn: Sequence[Line], *, low: float, high: float) -> list[Line]:
    """The lines with their names moved so far that none covers another."""
    step = FONT + 2
    by_height = sorted(range(len(drawn)), key=lambda index: drawn[index].name_y)
    places: dict[int, float] = {}
    before = low - step
    for index in by_height:
        before = places[index] = max(drawn[index].name_y, before + step)
    after = high + step
    for index in reversed(by_height):
        after = places[index] = min(places[index], after - step)
    return [replace(line, name_y=rounded(places[index])) for index, line in enumerate(drawn)]


def _x_labels(
    order: Sequence[str], xs: Mapping[str, float], *, left: float, right: float
) -> tuple[AxisLabel, ...]:
    """As many as there is room for, evenly chosen, always with the first one."""
    if not order:
        return ()
    widest = max(text_width(text) for text in order) + FONT
    every = max(1, math.ceil(widest * len(order) / (right - left)))
    labels = []
    for text in order[::every]:
        half = text_width(text) / 2
        # At the ends it is moved inside.
        labels.append(AxisLabel(text, rounded(min(max(xs[text], half), WIDTH - half))))
    return tuple(labels)
