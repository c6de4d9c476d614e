"""What a table is made of, whatever its format."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from benchmark.formats.checks import Flaw


@dataclass(frozen=True)
class Layout:
    """What a kind of table holds.

    `text` columns must be text in Parquet too; `other` columns have checks of their own; columns in
    neither are kept when `keeps_unknown`, else not read.
    """

    name: str
    required: tuple[str, ...]
    text: frozenset[str]
    other: frozenset[str]
    keeps_unknown: bool = False

    @cached_property
    def known(self) -> frozenset[str]:
        return self.text | self.other


class Row(NamedTuple):
    """A row that could be taken apart. With a `line` and flaws but no values, one that could not.

    `as_text` is true for formats in which an object may have to be written as text (CSV, Parquet).
    """

    line: int
    values: dict[str, Any]
    flaws: Sequence[Flaw]
    as_text: bool = False


class BrokenTableError(Exception):
    """The rest of the file cannot be told apart into rows; `line` and `flaw` say why."""

    def __init__(self, line: int | None, flaw: Flaw) -> None:
        super().__init__(flaw.reason)
        self.line = line
        self.flaw = flaw
