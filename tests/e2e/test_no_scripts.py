"""Everything works with scripts switched off."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from annotation.models import Campaign, Flag, Membership
from benchmark.models import Judgement
from tests.e2e.conftest import NewPage, answer, choice, task_address
from tests.factories import make_member


def test_judging_without_scripts(new_page: NewPage, campaign: Campaign, rater: Membership) -> None:
    page = new_page(rater.user, scripts=False)
    page.goto("/")
    page.get_by_role("link", name="Continue").click()
    expect(page).to_have_title(re.compile("Pair 1 of 4"))

    page.locator("details.comment summary").click()
    page.locator("#comment").fill("Kept, 也保留")
    page.locator(choice("personalization", "2")).check()
    with page.expect_response("**/seats/*/") as refused:
        page.locator(".submit").click()
    assert refused.value.status == 422
    expect(page.locator("#task .field-error")).to_have_text("Choose one of the responses.")
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


def test_skipping_flagging_and_undoing_without_scripts(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user, scripts=False)
    page.goto(task_address(campaign))
    page.locator("#flags > summary").click()
    page.get_by_label("The question").check()
    page.get_by_label("Something else").check()
    page.get_by_role("button", name="Tell the lead").click()
    expect(page.locator("#flags")).to_have_attribute("open", "")
    expect(page.locator("#error-flag")).to_have_text("Say in your words what is wrong.")
    page.get_by_label("In your words").fill("It has two questions")
    page.get_by_role("button", name="Tell the lead").click()
    expect(page.locator("#flags > summary")).to_contain_text("1 reported")
    assert Flag.objects.get().comment == "It has two questions"

    page.locator("#skip > summary").click()
    page.get_by_label("Both responses are equally bad").check()
    page.get_by_role("button", name="Skip this pair").click()
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert {vote.reason for vote in Judgement.objects.get().votes.all()} == {"both_bad"}

    page.get_by_role("link", name="Undo").click()
    expect(page.locator("#skip")).to_have_attribute("open", "")
    expect(page.get_by_label("Both responses are equally bad")).to_be_checked()
    answer(page)
    page.get_by_role("button", name="Save the change").click()
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    votes = Judgement.objects.current().get().votes.all()
    assert {vote.reason for vote in votes} == {""}


def test_guidelines_are_acknowledged_without_scripts(new_page: NewPage, campaign: Campaign) -> None:
    newcomer = make_member(campaign, has_read=False)
    page = new_page(newcomer.user, scripts=False)
    page.goto(task_address(campaign))
    expect(page.locator("article")).to_contain_text("How to judge a pair")
    page.get_by_role("button", name="I have read these guidelines").click()
    expect(page).to_have_title(re.compile("Pair 1 of 4"))
    page.get_by_role("link", name="Guidelines").click()
    page.goto(f"/campaigns/{campaign.slug}/guidelines/")
    page.get_by_role("link", name="Continue judging").click()
    expect(page).to_have_title(re.compile("Pair 1 of 4"))


def test_the_profile_is_at_hand_on_a_phone_without_scripts(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user, scripts=False, width=375)
    page.goto(task_address(campaign))
    expect(page.locator(".persona-card")).to_be_visible()
    page.get_by_role("link", name="Response 2").click()
    expect(page.locator("#response-2")).to_be_in_viewport()
    page.locator(".switch-bar a").first.click()
    expect(page.locator(".persona-card")).to_be_in_viewport()
