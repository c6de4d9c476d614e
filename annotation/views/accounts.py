"""A person's own account: language and password."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views import i18n

from annotation import access
from annotation.models import User
from annotation.services.accounts import choose_language

CHANGED = "changed"


# Also for those who have not signed in: they read the login page.
@login_not_required
def set_language(request: HttpRequest) -> HttpResponse:
    """Keep the language in a cookie, and with the account of whoever is signed in."""
    language = request.POST.get("language", "")
    # Django itself knows a hundred, into which nothing here is translated.
    if request.method == "POST" and language not in dict(settings.LANGUAGES):
        raise BadRequest("The interface does not speak this language.")
    if language and isinstance(request.user, User):
        choose_language(user=request.user, language=language)
    return i18n.set_language(request)


class PasswordForm(PasswordChangeForm):
    error_messages = {
        "password_incorrect": _("This is not your present password. Capital letters count."),
        "password_mismatch": _("The new password was typed differently the second time."),
    }

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        words = {
            "old_password": _("Type your present password."),
            "new_password1": _("Type a new password."),
            "new_password2": _("Type the new password a second time."),
        }
        for name, required in words.items():
            self.fields[name].error_messages["required"] = required


class PasswordView(auth.PasswordChangeView):
    """Change the own password. Who does stays signed in, on this browser alone."""

    template_name = "accounts/password.html"
    form_class = PasswordForm

    def dispatch(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if not access.current_user(request).has_usable_password():
            # They came through a link, and come back through it.
            return render(request, self.template_name, {"has_none": True}, status=403)
        return super().dispatch(request, *arguments, **options)

    def get_success_url(self) -> str:
        return f"{reverse('password')}?notice={CHANGED}"

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        is_changed = self.request.method == "GET" and self.request.GET.get("notice") == CHANGED
        return super().get_context_data(**options) | {"is_changed": is_changed}
