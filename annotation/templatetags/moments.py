"""Moments on pages: UTC from the server, the reader's own zone where scripts run (settings.js)."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def moment(at: datetime | None, form: str = "both") -> SafeString | str:
    """A ``<time>`` of a moment; ``form`` is "time", "date" or "both". Empty without a moment."""
    if at is None:
        return ""
    at = at.astimezone(UTC)
    time, date = date_format(at, "H:i"), date_format(at, "DATE_FORMAT")
    words = {"time": f"{time} UTC", "date": date, "both": f"{date} {time} UTC"}[form]
    return format_html(
        '<time datetime="{}" data-form="{}" title="{} UTC">{}</time>',
        at.isoformat(timespec="seconds"),
        form,
        at.strftime("%Y-%m-%d %H:%M:%S"),
        words,
    )
