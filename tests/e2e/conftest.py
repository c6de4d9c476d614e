"""A real browser on a live server; page errors and breaches of the content policy fail a test."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from annotation.models import Campaign, Membership, User
from tests.conftest import wait_until
from tests.e2e.chromium import launch
from tests.factories import add_pairs, make_campaign, make_member

# Breaches are told to the page; this hands them on to the console, where `watch` hears them.
REPORT_BREACHES = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`));
"""

# By a route, browsers would keep no files, and each page would load all of them anew.
NOTHING_AHEAD = """
const { fetch } = window;
window.fetch = (address, options) => String(address).endsWith("/ahead/")
  ? Promise.resolve(new Response(null, { status: 204 }))
  : fetch(address, options);
"""

# A limit, never a wait: the machine may be busy with other tests.
PATIENCE_MS = 30_000

NewPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread, and Django refuses its database there unless
    # told that the thread is the test's own.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        running = launch(playwright)
        yield running
        running.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(autouse=True)
def _answered(transactional_db: None) -> Iterator[None]:
    """The database is emptied when the last request is answered: the two would lock each other.

    A page that is closed leaves requests behind, and a thread of the server for each connection.
    """
    yield
    wait_until(lambda: not serving(), what="the server has answered everything")


def serving() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "process_request" in thread.name]


@pytest.fixture
def has_next() -> bool:
    """Whether pages may have the next pair at hand; that way is in `test_ahead`.

    Else each answer goes to the server and the next pair comes with the reply, as where there is
    none to be held ahead.
    """
    return False


@pytest.fixture
def new_page(browser: Browser, live_server: LiveServer, has_next: bool) -> Iterator[NewPage]:
    """Opens pages, each in a browser profile of its own, signed in as ``user`` if one is given."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def open_page(user: User | None = None, *, scripts: bool = True, width: int = 1280) -> Page:
        context = browser.new_context(
            base_url=live_server.url,
            java_script_enabled=scripts,
            locale="en-GB",
            timezone_id="Europe/Berlin",
            viewport={"width": width, "height": 800},
        )
        contexts.append(context)
        context.add_init_script(REPORT_BREACHES)
        if not has_next:
            context.add_init_script(NOTHING_AHEAD)
        context.set_default_timeout(PATIENCE_MS)
        if user:
            sign_in(context, user, live_server.url)
        page = context.new_page()
        watch(page, problems)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def watch(page: Page, problems: list[str]) -> None:
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda message: (
            problems.append(f"{page.url}: {message.text}")
            if "Content Security Policy" in message.text
            else None
        ),
    )


def sign_in(context: BrowserContext, user: User, address: str) -> None:
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    """Open, with four pairs."""
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 4)
    return campaign


@pytest.fixture
def rater(campaign: Campaign) -> Membership:
    return make_member(campaign)


@pytest.fixture
def task(new_page: NewPage, rater: Membership) -> Page:
    """The first pair in front of the rater."""
    page = new_page(rater.user)
    page.goto(task_address(rater.campaign))
    expect_pair(page, 1)
    return page


def task_address(campaign: Campaign) -> str:
    return f"/campaigns/{campaign.slug}/task/"


def expect_pair(page: Page, number: int) -> None:
    """Wait until the rater's n-th pair is there, and settled."""
    expect(page).to_have_title(re.compile(rf"^\s*Pair {number} of "))
    expect(page.locator("#task.htmx-settling, #task.htmx-added")).to_have_count(0)


def choice(criterion: str, value: str) -> str:
    """A selector of a radio button."""
    return f'input[name="{criterion}"][value="{value}"]'


def answer(page: Page, helpfulness: str = "1", personalization: str = "2") -> None:
    """With the mouse."""
    page.locator(choice("helpfulness", helpfulness)).check()
    page.locator(choice("personalization", personalization)).check()
