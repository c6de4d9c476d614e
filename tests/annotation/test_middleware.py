"""Of the reader: the language, the account's or else the browser's, and the browser's time zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from annotation.models import Membership, User
from benchmark.models import Judgement
from tests.annotation.seating import answer, seat, seated_campaign, submit
from tests.annotation.test_access import make_release
from tests.annotation.views.pages import Page, browser
from tests.factories import PASSWORD, UserFactory, make_member

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


class TestZone:
    """Of a browser that names one in a cookie."""

    MOMENT = datetime(2026, 7, 1, 22, 30, 15, tzinfo=UTC)

    @pytest.fixture
    def lead(self, tmp_path: Path) -> Membership:
        campaign, (rater, _) = seated_campaign(tmp_path)
        assert rater.rater is not None
        submit(seat=seat(rater), answer=answer())
        Judgement.objects.update(submitted_at=self.MOMENT)
        return make_member(campaign, Membership.Role.LEAD)

    def shown(self, lead: Membership, zone: str | None) -> str:
        """The time of the only judgement, on the page of the campaign."""
        client = browser(lead)
        if zone is not None:
            client.cookies["timezone"] = zone
        page = Page(client.get(reverse("campaign", args=[lead.campaign.slug])))
        assert page.having(title="2026-07-01 22:30:15 UTC", datetime="2026-07-01T22:30:15+00:00")
        (found,) = [text for text in page.texts if "July" in text]
        return found

    @pytest.mark.parametrize(
        ("zone", "words"),
        [
            ("Asia/Shanghai", "July 2, 2026 06:30"),
            ("America/Argentina/Buenos_Aires", "July 1, 2026 19:30"),
            # As browsers still call it.
            ("Asia/Calcutta", "July 2, 2026 04:00"),
            ("Etc/GMT+8", "July 1, 2026 14:30"),
            ("UTC", "July 1, 2026 22:30 UTC"),
        ],
    )
    def test_moments_are_in_it(self, lead: Membership, zone: str, words: str) -> None:
        assert self.shown(lead, zone) == words
        # The next request, in the same thread, is somebody else's.
        assert timezone.get_current_timezone_name() == "UTC"
        assert self.shown(lead, None) == "July 1, 2026 22:30 UTC"

    @pytest.mark.parametrize(
        "zone",
        [
            *("", "Mars/Olympus", "Europe", "Europe/Berlin ", "../../etc/passwd", "/etc/localtime"),
            *("UTC+8", "+08:00", "x" * 3_000, "tzdata.zi", "<b>"),
        ],
    )
    def test_what_is_none_is_as_if_nothing_were_named(self, lead: Membership, zone: str) -> None:
        assert self.shown(lead, zone) == "July 1, 2026 22:30 UTC"

    def test_files_know_nothing_of_it(self, lead: Membership) -> None:
        campaign = lead.campaign
        release = make_release(campaign)
        release.archive.parent.mkdir(parents=True, exist_ok=True)
        release.archive.write_bytes(b"as it was built")
        addresses = [reverse("download", args=[campaign.slug, release.version]), reverse("healthz")]
        for address in addresses:
            got = []
            for zone in ("", "Pacific/Kiritimati"):
                client = browser(lead)
                client.cookies["timezone"] = zone
                response = client.get(address)
                assert response.status_code == 200
                got.append((b"".join(response), sorted(response.headers.items())))
            assert got[0] == got[1]
