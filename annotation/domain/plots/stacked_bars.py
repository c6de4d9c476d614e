"""Bars of parts that make up the whole, one a row: mixes of tiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.domain.plots.scales import (
    FONT,
    GAP,
    WIDTH,
    Label,
    Text,
    finite,
    fitted,
    label_column,
    rounded,
    scale,
    text_width,
)

TIERS = ("easy", "medium", "hard", "none")

_ROW = 26.0
_THICK = 18.0
_HEAD = 18.0
_COUNT = 44.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StackRow:
    """``parts`` are counts or shares by kind; they are drawn as shares of their sum."""

    label: Text
    parts: Mapping[str, float]
    n: int | None = None
    href: str = ""


@dataclass(frozen=True, slots=True)
class StackPart:
    """``fits`` is whether there is room for its percentage inside."""

    kind: str
    share: float
    x: float
    width: float
    middle: float
    fits: bool

    @property
    def percent(self) -> float:
        """The share to a whole percent, which is what there is room for."""
        return round(self.share, 2)


@dataclass(frozen=True, slots=True)
class Stack:
    label: Label
    n: int | None
    href: str
    y: float
    middle: float
    parts: tuple[StackPart, ...]


@dataclass(frozen=True, slots=True)
class StackHead:
    """The name of a kind above the bars, with a patch of its colour."""

    kind: str
    at: float


@dataclass(frozen=True, slots=True)
class StackedBars:
    label: str
    width: float
    height: float
    label_x: float
    left: float
    right: float
    thick: float
    heads: tuple[StackHead, ...]
    stacks: tuple[Stack, ...]

    @property
    def has_links(self) -> bool:
        return any(stack.href for stack in self.stacks)


def stacked(rows: Sequence[StackRow], *, label: Text, order: Sequence[str] = TIERS) -> StackedBars:
    """Parts in ``order``, each row from 0 to 100 %; a row whose parts sum to nothing is empty."""
    column = label_column(row.label for row in rows)
    along = scale(0.0, 1.0, start=column + GAP, end=WIDTH - _COUNT)
    needed = text_width("100%", font=FONT)
    stacks = []
    for index, row in enumerate(rows):
        sizes = [max(finite(row.parts.get(kind)) or 0.0, 0.0) for kind in order]
        whole = sum(sizes)
        before = 0.0
        parts = []
        for kind, size in zip(order, sizes, strict=True):
            if not size:
                continue
            x, end = along(before / whole), along((before + size) / whole)
            parts.append(
                StackPart(
                    kind=kind,
                    share=size / whole,
                    x=x,
                    width=rounded(end - x),
                    middle=rounded((x + end) / 2),
                    fits=end - x >= needed,
                )
            )
            before += size
        y = _HEAD + index * _ROW + (_ROW - _THICK) / 2
        stacks.append(
            Stack(
                label=fitted(row.label, width=column),
                n=row.n,
                href=row.href,
                y=rounded(y),
                middle=rounded(y + _THICK / 2),
                parts=tuple(parts),
            )
        )
    kinds = [kind for kind in order if any(part.kind == kind for s in stacks for part in s.parts)]
    spread = (along.end - along.start) / max(len(kinds), 1)
    heads = tuple(
        StackHead(kind, rounded(along.start + index * spread)) for index, kind in enumerate(kinds)
    )
    return StackedBars(
        label=str(label),
        width=WIDTH,
        height=_HEAD + max(len(rows), 1) * _ROW,
        label_x=column,
        left=along.start,
        right=along.end,
        thick=_THICK,
        heads=heads,
        stacks=tuple(stacks),
    )
