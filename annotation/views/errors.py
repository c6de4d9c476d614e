"""Pages for requests that could not be served."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Name the address seen and the one expected: behind a proxy that is what one needs to know."""
    seen = request.headers.get("Origin") or f"{request.scheme}://{request.get_host()}"
    return render(
        request,
        "403_csrf.html",
        {"seen": seen, "expected": settings.PUBLIC_URL, "differs": seen != settings.PUBLIC_URL},
        status=403,
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """For what is too large, to be mended by whoever sent it; else Django's own few words."""
    if isinstance(exception, RequestDataTooBig):
        return render(request, "413.html", status=413)
    return defaults.bad_request(request, exception)
