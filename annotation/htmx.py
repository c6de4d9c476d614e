"""The protocol between pages and htmx, in one place."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails


class HtmxHttpRequest(HttpRequest):
    htmx: HtmxDetails


def page(
    request: HtmxHttpRequest,
    template: str,
    partial: str,
    context: dict[str, object],
    *,
    status: int = 200,
) -> HttpResponse:
    """The whole page, or only its partial when htmx asks: one URL serves both."""
    name = f"{template}#{partial}" if request.htmx else template
    response = render(request, name, context, status=status)
    # A cache must not hand a fragment to somebody who asked for the page.
    response["Vary"] = "HX-Request, Cookie, Accept-Language"
    response["Cache-Control"] = "no-store"
    return response
