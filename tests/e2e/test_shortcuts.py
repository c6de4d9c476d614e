"""Keys: what they must not do, switching them off, choosing others, and help."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from annotation.models import Campaign, Membership
from benchmark.models import Criterion, Judgement
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address

CHOSEN = 'input[data-action^="choice-"]:checked'

STORAGE_SWITCHED_OFF = """
Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("switched off", "SecurityError"); },
});
"""


def open_help(page: Page) -> Locator:
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Help")
    expect(dialog).to_be_visible()
    return dialog


def key_of(dialog: Locator, words: str) -> Locator:
    """The button that says, and changes, what a key is."""
    return dialog.get_by_role("button", name=f"{words}: ")


def _composing(page: Page) -> None:
    page.evaluate(
        "document.body.dispatchEvent("
        "new KeyboardEvent('keydown', {key: '1', isComposing: true, bubbles: true}))"
    )


def _processed_by_an_input_method(page: Page) -> None:
    page.evaluate(
        "document.body.dispatchEvent("
        "new KeyboardEvent('keydown', {key: '1', keyCode: 229, bubbles: true}))"
    )


def _held(page: Page) -> None:
    page.evaluate(
        "document.body.dispatchEvent("
        "new KeyboardEvent('keydown', {key: '1', repeat: true, bubbles: true}))"
    )


@pytest.mark.parametrize(
    "act",
    [
        _composing,
        _processed_by_an_input_method,
        _held,
        lambda page: page.keyboard.press("Control+1"),
        lambda page: page.keyboard.press("Alt+q"),
        lambda page: page.keyboard.press("Shift+Q"),
    ],
    ids=["composing", "input method", "held", "control", "alt", "shift"],
)
def test_other_peoples_keys_are_left_alone(task: Page, act: Callable[[Page], None]) -> None:
    act(task)
    assert task.locator(CHOSEN).count() == 0


def test_caps_lock_and_digits_on_shift_work(task: Page) -> None:
    for key, shift in (("1", "true"), ("W", "false")):
        task.evaluate(
            "([key, shift]) => document.body.dispatchEvent(new KeyboardEvent('keydown',"
            " {key, shiftKey: shift === 'true', bubbles: true}))",
            [key, shift],
        )
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()
    expect(task.locator(choice("personalization", "2"))).to_be_checked()


def test_shortcuts_can_be_switched_off(task: Page) -> None:
    dialog = open_help(task)
    dialog.get_by_role("switch", name="Keyboard shortcuts").uncheck()
    task.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(task.locator(".key-hint:visible")).to_have_count(0)
    expect(task.locator("[aria-keyshortcuts]")).to_have_count(0)
    for key in ("1", "q", "f", "s", "c", "?", "Enter"):
        task.keyboard.press(key)
    assert task.locator(CHOSEN).count() == 0
    expect(task.locator("#skip")).not_to_have_attribute("open", "")
    expect(dialog).to_be_hidden()
    task.reload()
    task.keyboard.press("1")
    assert task.locator(CHOSEN).count() == 0
    task.get_by_role("button", name="Help").click()
    dialog.get_by_role("switch", name="Keyboard shortcuts").check()
    dialog.get_by_role("button", name="Close").click()
    task.keyboard.press("1")
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()


def test_help_lists_the_keys_and_lets_no_key_through(task: Page) -> None:
    task.locator("#query").focus()
    dialog = open_help(task)
    expect(dialog.get_by_role("heading", name="Help")).to_be_focused()
    expect(dialog).to_contain_text("Which response is more helpful?")
    expect(key_of(dialog, "Which response fits this person better?: Response 2")).to_have_text("w")
    expect(key_of(dialog, "Submit")).to_have_text("f")
    for key in ("1", "q", "f", "s", "g"):
        task.keyboard.press(key)
    assert task.locator(CHOSEN).count() == 0
    assert task.locator("dialog[open]").count() == 1
    task.keyboard.press("?")
    expect(dialog).to_be_hidden()
    expect(task.locator("#query")).to_be_focused()


def test_a_key_can_be_changed_and_changed_back(task: Page) -> None:
    dialog = open_help(task)
    key_of(dialog, "Submit").click()
    expect(dialog.get_by_role("status")).to_contain_text("Press the new key for “Submit”")
    # A key that is taken, one that is none, and what leaves it as it is.
    task.keyboard.press("q")
    expect(dialog.get_by_role("status")).to_have_text(
        "“q” is taken: it is the key for “Which response fits this person better?: Response 1”."
        " Choose another, or change that one first."
    )
    task.keyboard.press("ArrowLeft")
    expect(dialog.get_by_role("status")).to_contain_text("cannot be used")
    task.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    expect(key_of(dialog, "Submit")).to_have_text("f")
    key_of(dialog, "Submit").click()
    task.keyboard.press("j")
    expect(dialog.get_by_role("status")).to_have_text("“j” is now the key for “Submit”.")
    expect(key_of(dialog, "Submit")).to_have_text("j")
    task.keyboard.press("Escape")
    expect(task.locator(".submit .key-hint")).to_have_text("j")
    expect(task.locator(".submit")).to_have_attribute("aria-keyshortcuts", "Enter j")

    task.reload()
    expect(task.locator(".submit .key-hint")).to_have_text("j")
    answer(task)
    task.keyboard.press("f")
    task.keyboard.press("j")
    expect_pair(task, 2)
    expect(task.locator(".submit .key-hint")).to_have_text("j")
    assert Judgement.objects.count() == 1

    dialog = open_help(task)
    dialog.get_by_role("button", name="Back to the usual keys").click()
    expect(dialog.get_by_role("status")).to_have_text("The usual keys hold again.")
    expect(key_of(dialog, "Submit")).to_have_text("f")
    task.keyboard.press("Escape")
    expect(task.locator(".submit .key-hint")).to_have_text("f")


def test_keys_can_be_changed_where_storage_is_switched_off(
    new_page: NewPage, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.add_init_script(STORAGE_SWITCHED_OFF)
    page.goto(task_address(rater.campaign))
    dialog = open_help(page)
    key_of(dialog, "Skip this pair").click()
    page.keyboard.press("k")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(page.locator("#skip")).to_have_attribute("open", "")


def test_with_four_questions_the_choices_come_first(
    new_page: NewPage, rater: Membership, campaign: Campaign
) -> None:
    for position, key in enumerate(("style", "safety"), start=2):
        Criterion.objects.create(
            pair_set=campaign.pair_set,
            position=position,
            key=key,
            question_en=f"Which has the better {key}?",
            question_zh=key,
        )
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    for key in ("1", "w", "s", "z"):
        page.keyboard.press(key)
    expect(page.locator(choice("style", "2"))).to_be_checked()
    expect(page.locator(choice("safety", "1"))).to_be_checked()
    expect(page.locator("#skip")).not_to_have_attribute("open", "")
    expect(page.locator("#skip > summary .key-hint")).to_have_text("r")
    page.keyboard.press("r")
    expect(page.locator("#skip")).to_have_attribute("open", "")


def test_guidelines_open_over_the_pair(task: Page) -> None:
    asked: list[str] = []
    task.on("request", lambda request: asked.append(request.url))
    task.keyboard.press("1")
    for _ in range(2):
        task.keyboard.press("g")
        dialog = task.get_by_role("dialog", name="Guidelines")
        expect(dialog).to_contain_text("How to judge a pair")
        expect(dialog.get_by_role("heading", name="Guidelines", exact=True)).to_be_focused()
        task.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
    assert len([url for url in asked if url.endswith("/guidelines/")]) == 1
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()
    expect(task.locator(choice("helpfulness", "1"))).to_be_focused()


def test_guidelines_that_cannot_be_loaded_have_a_link(task: Page) -> None:
    task.route("**/guidelines/", lambda route: route.abort())
    task.keyboard.press("g")
    dialog = task.get_by_role("dialog", name="Guidelines")
    expect(dialog).to_contain_text("could not be loaded")
    expect(dialog.get_by_role("link", name="Open their page")).to_be_visible()
    task.unroute_all()
    task.keyboard.press("g")
    task.keyboard.press("g")
    expect(dialog).to_contain_text("How to judge a pair")


def test_an_open_dialog_survives_the_next_pair(task: Page) -> None:
    """An answer may be sent late, behind a dialog."""
    task.keyboard.press("1")
    task.keyboard.press("w")
    held: list[Route] = []
    task.route("**/seats/*/", lambda route: held.append(route))
    task.keyboard.press("f")
    expect(task.locator(".submit")).to_have_text("Sending …")
    dialog = open_help(task)
    held[0].continue_()
    expect_pair(task, 2)
    expect(dialog).to_be_visible()
    task.keyboard.press("Escape")
    expect(task.locator("#query")).to_be_focused()
