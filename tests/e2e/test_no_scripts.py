"""Everything works with scripts switched off."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from annotation.models import Campaign, Membership
from benchmark.models import Judgement
from tests.e2e.conftest import NewPage, answer, choice, task_address


def test_judging_without_scripts(new_page: NewPage, campaign: Campaign, rater: Membership) -> None:
    page = new_page(rater.user, scripts=False)
    page.goto("/")
    page.get_by_role("link", name="Judge").click()
    page.get_by_role("link", name="Start judging").click()
    expect(page).to_have_title(re.compile("Pair 1 of 4"))

    page.locator("details.comment summary").click()
    page.locator("#comment").fill("Kept, 也保留")
    page.locator(choice("personalization", "2")).check()
    with page.expect_response("**/seats/*/") as refused:
        page.locator(".submit").click()
    assert refused.value.status == 422
    expect(page.locator(".field-error")).to_have_text("Choose one of the responses.")
    expect(page).to_have_title(re.compile("^Not sent yet"))
    expect(page.locator(choice("personalization", "2"))).to_be_checked()
    expect(page.locator("#comment")).to_have_value("Kept, 也保留")
    expect(page.locator("#comment")).to_be_visible()
    expect(page.locator(choice("helpfulness", "1"))).to_be_focused()
    group = page.get_by_role("group", name="Which response is more helpful?")
    expect(group).to_have_accessible_description(re.compile("^Choose one of the responses"))
    assert not Judgement.objects.exists()

    page.locator(choice("helpfulness", "1")).check()
    page.locator(".submit").click()
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert page.url.endswith(task_address(campaign))
    assert Judgement.objects.get().comment == "Kept, 也保留"

    for _ in range(3):
        answer(page)
        page.locator(".submit").click()
    expect(page.locator("h1")).to_have_text("You have judged every pair")
    assert Judgement.objects.count() == 4


def test_reloading_a_refused_answer_leads_back_to_the_task(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user, scripts=False)
    page.goto(task_address(campaign))
    page.locator(".submit").click()
    page.goto(page.url)
    expect(page).to_have_title(re.compile("^Pair 1 of 4"))


def test_no_control_without_scripts_is_dead(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user, scripts=False)
    page.goto(task_address(campaign))
    assert page.locator(".needs-scripts:visible, .key-hint:visible").count() == 0
    # The profile is open beside the task though nothing has opened it.
    expect(page.locator(".persona-card")).to_be_visible()
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    assert page.url.endswith(task_address(campaign))
