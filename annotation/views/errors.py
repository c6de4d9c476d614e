"""Pages for requests that could not be served."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Name the address seen and the one expected: behind a proxy that is what one needs to know."""
    seen = request.headers.get("Origin") or f"{request.scheme}://{request.get_host()}"
    return render(
        request,
        "403_csrf.html",
        {"seen": seen, "expected": settings.PUBLIC_URL, "differs": seen != settings.PUBLIC_URL},
        status=403,
    )
