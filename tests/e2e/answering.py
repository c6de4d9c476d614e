"""An answer that is written, given, and looked for again."""

from __future__ import annotations

from urllib.parse import parse_qs

from playwright.sync_api import Page, Request, expect

from tests.conftest import wait_until
from tests.e2e.conftest import answer, choice
from tests.factories import PASSWORD

WORDS = "my words"


def write_answer(page: Page, comment: str = WORDS) -> None:
    answer(page)
    page.locator("details.comment summary").click()
    page.locator("#comment").fill(comment)
    frames_shown(page)


def frames_shown(page: Page) -> None:
    """What was done is shown, and its scrolling told: on a clock that is moved it would be late.

    By an observer, since a clock of the test's own also rules the requests for frames.
    """
    page.evaluate(
        """async () => {
          for (let frame = 0; frame < 2; frame += 1) {
            await new Promise((shown) => {
              const observer = new IntersectionObserver(() => { observer.disconnect(); shown(); });
              observer.observe(document.body);
            });
          }
        }"""
    )


def expect_answer_kept(page: Page, comment: str = WORDS) -> None:
    expect(page.locator(choice("helpfulness", "1"))).to_be_checked()
    expect(page.locator(choice("personalization", "2"))).to_be_checked()
    expect(page.locator("#comment")).to_have_value(comment)


def expect_waiting(page: Page, words: str = "Waiting for the network") -> None:
    expect(page.locator(".save-state")).to_contain_text(words)
    expect(page.locator(".save-state")).to_contain_text("kept in this browser")


def kept(page: Page, kind: str) -> list[str]:
    """Keys of what the browser keeps: of the outbox, or drafts."""
    names: list[str] = page.evaluate(
        "kind => Object.keys(localStorage).filter((key) => key.startsWith(`pf:${kind}:`))", kind
    )
    return names


def expect_kept(page: Page, kind: str, number: int) -> None:
    wait_until(lambda: len(kept(page, kind)) == number, what=f"{number} in the {kind}")


def fields_of(request: Request) -> dict[str, list[str]]:
    return parse_qs(request.post_data or "", keep_blank_values=True)


def sign_in_by_dialog(page: Page, password: str = PASSWORD) -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password").fill(password)
    dialog.get_by_role("button", name="Sign in").click()
