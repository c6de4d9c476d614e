"""A pair is held while somebody is at work; before it is lost that is said, and after it too."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.seats import free_lapsed_seats
from benchmark.models import Judgement
from tests.e2e.answering import expect_answer_kept, sign_in_by_dialog, write_answer
from tests.e2e.conftest import NewPage, task_address


@pytest.fixture
def page(new_page: NewPage, campaign: Campaign, rater: Membership) -> Page:
    """The first pair, on a clock that the test moves."""
    page = new_page(rater.user)
    page.clock.install()
    page.goto(task_address(campaign))
    expect(page.locator("form.answer")).to_be_visible()
    return page


def renewals(page: Page) -> list[str]:
    asked: list[str] = []
    page.on(
        "request", lambda request: asked.append(request.url) if "renew" in request.url else None
    )
    return asked


def end_the_lease(page: Page, campaign: Campaign, *, is_taken: bool) -> None:
    """In the server first: whatever the page asks then, it is over."""
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert free_lapsed_seats(campaign=campaign) == 1
    if is_taken:
        PairSeats.objects.update(free=0)
    page.clock.fast_forward(1000 * campaign.lease_seconds)


def test_activity_renews_the_lease_and_idling_does_not(page: Page, campaign: Campaign) -> None:
    asked = renewals(page)
    before = Assignment.objects.get().lease_expires_at
    page.mouse.move(100, 100)
    page.clock.fast_forward(1000 * (campaign.lease_seconds // 4 + 1))
    assert not asked, "renewed though nobody was there"
    with page.expect_response("**/renew/") as renewed:
        page.mouse.move(200, 200)
    assert renewed.value.status == 204
    page.mouse.move(300, 300)
    page.keyboard.press("1")
    assert len(asked) == 1, "renewed too often"
    assert Assignment.objects.get().lease_expires_at > before


def test_it_warns_before_the_end_and_the_button_keeps_the_pair(
    page: Page, campaign: Campaign
) -> None:
    asked = renewals(page)
    problem = page.locator("#problem")
    eighth = campaign.lease_seconds // 8
    page.clock.fast_forward(1000 * (campaign.lease_seconds - eighth - 30))
    expect(problem).to_be_hidden()
    page.clock.fast_forward(31_000)
    expect(problem).to_contain_text(
        re.compile(r"Still there\? This pair is held for you until \d\d:\d\d\.")
    )
    expect(problem).to_have_attribute("role", "status")
    assert not asked
    # With the lease the words end too.
    problem.get_by_role("button", name="Keep it").focus()
    page.clock.fast_forward(1000 * eighth)
    expect(problem).to_contain_text("Your time for this pair is over.")
    assert not asked
    expect(problem.get_by_role("button", name="Keep it")).to_be_focused()
    with page.expect_response("**/renew/"):
        page.keyboard.press("Enter")
    expect(problem).to_contain_text("You still have this pair.")
    page.clock.fast_forward(1000 * (campaign.lease_seconds - eighth - 30))
    expect(problem).to_be_hidden()


def test_a_short_lease_warns_in_its_last_third(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    Campaign.objects.update(lease_seconds=90)
    page = new_page(rater.user)
    page.clock.install()
    page.goto(task_address(campaign))
    expect(page.locator("form.answer")).to_be_visible()
    page.clock.fast_forward(50_000)
    expect(page.locator("#problem")).to_be_hidden()
    page.clock.fast_forward(11_000)
    expect(page.locator("#problem")).to_contain_text("Still there?")
    # Any sign of life says so.
    page.mouse.move(50, 50)
    expect(page.locator("#problem")).to_be_hidden()


def test_after_the_end_the_pair_is_taken_back_if_its_place_is_free(
    page: Page, campaign: Campaign
) -> None:
    write_answer(page)
    end_the_lease(page, campaign, is_taken=False)
    page.mouse.move(200, 200)
    expect(page.locator("#problem")).to_contain_text("You still have this pair")
    assert Assignment.objects.get().state == Assignment.State.OPEN
    expect_answer_kept(page)
    page.clock.fast_forward(11_000)
    expect(page.locator("#problem")).to_be_hidden()
    page.locator(".submit").click()
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert Judgement.objects.count() == 1


def test_after_the_end_without_a_place_that_is_said_before_submitting(
    page: Page, campaign: Campaign
) -> None:
    write_answer(page)
    asked = renewals(page)
    end_the_lease(page, campaign, is_taken=True)
    page.mouse.move(200, 200)
    expect(page.locator("#problem")).to_contain_text("The time for this pair ran out")
    expect_answer_kept(page)
    page.mouse.move(250, 250)
    assert len(asked) == 1, "asked again for what is lost"
    page.locator(".submit").click()
    expect(page.locator(".notice")).to_contain_text("is not counted")
    assert not Judgement.objects.exists()


def test_an_answer_after_the_end_counts_if_a_place_is_free(page: Page, campaign: Campaign) -> None:
    write_answer(page)
    page.route("**/renew/", lambda route: route.abort())
    end_the_lease(page, campaign, is_taken=False)
    page.locator(".submit").click()
    expect(page.locator(".notice")).to_contain_text("your answer counts")
    assert Judgement.objects.count() == 1


def test_a_renewal_that_finds_the_session_ended_asks_to_sign_in(
    page: Page, campaign: Campaign
) -> None:
    Session.objects.all().delete()
    page.clock.fast_forward(1000 * (campaign.lease_seconds // 4 + 1))
    page.mouse.move(200, 200)
    expect(page.get_by_role("dialog")).to_contain_text("You have been signed out")
    with page.expect_response("**/renew/") as renewed:
        sign_in_by_dialog(page)
    assert renewed.value.status == 204
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_whoever_is_writing_is_not_interrupted_by_the_dialog(
    page: Page, campaign: Campaign
) -> None:
    write_answer(page, "")
    Session.objects.all().delete()
    page.clock.fast_forward(1000 * (campaign.lease_seconds // 4 + 1))
    page.locator("#comment").press_sequentially("a word")
    problem = page.locator("#problem")
    expect(problem).to_contain_text("You have been signed out")
    page.locator("#comment").press_sequentially(" and another")
    expect_answer_kept(page, "a word and another")
    problem.get_by_role("button", name="Sign in").click()
    sign_in_by_dialog(page)
    expect(problem).to_be_hidden()
    page.locator(".submit").click()
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert Judgement.objects.get().comment == "a word and another"


def test_what_is_answered_is_not_asked_for_again(page: Page) -> None:
    """Signing in sends the answer; its pair is not the rater's any more, and need not be."""
    write_answer(page)
    Session.objects.all().delete()
    page.locator(".submit").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    asked = renewals(page)
    sign_in_by_dialog(page)
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert not asked
    expect(page.locator("#problem")).to_be_hidden()


def test_while_an_answer_waits_nobody_is_asked_whether_they_are_still_there(
    page: Page, campaign: Campaign
) -> None:
    page.route("**/seats/*/", lambda route: route.abort())
    write_answer(page)
    page.locator(".submit").click()
    expect(page.locator(".save-state")).to_contain_text("Waiting for the network")
    asked = renewals(page)
    page.clock.fast_forward(1000 * (campaign.lease_seconds - 30))
    page.mouse.move(200, 200)
    expect(page.locator("#problem")).to_be_hidden()
    assert not asked


def test_a_message_of_one_pair_does_not_stay_over_the_next(page: Page, campaign: Campaign) -> None:
    end_the_lease(page, campaign, is_taken=True)
    page.mouse.move(200, 200)
    problem = page.locator("#problem")
    expect(problem).to_contain_text("The time for this pair ran out")
    # Above the pair, over what nobody reads.
    box, bar = problem.bounding_box(), page.locator(".task-bar").bounding_box()
    assert box
    assert bar
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= bar["y"] + 1
    # As by another tab, in which the same pair was answered.
    page.locator("#task").evaluate(
        """(task) => {
          const next = task.cloneNode(true);
          next.dataset.seat = "another";
          htmx.swap("#task", next.outerHTML, { swapStyle: "outerHTML" });
        }"""
    )
    expect(problem).to_be_hidden()
