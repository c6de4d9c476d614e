"""Small marks inside of text and tiles: the votes on one pair, one interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.domain.plots.scales import Text, finite, rounded, scale

Choice = Literal["A", "B", "tie", "skip"]

_STEP = 16.0
_INTERVAL = 120.0
_MARGIN = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DotRow:
    """One vote: ``choice`` is A, B, tie or skip, ``label`` who cast it."""

    choice: str
    label: Text


@dataclass(frozen=True, slots=True)
class VoteDot:
    choice: str
    label: str
    x: float


@dataclass(frozen=True, slots=True)
class VoteDots:
    """``counts`` by choice in the order A, B, tie, skip; those without a vote left out."""

    label: str
    width: float
    height: float
    dots: tuple[VoteDot, ...]
    counts: tuple[tuple[str, int], ...]


def dots(votes: Sequence[DotRow], *, label: Text = "") -> VoteDots:
    """Votes for A first, then for B, ties and skips; within these in the order given."""
    order = ("A", "B", "tie", "skip")
    placed = sorted(
        votes, key=lambda vote: order.index(vote.choice) if vote.choice in order else len(order)
    )
    counts = ((choice, sum(vote.choice == choice for vote in votes)) for choice in order)
    return VoteDots(
        label=str(label),
        width=_STEP * max(len(placed), 1),
        height=_STEP,
        dots=tuple(
            VoteDot(vote.choice, str(vote.label), rounded((index + 0.5) * _STEP))
            for index, vote in enumerate(placed)
        ),
        counts=tuple((choice, count) for choice, count in counts if count),
    )


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """Places along the width; None for what is not known."""

    label: str
    width: float
    at: float | None
    start: float | None
    end: float | None
    reference: float | None
    left: float
    right: float


def interval(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    domain: tuple[float, float],
    reference: float | None = None,
    label: Text = "",
) -> IntervalMark:
    """One value with its interval on a line from one end of ``domain`` to the other.

    An interval that leaves the domain ends at its edge. Without a ``label`` it is decoration:
    the same number has to stand beside it in words.
    """
    along = scale(*domain, start=_MARGIN, end=_INTERVAL - _MARGIN)

    def place(number: float | None) -> float | None:
        known = finite(number)
        return None if known is None else along(known)

    start, end = place(low), place(high)
    is_whole = value is not None and start is not None and end is not None
    return IntervalMark(
        label=str(label),
        width=_INTERVAL,
        at=place(value),
        start=start if is_whole else None,
        end=end if is_whole else None,
        reference=place(reference),
        left=along.start,
        right=along.end,
    )
