"""Accounts: made, and what people set about their own."""

from __future__ import annotations

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation.models import User
from benchmark.formats.checks import is_blank


def check_username(username: str) -> None:
    """Raises ValidationError for a name that nobody could see: some letters have no shape."""
    if is_blank(username):
        raise ValidationError(_("There is nothing in this name that can be seen."))


def create_account(*, username: str, password: str) -> User:
    """Raises ValidationError for what will not do, IntegrityError for a name that is taken."""
    user = User(username=User.normalize_username(username))
    check_username(user.username)
    validate_password(password, user)
    user.set_password(password)
    user.full_clean(validate_unique=False)
    user.save()
    return user


def choose_language(*, user: User, language: str) -> None:
    """The interface speaks this language to the user from now on, wherever they sign in."""
    user.language = language
    user.save(update_fields=["language"])
