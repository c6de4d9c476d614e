"""An answer and its draft are kept in the browser: until stored, once, and never in the way."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Assignment, Campaign, Membership
from benchmark.models import Judgement, Vote
from tests.conftest import wait_until
from tests.e2e.answering import (
    WORDS,
    expect_answer_kept,
    expect_kept,
    expect_waiting,
    kept,
    write_answer,
)
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address
from tests.e2e.gate import SEATS, Gate

NO_STORAGE = """
Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); },
});
"""
FULL_STORAGE = """
Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
"""


def place_of(criterion: str) -> str:
    """Where the response stood that the newest answer names."""
    judgement = Judgement.objects.get(superseded_by=None)
    vote = Vote.objects.get(judgement=judgement, criterion__key=criterion)
    return "1" if vote.choice == judgement.shown_left else "2"


def count_posts(page: Page) -> list[str]:
    posts: list[str] = []
    page.on(
        "request",
        lambda request: (
            posts.append(request.url)
            if request.method == "POST" and re.search(r"/seats/[^/]+/$", request.url)
            else None
        ),
    )
    return posts


def test_a_draft_survives_a_reload(task: Page) -> None:
    write_answer(task)
    task.reload()
    expect_answer_kept(task)
    expect(task.locator("#comment")).to_be_visible()
    expect(task.locator(".save-state")).to_contain_text("It is not saved yet")
    assert not Judgement.objects.exists()
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect_kept(task, "draft", 0)
    expect(task.locator("form.answer input:checked")).to_have_count(0)


def test_everything_that_can_be_entered_is_in_the_draft(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    Campaign.objects.update(asks_confidence=True, asks_reasons=True)
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    answer(page)
    page.locator('input[name="confidence"][value="2"]').check(force=True)
    for reason in ("taste", "tone"):
        page.locator(f'input[name="reasons"][value="{reason}"]').check(force=True)
    page.locator("#skip summary").click()
    page.locator('input[name="skip_reason"][value="broken"]').check(force=True)
    # Others are told what was restored.
    page.add_init_script(
        "document.addEventListener('change', ({ target }) =>"
        " (window.told ??= []).push(`${target.name}=${target.value}`))"
    )
    page.reload()
    expect(page.locator(".save-state")).to_contain_text("It is not saved yet")
    checked = page.locator("form.answer input:checked").evaluate_all(
        "fields => fields.map(({ name, value }) => `${name}=${value}`)"
    )
    assert sorted(checked) == [
        "confidence=2",
        "helpfulness=1",
        "personalization=2",
        "reasons=taste",
        "reasons=tone",
        "skip_reason=broken",
    ]
    assert sorted(page.evaluate("window.told")) == sorted(checked)


def test_drafts_are_their_writers_and_not_kept_for_ever(task: Page, rater: Membership) -> None:
    task.evaluate(
        """user => {
          const day = 86400000;
          const keep = (key, at) => localStorage.setItem(key, JSON.stringify({ at, fields: [] }));
          keep(`pf:draft:${user}:old:0`, Date.now() - 15 * day);
          keep(`pf:draft:${user}:ahead:0`, Date.now() + 15 * day);
          keep(`pf:draft:${user}:recent:0`, Date.now() - 13 * day);
          localStorage.setItem(`pf:draft:${user}:broken:0`, "{");
          keep("pf:outbox:0:theirs:0", Date.now());
        }""",
        rater.user.pk,
    )
    task.reload()
    expect_pair(task, 1)
    names = {key.split(":")[3] for key in kept(task, "draft")} - {str(Assignment.objects.get().pk)}
    assert names == {"recent"}
    assert kept(task, "outbox") == ["pf:outbox:0:theirs:0"]


def test_a_double_click_sends_once(task: Page) -> None:
    posts = count_posts(task)
    answer(task)
    task.locator(".submit").dblclick()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1
    assert len(posts) == 1


def test_the_second_half_of_a_double_click_leaves_the_next_pair_alone(task: Page) -> None:
    posts = count_posts(task)
    answer(task)
    button = task.locator(".submit")
    button.click()
    expect_pair(task, 2)
    button.hover()
    task.mouse.down(click_count=2)
    task.mouse.up(click_count=2)
    task.reload()
    expect_pair(task, 2)
    expect(task.locator(".field-error")).to_have_count(0)
    assert Judgement.objects.count() == 1
    assert len(posts) == 1


def test_a_double_click_while_the_answer_is_on_its_way_sends_once(task: Page) -> None:
    posts = count_posts(task)
    gate = Gate(task)
    answer(task)
    task.locator(".submit").click()
    gate.wait_for(1)
    expect(task.locator(".submit")).to_have_text("Sending …")
    task.locator(".submit").click()
    task.keyboard.press("Enter")
    gate.open()
    expect_pair(task, 2)
    assert len(posts) == 1
    assert Judgement.objects.count() == 1


def test_a_key_held_down_sends_once(task: Page) -> None:
    posts = count_posts(task)
    answer(task)
    task.locator(".submit").focus()
    # Pressed again without being let go: the browser marks what follows as repeats.
    for _ in range(20):
        task.keyboard.down("Enter")
    task.keyboard.up("Enter")
    expect_pair(task, 2)
    expect(task.locator(".field-error")).to_have_count(0)
    assert len(posts) == 1
    assert Judgement.objects.count() == 1


def test_an_answer_changed_while_it_waits(task: Page) -> None:
    answer(task)
    task.context.set_offline(True)
    task.locator(".submit").click()
    expect_waiting(task)
    task.locator(choice("helpfulness", "2")).check()
    task.context.set_offline(False)
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1
    assert place_of("helpfulness") == "2"


def test_an_answer_changed_while_it_is_on_its_way_is_a_correction(task: Page) -> None:
    gate = Gate(task)
    answer(task)
    task.locator(".submit").click()
    gate.wait_for(1)
    task.locator(choice("helpfulness", "2")).check()
    task.locator(".submit").click()
    gate.open()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 2
    assert Judgement.objects.get(superseded_by=None).revision == 2
    assert place_of("helpfulness") == "2"
    expect_kept(task, "outbox", 0)


def test_an_answer_changed_after_its_reply_was_lost_is_a_correction(task: Page) -> None:
    lost: list[int] = []

    def lose_the_reply(route: Route) -> None:
        if not lost:
            lost.append(route.fetch().status)
        route.abort()

    task.route(SEATS, lose_the_reply)
    answer(task)
    task.locator(".submit").click()
    expect_waiting(task)
    assert Judgement.objects.count() == 1
    task.locator(choice("helpfulness", "2")).check()
    task.locator(".submit").click()
    task.unroute_all()
    expect_pair(task, 2)
    assert Judgement.objects.get(superseded_by=None).revision == 2
    assert place_of("helpfulness") == "2"


def test_nobody_is_torn_away_in_the_middle_of_a_word(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.clock.install()
    page.goto(task_address(campaign))
    expect(page.locator("form.answer")).to_be_visible()
    write_answer(page, "")
    page.route(SEATS, lambda route: route.abort())
    page.locator(".submit").click()
    expect_waiting(page)
    page.clock.pause_at(datetime.now(tz=UTC) + timedelta(hours=1))
    page.locator("#comment").press_sequentially("half a")
    page.unroute_all()
    posts = count_posts(page)
    page.evaluate("dispatchEvent(new Event('online'))")
    page.clock.run_for(1_000)
    page.locator("#comment").press_sequentially(" sentence")
    page.clock.run_for(1_500)
    assert not posts
    page.clock.run_for(1_000)
    expect(page).to_have_title(re.compile("Pair 2 of 4"))
    assert Judgement.objects.get().comment == "half a sentence"


def test_a_skip_waits_as_well(task: Page) -> None:
    task.locator("#skip summary").click()
    task.locator('input[name="skip_reason"][value="unsafe"]').check(force=True)
    task.context.set_offline(True)
    task.locator(".skip-submit").click()
    expect_waiting(task)
    expect(task.locator(".skip-submit")).to_have_text("Waiting for network")
    expect(task.locator(".submit")).to_contain_text("Submit")
    task.context.set_offline(False)
    expect_pair(task, 2)
    assert {vote.choice for vote in Vote.objects.all()} == {"skip"}
    assert {vote.reason for vote in Vote.objects.all()} == {"unsafe"}


def test_what_is_missing_is_told_and_does_not_wait(task: Page) -> None:
    task.locator(choice("helpfulness", "1")).check()
    task.locator(".submit").click()
    expect(task.locator(".field-error")).to_have_text("Choose one of the responses.")
    expect_kept(task, "outbox", 0)
    task.context.set_offline(True)
    task.locator(".submit").click()
    expect(task.locator("#problem")).to_contain_text("Answer every question first")
    expect_kept(task, "outbox", 0)
    task.context.set_offline(False)
    expect(task.locator(choice("helpfulness", "1"))).to_be_checked()


def test_a_comment_of_100_kb_is_refused_with_the_limit_and_kept(task: Page) -> None:
    long = "x" * 100_000
    write_answer(task, long)
    task.locator(".submit").click()
    expect(task.locator("#error-comment")).to_contain_text("the limit is 4,000")
    expect_answer_kept(task, long)
    expect_kept(task, "outbox", 0)
    task.reload()
    expect_answer_kept(task, long)
    task.locator("#comment").fill(WORDS)
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert Judgement.objects.get().comment == WORDS


@pytest.mark.parametrize("trouble", [NO_STORAGE, FULL_STORAGE], ids=["off", "full"])
def test_without_storage_it_works_and_says_so(
    new_page: NewPage, campaign: Campaign, rater: Membership, trouble: str
) -> None:
    page = new_page(rater.user)
    page.add_init_script(trouble)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    write_answer(page)
    page.locator(".submit").click()
    expect_pair(page, 2)
    answer(page)
    page.context.set_offline(True)
    page.locator(".submit").click()
    expect(page.locator(".save-state")).to_contain_text("Keep this tab open")
    page.context.set_offline(False)
    expect_pair(page, 3)
    assert Judgement.objects.count() == 2


def test_a_correction_waits_and_is_stored_once(
    new_page: NewPage, campaign: Campaign, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    answer(page)
    page.locator(".submit").click()
    expect_pair(page, 2)
    seat = Assignment.objects.get(state=Assignment.State.SUBMITTED)
    address = reverse("submit", args=[seat.pk])
    page.goto(address)
    expect(page.locator("#task")).to_have_attribute("data-revision", "1")
    expect(page.locator(choice("helpfulness", "1"))).to_be_checked()
    page.locator(choice("helpfulness", "2")).check()
    lost: list[int] = []

    def lose_the_reply(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort()

    page.route(SEATS, lose_the_reply)
    page.locator(".submit").click()
    expect_pair(page, 2)
    assert place_of("helpfulness") == "2"
    assert Judgement.objects.count() == 2
    assert page.url.endswith(task_address(campaign)), "a reload would show the correction again"
    expect_kept(page, "outbox", 0)
    wait_until(lambda: not [key for key in kept(page, "draft") if str(seat.pk) in key])


@pytest.mark.parametrize(("given", "later"), [(1, 1), (-1, -1), (1, 0), (0, 1)])
def test_a_wrong_clock_of_the_browser(
    task: Page, campaign: Campaign, given: int, later: int
) -> None:
    """In days, while the answer is given offline and while it is sent from another page."""
    context = task.context
    set_clock(context, given)
    task.reload()
    expect_pair(task, 1)
    claimed_at = Assignment.objects.get().claimed_at
    answer(task)
    context.set_offline(True)
    task.locator(".submit").click()
    expect_waiting(task)
    task.close()
    context.set_offline(False)
    page = context.new_page()
    page.add_init_script(shifted(later))
    page.goto(task_address(campaign))
    expect_pair(page, 2)
    judgement = Judgement.objects.get()
    assert claimed_at <= judgement.opened_at <= judgement.submitted_at <= judgement.created_at
    assert (judgement.created_at - claimed_at).total_seconds() < 600
    expect_kept(page, "outbox", 0)


def set_clock(context: BrowserContext, days: int) -> None:
    context.add_init_script(shifted(days))


def shifted(days: int) -> str:
    """A clock that is wrong by so many days; the last one that is set holds."""
    return f"""
    window.RightDate ??= Date;
    Date = class extends RightDate {{
      constructor(...parts) {{ parts.length ? super(...parts) : super(Date.now()); }}
      static now() {{ return RightDate.now() + {days} * 86400000; }}
    }};
    """
