"""What comes back refused, with scripts."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from annotation.models import Campaign, Membership
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
