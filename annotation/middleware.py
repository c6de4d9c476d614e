"""The language of the interface: kept per user, and the browser's until one is chosen."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

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
