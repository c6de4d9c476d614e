"""Requests that are refused: what is said on the page, and what in the log."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Flag, Guideline, Membership
from annotation.settings.logs import LineFormatter
from benchmark.models import Judgement
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.views.pages import ANSWER, HTMX, Page, browser
from tests.factories import make_member

pytestmark = pytest.mark.django_db

LIMIT = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
LARGE = "字" * (LIMIT // 3)
CHINESE = {"Accept-Language": "zh-CN"}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the handler of the settings writes."""
    (handler,) = (
        each
        for each in logging.getLogger("django").handlers
        if isinstance(each.formatter, LineFormatter)
    )
    assert isinstance(handler, logging.StreamHandler)
    written = io.StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


class TestTooLarge:
    @pytest.mark.parametrize(
        ("headers", "words"),
        [
            ({}, ("This is too large to be sent", "Nothing was saved. At most 2.5 MB can be sent")),
            (CHINESE, ("内容太大，无法发送", "一次最多可发送 2.5 MB")),
        ],
    )
    @pytest.mark.parametrize("with_token", [True, False])
    def test_an_answer(
        self,
        tmp_path: Path,
        log: io.StringIO,
        headers: dict[str, str],
        words: tuple[str, ...],
        with_token: bool,
    ) -> None:
        """Whether its token is looked for in the form, or nobody has read the form before."""
        _, (rater, _) = seated_campaign(tmp_path)
        address = reverse("submit", args=[seat(rater, now=timezone.now()).pk])
        client = browser(rater, enforce_csrf_checks=with_token, SERVER_NAME="127.0.0.1")
        client.get(reverse("home"))
        response = client.post(address, ANSWER | {"comment": LARGE}, headers=headers)
        assert response.status_code == 413
        page = Page(response)
        assert page.is_whole
        for part in words:
            assert part in page.text
        assert not Judgement.objects.exists()
        assert "Traceback" not in log.getvalue()
        assert "RequestDataTooBig" in log.getvalue()

    def test_guidelines(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path)
        lead = browser(make_member(campaign, Membership.Role.LEAD))
        form = {"form": "guidelines", "body": LARGE, "after": "1"}
        response = lead.post(reverse("judging_settings", args=[campaign.slug]), form)
        assert response.status_code == 413
        assert Guideline.objects.count() == 1

    def test_by_htmx(self, tmp_path: Path) -> None:
        """The status is enough for sending.js; see tests/e2e/test_trouble.py."""
        _, (rater, _) = seated_campaign(tmp_path)
        address = reverse("flag", args=[seat(rater, now=timezone.now()).pk])
        data = {"target": "1", "kind": "other", "comment": LARGE}
        assert browser(rater).post(address, data, headers=HTMX).status_code == 413
        assert not Flag.objects.exists()

    def test_before_signing_in(self) -> None:
        response = Client().post(reverse("login"), {"username": LARGE, "password": "x"})
        assert response.status_code == 413
        assert "At most 2.5" in Page(response).text

    def test_up_to_the_limit_the_field_has_its_own_words(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        address = reverse("submit", args=[seat(rater, now=timezone.now()).pk])
        response = browser(rater).post(address, ANSWER | {"comment": "x" * 2_000_000})
        assert response.status_code == 422
        assert "the limit is 4,000 characters" in Page(response).text


def test_other_bad_requests_have_a_few_words() -> None:
    response = Client().post(reverse("set_language"), {"language": "xx"})
    assert (response.status_code, b"Bad Request" in response.content) == (400, True)


class TestLog:
    def test_what_is_not_allowed_is_a_line(self, tmp_path: Path, log: io.StringIO) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        address = reverse("campaign", args=[campaign.slug])
        assert browser(rater).get(address).status_code == 403
        (line,) = log.getvalue().splitlines()
        assert line.endswith(f"WARNING django.request: Forbidden (Permission denied): {address}")

    def test_so_is_a_form_without_its_token(self, log: io.StringIO) -> None:
        address = reverse("login")
        assert Client(enforce_csrf_checks=True).post(address).status_code == 403
        (line,) = log.getvalue().splitlines()
        assert "WARNING django.security.csrf: Forbidden (CSRF cookie not set.)" in line

    def test_so_are_a_bad_request_and_an_address_of_nothing(self, log: io.StringIO) -> None:
        Client().post(reverse("set_language"), {"language": "xx"})
        Client().get("/no/such/page/")
        bad, missing = log.getvalue().splitlines()
        assert "does not speak this language.: /i18n/setlang/" in bad
        assert "Not Found: /no/such/page/" in missing

    @pytest.mark.parametrize("address", ["/", "/i18n/setlang/", "/accounts/login/"])
    def test_what_is_too_much_has_its_address(self, log: io.StringIO, address: str) -> None:
        """Django's own line does not name it; "/" is in its words all the same."""
        client = Client(enforce_csrf_checks=True)
        client.cookies["csrftoken"] = "x" * 32
        client.post(address, {f"f{n}": "x" for n in range(2_000)})
        fields, *_ = log.getvalue().splitlines()
        assert "django.security.TooManyFieldsSent: The number of GET/POST parameters" in fields
        assert fields.endswith(f"DATA_UPLOAD_MAX_NUMBER_FIELDS.: POST {address}")
        log.truncate(0)
        client.post(address, {"next": LARGE})
        size, *_ = log.getvalue().splitlines()
        assert "django.security.RequestDataTooBig: Request body exceeded" in size
        assert size.endswith(f"DATA_UPLOAD_MAX_MEMORY_SIZE.: POST {address}")

    def test_an_error_of_the_server_has_its_traceback(self, log: io.StringIO) -> None:
        def refuse(*arguments: object) -> None:
            raise DatabaseError("the server is gone")

        with connection.execute_wrapper(refuse):
            response = Client(raise_request_exception=False).get(reverse("healthz"))
        assert response.status_code == 500
        written = log.getvalue()
        assert "ERROR django.request: Internal Server Error: /healthz" in written
        assert "Traceback (most recent call last)" in written
        assert "DatabaseError: the server is gone" in written
