"""Narrow windows: phones, and 200 % zoom on a laptop."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import NewPage, answer, expect_pair, task_address
from tests.factories import add_pairs, make_campaign, make_member

LONG = "A paragraph of some length, which goes on for a line or two.\n\n" * 30
PERSONA = {"Name": "Noor", "Habits": [f"Habit {n}" for n in range(60)]}


@pytest.fixture
def phone(transactional_db: None, new_page: NewPage, tmp_path: Path) -> Page:
    campaign = make_campaign()
    add_pairs(
        campaign,
        tmp_path,
        2,
        response_a=f"{LONG}One.",
        response_b=f"{LONG}Two.",
        persona=PERSONA,
        persona_id="noor",
    )
    page = new_page(make_member(campaign).user, width=375)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    return page


def test_the_profile_opens_over_the_page_and_leaves_it_where_it_was(phone: Page) -> None:
    phone.evaluate("scrollTo(0, 1200)")
    name = phone.locator("[data-opens-profile]")
    expect(name).to_be_in_viewport()
    expect(name).to_have_text("Noor")
    for close in (
        lambda: phone.keyboard.press("Escape"),
        lambda: phone.mouse.click(180, 790),
        lambda: phone.locator("details.persona > summary").click(),
    ):
        name.click()
        expect(phone.locator("details.persona")).to_have_attribute("data-over", "")
        expect(phone.locator(".persona-card")).to_be_focused()
        expect(phone.locator(".persona-card")).to_be_in_viewport()
        close()
        expect(phone.locator("details.persona")).not_to_have_attribute("data-over", "")
        expect(name).to_be_focused()
        assert phone.evaluate("scrollY") == 1200
    # With a keyboard at hand: by its key, and going on by Tab closes it.
    phone.keyboard.press("p")
    expect(phone.locator(".persona-card")).to_be_focused()
    phone.keyboard.press("Tab")
    expect(phone.locator("details.persona")).not_to_have_attribute("data-over", "")


def test_a_folded_profile_opens_and_is_folded_again(phone: Page) -> None:
    profile = phone.locator("details.persona")
    profile.locator("summary").click()
    expect(profile).not_to_have_attribute("open", "")
    phone.locator("[data-opens-profile]").click()
    expect(phone.locator(".persona-card")).to_be_visible()
    phone.keyboard.press("Escape")
    expect(profile).not_to_have_attribute("open", "")


def test_the_switch_shows_where_one_reads_and_leads_back_there(phone: Page) -> None:
    first, second = phone.locator("[data-switch]").all()
    expect(phone.locator('[data-switch][aria-current="true"]')).to_have_count(0)
    first.click()
    expect(first).to_have_attribute("aria-current", "true")
    expect(phone.locator("#response-1")).to_be_focused()
    top = phone.evaluate("scrollY")
    phone.mouse.wheel(0, 400)
    phone.wait_for_function("top => scrollY >= top + 400", arg=top)
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    expect(first).not_to_have_attribute("aria-current", "true")
    expect(phone.locator("#response-2")).to_be_in_viewport()
    first.click()
    expect(first).to_have_attribute("aria-current", "true")
    # Back where it was read, not at its beginning; that is one press more.
    expect(phone.locator("#response-1")).not_to_be_in_viewport()
    first.click()
    expect(phone.locator("#response-1")).to_be_in_viewport()


def test_the_next_pair_begins_at_the_top(phone: Page) -> None:
    answer(phone)
    phone.locator(".submit").click()
    expect_pair(phone, 2)
    assert phone.evaluate("scrollY") == 0
    expect(phone.locator("#query")).to_be_focused()
    expect(phone.locator("#query")).to_be_in_viewport()


def test_that_an_answer_waits_is_in_sight_where_it_was_given(phone: Page) -> None:
    phone.route("**/seats/*/", lambda route: route.abort())
    answer(phone)
    phone.locator(".submit").click()
    state = phone.locator(".switch-state")
    expect(state).to_have_text("Waiting for the network. Your answer is kept in this browser.")
    expect(state).to_be_in_viewport(ratio=1)
    expect(phone.locator(".save-state")).not_to_be_in_viewport()
    phone.unroute_all()
    expect_pair(phone, 2)
    expect(phone.locator(".switch-state")).to_be_hidden()


def test_targets_are_large_enough_for_a_finger(phone: Page) -> None:
    context = phone.context.browser
    assert context
    touch = context.new_context(
        base_url=phone.url, viewport={"width": 320, "height": 700}, has_touch=True, is_mobile=True
    )
    touch.add_cookies(phone.context.cookies())  # type: ignore[arg-type]
    page = touch.new_page()
    page.goto(phone.url)
    page.locator("#skip > summary").click()
    page.locator("#flags > summary").click()
    small = page.evaluate(
        """() => [...document.querySelectorAll(
            "#task :is(button, summary, label, .tool, .switch-bar a)")]
          .filter((element) => element.checkVisibility())
          .filter((element) => !element.matches(".field label"))
          .map((element) => [element.textContent.trim(), element.getBoundingClientRect()])
          .filter(([, { width, height }]) => Math.min(width, height) < 43.5)
          .map(([words, { width, height }]) => `${words}: ${width} x ${height}`)"""
    )
    touch.close()
    assert small == []
