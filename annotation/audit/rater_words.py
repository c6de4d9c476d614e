"""What a test found about a rater, in words that describe and do not conclude."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.domain.tables import Tag
from annotation.templatetags.figures import criterion_name

Text = str | Promise

# By the last part of a flag. A habit can lie on either side of what was expected.
_ABOVE: dict[str, Text] = {
    "side": _("chooses the left response more often than by chance"),
    "longer": _("chooses the longer response more often than others on the same pairs"),
    "identical": _("gives both criteria the same answer more often than others"),
}
_BELOW: dict[str, Text] = {
    "agreement": _("agrees with others less than expected on the same pairs"),
    "side": _("chooses the right response more often than by chance"),
    "longer": _("chooses the shorter response more often than others on the same pairs"),
    "pace": _("answers faster than others on texts as long"),
}
# The same in a word or two, for a cell of a table.
_SHORT_ABOVE: dict[str, Text] = {
    "side": pgettext_lazy("stands out", "left"),
    "longer": pgettext_lazy("stands out", "longer"),
    "identical": pgettext_lazy("stands out", "same on both"),
}
_SHORT_BELOW: dict[str, Text] = {
    "agreement": pgettext_lazy("stands out", "agrees less"),
    "side": pgettext_lazy("stands out", "right"),
    "longer": pgettext_lazy("stands out", "shorter"),
    "pace": pgettext_lazy("stands out", "fast"),
}
_TESTS = {"agreement": "deviation", "side": "even", "longer": "mix"}


def flag_words(row: dict[str, Any]) -> list[str]:
    """The flags of a row of the raters' analysis, each with the criteria that it is about."""
    found: dict[str, list[str]] = {}
    for flag in row["flags"]:
        criterion, name, is_above = _parts(row, flag)
        about = found.setdefault(str((_ABOVE if is_above else _BELOW)[name]), [])
        if criterion:
            about.append(str(criterion_name(criterion)))
    separator = pgettext("between the items of a list", ", ")
    return [
        gettext("%(what)s (%(criteria)s)") % {"what": words, "criteria": separator.join(about)}
        if about
        else words
        for words, about in found.items()
    ]


def flag_tags(row: dict[str, Any], criterion: str) -> list[Tag]:
    """Flags on one criterion and those on none, in short."""
    found = [_parts(row, flag) for flag in row["flags"]]
    return [
        Tag(words=(_SHORT_ABOVE if is_above else _SHORT_BELOW)[name], kind="warn")
        for key, name, is_above in found
        if key in ("", criterion)
    ]


def _parts(row: dict[str, Any], flag: str) -> tuple[str, str, bool]:
    """Criterion, test, and whether the rater lies above what was expected."""
    criterion, _separator, name = flag.rpartition(":")
    if not criterion:
        return "", name, name != "pace"
    return criterion, name, row["criteria"][criterion][name][_TESTS[name]]["z"] > 0


def q_words(q: float | None) -> str:
    """A q-value for reading: three decimals, and no false zero."""
    if q is None:
        return ""
    return pgettext("q-value", "< 0.001") if q < 0.001 else f"{q:.3f}"
