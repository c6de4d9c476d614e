"""The language of the interface: an account's where one was chosen, else the browser's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.models import User
from tests.annotation.seating import seated_campaign
from tests.annotation.views.pages import Page, browser
from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _language_of_tests() -> Iterator[None]:
    """What a request has switched on stays on in its thread until the next one."""
    with translation.override("en"):
        yield


def signed_in(user: User, **options: str) -> Client:
    client = Client(**options)
    response = client.post(reverse("login"), {"username": user.username, "password": PASSWORD})
    assert response.status_code == 302
    return client


def switch(client: Client, language: str) -> None:
    response = client.post(reverse("set_language"), {"language": language, "next": "/"})
    assert (response.status_code, response.headers["Location"]) == (302, "/")


def language(client: Client, address: str = "") -> str:
    """As page and header say."""
    response = client.get(address or reverse("home"))
    (found,) = [attrs["lang"] for tag, attrs in Page(response).elements if tag == "html"]
    assert response.headers["Content-Language"] == found
    assert {"Cookie", "Accept-Language"} <= set(response.headers["Vary"].split(", "))
    return found


def test_a_switch_holds_after_signing_out_and_in_and_on_another_browser() -> None:
    user = UserFactory.create()
    client = signed_in(user)
    assert language(client) == "en"
    switch(client, "zh-hans")
    assert language(client) == "zh-hans"
    client.post(reverse("logout"))
    client.post(reverse("login"), {"username": user.username, "password": PASSWORD})
    assert language(client) == "zh-hans"

    other = signed_in(user, headers={"Accept-Language": "en"})  # type: ignore[arg-type]
    assert language(other) == "zh-hans"
    switch(other, "en")
    assert language(client) == "en"


def test_an_account_beats_the_cookie_and_the_browser_of_somebody_else() -> None:
    first, second = UserFactory.create(), UserFactory.create(language="en")
    client = signed_in(first)
    switch(client, "zh-hans")
    client.post(reverse("logout"))
    assert language(client, reverse("login")) == "zh-hans"  # the cookie's
    client.post(reverse("login"), {"username": second.username, "password": PASSWORD})
    assert language(client) == "en"


def test_until_one_is_chosen_it_is_the_browsers() -> None:
    chinese = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}
    assert language(Client(headers=chinese), reverse("login")) == "zh-hans"
    assert language(Client(), reverse("login")) == "en"
    assert language(signed_in(UserFactory.create(), headers=chinese)) == "zh-hans"  # type: ignore[arg-type]


def test_who_has_not_signed_in_is_remembered_by_cookie() -> None:
    client = Client()
    switch(client, "zh-hans")
    assert language(client, reverse("login")) == "zh-hans"
    assert not User.objects.exclude(language="").exists()


def test_a_language_that_the_interface_does_not_speak_is_refused() -> None:
    user = UserFactory.create(language="zh-hans")
    client = signed_in(user)
    # Django has translations of its own into some of these.
    for unknown in ("de", "zh-hant", "zz", "", "../en", "en\x00", "x" * 500):
        response = client.post(reverse("set_language"), {"language": unknown})
        assert response.status_code == 400, unknown
        assert "django_language" not in response.cookies
    assert Client().post(reverse("set_language")).status_code == 400
    user.refresh_from_db()
    assert user.language == "zh-hans"


def test_a_look_at_the_address_changes_nothing() -> None:
    client = signed_in(UserFactory.create())
    assert client.get(reverse("set_language"), {"language": "zh-hans"}).status_code == 302
    assert language(client) == "en"


def test_nobody_is_led_elsewhere() -> None:
    client = signed_in(UserFactory.create())
    response = client.post(
        reverse("set_language"), {"language": "en", "next": "https://evil.example/"}
    )
    assert response.headers["Location"] == "/"


def test_one_that_was_taken_off_the_list_counts_as_none() -> None:
    user = UserFactory.create(language="de")
    assert language(signed_in(user)) == "en"


def test_error_pages_speak_it_too(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    User.objects.filter(pk=rater.user_id).update(language="zh-hans")
    rater.user.refresh_from_db()
    client = browser(rater)
    assert language(client, "/no/such/page/") == "zh-hans"
    assert language(client, reverse("campaign", args=[campaign.slug])) == "zh-hans"  # 403
    forged = browser(rater, enforce_csrf_checks=True).post(reverse("logout"))
    assert forged.status_code == 403
    assert forged.headers["Content-Language"] == "zh-hans"
