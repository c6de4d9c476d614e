"""Moments on pages, in the reader's zone; settings.js words them once more where scripts run."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def moment(at: datetime | None, form: str = "both") -> SafeString | str:
    """A ``<time>`` of a moment; ``form`` is "time", "date" or "both". Empty without a moment.

    The zone is named where it is the server's, which need not be the reader's; the title has UTC.
    """
    if at is None:
        return ""
    here = timezone.localtime(at)
    time, date = date_format(here, "H:i"), date_format(here, "DATE_FORMAT")
    words = {"time": time, "date": date, "both": f"{date} {time}"}[form]
    zone = timezone.get_current_timezone_name()
    if zone == timezone.get_default_timezone_name():
        words += f" {zone}"
    at = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-form="{}" title="{} UTC">{}</time>',
        at.isoformat(timespec="seconds"),
        form,
        at.strftime("%Y-%m-%d %H:%M:%S"),
        words,
    )
