"""The reader's time zone: named by the browser in a cookie, used by the server."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Membership
from tests.annotation.views.answering import judge
from tests.e2e.conftest import NewPage

# Of `new_page`.
ZONE = "Europe/Berlin"


@pytest.fixture
def judged(rater: Membership) -> Membership:
    """Answers before and after midnight in Berlin, on one day of UTC."""
    judge(rater, 1, start=datetime(2026, 3, 2, 9, tzinfo=UTC))
    judge(rater, 1, start=datetime(2026, 3, 2, 23, 10, tzinfo=UTC))
    return rater


def cookie(page: Page) -> dict[str, Any]:
    (found,) = [each for each in page.context.cookies() if each["name"] == "timezone"]
    return dict(found)


def days(page: Page) -> list[str]:
    return page.locator("table:has(.own-bar) tbody th").all_inner_texts()[:2]


def test_every_page_names_it(campaign: Campaign, new_page: NewPage) -> None:
    page = new_page()
    page.goto("/accounts/login/")
    found = cookie(page)
    assert (found["value"], found["path"], found["sameSite"]) == (ZONE, "/", "Lax")
    # Who travels, or whose cookie somebody has touched, is followed.
    here = page.evaluate("location.origin")
    page.context.add_cookies([{"name": "timezone", "value": "Asia/Shanghai", "url": here}])
    page.goto("/no/such/page/")
    assert cookie(page)["value"] == ZONE


def test_days_of_my_page_are_those_of_the_reader(new_page: NewPage, judged: Membership) -> None:
    page = new_page(judged.user)
    address = f"/campaigns/{judged.campaign.slug}/me/"
    page.goto(address)
    # The page that brings the script is one of the server's zone.
    expect(page.get_by_text("Days begin at midnight (UTC)")).to_be_visible()
    assert days(page)[0] == "March 2, 2026"
    page.goto(address)
    expect(page.get_by_text(f"Days begin at midnight ({ZONE})")).to_be_visible()
    assert days(page) == ["March 3, 2026", "March 2, 2026"]


def test_moments_come_in_the_readers_zone(new_page: NewPage, judged: Membership) -> None:
    """So that they do not jump while a page loads; the script words them as the browser does."""
    page = new_page(judged.user)
    address = f"/campaigns/{judged.campaign.slug}/history/"
    page.goto(address)
    answer = page.goto(address)
    assert answer
    written = re.findall(r'<time [^>]*title="([^"]+)">([^<]+)</time>', answer.text())
    assert written == [
        ("2026-03-02 23:11:00 UTC", "March 3, 2026 00:11"),
        ("2026-03-02 09:01:00 UTC", "March 2, 2026 10:01"),
    ]
    for moment, (_, words) in zip(page.locator("time").all(), written, strict=True):
        expect(moment).to_contain_text(words[-5:])


def test_without_scripts_pages_say_utc(new_page: NewPage, judged: Membership) -> None:
    page = new_page(judged.user, scripts=False)
    page.goto(f"/campaigns/{judged.campaign.slug}/history/")
    expect(page.locator("time").first).to_have_text("March 2, 2026 23:11 UTC")
    page.goto(f"/campaigns/{judged.campaign.slug}/me/")
    expect(page.get_by_text("judged since midnight (UTC)")).to_be_visible()
