"""Codes and links that are taken elsewhere: copied by a button, or selected to do it by hand."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Campaign, Membership
from tests.annotation.ways import crowd_address, make_invite, make_study
from tests.e2e.conftest import NewPage, answer
from tests.factories import make_member

FORBIDDEN = """
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: () => Promise.reject(new DOMException("no", "NotAllowedError")) },
});
"""
# As on a page that came without HTTPS.
MISSING = 'Object.defineProperty(navigator, "clipboard", { value: undefined });'


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def selected(field: Locator) -> str:
    text = field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    return str(text)


@pytest.fixture
def people(campaign: Campaign, new_page: NewPage) -> Page:
    """The lead's page with two invites and a study."""
    for label in ("Lisbon", "里斯本"):
        make_invite(campaign, label=label)
    make_study(campaign)
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return page


def go(page: Page, campaign: Campaign) -> None:
    page.goto(f"/campaigns/{campaign.slug}/people/")


def test_links_are_copied_by_keyboard(people: Page, campaign: Campaign) -> None:
    go(people, campaign)
    for label in ("Lisbon", "里斯本"):
        link = people.get_by_label(f"Link to copy {label}")
        link.focus()
        people.keyboard.press("Tab")
        button = people.get_by_role("button", name=re.compile(rf"^Cop.* {label}$"))
        expect(button).to_be_focused()
        people.keyboard.press("Enter")
        expect(button).to_have_accessible_name(f"Copied {label}")
        expect(people.locator("#status")).to_have_text("Copied")
        expect(button).to_be_focused()
        assert clipboard(people) == link.input_value()
    # The clipboard does not hold the first one any more, and its button does not say so.
    expect(people.get_by_role("button", name="Copy Lisbon")).to_be_visible()
    people.get_by_role("button", name="Copy Pilot").click()
    expect(people.locator("#status")).to_have_text("Copied")
    assert "STUDY_ID" in clipboard(people)


@pytest.mark.parametrize("obstacle", [FORBIDDEN, MISSING])
def test_without_a_clipboard_the_link_is_selected(
    people: Page, campaign: Campaign, obstacle: str
) -> None:
    people.add_init_script(obstacle)
    go(people, campaign)
    people.get_by_role("button", name="Copy Lisbon").click()
    link = people.get_by_label("Link to copy Lisbon")
    expect(link).to_be_focused()
    assert selected(link) == link.input_value() != ""
    expect(people.locator("#status")).to_contain_text("The text is selected")
    expect(people.get_by_role("button", name="Copy Lisbon")).to_be_visible()


def test_a_completion_code_is_copied_after_the_last_pair_and_later(
    campaign: Campaign, new_page: NewPage
) -> None:
    study = make_study(campaign, pairs_each=1)
    page = new_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(crowd_address(study))
    page.get_by_role("button", name="I agree and want to take part").click()
    page.locator("form[action$='/guidelines/'] button").click()
    page.wait_for_url(f"**/campaigns/{campaign.slug}/task/")
    answer(page)
    page.locator(".submit").click()
    expect(page.get_by_label("Completion code")).to_have_value("C0DE-42")
    for address in ("", crowd_address(study)):
        if address:
            page.goto(address)
        page.evaluate("navigator.clipboard.writeText('something else')")
        page.get_by_role("button", name="Copy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_focused()
        expect(page.locator("#status")).to_have_text("Copied")
        assert clipboard(page) == "C0DE-42"


def test_without_scripts_there_is_no_button(campaign: Campaign, new_page: NewPage) -> None:
    make_invite(campaign)
    page = new_page(make_member(campaign, Membership.Role.LEAD).user, scripts=False)
    go(page, campaign)
    expect(page.get_by_label("Link to copy")).to_be_visible()
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
