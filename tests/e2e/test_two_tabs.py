"""Two tabs of one rater do not fight over a pair."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from annotation.models import Campaign, Membership
from benchmark.models import Judgement
from tests.e2e.answering import WORDS, expect_kept, expect_waiting, write_answer
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address


def open_again(page: Page, campaign: Campaign) -> Page:
    other = page.context.new_page()
    other.goto(task_address(campaign))
    expect_pair(other, 1)
    assert other.locator("#task").get_attribute("data-seat") == page.locator("#task").get_attribute(
        "data-seat"
    )
    return other


def test_the_other_tab_goes_on_by_itself(task: Page, campaign: Campaign) -> None:
    other = open_again(task, campaign)
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect_pair(other, 2)
    expect(other.locator("#problem")).to_contain_text("in another tab")
    expect(other.locator("form.answer input:checked")).to_have_count(0)
    answer(other)
    other.locator(".submit").click()
    expect_pair(other, 3)
    expect_pair(task, 3)
    assert Judgement.objects.count() == 2


def test_a_different_answer_is_not_taken_away(task: Page, campaign: Campaign) -> None:
    other = open_again(task, campaign)
    other.locator(choice("helpfulness", "2")).check()
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    problem = other.locator("#problem")
    expect(problem).to_contain_text("in another tab")
    expect(problem).to_contain_text("is different")
    expect_pair(other, 1)
    expect(other.locator(choice("helpfulness", "2"))).to_be_checked()
    problem.get_by_role("button", name="Next pair").click()
    expect_pair(other, 2)
    expect(problem).to_be_hidden()
    assert Judgement.objects.count() == 1


def test_both_submit_and_the_first_answer_stands(task: Page, campaign: Campaign) -> None:
    other = open_again(task, campaign)
    other.locator(choice("helpfulness", "2")).check()
    other.locator(choice("personalization", "2")).check()
    write_answer(task)
    task.locator(".submit").click()
    expect(other.locator("#problem")).to_contain_text("is different")
    other.locator(".submit").click()
    expect_pair(other, 2)
    expect(other.locator(".notice")).to_contain_text("your first answer stands")
    assert Judgement.objects.get().comment == WORDS


def test_an_answer_that_waits_in_one_tab_is_sent_by_another(task: Page, campaign: Campaign) -> None:
    write_answer(task)
    # This tab alone has no network.
    task.route("**/seats/*/", lambda route: route.abort())
    task.locator(".submit").click()
    expect_waiting(task)
    other = task.context.new_page()
    other.goto(task_address(campaign))
    expect_pair(other, 2)
    expect_pair(task, 2)
    expect(task.locator(".save-state")).to_contain_text("Saved")
    assert Judgement.objects.get().comment == WORDS
    expect_kept(task, "outbox", 0)


def test_where_a_browser_has_no_locks_a_tab_that_is_sending_is_waited_for(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    """Pages without https have none, unless they are on this machine."""
    page = new_page(rater.user)
    page.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
    page.clock.install()
    page.goto(task_address(campaign))
    expect(page.locator("form.answer")).to_be_visible()
    page.evaluate(
        "key => localStorage.setItem(key, JSON.stringify({ page: 'another', at: Date.now() }))",
        f"pf:sending:{rater.user.pk}",
    )
    answer(page)
    page.locator(".submit").click()
    page.clock.fast_forward(10_000)
    expect(page.locator(".submit")).to_have_text("Sending …")
    assert not Judgement.objects.exists()
    # It was closed, and never let go.
    page.clock.fast_forward(31_000)
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert Judgement.objects.count() == 1
    assert not page.evaluate("key => localStorage.getItem(key)", f"pf:sending:{rater.user.pk}")
