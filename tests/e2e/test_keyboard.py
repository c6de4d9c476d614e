"""Judging with the keyboard alone, and what keys must not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Campaign, Membership
from benchmark.models import Judgement, Vote
from tests.e2e.answering import expect_kept
from tests.e2e.conftest import NewPage, choice, expect_pair, task_address
from tests.factories import PASSWORD, add_pairs, make_campaign, make_member

CHOICES = 'input[data-action^="choice-"]'


def press_until(page: Page, key: str, focused: str) -> None:
    """Press a key until the focus is on what the selector names."""
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", focused):
            return
    pytest.fail(f"{key} never reaches {focused}")


def texts(page: Page) -> list[str]:
    return [page.locator(f"#pane-{place}").inner_text().strip() for place in (1, 2)]


def place_of(vote: Vote) -> str:
    return "1" if vote.choice == vote.judgement.shown_left else "2"


def test_three_pairs_with_the_keyboard_alone(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page()
    page.goto("/")
    page.keyboard.type(rater.user.username)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("My campaigns")
    press_until(page, "Tab", "a.button-main")
    page.keyboard.press("Enter")
    expect_pair(page, 1)
    assert page.locator(f"{CHOICES}:checked").count() == 0, "something is chosen beforehand"
    shown = texts(page)
    page.reload()
    expect_pair(page, 1)
    assert texts(page) == shown, "the order changed with a reload"

    seen = [shown]
    # By shortcuts.
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.press("f")
    expect_pair(page, 2)
    _expect_a_fresh_start(page, 2)
    seen.append(texts(page))

    # By Tab, Space and arrows.
    press_until(page, "Tab", choice("helpfulness", "1"))
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    press_until(page, "Tab", choice("personalization", "1"))
    page.keyboard.press("Space")
    press_until(page, "Tab", ".submit")
    page.keyboard.press("Enter")
    expect_pair(page, 3)
    _expect_a_fresh_start(page, 3)
    seen.append(texts(page))

    # A choice may be changed; only the last counts.
    for key in ("1", "2", "w", "q"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect_pair(page, 4)
    _expect_a_fresh_start(page, 4)

    judgements = list(Judgement.objects.order_by("id").select_related("pair"))
    assert len(judgements) == 3
    for judgement, (left, _) in zip(judgements, seen, strict=True):
        side = f"response_{judgement.shown_left.lower()}"
        assert getattr(judgement.pair, side) == left, "the order stored is not the order shown"
    places = [
        {vote.criterion.key: place_of(vote) for vote in judgement.votes.all()}
        for judgement in judgements
    ]
    assert places == [
        {"helpfulness": "1", "personalization": "2"},
        {"helpfulness": "2", "personalization": "1"},
        {"helpfulness": "2", "personalization": "1"},
    ]


def _expect_a_fresh_start(page: Page, number: int) -> None:
    expect(page.locator("#query")).to_be_focused()
    expect(page.locator("#status")).to_contain_text(f"Pair {number} of 4.")
    expect(page.locator("#status")).to_contain_text("Saved")
    assert page.locator(f"{CHOICES}:checked").count() == 0
    assert page.evaluate("scrollY") == 0
    assert all(page.locator(f"#pane-{place}").evaluate("e => e.scrollTop") == 0 for place in (1, 2))


def test_enter_with_an_answer_missing_leads_to_it(task: Page) -> None:
    task.keyboard.press("2")
    task.keyboard.press("Enter")
    expect(task.locator(choice("personalization", "1"))).to_be_focused()
    expect(task.locator("#status")).to_have_text("Answer every question first.")
    assert not Judgement.objects.exists()


def test_enter_twice_or_held_stores_one_judgement(task: Page) -> None:
    held: list[Route] = []
    task.route("**/seats/*/", lambda route: held.append(route))
    task.keyboard.press("1")
    task.keyboard.press("q")
    for _ in range(3):
        task.keyboard.down("Enter")
    task.keyboard.up("Enter")
    task.keyboard.press("Enter")
    expect(task.locator(".submit")).to_have_text("Sending …")
    assert len(held) == 1
    held[0].continue_()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


def test_typing_a_comment_is_only_typing(task: Page) -> None:
    task.keyboard.press("2")
    task.keyboard.press("c")
    expect(task.locator("#comment")).to_be_focused()
    task.keyboard.type("1 q w 12")
    task.keyboard.press("Enter")
    task.keyboard.type("qw")
    expect(task.locator("#comment")).to_have_value("1 q w 12\nqw")
    expect(task.locator(choice("helpfulness", "2"))).to_be_checked()
    assert task.locator('input[name="personalization"]:checked').count() == 0
    assert not Judgement.objects.exists()
    task.keyboard.press("Escape")
    expect(task.locator("#query")).to_be_focused()
    expect(task.locator("#comment")).to_be_visible()


def test_enter_on_a_link_follows_the_link(task: Page) -> None:
    task.keyboard.press("1")
    task.keyboard.press("q")
    task.locator(".breadcrumb a").focus()
    task.keyboard.press("Enter")
    expect(task.locator("h1")).to_have_text("My campaigns")
    assert not Judgement.objects.exists()


def focus_order(page: Page, number: int) -> list[str]:
    """What Tab reaches in the task, from the question on."""
    page.locator("#query").focus()
    order: list[str] = []
    for _ in range(number):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate(
                "(({id, name, className, dataset, parentElement}) =>"
                " id || name || dataset.action || parentElement.id || className)"
                "(document.activeElement)"
            )
        )
    return order


def test_the_focus_goes_through_the_pair_as_it_is_read(task: Page) -> None:
    assert focus_order(task, 8) == [
        "pane-1",
        "pane-2",
        "helpfulness",
        "personalization",
        "submit",
        "comment",
        "skip",
        "flag",
    ]


@pytest.mark.parametrize("has_next", [False, True])
def test_thirty_pairs_with_the_left_hand(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 31)
    page = new_page(make_member(campaign).user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    for number in range(1, 31):
        for key in ("1" if number % 2 else "2", "w" if number % 3 else "q", "f"):
            page.keyboard.press(key)
        expect_pair(page, number + 1)
        expect(page.locator("#query")).to_be_focused()
    # The last one may be on its way.
    expect_kept(page, "outbox", 0)
    assert Judgement.objects.count() == 30
    assert Vote.objects.count() == 60


def test_the_profile_is_a_key_away(task: Page) -> None:
    task.keyboard.press("p")
    expect(task.locator(".persona-card")).to_be_focused()
    task.keyboard.press("p")
    expect(task.locator("#query")).to_be_focused()
