"""Skipping, flagging, undoing, and what a campaign may ask besides."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Flag, Membership
from benchmark.models import Judgement, Vote
from tests.annotation.checking import add_checks, check_row
from tests.conftest import wait_until
from tests.e2e.answering import expect_kept
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address
from tests.factories import add_pairs, make_campaign, make_member


def in_sight(page: Page, selector: str) -> bool:
    box = page.locator(selector).bounding_box()
    size = page.viewport_size
    assert box
    assert size
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def skipped_because() -> list[str]:
    """The reason of each current vote that is a skip."""
    votes = Vote.objects.filter(judgement__superseded_by=None, choice="skip")
    return list(votes.values_list("reason", flat=True))


def test_skipping_with_the_keyboard(task: Page) -> None:
    task.keyboard.press("1")
    task.keyboard.press("s")
    expect(task.get_by_role("group", name="Why do you skip this pair?")).to_be_visible()
    expect(task.get_by_label("I cannot judge this pair")).to_be_focused()
    # Keys of choices rest; digits are reasons.
    task.keyboard.press("w")
    task.keyboard.press("3")
    expect(task.get_by_label("A text is broken or missing")).to_be_checked()
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()
    assert task.locator('input[name="personalization"]:checked').count() == 0
    assert in_sight(task, ".skip-submit")
    # The keys that hold now, and no others.
    expect(task.locator(".skip-submit .key-hint")).to_be_visible()
    for resting in (".submit", ".criteria label >> nth=0"):
        expect(task.locator(f"{resting} >> .key-hint")).to_be_hidden()
    expect(task.locator(".submit")).not_to_have_attribute("aria-keyshortcuts", "Enter f")
    task.keyboard.press("f")
    expect_pair(task, 2)
    expect(task.locator("#query")).to_be_focused()
    expect(task.locator("#skip")).not_to_have_attribute("open", "")
    assert skipped_because() == ["broken", "broken"]


def test_enter_on_a_reason_skips_and_does_not_submit(task: Page) -> None:
    answer(task)
    task.locator("#skip > summary").click()
    task.get_by_label("Conflict of interest").check()
    task.keyboard.press("Enter")
    expect_pair(task, 2)
    assert skipped_because() == ["conflict", "conflict"]


def test_a_skip_without_a_reason_or_a_comment_comes_back(task: Page) -> None:
    task.keyboard.press("s")
    task.keyboard.press("Enter")
    expect(task.locator("#error-skip")).to_have_text("Choose why you skip this pair.")
    expect(task.get_by_label("I cannot judge this pair")).to_be_focused()
    task.keyboard.press("6")
    task.keyboard.press("Enter")
    expect(task.locator("#error-comment")).to_have_text(
        "Say in the comment why you skip this pair."
    )
    expect(task.locator("#comment")).to_be_focused()
    task.keyboard.type("Both are about cats")
    task.keyboard.press("Escape")
    task.keyboard.press("Enter")
    expect_pair(task, 2)
    assert skipped_because() == ["other", "other"]
    assert Judgement.objects.get().comment == "Both are about cats"


def test_who_answers_after_all_does_not_skip(task: Page) -> None:
    task.keyboard.press("s")
    task.locator(choice("helpfulness", "1")).check()
    expect(task.locator("#skip")).not_to_have_attribute("open", "")
    task.keyboard.press("s")
    task.keyboard.press("Escape")
    expect(task.locator("#skip")).not_to_have_attribute("open", "")
    expect(task.locator("#query")).to_be_focused()
    task.keyboard.press("w")
    task.keyboard.press("f")
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1
    assert skipped_because() == []


def test_no_skip_where_the_campaign_does_not_allow_it(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    Campaign.objects.update(allows_skip=False)
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    assert page.locator("#skip").count() == 0
    page.keyboard.press("s")
    page.keyboard.press("?")
    assert page.locator('tr[data-key-action="skip"]').is_hidden()


def test_flagging_leaves_the_answer_alone(task: Page) -> None:
    task.keyboard.press("1")
    task.keyboard.press("v")
    expect(task.get_by_label("The profile", exact=True)).to_be_focused()
    task.get_by_role("button", name="Tell the lead").click()
    expect(task.locator("#error-flag")).to_be_focused()
    expect(task.locator("#error-flag")).to_have_text("Choose what your report is about.")
    flags = task.locator("#flags")
    # The error is with what it is about.
    where = flags.get_by_role("group", name="Where is the problem?")
    what = flags.get_by_role("group", name="What is wrong?")
    own_words = flags.get_by_label("In your words")
    expect(where).to_have_accessible_description("Choose what your report is about.")
    flags.get_by_label("Response 2").check()
    task.get_by_role("button", name="Tell the lead").click()
    expect(what).to_have_accessible_description("Choose what is wrong.")
    expect(where).to_have_accessible_description("")
    expect(own_words).to_have_accessible_description("")
    flags.get_by_label("Something else").check()
    task.get_by_role("button", name="Tell the lead").click()
    expect(own_words).to_have_accessible_description("Say in your words what is wrong.")
    expect(what).to_have_accessible_description("")
    flags.get_by_label("Private information").check()
    flags.get_by_label("In your words").fill("A telephone number")
    task.get_by_role("button", name="Tell the lead").click()
    expect(flags.locator("summary")).to_be_focused()
    expect(flags.locator("summary")).to_contain_text("1 reported")
    expect(task.locator("#status")).to_have_text("The campaign lead has been told.")
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()
    flag = Flag.objects.get()
    shown_left = Assignment.objects.get().shown_left
    assert flag.target == ("B" if shown_left == "A" else "A")
    assert (flag.kind, flag.comment) == ("private", "A telephone number")
    task.keyboard.press("v")
    expect(flags).to_contain_text("Response 2 · private information")
    task.keyboard.press("Escape")
    task.keyboard.press("q")
    task.keyboard.press("f")
    expect_pair(task, 2)
    expect(flags.locator("summary")).not_to_contain_text("reported")
    assert Judgement.objects.count() == 1


def test_undo_is_a_key_and_ends(task: Page) -> None:
    expect(task.locator(".undo")).to_have_count(0)
    task.clock.install()
    task.keyboard.press("z")
    answer(task, "1", "2")
    task.keyboard.press("f")
    expect_pair(task, 2)
    task.keyboard.press("z")
    expect(task.locator(".banner")).to_contain_text("You are changing an earlier answer.")
    expect(task.locator("#query")).to_be_focused()
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()
    expect(task.locator(choice("personalization", "2"))).to_be_checked()
    expect(task.locator(".submit")).to_contain_text("Save the change")
    task.keyboard.press("2")
    task.keyboard.press("f")
    expect_pair(task, 2)
    expect(task.locator(".notice")).to_contain_text("Your change is saved.")
    first, second = Judgement.objects.order_by("revision")
    assert first.superseded_by == second
    before, after = (
        judgement.votes.get(criterion__key="helpfulness").choice for judgement in (first, second)
    )
    assert {before, after} == {"A", "B"}
    # Later it is not offered any more; the pair on screen stays.
    task.clock.run_for(301_000)
    expect(task.locator(".undo")).to_have_count(0)
    expect_pair(task, 2)


def test_back_from_an_undo_to_the_pair(task: Page) -> None:
    answer(task)
    task.keyboard.press("f")
    expect_pair(task, 2)
    query = task.locator("#query").inner_text()
    task.locator(".undo").click()
    task.get_by_role("link", name="Back to the current pair").click()
    expect_pair(task, 2)
    expect(task.locator("#query")).to_have_text(query)
    assert Judgement.objects.get().revision == 1


def test_back_from_an_undo_by_key(task: Page) -> None:
    answer(task)
    task.keyboard.press("f")
    expect_pair(task, 2)
    for key in ("z", "Escape"):
        task.keyboard.press("z")
        back = task.get_by_role("link", name="Back to the current pair")
        expect(back.locator(".key-hint")).to_have_text("z")
        # The first takes away what is open, or the focus of a field.
        task.keyboard.press("c")
        task.keyboard.press("Escape")
        expect(task.locator("#query")).to_be_focused()
        expect(back).to_be_visible()
        task.keyboard.press(key)
        expect_pair(task, 2)
        expect(back).to_have_count(0)
    assert Judgement.objects.get().revision == 1


def test_what_is_unfolded_comes_into_sight(task: Page) -> None:
    task.set_viewport_size({"width": 1280, "height": 560})
    for aside, last in (
        ("#skip", ".skip-submit"),
        ("details.comment", "#comment"),
        ("#flags", "#flags [type=submit]"),
    ):
        task.evaluate("scrollTo(0, 0)")
        task.locator(f"{aside} > summary").click()
        wait_until(lambda last=last: in_sight(task, last), what=f"{last} in sight")
        task.locator(f"{aside} > summary").click()


def test_confidence_and_reasons_are_asked_in_sight_and_need_no_answer(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    campaign = make_campaign(allows_tie=True)
    add_pairs(campaign, tmp_path, 2, response_a="a " * 4_000, response_b="b " * 4_000)
    Campaign.objects.update(asks_confidence=True, asks_reasons=True)
    page = new_page(make_member(campaign).user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    # Digits are reasons while one is looked for.
    expect(page.locator(".extras .key-hint:visible")).to_have_text(["4", "5", "6"])
    page.keyboard.press("s")
    expect(page.locator(".extras .key-hint:visible")).to_have_count(0)
    page.keyboard.press("s")
    for selector in (".criterion >> nth=0", ".criterion >> nth=1", ".submit", "#pane-1"):
        assert in_sight(page, selector), selector
    for key in ("3", "e", "5"):
        page.keyboard.press(key)
    expect(page.get_by_label("Fairly sure")).to_be_checked()
    page.get_by_label("Clarity").check()
    page.get_by_label("Completeness").check()
    page.locator("#query").focus()
    page.keyboard.press("f")
    expect_pair(page, 2)
    expect_kept(page, "outbox", 0)
    judgement = Judgement.objects.get()
    assert (judgement.confidence, judgement.reasons) == (2, ["complete", "clear"])
    answer(page)
    page.locator(".submit").click()
    expect(page.locator("h1")).to_have_text("You have judged every pair")
    judgement = Judgement.objects.latest("id")
    assert (judgement.confidence, judgement.reasons) == (None, [])


def test_training_explains_each_answer(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 2)
    add_checks(campaign, tmp_path, [check_row(n, "training") for n in range(2)])
    page = new_page(make_member(campaign).user)
    page.goto(task_address(campaign))
    expect(page.locator(".banner")).to_contain_text("Training: pair 1 of 2")
    left = Assignment.objects.get().shown_left
    for key in ("1", "w") if left == "A" else ("2", "q"):
        page.keyboard.press(key)
    page.keyboard.press("f")
    expect(page.locator("#explained")).to_be_focused()
    expect(page.locator("#explained")).to_have_text("Not as expected")
    assert in_sight(page, "#explained")
    verdicts = page.locator(".verdict")
    expect(verdicts).to_have_text(["As expected", "Not as expected"])
    expect(page.locator(".explained .prose")).to_have_text("Why A is right in 0.")
    # The texts can still be read.
    expect(page.locator("#pane-1")).to_contain_text("Response of")
    expect(page.locator(".persona-card")).to_contain_text("Age")
    page.reload()
    expect(page.locator(".banner")).to_contain_text("Training: pair 2 of 2")
    for key in ("1", "q", "f"):
        page.keyboard.press(key)
    expect(page.locator("#explained")).to_be_focused()
    page.keyboard.press("f")
    expect_pair(page, 1)
    expect(page.locator("#query")).to_be_focused()
    expect(page.locator(".banner")).to_have_count(0)
    wait_until(lambda: not Judgement.objects.exists(), what="training is not counted")
