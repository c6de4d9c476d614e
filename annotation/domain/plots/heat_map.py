"""A symmetric matrix of raters by raters: squares whose strength says how high a number is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from annotation.domain.plots.scales import (
    GAP,
    WIDTH,
    Label,
    Text,
    Unit,
    fitted,
    label_column,
    rounded,
)

# Strengths of colour; each has a class of its own in the style sheet.
BINS = 7
# Above so many, labels and single squares would be too small to be told apart.
LABELLED = 60
_CELL, _LARGEST_CELL = 22.0, 40.0
# A number with two decimals has room in these.
_NUMBERED_CELL = 28.0
_HEAD = 24.0
_KEY = 40.0
_PATCH = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """``value`` None with ``n`` = 0: the two have nothing in common."""

    value: float | None
    n: int


@dataclass(frozen=True, slots=True)
class HeatSquare:
    """``bin`` is 0 for the lowest; None where there is no value."""

    x: float
    y: float
    middle_x: float
    middle_y: float
    value: float | None
    n: int
    bin: int | None
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class HeatLayer:
    """All squares of one bin as the data of one path, to be drawn one cell thick."""

    bin: int | None
    path: str


@dataclass(frozen=True, slots=True)
class HeatLabel:
    """A name and its number, which stands for it along the other edge."""

    label: Label
    number: int
    at: float


@dataclass(frozen=True, slots=True)
class HeatStep:
    """A patch of the key; the numbers are the edges of its bin."""

    bin: int
    x: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class HeatMap:
    """``squares`` and ``labels`` for few raters, ``layers`` alone for many.

    The matrix begins at (``left``, ``top``) and is ``side`` long; the key stands at ``key_y``.
    """

    label: str
    unit: Unit
    count: int
    width: float
    height: float
    cell: float
    label_x: float
    left: float
    top: float
    side: float
    key_y: float
    patch: float
    steps: tuple[HeatStep, ...]
    has_unknown: bool
    labels: tuple[HeatLabel, ...] = ()
    squares: tuple[HeatSquare, ...] = ()
    layers: tuple[HeatLayer, ...] = ()

    @property
    def is_dense(self) -> bool:
        return not self.labels

    @property
    def has_numbers(self) -> bool:
        """Whether the squares have room for their numbers."""
        return self.cell >= _NUMBERED_CELL

    @property
    def is_wide(self) -> bool:
        """Whether it is shown in its own size and scrolls, so that its labels can be read."""
        return self.width > WIDTH


def heat(
    labels: Sequence[Text],
    cells: Mapping[tuple[int, int], HeatCell],
    *,
    low: float,
    high: float,
    label: Text,
    unit: Unit = "coefficient",
) -> HeatMap:
    """``cells`` by pairs of indices into ``labels``; either order stands for both.

    Values outside of ``low`` to ``high`` take the colour of the nearest end. The diagonal is empty.
    """
    count = len(labels)
    known = {
        (row, column): cell
        for (first, second), cell in cells.items()
        for row, column in ((first, second), (second, first))
        if row != column and 0 <= row < count and 0 <= column < count
    }
    if count > LABELLED:
        return _dense(count, known, low=low, high=high, label=label, unit=unit)
    named = label_column(labels, most=96.0)
    left = named + _number_room(count) + GAP
    cell = min(max((WIDTH - left) / max(count, 1), _CELL), _LARGEST_CELL)
    side = cell * count
    names = [str(text) for text in labels]
    squares = tuple(
        HeatSquare(
            x=rounded(left + column_index * cell),
            y=rounded(_HEAD + row_index * cell),
            middle_x=rounded(left + (column_index + 0.5) * cell),
            middle_y=rounded(_HEAD + (row_index + 0.5) * cell),
            value=_value(found),
            n=found.n,
            bin=_bin(_value(found), low=low, high=high),
            first=names[row_index],
            second=names[column_index],
        )
        for (row_index, column_index), found in sorted(known.items())
    )
    heads = tuple(
        HeatLabel(fitted(name, width=named), index + 1, rounded((index + 0.5) * cell))
        for index, name in enumerate(names)
    )
    return _map(
        label=label,
        unit=unit,
        count=count,
        cell=cell,
        left=left,
        top=_HEAD,
        side=side,
        low=low,
        high=high,
        labels=heads,
        squares=squares,
    )


def _number_room(count: int) -> float:
    """The width of the numbers that stand before the names."""
    return 8.0 * len(str(count)) + GAP


def _dense(
    count: int,
    known: Mapping[tuple[int, int], HeatCell],
    *,
    low: float,
    high: float,
    label: Text,
    unit: Unit,
) -> HeatMap:
    """One path for each bin, in which neighbours in a row are one line, a cell thick.

    Paths count in cells (the template scales them), so that their numbers are short.
    """
    runs: dict[int | None, list[str]] = defaultdict(list)
    for row in range(count):
        binned = (
            (column, _bin(_value(known[row, column]), low=low, high=high))
            for column in range(count)
            if (row, column) in known
        )
        # Neighbours have the same difference between column and place in the row.
        placed = enumerate(binned)
        for (_, bin_), run in groupby(placed, key=lambda item: (item[1][0] - item[0], item[1][1])):
            columns = [column for _, (column, _) in run]
            runs[bin_].append(f"M{columns[0]} {row}h{len(columns)}")
    layers = tuple(
        HeatLayer(bin_, "".join(parts))
        for bin_, parts in sorted(runs.items(), key=lambda item: -1 if item[0] is None else item[0])
    )
    return _map(
        label=label,
        unit=unit,
        count=count,
        cell=WIDTH / count,
        left=0.0,
        top=0.0,
        side=WIDTH,
        low=low,
        high=high,
        layers=layers,
    )


def _map(
    *,
    label: Text,
    unit: Unit,
    count: int,
    cell: float,
    left: float,
    top: float,
    side: float,
    low: float,
    high: float,
    labels: tuple[HeatLabel, ...] = (),
    squares: tuple[HeatSquare, ...] = (),
    layers: tuple[HeatLayer, ...] = (),
) -> HeatMap:
    step = (high - low) / BINS
    return HeatMap(
        label=str(label),
        unit=unit,
        count=count,
        width=rounded(max(left + side, WIDTH)),
        height=rounded(top + side + _KEY),
        cell=round(cell, 3),
        label_x=rounded(left - GAP),
        left=left,
        top=top,
        side=rounded(side),
        key_y=rounded(top + side + GAP + 4),
        patch=_PATCH,
        steps=tuple(
            HeatStep(index, index * _PATCH, low + index * step, low + (index + 1) * step)
            for index in range(BINS)
        ),
        has_unknown=any(square.bin is None for square in squares)
        or any(layer.bin is None for layer in layers),
        labels=labels,
        squares=squares,
        layers=layers,
    )


def _value(cell: HeatCell) -> float | None:
    return cell.value if cell.value is not None and math.isfinite(cell.value) else None


def _bin(value: float | None, *, low: float, high: float) -> int | None:
    if value is None:
        return None
    part = (value - low) / (high - low) if high > low else 0.0
    return min(max(int(part * BINS), 0), BINS - 1)
