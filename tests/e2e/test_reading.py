"""Reading with one hand: keys move both responses alike, and leave alone what is focused."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import wait_until
from tests.e2e.conftest import NewPage, choice, expect_pair, task_address
from tests.factories import add_pairs, make_campaign, make_member

LONG = "A paragraph of some length, which goes on for a line or two.\n\n" * 40
PERSONA = {"Name": "Noor", "Habits": [f"Habit {n}" for n in range(60)]}


def open_task(new_page: NewPage, folder: Path, *, width: int = 1280, has_tie: bool = False) -> Page:
    campaign = make_campaign(allows_tie=has_tie)
    add_pairs(
        *(campaign, folder, 1),
        response_a=f"{LONG}One.",
        response_b=f"{LONG}{LONG}Two.",
        persona=PERSONA,
        persona_id="noor",
    )
    page = new_page(make_member(campaign).user, width=width)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    page.locator("#query").focus()
    return page


@pytest.fixture
def long(transactional_db: None, new_page: NewPage, tmp_path: Path) -> Page:
    return open_task(new_page, tmp_path)


def tops(page: Page) -> list[int]:
    return [page.locator(f"#pane-{place}").evaluate("e => e.scrollTop") for place in (1, 2)]


@pytest.mark.parametrize(("on", "back"), [("Space", "Shift+Space"), ("PageDown", "PageUp"), "de"])
def test_both_responses_move_alike_and_most_of_what_is_seen(long: Page, on: str, back: str) -> None:
    height = long.locator("#pane-1").evaluate("e => e.clientHeight")
    long.keyboard.press(on)
    first, second = tops(long)
    assert first == second
    assert height / 2 < first < height
    expect(long.locator("#query")).to_be_focused()
    assert long.evaluate("scrollY") == 0
    long.keyboard.press(back)
    assert tops(long) == [0, 0]


def test_space_on_a_choice_chooses_it_first_and_then_reads_on(long: Page) -> None:
    long.locator(choice("helpfulness", "1")).focus()
    long.keyboard.press("Space")
    expect(long.locator(choice("helpfulness", "1"))).to_be_checked()
    assert tops(long) == [0, 0]
    long.keyboard.press("Space")
    assert min(tops(long)) > 0
    expect(long.locator(choice("helpfulness", "1"))).to_be_focused()


def test_what_is_focused_keeps_its_keys(long: Page) -> None:
    long.locator("#pane-1").focus()
    long.keyboard.press("Space")
    wait_until(lambda: tops(long)[0] > 0, what="the pane scrolls by itself")
    assert tops(long)[1] == 0
    long.keyboard.press("c")
    before = tops(long)[1]
    long.keyboard.type("d e x ")
    expect(long.locator("#comment")).to_have_value("d e x ")
    assert tops(long)[1] == before
    long.locator("details.comment > summary").focus()
    long.keyboard.press("Space")
    expect(long.locator("details.comment")).not_to_have_attribute("open", "")
    assert tops(long)[1] == before


def test_the_profile_is_read_by_a_key_and_begins_again(long: Page) -> None:
    card = long.locator(".persona-card")
    long.keyboard.press("x")
    assert card.evaluate("e => e.scrollTop") > 0
    expect(long.locator("#query")).to_be_focused()
    card.evaluate("e => e.scrollTo(0, e.scrollHeight)")
    long.keyboard.press("x")
    assert card.evaluate("e => e.scrollTop") == 0
    assert tops(long) == [0, 0]


def test_where_a_choice_needs_the_key_another_one_reads_back(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    page = open_task(new_page, tmp_path, has_tie=True)
    page.keyboard.press("d")
    before = tops(page)
    page.keyboard.press("e")
    expect(page.locator(choice("personalization", "tie"))).to_be_checked()
    assert tops(page) == before
    page.keyboard.press("r")
    assert tops(page) == [0, 0]
    page.keyboard.press("?")
    row = page.locator('tr[data-key-action="read-back"]')
    expect(row).to_contain_text("Read back in both responses")
    expect(row.locator("kbd")).to_have_text("r")


def test_on_a_narrow_window_the_page_moves(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    page = open_task(new_page, tmp_path, width=375)
    page.keyboard.press("d")
    assert page.evaluate("scrollY") > 400
    assert tops(page) == [0, 0]
    page.keyboard.press("e")
    assert page.evaluate("scrollY") == 0
