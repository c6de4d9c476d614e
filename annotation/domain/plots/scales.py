"""What charts share: lengths, ticks, and how much room words take.

Lengths are user units of an SVG that is WIDTH wide and scales with its place: one unit is about a
pixel on a phone and one and a half where there is room, where the style sheet makes text smaller
in proportion. Coordinates are rounded to a tenth, so that pages stay small.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# A string, or one that is translated only when it is written out.
Text = object

# How a number is worded: the template does it, in the reader's language.
Unit = Literal["count", "share", "coefficient", "real", "seconds"]

WIDTH = 360.0
FONT = 12.0
GAP = 6.0

_WIDE = 1.0
_NARROW = 0.55
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Label:
    """Words cut to their room; ``whole`` is set when something was cut off."""

    text: str
    whole: str = ""

    @property
    def full(self) -> str:
        return self.whole or self.text


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps the numbers from ``low`` to ``high`` to lengths from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of ``value``; what lies outside stands at the edge."""
        held = min(max(value, self.low), self.high)
        part = (held - self.low) / (self.high - self.low)
        return rounded(self.start + part * (self.end - self.start))

    def ticks(self, wanted: int = 4) -> tuple[Tick, ...]:
        """About so many round numbers inside the domain, with their places."""
        step = _round_step((self.high - self.low) / max(wanted, 1))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        values = (index * step for index in range(first, last + 1))
        return tuple(Tick(self(value), float(f"{value:.10g}")) for value in values)


def scale(low: float, high: float, *, start: float, end: float) -> Scale:
    """A scale whose domain is never empty."""
    if high <= low:
        margin = abs(low) * 0.1 or 1.0
        low, high = low - margin, high + margin
    return Scale(low, high, start, end)


def domain_of(
    numbers: Iterable[float | None], *, holding: Iterable[float | None] = (), margin: float = 0.05
) -> tuple[float, float]:
    """From the lowest to the highest finite number and a margin; (0, 1) without any.

    ``holding`` are reference lines: inside, and without a margin of their own.
    """
    finite = [number for number in numbers if number is not None and math.isfinite(number)]
    lines = [number for number in holding if number is not None and math.isfinite(number)]
    if not finite and not lines:
        return 0.0, 1.0
    low, high = min(finite + lines), max(finite + lines)
    room = margin * (high - low)
    return (
        low - room if low in finite else low,
        high + room if high in finite else high,
    )


def finite(number: float | None) -> float | None:
    """None for what cannot be drawn."""
    return number if number is not None and math.isfinite(number) else None


def rounded(length: float) -> float:
    """To a tenth, and never a negative zero."""
    return round(length, 1) + 0.0


def text_width(text: str, *, font: float = FONT) -> float:
    """About how wide ``text`` is: an em for wide characters, as Chinese ones, 0.55 for others."""
    ems = sum(
        _WIDE if unicodedata.east_asian_width(character) in "WF" else _NARROW for character in text
    )
    return ems * font


def fitted(text: Text, *, width: float, font: float = FONT) -> Label:
    """``text`` cut with an ellipsis where it is wider than ``width``."""
    words = str(text)
    if text_width(words, font=font) <= width:
        return Label(words)
    room = width - text_width(_ELLIPSIS, font=font)
    kept = ""
    for character in words:
        room -= text_width(character, font=font)
        if room < 0:
            break
        kept += character
    return Label(kept.rstrip() + _ELLIPSIS, words)


def label_column(texts: Iterable[Text], *, least: float = 24.0, most: float = 124.0) -> float:
    """The width of a column of labels: that of the widest one, within limits."""
    widest = max((text_width(str(text)) for text in texts), default=0.0)
    return rounded(min(max(widest, least), most))


def _round_step(step: float) -> float:
    """The next of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    nices = (power * nice for nice in (1, 2, 2.5, 5, 10))
    return next(nice for nice in nices if nice >= step * 0.999)
