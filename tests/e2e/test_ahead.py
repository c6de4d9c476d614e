"""The next pair is on screen at once; its answer and the one before are safe all the same."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Membership, PairSeats
from benchmark.models import Judgement
from tests.e2e.answering import (
    WORDS,
    expect_answer_kept,
    expect_kept,
    expect_waiting,
    sign_in_by_dialog,
    write_answer,
)
from tests.e2e.conftest import NewPage, answer, choice, expect_pair, task_address
from tests.e2e.gate import SEATS, Gate, lose_first_reply


@pytest.fixture
def has_next() -> bool:
    return True


@pytest.fixture
def task(task: Page) -> Page:
    """The first pair on screen, and the second one at hand."""
    expect_next_at_hand(task)
    return task


def expect_next_at_hand(page: Page) -> None:
    expect(page.locator("#task[data-has-next]")).to_have_count(1)


def expect_confirmed(page: Page) -> None:
    expect(page.locator("#task[data-is-ahead]")).to_have_count(0)


def lose_answers(page: Page) -> None:
    page.route(SEATS, lambda route: route.abort())


def test_the_next_pair_is_there_before_the_server_has_the_answer(task: Page) -> None:
    gate = Gate(task)
    write_answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect(task.locator("#query")).to_be_focused()
    expect(task.locator(".save-state")).to_have_text("Saving your last answer …")
    expect(task.locator("a.undo")).to_have_count(0)
    expect(task.locator(".submit")).to_have_text(re.compile("Submit"))
    expect(task.locator("form.answer input:checked")).to_have_count(0)
    assert not Judgement.objects.exists()
    gate.wait_for(1)
    task.locator("#to-own").focus()
    gate.open()
    expect(task.locator(".save-state")).to_have_text(re.compile(r"Saved \d\d:\d\d:\d\d"))
    expect(task.locator("#to-own")).to_be_focused()
    expect(task.locator("#status")).to_have_text(re.compile(r"Saved \d.* Pair 2 of 4\."))
    assert Judgement.objects.get().comment == "my words"
    expect_kept(task, "outbox", 0)
    expect_kept(task, "draft", 0)


def test_undo_leads_to_the_answer_before(task: Page) -> None:
    answer(task)
    task.keyboard.press("Enter")
    expect_pair(task, 2)
    expect_confirmed(task)
    task.keyboard.press("z")
    expect(task).to_have_title(re.compile("An earlier answer"))
    expect(task.locator("form.answer input:checked")).to_have_count(2)
    task.keyboard.press("Escape")
    expect_pair(task, 2)


def test_undo_before_the_answer_is_stored(task: Page) -> None:
    """A slip is noticed in the first second: it is gone back to as soon as that can be."""
    gate = Gate(task)
    for key in ("2", "w", "f"):
        task.keyboard.press(key)
    expect_pair(task, 2)
    task.keyboard.press("z")
    expect(task.locator(".save-state")).to_contain_text("Going back as soon as")
    expect(task.locator("#status")).to_contain_text("Going back as soon as")
    # Meant for the answer before, these must not get into this one.
    for key in ("1", "q", "f", "Enter"):
        task.keyboard.press(key)
    expect(task.locator("form.answer input:checked")).to_have_count(0)
    gate.wait_for(1)
    gate.open()
    expect(task).to_have_title(re.compile("An earlier answer"))
    expect(task.locator(choice("helpfulness", "2"))).to_be_checked()
    for key in ("1", "f"):
        task.keyboard.press(key)
    expect_pair(task, 2)
    assert Judgement.objects.get(superseded_by=None).revision == 2
    answer(task)
    task.keyboard.press("f")
    expect_pair(task, 3)


@pytest.mark.parametrize("way", ["z", "Escape", "click"])
def test_undo_that_waits_can_be_left(task: Page, way: str) -> None:
    lose_answers(task)
    answer(task)
    task.keyboard.press("f")
    expect_pair(task, 2)
    undo = task.get_by_role("button", name="Undo")
    undo.click()
    expect(task.locator("form.answer[inert]")).to_have_count(1)
    if way == "click":
        undo.click()
    else:
        task.keyboard.press(way)
    expect(task.locator("form.answer[inert]")).to_have_count(0)
    task.unroute_all()
    task.evaluate("dispatchEvent(new Event('online'))")
    expect_confirmed(task)
    expect_pair(task, 2)


def test_a_next_pair_that_could_not_be_had_is_asked_for_again(
    new_page: NewPage, rater: Membership
) -> None:
    page = new_page(rater.user)
    page.route("**/ahead/", lambda route: route.fulfill(status=503))
    with page.expect_response("**/ahead/"):
        page.goto(task_address(rater.campaign))
    page.unroute_all()
    page.evaluate("dispatchEvent(new Event('online'))")
    expect_next_at_hand(page)


def test_pair_after_pair(task: Page) -> None:
    for number in range(1, 5):
        expect_pair(task, number)
        if number < 4:
            expect_next_at_hand(task)
        answer(task)
        task.keyboard.press("Enter")
    expect(task.locator("#finished")).to_contain_text("You have judged every pair")
    assert Judgement.objects.count() == 4
    assert not Assignment.objects.exclude(state="submitted").exists()


def test_without_a_network_both_wait_and_are_sent_in_order(task: Page) -> None:
    lose_answers(task)
    write_answer(task, "the first")
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect(task.locator("#problem")).to_contain_text("1 answer is waiting in this browser")
    write_answer(task, "the second")
    task.locator(".submit").click()
    expect_waiting(task)
    expect_answer_kept(task, "the second")
    expect_kept(task, "outbox", 2)
    assert not Judgement.objects.exists()
    task.unroute_all()
    task.evaluate("dispatchEvent(new Event('online'))")
    expect_pair(task, 3)
    expect(task.locator("#problem")).to_be_hidden()
    comments = Judgement.objects.order_by("id").values_list("comment", flat=True)
    assert list(comments) == ["the first", "the second"]
    expect_kept(task, "outbox", 0)


def test_a_reply_that_was_lost(task: Page) -> None:
    lost = lose_first_reply(task)
    write_answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect_confirmed(task)
    assert lost == [200]
    assert Judgement.objects.get().comment == WORDS
    expect(task.locator("#problem")).to_be_hidden()
    expect_kept(task, "outbox", 0)


@pytest.mark.parametrize("status", [200, 429, 500])
def test_a_server_in_trouble_is_asked_again(task: Page, status: int) -> None:
    """Of 200: a network that wants a sign-in of its own answers so to anything."""
    task.route(SEATS, lambda route: route.fulfill(status=status, body="no"))
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect(task.locator("#problem")).to_contain_text("1 answer is waiting in this browser")
    expect(task.locator(".submit")).to_contain_text("Submit")
    task.unroute_all()
    expect_confirmed(task)
    expect(task.locator("#problem")).to_be_hidden()
    expect(task.locator(".save-state")).to_have_text(re.compile(r"Saved \d"))
    assert Judgement.objects.count() == 1


def test_an_answer_that_is_not_accepted_is_not_lost(task: Page) -> None:
    task.route(SEATS, lambda route: route.fulfill(status=403, body="no"))
    write_answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect(task.get_by_role("alert")).to_contain_text("Your last answer is not saved")
    task.unroute_all()
    task.get_by_role("button", name="Back to it").click()
    expect_pair(task, 1)
    expect_answer_kept(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect_kept(task, "outbox", 0)
    assert Judgement.objects.count() == 1


def test_after_a_reload_the_answer_that_waits_is_the_one_on_screen(task: Page) -> None:
    """The server knows nothing of it yet, and the second pair is held on."""
    lose_answers(task)
    write_answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    answer(task)
    task.reload()
    expect_pair(task, 1)
    expect_answer_kept(task)
    expect_waiting(task)
    task.unroute_all()
    task.evaluate("dispatchEvent(new Event('online'))")
    expect_pair(task, 2)
    # What was entered there is back as well.
    expect(task.locator("form.answer input:checked")).to_have_count(2)
    assert Judgement.objects.count() == 1


def test_an_answer_that_is_not_needed_any_more(task: Page, campaign: Campaign) -> None:
    """Others have filled the pair: that is told, and the pair on screen stays the next one."""
    first = Assignment.objects.get(is_ahead=False)
    Assignment.objects.filter(pk=first.pk).update(state="expired")
    PairSeats.objects.filter(pair=first.pair_id).update(free=0)
    answer(task)
    task.locator(".submit").click()
    expect(task.locator(".notice")).to_contain_text("is not counted")
    expect(task).to_have_title(re.compile("Pair 1 of 4"))
    assert not Judgement.objects.exists()
    shown = task.locator("#task").get_attribute("data-seat")
    assert shown == str(Assignment.objects.get(state="open", is_ahead=False).pk)


def test_whoever_is_stopped_meanwhile_sees_that(task: Page, rater: Membership) -> None:
    Membership.objects.update(standing="paused", standing_reason="lead")
    answer(task)
    task.locator(".submit").click()
    expect(task.locator("#finished")).to_contain_text("Your judging is paused")
    expect(task.locator("form.answer")).to_have_count(0)
    assert not Judgement.objects.exists()


def test_an_answer_that_the_server_refuses_comes_back(task: Page) -> None:
    """The limit on the page is not the server's: nothing is lost by trusting it."""
    write_answer(task, "x" * 6_000)
    task.locator("#comment").evaluate("(comment) => { comment.dataset.limit = 10000; }")
    task.locator(".submit").click()
    expect(task).to_have_title(re.compile("Not sent yet: pair 1 of 4"))
    expect_answer_kept(task, "x" * 6_000)
    task.locator("#comment").fill("short")
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect_kept(task, "outbox", 0)
    assert Judgement.objects.get().comment == "short"


def test_what_may_be_refused_is_asked_first(task: Page) -> None:
    seen: list[str] = []
    task.on("request", lambda request: seen.append(request.headers.get("x-ahead", "")))
    write_answer(task, "x" * 6_000)
    with task.expect_response(SEATS) as refused:
        task.locator(".submit").click()
    assert refused.value.status == 422
    assert set(seen) == {""}
    expect(task.locator("#error-comment")).to_contain_text("The comment is too long")


def test_signed_out_meanwhile(task: Page) -> None:
    Session.objects.all().delete()
    write_answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    sign_in_by_dialog(task)
    expect(task.get_by_role("dialog")).to_be_hidden()
    expect_confirmed(task)
    expect(task.locator("#problem")).to_be_hidden()
    assert Judgement.objects.count() == 1
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 3)


def test_a_seat_that_may_have_lapsed_is_not_shown(task: Page) -> None:
    """The lease of the next pair is over by the page's own clock: its server is asked first."""
    task.route("**/renew/", lambda route: route.abort())
    task.evaluate(
        """() => {
          const now = performance.now.bind(performance);
          performance.now = () => now() + 86_400_000;
        }"""
    )
    gate = Gate(task)
    answer(task)
    task.locator(".submit").click()
    gate.wait_for(1)
    expect_pair(task, 1)
    gate.open()
    expect_pair(task, 2)
    expect_confirmed(task)


def test_time_begins_when_it_is_shown(task: Page, campaign: Campaign) -> None:
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect_confirmed(task)
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 3)
    expect_kept(task, "outbox", 0)
    first, second = Judgement.objects.order_by("submitted_at")
    assert second.opened_at is not None
    assert first.submitted_at is not None
    # Its seat was claimed before.
    held = Assignment.objects.get(judgement=second)
    assert held.claimed_at < first.submitted_at <= second.submitted_at
    assert abs((second.opened_at - first.submitted_at).total_seconds()) < 1


def test_another_tab_sends_the_answer_that_waits(task: Page, campaign: Campaign) -> None:
    lose_answers(task)
    answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect(task.locator("#problem")).to_contain_text("1 answer is waiting in this browser")
    other = task.context.new_page()
    other.goto(task_address(campaign))
    expect_pair(other, 2)
    assert Judgement.objects.count() == 1
    expect_confirmed(task)
    expect(task.locator("#problem")).to_be_hidden()
    expect(task.locator(".save-state")).not_to_contain_text("Saving")


def test_two_tabs(task: Page, campaign: Campaign) -> None:
    """What one tab answers, the other one passes; both have the same pair after it."""
    other = task.context.new_page()
    other.goto(task_address(campaign))
    expect_pair(other, 1)
    expect_next_at_hand(other)
    answer(task)
    task.locator(".submit").click()
    for page in (task, other):
        expect_pair(page, 2)
        expect_confirmed(page)
    answer(other)
    other.locator(".submit").click()
    for page in (task, other):
        expect_pair(page, 3)
    assert Judgement.objects.count() == 2
