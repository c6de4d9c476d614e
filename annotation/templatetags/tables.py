"""Cells of tables and numbers of charts, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.domain.plots.scales import Unit
from annotation.domain.tables import VALUES, Column, Row, Table, Tag
from annotation.templatetags.figures import (
    DASH,
    MINUS,
    coefficient,
    duration,
    share,
    why_missing,
)
from annotation.templatetags.moments import moment

register = template.Library()

Text = str | Promise

# Another order begins on the first page.
_PLACES = ("sort", "page", "after", "before")

KINDS: dict[str, Text] = {
    "easy": _("easy"),
    "medium": _("medium"),
    "hard": _("hard"),
    "none": _("no tier"),
    "A": "A",
    "B": "B",
    "tie": pgettext_lazy("vote", "tie"),
    "skip": pgettext_lazy("vote", "skip"),
}

ROW_KINDS: dict[str, Text] = {
    "ok": pgettext_lazy("row of a table", "fine"),
    "warn": pgettext_lazy("row of a table", "to look at"),
    "bad": pgettext_lazy("row of a table", "problem"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell as the template writes it; ``missing`` is why there is only a dash."""

    words: Text
    is_header: bool = False
    is_number: bool = False
    is_text: bool = False
    href: str = ""
    missing: Text = ""
    tags: list[Tag] = field(default_factory=list)

    @property
    def is_plain(self) -> bool:
        """Whether the words are all there is."""
        return not (self.href or self.missing or self.tags)


@register.filter
def cells(table: Table, row: Row) -> list[Cell]:
    """The cells of a row in the order of the columns."""
    header = table.header_of(row)
    return [_cell(column, row, is_header=column.key == header) for column in table.columns]


@register.filter
def row_kind(row: Row) -> str:
    """The mark of a row: ok, warn, bad or nothing."""
    kind = str(row.get("_kind") or "")
    return kind if kind in ROW_KINDS else ""


@register.filter
def row_kind_words(row: Row) -> Text:
    return ROW_KINDS.get(row_kind(row), "")


@register.filter
def explained(table: Table) -> list[Column]:
    """The columns that have an explanation."""
    return [column for column in table.columns if column.help]


@register.simple_tag
def aria_sort(column: Column, sort: str) -> str:
    """ascending or descending where the rows stand in the order of ``column``, else nothing."""
    return {column.key: "ascending", f"-{column.key}": "descending"}.get(sort or "", "")


@register.simple_tag
def sort_query(column: Column, sort: str, base: QueryDict | Mapping[str, Any] | str | None) -> str:
    """The query that sorts by ``column``, the other way round if it is sorted by it already.

    ``base`` are the parameters of this page, of which the others are kept.
    """
    query = QueryDict(mutable=True)
    if isinstance(base, QueryDict):
        query = base.copy()
    elif isinstance(base, Mapping):
        query.update({key: str(value) for key, value in base.items()})
    else:
        query = QueryDict((base or "").lstrip("?"), mutable=True)
    for place in _PLACES:
        query.pop(place, None)
    query["sort"] = f"-{column.key}" if sort == column.key else column.key
    return f"?{query.urlencode()}"


@register.filter
def in_unit(number: float | None, unit: Unit) -> str:
    """A number of a chart for reading; a dash for None."""
    if number is None:
        return DASH
    match unit:
        case "count":
            return _plain(number)
        case "share":
            return share({"value": number})
        case "seconds":
            return duration(number)
        case _:
            return coefficient({"value": number})


@register.filter
def tick_words(number: float, unit: Unit) -> str:
    """A round number of an axis, without the digits that say nothing."""
    if unit == "share":
        return _plain(100 * number) + "%"
    return duration(number) if unit == "seconds" else _plain(number)


@register.filter
def kind_words(kind: str) -> Text:
    """A tier or choice in words."""
    return KINDS.get(kind, kind.replace("_", " "))


@register.filter
def counts_words(counts: Iterable[tuple[str, int]]) -> str:
    """Votes by choice in one line: A 6, B 2, tie 1."""
    separator = pgettext("between the items of a list", ", ")
    return separator.join(f"{kind_words(choice)} {_plain(count)}" for choice, count in counts)


@register.filter
def mark_words(mark: Any, unit: Unit) -> str:
    """What a mark of a chart says: its number, interval, what was expected, and n."""
    words = in_unit(mark.value, unit)
    low, high = getattr(mark, "low", None), getattr(mark, "high", None)
    if mark.value is not None and low is not None and high is not None:
        words += f" [{in_unit(low, unit)}, {in_unit(high, unit)}]"
    expected, n = getattr(mark, "expected", None), getattr(mark, "n", None)
    if expected is not None:
        words += "; " + gettext("expected %(number)s") % {"number": in_unit(expected, unit)}
    if n is not None:
        words += f"; n = {_plain(n)}"
    note = getattr(mark, "note", "")
    return f"{words}; {note}" if note else words


def _cell(column: Column, row: Row, *, is_header: bool) -> Cell:
    found: Any = row.get(column.key)
    value = found if isinstance(found, Mapping) else {}
    is_value = column.kind in VALUES
    return Cell(
        words=_words(column, value if is_value else found),
        is_header=is_header,
        is_number=column.is_number or column.kind == "moment",
        is_text=column.kind == "text",
        href=str(row.get(f"{column.key}_href") or ""),
        missing=why_missing(value) if is_value and value.get("value") is None else "",
        tags=_tags(found) if column.kind == "tags" else [],
    )


def _words(column: Column, found: Any) -> Text:
    if found is None or (found == "" and column.kind != "tags"):
        return DASH
    match column.kind:
        case "int":
            return _plain(found)
        case "real":
            return coefficient({"value": found})
        case "share":
            return share({"value": found})
        case "value":
            return coefficient(found)
        case "value_share":
            return share(found)
        case "seconds":
            return duration(found)
        case "moment":
            return _moment(found)
        case "flag":
            return pgettext("flag", "yes") if found else pgettext("flag", "no")
        case "tags":
            return ""
        case _:
            return str(found)


def _moment(at: datetime) -> SafeString | str:
    return moment(at)


def _tags(found: Iterable[Tag | Text] | None) -> list[Tag]:
    return [part if isinstance(part, Tag) else Tag(words=part) for part in found or ()]


def _plain(number: float) -> str:
    """As many digits as there are, six after the point at most, grouped for the reader."""
    text = f"{number:.6f}".rstrip("0").rstrip(".")
    return number_format(Decimal(text)).replace("-", MINUS)
