"""Forged, misdirected and broken requests; and whether the process lives."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Event, Membership
from benchmark.models import Judgement
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.views.pages import HTMX, Page, browser, task_address
from tests.factories import PASSWORD, make_member

pytestmark = pytest.mark.django_db

ANSWER = {"helpfulness": "1", "personalization": "2"}
# As a browser at PUBLIC_URL asks.
HERE: dict[str, Any] = {"headers": {"Host": urlsplit(settings.PUBLIC_URL).netloc}}


class TestForgery:
    def test_a_form_without_its_token_changes_nothing(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        address = reverse("submit", args=[seat(rater, now=timezone.now()).pk])
        client = browser(rater, enforce_csrf_checks=True, **HERE)
        response = client.post(address, ANSWER)
        page = Page(response)
        assert response.status_code == 403
        assert "The form was not accepted" in page.text
        assert "Nothing was saved" in page.text
        assert "PUBLIC_URL" not in page.text  # the address is right: it is about the cookie
        assert not Judgement.objects.exists()

    def test_the_form_of_the_page_is_accepted(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater, enforce_csrf_checks=True, **HERE)
        page = Page(client.get(task_address(rater)))
        address = page.having(method="post", class_="answer")[0]["action"]
        response = client.post(address, ANSWER | {"csrfmiddlewaretoken": page.csrf_token})
        assert response.status_code == 303
        # htmx sends it as a header; the token of an earlier page still works.
        page = Page(client.get(task_address(rater), headers=HTMX))
        address = page.having(method="post", class_="answer")[0]["action"]
        headers = HTMX | {"X-CSRFToken": page.csrf_token}
        renew = page.having(id="task")[0]["data-renew"]
        assert client.post(renew, headers=headers).status_code == 204
        assert client.post(address, ANSWER, headers=headers).status_code == 200

    def test_another_address_is_named_beside_the_right_one(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater, enforce_csrf_checks=True, **HERE)
        page = Page(client.get(task_address(rater)))
        address = page.having(method="post", class_="answer")[0]["action"]
        response = client.post(
            address,
            ANSWER | {"csrfmiddlewaretoken": page.csrf_token},
            headers={"Origin": "https://judge.example"},
        )
        page = Page(response)
        assert response.status_code == 403
        assert "https://judge.example" in page.text
        assert settings.PUBLIC_URL in page.text
        assert "PUBLIC_URL" in page.text
        assert not Judgement.objects.exists()

    def test_a_hostile_origin_is_shown_as_text(self) -> None:
        response = Client(enforce_csrf_checks=True, **HERE).post(
            reverse("login"), headers={"Origin": "https://x.example/<script>alert(1)</script>"}
        )
        assert response.status_code == 403
        assert b"<script>alert(1)" not in response.content

    def test_signing_in_with_a_form_of_before(self, tmp_path: Path) -> None:
        """The token is renewed when somebody signs in; the page after it has the new one."""
        _, (rater, _) = seated_campaign(tmp_path)
        client = Client(enforce_csrf_checks=True, **HERE)
        token = Page(client.get(reverse("login"))).csrf_token
        response = client.post(
            reverse("login"),
            {
                "username": rater.user.username,
                "password": PASSWORD,
                "next": task_address(rater),
                "csrfmiddlewaretoken": token,
            },
        )
        assert response.headers["Location"] == task_address(rater)
        page = Page(client.get(task_address(rater)))
        address = page.having(method="post", class_="answer")[0]["action"]
        response = client.post(address, ANSWER | {"csrfmiddlewaretoken": page.csrf_token})
        assert response.status_code == 303

    def test_signing_in_leads_nowhere_else(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        response = Client().post(
            reverse("login"),
            {
                "username": rater.user.username,
                "password": PASSWORD,
                "next": "https://evil.example/",
            },
        )
        assert response.headers["Location"] == reverse("home")

    def test_a_host_that_is_not_ours(self) -> None:
        response = Client(SERVER_NAME="evil.example").get(reverse("login"))
        assert response.status_code == 400


@pytest.mark.parametrize("name", ["renew", "logout"])
def test_what_changes_something_is_never_a_get(tmp_path: Path, name: str) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    held = seat(rater, now=timezone.now())
    address = reverse(name, args=[held.pk] if name == "renew" else [])
    for method in ("get", "head", "put", "delete"):
        response = getattr(browser(rater), method)(address)
        assert response.status_code == 405, method
        assert "POST" in response.headers["Allow"]


@pytest.mark.parametrize("name", ["move", "aggregate", "release"])
def test_a_get_of_what_a_lead_changes_leads_back(tmp_path: Path, name: str) -> None:
    """Signing in again leads to the address of the post that was refused."""
    campaign, _ = seated_campaign(tmp_path)
    lead = browser(make_member(campaign, Membership.Role.LEAD))
    events = Event.objects.count()
    address = reverse(name, args=[campaign.slug])
    response = lead.get(address, {"state": "closed", "version": "1.0.0"})
    assert (response.status_code, response.headers["Location"]) == (
        302,
        reverse("campaign", args=[campaign.slug]),
    )
    for method in ("head", "put", "delete"):
        assert getattr(lead, method)(address).status_code == 405, method
    assert Campaign.objects.get(pk=campaign.pk).state == "open"
    assert Event.objects.count() == events


@pytest.mark.parametrize("name", ["task", "home", "own", "history", "campaign", "people"])
def test_pages_take_no_posts(tmp_path: Path, name: str) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    address = reverse(name, args=[] if name == "home" else [campaign.slug])
    assert browser(rater).post(address).status_code == 405


def test_healthz() -> None:
    client = Client()
    response = client.get(reverse("healthz"))
    assert (response.status_code, response.content) == (200, b"ok")
    assert client.head(reverse("healthz")).status_code == 200
    assert client.post(reverse("healthz")).status_code == 405
    assert not client.cookies


def test_healthz_without_a_database() -> None:
    def refuse(*arguments: object) -> None:
        raise DatabaseError("the server is gone")

    client = Client(raise_request_exception=False)
    with connection.execute_wrapper(refuse):
        response = client.get(reverse("healthz"))
    assert response.status_code == 500


def test_a_page_that_there_is_not(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    for client in (Client(), browser(rater)):
        response = client.get("/no/such/page/")
        assert response.status_code == 404
        assert Page(response).is_whole


def test_signing_out_works_after_the_session_ended(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    client = browser(rater)
    for _ in range(2):
        response = client.post(reverse("logout"))
        assert (response.status_code, response.headers["Location"]) == (302, reverse("login"))
    assert client.get(reverse("home")).status_code == 302


@pytest.mark.parametrize(
    "tail",
    ["releases/%00/download/", "releases/..%2F1.0.0/download/", f"runs/{10**30}/", "runs/-1/"],
)
def test_addresses_of_nothing(tmp_path: Path, tail: str) -> None:
    campaign, _ = seated_campaign(tmp_path)
    lead = make_member(campaign, Membership.Role.LEAD)
    address = reverse("campaign", args=[campaign.slug])
    assert browser(lead).get(address + tail).status_code == 404


def test_the_language_can_be_chosen_before_signing_in() -> None:
    client = Client()
    response = client.post(
        reverse("set_language"), {"language": "zh-hans", "next": reverse("login")}
    )
    assert (response.status_code, response.headers["Location"]) == (302, reverse("login"))
    assert Page(client.get(reverse("login"))).having(lang="zh-hans")
