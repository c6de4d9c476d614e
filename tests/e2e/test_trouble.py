"""Network, server, session and lease in trouble: it is said, and the answer is still there."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Membership
from annotation.services.campaigns import move_campaign
from annotation.services.seats import free_lapsed_seats
from benchmark.models import Judgement
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address
from tests.factories import PASSWORD


def expect_answer_kept(page: Page) -> None:
    expect(page.locator(choice("helpfulness", "1"))).to_be_checked()
    expect(page.locator(choice("personalization", "2"))).to_be_checked()
    expect(page.locator("#comment")).to_have_value("my words")


def write_answer(page: Page) -> None:
    answer(page)
    page.locator("details.comment summary").click()
    page.locator("#comment").fill("my words")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "the server could not be reached"),
        (500, "the server had an error"),
        (403, "the server did not accept it"),
    ],
)
def test_a_failed_request_loses_nothing(task: Page, status: int | None, words: str) -> None:
    task.route(
        "**/seats/*/",
        lambda route: route.fulfill(status=status, body="no") if status else route.abort(),
    )
    write_answer(task)
    task.locator(".submit").click()
    problem = task.get_by_role("alert")
    expect(problem).to_contain_text("Not sent")
    expect(problem).to_contain_text(words)
    expect_answer_kept(task)
    expect(task.locator(".submit")).to_be_enabled()
    expect(task.locator(".submit")).to_be_focused()
    task.unroute_all()
    task.keyboard.press("Enter")
    expect_pair(task, 2)
    expect(problem).to_be_hidden()
    assert Judgement.objects.get().comment == "my words"


def test_a_session_that_ended_keeps_the_answer(task: Page, rater: Membership) -> None:
    write_answer(task)
    Session.objects.all().delete()
    task.locator(".submit").click()
    problem = task.get_by_role("alert")
    expect(problem).to_contain_text("you have been signed out")
    expect_answer_kept(task)
    assert not Judgement.objects.exists()

    problem.get_by_role("link", name="Sign in").click()
    task.get_by_label("User name").fill(rater.user.username)
    task.get_by_label("Password").fill(PASSWORD)
    task.keyboard.press("Enter")
    expect_pair(task, 1)
    expect(task.get_by_role("alert")).to_contain_text("Your answer is back")
    expect_answer_kept(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert Judgement.objects.get().comment == "my words"


def test_signing_in_again_in_another_tab_does_not_spoil_this_one(
    task: Page, rater: Membership
) -> None:
    write_answer(task)
    Session.objects.all().delete()
    other = task.context.new_page()
    other.goto("/")
    other.get_by_label("User name").fill(rater.user.username)
    other.get_by_label("Password").fill(PASSWORD)
    other.keyboard.press("Enter")
    expect(other.locator("h1")).to_have_text("My campaigns")
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


def test_a_campaign_that_was_paused_meanwhile(task: Page, campaign: Campaign) -> None:
    answer(task)
    move_campaign(campaign=campaign, state=Campaign.State.PAUSED)
    task.locator(".submit").click()
    expect(task.locator("h1")).to_have_text("This campaign is paused")
    expect(task.locator("h1")).to_be_focused()
    expect(task.locator(".notice")).to_contain_text("your last answer is not counted")
    expect(task.locator("#status")).to_contain_text("your last answer is not counted")
    assert "Saved" not in task.locator("#status").inner_text()
    assert not Judgement.objects.exists()


def test_activity_renews_the_lease_and_idling_does_not(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(task_address(campaign))
    seat = Assignment.objects.get()
    quarter = campaign.lease_seconds // 4

    page.mouse.move(100, 100)
    page.clock.fast_forward(1000 * (quarter + 1))
    assert not [url for url in asked if "renew" in url], "renewed though nobody was there"
    with page.expect_response("**/renew/") as renewed:
        page.mouse.move(200, 200)
    assert renewed.value.status == 204
    page.mouse.move(300, 300)
    page.keyboard.press("1")
    assert len([url for url in asked if "renew" in url]) == 1, "renewed too often"
    before, seat.lease_expires_at = seat.lease_expires_at, Assignment.objects.get().lease_expires_at
    assert seat.lease_expires_at > before


def test_a_lease_that_ran_out_is_told_and_the_answer_still_counts(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.clock.install()
    page.goto(task_address(campaign))
    write_answer(page)
    page.clock.fast_forward(1000 * campaign.lease_seconds)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    free_lapsed_seats(campaign=campaign)
    with page.expect_response("**/renew/") as renewed:
        page.mouse.move(200, 200)
    assert renewed.value.status == 409
    expect(page.get_by_role("alert")).to_contain_text("The time for this pair ran out")
    expect_answer_kept(page)
    page.locator(".submit").click()
    page.clock.run_for(1000)
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    expect(page.locator(".notice")).to_contain_text("your answer counts")
    assert Judgement.objects.count() == 1
