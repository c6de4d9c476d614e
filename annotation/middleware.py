"""The reader's language, kept per user and the browser's until one is chosen, and time zone."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from annotation.models import User


class UserLanguageMiddleware:
    """Whoever is signed in and has chosen a language gets it on any browser, error pages too.

    Behind `LocaleMiddleware`, which has looked at cookie and headers and says afterwards which
    language the answer is in, and behind `AuthenticationMiddleware`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        # One that was taken off the list meanwhile counts as none.
        if isinstance(user, User) and user.language in dict(settings.LANGUAGES):
            translation.activate(user.language)
            request.LANGUAGE_CODE = translation.get_language()
        return self.get_response(request)


class TimeZoneMiddleware:
    """Pages have times in the zone that the browser has named (settings.js), else in the server's.

    Only what a template or a form makes of moments depends on it: files hold UTC.
    """

    COOKIE = "timezone"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(_zone(request.COOKIES.get(self.COOKIE, ""))):
            return self.get_response(request)


def _zone(name: str) -> ZoneInfo | None:
    """None for what names no zone: anybody may write a cookie."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
