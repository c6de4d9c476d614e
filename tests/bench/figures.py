"""What was measured, beside its bar: a table for people, JSON for comparing two runs."""

from __future__ import annotations

import json
import math
import statistics
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit; with a bar it passes or fails, without one it only informs."""

    part: str
    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    # What the same work costs without the application, and how much that is of it.
    floor: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.floor if self.floor else None

    @property
    def passes(self) -> bool | None:
        if self.at_most is not None:
            return self.value <= self.at_most
        if self.at_least is not None:
            return self.value >= self.at_least
        return None

    @property
    def bar(self) -> str:
        if self.at_most is not None:
            return f"≤ {_number(self.at_most)}"
        return f"≥ {_number(self.at_least)}" if self.at_least is not None else ""


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least so many percent do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def latencies(
    part: str, what: str, seconds: Sequence[float], *, bar: float | None = None
) -> list[Figure]:
    """Median, p95 (with the bar, in ms) and the worst; never of an empty list."""
    if not seconds:
        raise ValueError(f"{part}: no {what} was measured")
    named = {"p50": percentile(seconds, 50), "p95": percentile(seconds, 95), "max": max(seconds)}
    return [
        Figure(part, f"{what} {name}", 1000 * value, "ms", at_most=bar if name == "p95" else None)
        for name, value in named.items()
    ]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def table(figures: Sequence[Figure]) -> str:
    rows = [("part", "figure", "measured", "bar", "floor", "ratio", "")]
    for figure in figures:
        rows.append(
            (
                figure.part,
                figure.name,
                f"{_number(figure.value)} {figure.unit}".strip(),
                figure.bar,
                "" if figure.floor is None else _number(figure.floor),
                "" if figure.ratio is None else f"{figure.ratio:.3f}",
                {None: "", True: "pass", False: "FAIL"}[figure.passes],
            )
        )
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            _padded(cell, width, right=2 <= place <= 5)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(_width, lines)), *lines[1:]])


def write_json(path: Path, figures: Sequence[Figure], **about: object) -> None:
    rows = [asdict(figure) | {"ratio": figure.ratio, "passes": figure.passes} for figure in figures]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({**about, "figures": rows}, ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
    )


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
