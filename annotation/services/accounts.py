"""What people set about their own accounts."""

from __future__ import annotations

from annotation.models import User


def choose_language(*, user: User, language: str) -> None:
    """The interface speaks this language to the user from now on, wherever they sign in."""
    user.language = language
    user.save(update_fields=["language"])
