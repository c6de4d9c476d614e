"""What comes back refused, with scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django import Settings

from annotation.models import Campaign, Flag, Guideline, Membership
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address
from tests.factories import add_pairs, make_campaign, make_member


def test_a_refused_answer_stays_where_it_was_read(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    campaign = make_campaign()
    long = "A paragraph of some length.\n\n" * 100
    add_pairs(campaign, tmp_path, 2, response_a=long + "One.", response_b=long + "Two.")
    page = new_page(make_member(campaign).user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    page.locator("#pane-2").evaluate("pane => { pane.scrollTop = 200; }")
    page.locator(choice("helpfulness", "2")).check()
    page.locator(".submit").click()
    expect(page.locator("#task .field-error")).to_have_text("Choose one of the responses.")
    expect(page.locator(choice("personalization", "1"))).to_be_focused()
    expect(page.locator(choice("helpfulness", "2"))).to_be_checked()
    expect(page.locator("#status")).to_have_text("Not sent. Choose one of the responses.")
    assert page.locator("#pane-2").evaluate("pane => pane.scrollTop") == 200
    page.keyboard.press("q")
    page.keyboard.press("Enter")
    expect_pair(page, 2)
    assert page.locator("#pane-2").evaluate("pane => pane.scrollTop") == 0


def test_a_comment_over_the_limit_is_refused_and_kept(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    answer(page)
    page.locator("details.comment summary").click()
    page.locator("#comment").fill("x" * 100_000)
    page.locator(".submit").click()
    expect(page.locator("#error-comment")).to_contain_text("the limit is")
    expect(page.locator("#comment")).to_be_focused()
    expect(page.locator("#comment")).to_have_value("x" * 100_000)


TOO_MUCH = "words " * 5_000


@pytest.fixture
def small_limit(settings: Settings) -> None:
    """Megabytes in a text area are too much for the browser of a test."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 20_480


def test_a_report_that_is_too_large_says_so_and_stays(
    small_limit: None, new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    page.locator("#flags > summary").click()
    flags = page.locator("#flags")
    flags.get_by_label("The profile", exact=True).check()
    flags.locator('[name="kind"]').first.check()
    flags.locator("textarea").fill(TOO_MUCH)
    send = flags.get_by_role("button", name="Tell the lead")
    send.click()
    problem = page.locator("#problem")
    expect(problem).to_contain_text("Not sent: at most 20.0\xa0KB can be sent at once.")
    expect(send).to_be_focused()
    expect(flags.locator("textarea")).to_have_value(TOO_MUCH)
    assert not Flag.objects.exists()
    flags.locator("textarea").fill("Short.")
    send.click()
    expect(flags).to_contain_text("1 reported")
    expect(problem).to_be_hidden()
    assert Flag.objects.get().comment == "Short."


def test_guidelines_that_are_too_large_are_there_when_one_goes_back(
    small_limit: None, new_page: NewPage, campaign: Campaign
) -> None:
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.goto(f"/campaigns/{campaign.slug}/settings/")
    page.get_by_role("textbox", name="Guidelines").fill(TOO_MUCH)
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("h1")).to_have_text("This is too large to be sent")
    expect(page.locator("main")).to_contain_text("At most 20.0\xa0KB can be sent at once")
    page.go_back()
    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value(TOO_MUCH)
    assert Guideline.objects.count() == 1
