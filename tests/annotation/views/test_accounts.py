"""Changing the own password."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import User
from tests.annotation.views.pages import Page
from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db

NEW = "four teapots and a cup"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def fields(page: Page) -> list[dict[str, str]]:
    """The passwords that the form asks for; the dialog for signing in again has one, too."""
    names = ("old_password", "new_password1", "new_password2")
    return [found for found in page.having(type="password") if found["name"] in names]


def change(client: Client, old: str = PASSWORD, new: str = NEW, again: str | None = None) -> Page:
    response = client.post(
        reverse("password"),
        {
            "old_password": old,
            "new_password1": new,
            "new_password2": new if again is None else again,
        },
        follow=True,
    )
    page = Page(response)
    assert response.status_code == (422 if page.having(aria_invalid="true") else 200)
    return page


def test_a_new_password_holds_and_nobody_is_signed_out_here() -> None:
    user = UserFactory.create()
    here, elsewhere = signed_in(user), signed_in(user)
    page = change(here)
    assert "Your password is changed" in page.text
    assert not fields(page)
    assert here.get(reverse("home")).status_code == 200
    assert elsewhere.get(reverse("home")).status_code == 302
    user.refresh_from_db()
    assert user.check_password(NEW)
    assert page.having(href=reverse("home"))


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"old": "wrong"}, "old_password", "This is not your present password"),
        ({"old": ""}, "old_password", "Type your present password."),
        ({"new": ""}, "new_password1", "Type a new password."),
        ({"again": ""}, "new_password2", "Type the new password a second time."),
        ({"again": "another"}, "new_password2", "typed differently the second time"),
        ({"new": "teacup"}, "new_password2", "at least 8 characters"),
        ({"new": "password"}, "new_password2", "too common"),
        ({"new": "8204719365"}, "new_password2", "entirely numeric"),
        ({"new": "wilhelmina1"}, "new_password2", "too similar to the username"),
    ],
)
def test_each_error_stands_at_its_field(given: dict[str, str], field: str, words: str) -> None:
    user = UserFactory.create(username="wilhelmina")
    page = change(signed_in(user), **given)
    assert words in page.text
    assert page.having(name=field)[0]["aria-describedby"] == f"id_{field}-error"
    wrong = {found["name"] for found in page.having(aria_invalid="true")}
    assert field in wrong
    # What was typed is not sent back.
    assert len(fields(page)) == 3
    assert not [found for found in fields(page) if found.get("value")]
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


def test_who_came_through_a_link_has_none_to_change() -> None:
    user = UserFactory.create()
    user.set_unusable_password()
    user.save()
    client = signed_in(user)
    for response in (
        client.get(reverse("password")),
        client.post(reverse("password"), {"new_password1": NEW, "new_password2": NEW}),
    ):
        page = Page(response)
        assert response.status_code == 403
        assert "Your account has no password" in page.text
        assert not fields(page)
    user.refresh_from_db()
    assert not user.has_usable_password()


def test_a_stranger_is_sent_to_sign_in() -> None:
    response = Client().get(reverse("password"))
    assert response.status_code == 302
    assert response.headers["Location"].startswith(reverse("login"))


def test_a_password_manager_is_told_whose_it_is() -> None:
    user = UserFactory.create()
    page = Page(signed_in(user).get(reverse("password")))
    assert page.having(autocomplete="username")[0]["value"] == user.username
    kinds = [found["autocomplete"] for found in fields(page)]
    assert kinds == ["current-password", "new-password", "new-password"]
