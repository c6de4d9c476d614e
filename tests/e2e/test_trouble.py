"""Network, server, session and token in trouble: it is said, and the answer is stored once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Campaign, Flag, Membership, PairSeats
from annotation.services.campaigns import move_campaign
from benchmark.models import Judgement
from tests.annotation.test_crash import Web
from tests.conftest import wait_until
from tests.e2e.answering import (
    WORDS,
    expect_answer_kept,
    expect_kept,
    expect_waiting,
    sign_in_by_dialog,
    write_answer,
)
from tests.e2e.conftest import (
    NOTHING_AHEAD,
    PATIENCE_MS,
    NewPage,
    answer,
    expect_pair,
    sign_in,
    task_address,
    watch,
)
from tests.e2e.gate import SEATS, lose_first_reply
from tests.factories import PASSWORD, UserFactory, make_member


def test_network_cut_before_the_server_got_it(task: Page) -> None:
    task.route(SEATS, lambda route: route.abort())
    write_answer(task)
    task.locator(".submit").click()
    expect_waiting(task)
    expect(task.locator("#status")).to_contain_text("Waiting for the network")
    expect(task.locator(".submit")).to_contain_text("Waiting for network")
    expect(task.locator(".submit")).to_be_enabled()
    expect(task.locator(".submit")).to_be_focused()
    expect_answer_kept(task)
    assert not Judgement.objects.exists()
    task.unroute_all()
    expect_pair(task, 2)
    expect(task.locator(".save-state")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    expect(task.locator("#status")).to_contain_text(re.compile(r"Saved \d\d:\d\d:\d\d"))
    assert Judgement.objects.get().comment == WORDS
    expect_kept(task, "outbox", 0)


def test_network_cut_after_the_server_stored_it(task: Page) -> None:
    lost = lose_first_reply(task)
    write_answer(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert lost == [200]
    assert Judgement.objects.get().comment == WORDS
    expect_kept(task, "outbox", 0)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_in_trouble_is_asked_again(task: Page, status: int) -> None:
    task.route(SEATS, lambda route: route.fulfill(status=status, body="no"))
    write_answer(task)
    task.locator(".submit").click()
    expect_waiting(task, "Waiting for the server")
    expect(task.locator(".submit")).to_have_text("Waiting for server")
    expect_answer_kept(task)
    task.unroute_all()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


def test_what_answers_in_the_place_of_the_server_does_not_take_the_answer(task: Page) -> None:
    """A network that wants a sign-in of its own answers 200 to anything."""
    task.route(SEATS, lambda route: route.fulfill(status=200, body="<h1>Welcome to the hotel</h1>"))
    write_answer(task)
    task.locator(".submit").click()
    expect_waiting(task)
    expect_answer_kept(task)
    task.unroute_all()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


def test_an_answer_that_is_too_large_stays_on_screen(task: Page) -> None:
    """As the server says of more than a post may hold (`tests.annotation.views.test_errors`)."""
    task.route(SEATS, lambda route: route.fulfill(status=413, body="no"))
    write_answer(task)
    task.locator(".submit").click()
    expect(task.get_by_role("alert")).to_contain_text("at most 2.5\N{NO-BREAK SPACE}MB can be sent")
    expect_answer_kept(task)
    expect(task.locator(".submit")).to_contain_text("Submit")
    task.unroute_all()
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


def test_an_answer_that_is_refused_stays_on_screen(task: Page) -> None:
    task.route(SEATS, lambda route: route.fulfill(status=403, body="no"))
    write_answer(task)
    task.locator(".submit").click()
    expect(task.get_by_role("alert")).to_contain_text("Not saved: the server did not accept it")
    expect_answer_kept(task)
    expect(task.locator(".submit")).to_contain_text("Submit")
    expect_kept(task, "outbox", 0)
    task.unroute_all()
    task.reload()
    expect_answer_kept(task)
    task.locator(".submit").click()
    expect_pair(task, 2)
    expect(task.get_by_role("alert")).to_be_hidden()


def test_an_offline_spell(task: Page) -> None:
    write_answer(task)
    task.context.set_offline(True)
    task.locator(".submit").click()
    expect_waiting(task)
    expect_answer_kept(task)
    task.context.set_offline(False)
    expect_pair(task, 2)
    assert Judgement.objects.get().comment == WORDS


def test_a_tab_closed_while_offline(task: Page, campaign: Campaign) -> None:
    write_answer(task)
    context = task.context
    context.set_offline(True)
    task.locator(".submit").click()
    expect_waiting(task)
    task.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(task_address(campaign))
    expect_pair(page, 2)
    assert Judgement.objects.get().comment == WORDS
    expect_kept(page, "outbox", 0)


def test_an_answer_that_waited_is_sent_from_any_page(task: Page) -> None:
    write_answer(task)
    context = task.context
    context.set_offline(True)
    task.locator(".submit").click()
    expect_waiting(task)
    task.close()
    context.set_offline(False)
    page = context.new_page()
    with page.expect_request(SEATS) as sent:
        page.goto("/")
    assert sent.value.headers["x-replay"] == "1"
    expect(page.locator("#problem")).to_contain_text("1 answer that was waiting is saved.")
    assert Judgement.objects.get().comment == WORDS
    expect_kept(page, "outbox", 0)
    expect_kept(page, "draft", 0)


@pytest.fixture
def web(campaign: Campaign, tmp_path: Path) -> Iterator[Web]:
    server = Web(tmp_path)
    yield server
    server.kill()


@contextmanager
def page_of(browser: Browser, web: Web, rater: Membership, *, has_next: bool) -> Iterator[Page]:
    problems: list[str] = []
    with browser.new_context(base_url=web.url, locale="en-GB") as context:
        if not has_next:
            context.add_init_script(NOTHING_AHEAD)
        context.set_default_timeout(PATIENCE_MS)
        sign_in(context, rater.user, web.url)
        page = context.new_page()
        watch(page, problems)
        page.goto(task_address(rater.campaign))
        expect_pair(page, 1)
        yield page
    assert not problems


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        # Within a transaction the view stays as it was when it was first looked at.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.parametrize("has_next", [False, True])
def test_a_server_killed_between_click_and_answer(
    browser: Browser, web: Web, rater: Membership, has_next: bool
) -> None:
    with page_of(browser, web, rater, has_next=has_next) as page:
        if has_next:
            expect(page.locator("#task[data-has-next]")).to_have_count(1)
        write_answer(page)
        with transaction.atomic():
            # The server has the answer, and waits for us before it can store it.
            list(PairSeats.objects.select_for_update())
            page.locator(".submit").click()
            wait_until(somebody_waits_for_a_lock, what="the answer is with the server")
            web.kill()
        if has_next:
            expect_pair(page, 2)
            expect(page.locator("#problem")).to_contain_text("1 answer is waiting")
        else:
            expect_waiting(page)
            expect_answer_kept(page)
        assert not Judgement.objects.exists()
        web.start()
        expect_pair(page, 2)
        if has_next:
            expect(page.locator("#task[data-is-ahead]")).to_have_count(0)
        assert Judgement.objects.get().comment == WORDS
        expect_kept(page, "outbox", 0)


def test_a_session_that_ended(task: Page, rater: Membership) -> None:
    write_answer(task)
    Session.objects.all().delete()
    task.locator(".submit").click()
    dialog = task.get_by_role("dialog")
    expect(dialog).to_contain_text("You have been signed out")
    expect(dialog.get_by_label("User name")).to_have_value(rater.user.username)
    expect(dialog.get_by_label("Password")).to_be_focused()
    expect_waiting(task, "Waiting for you to sign in")
    sign_in_by_dialog(task, "not this")
    expect(dialog.get_by_role("alert")).to_contain_text("does not fit")
    expect(dialog.get_by_label("Password")).to_be_focused()
    assert not Judgement.objects.exists()
    sign_in_by_dialog(task)
    expect_pair(task, 2)
    expect(dialog).to_be_hidden()
    expect(task.locator("h1")).to_be_focused()
    assert Judgement.objects.get().comment == WORDS


def test_a_report_that_found_the_session_ended(task: Page) -> None:
    task.keyboard.press("v")
    flags = task.locator("#flags")
    flags.get_by_label("Response 2").check()
    flags.get_by_label("Private information").check()
    send = flags.get_by_role("button", name="Tell the lead")
    Session.objects.all().delete()
    send.click()
    dialog = task.get_by_role("dialog")
    expect(dialog.get_by_label("Password")).to_be_focused()
    held: list[Route] = []
    task.route("**/accounts/login/", lambda route: held.append(route), times=1)
    sign_in_by_dialog(task)
    expect(dialog.locator("[type=submit]")).to_have_text("Signing in …")
    held[0].continue_()
    expect(dialog).to_be_hidden()
    expect(task.locator("#problem")).to_contain_text("did not arrive")
    expect(send).to_be_focused()
    assert not Flag.objects.exists()
    task.keyboard.press("Enter")
    expect(flags.locator("summary")).to_contain_text("1 reported")
    expect(task.locator("#problem")).to_be_hidden()


def test_the_dialog_can_wait(task: Page) -> None:
    write_answer(task)
    Session.objects.all().delete()
    task.locator(".submit").click()
    dialog = task.get_by_role("dialog")
    expect(dialog).to_be_visible()
    task.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(task.locator(".submit")).to_be_focused()
    expect_answer_kept(task)
    problem = task.locator("#problem")
    expect(problem).to_contain_text("You have been signed out")
    problem.get_by_role("button", name="Sign in").click()
    expect(problem).to_be_hidden()
    sign_in_by_dialog(task)
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


def test_without_a_password_the_link_is_opened_again(
    new_page: NewPage, campaign: Campaign, rater: Membership, live_server: LiveServer
) -> None:
    rater.user.set_unusable_password()
    rater.user.save()
    page = new_page(rater.user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    write_answer(page)
    Session.objects.all().delete()
    page.locator(".submit").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Open the link from the platform again")
    expect(dialog.get_by_label("Password")).to_have_count(0)
    dialog.get_by_role("button", name="Close").click()
    expect_waiting(page, "Waiting for you to sign in")
    # As the link would do in another tab.
    sign_in(page.context, rater.user, live_server.url)
    page.locator(".submit").click()
    expect_pair(page, 2)
    assert Judgement.objects.count() == 1


def test_figures_that_are_asked_for_by_themselves_do_not_insist(
    new_page: NewPage, campaign: Campaign
) -> None:
    lead = make_member(campaign, Membership.Role.LEAD)
    page = new_page(lead.user)
    page.clock.install()
    page.goto(f"/campaigns/{campaign.slug}/")
    heading = page.locator("h1").inner_text()
    Session.objects.all().delete()
    page.clock.fast_forward(16_000)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You have been signed out")
    page.keyboard.press("Escape")
    button = page.locator("#problem").get_by_role("button", name="Sign in")
    button.focus()
    with page.expect_response("**/accounts/login/**"):
        page.clock.fast_forward(16_000)
    expect(button).to_be_focused()
    expect(dialog).to_be_hidden()
    expect(page.locator("h1")).to_have_text(heading)
    page.keyboard.press("Enter")
    sign_in_by_dialog(page)
    expect(dialog).to_be_hidden()
    expect(page.locator("#problem")).to_be_hidden()
    with page.expect_response(lambda response: response.url.endswith("/campaigns/cups/")) as polled:
        page.clock.fast_forward(16_000)
    assert polled.value.status == 200


def test_signing_in_again_in_another_tab(task: Page, rater: Membership) -> None:
    """The token is another one now, and the session too."""
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


def test_a_token_that_is_gone_is_fetched_again(task: Page) -> None:
    task.context.clear_cookies(name="csrftoken")
    write_answer(task)
    statuses: list[int] = []
    task.on(
        "response",
        lambda response: (
            statuses.append(response.status) if re.search(r"/seats/[^/]+/$", response.url) else None
        ),
    )
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert statuses == [403, 200]
    assert Judgement.objects.count() == 1


def test_somebody_else_has_signed_in(
    task: Page, rater: Membership, live_server: LiveServer
) -> None:
    other = UserFactory.create()
    write_answer(task)
    sign_in(task.context, other, live_server.url)
    task.locator(".submit").click()
    expect_waiting(task, "Somebody else has signed in")
    expect_kept(task, "outbox", 1)
    # Not sent from pages of theirs either.
    page = task.context.new_page()
    with page.expect_response("**/"):
        page.goto("/")
    expect(page.locator("body")).to_have_attribute("data-user", str(other.pk))
    expect_kept(page, "outbox", 1)
    page.close()
    assert not Judgement.objects.exists()
    sign_in(task.context, rater.user, live_server.url)
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert Judgement.objects.get().comment == WORDS


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
    expect_kept(task, "outbox", 0)
    # Should it open again with the same pair, the answer is there.
    move_campaign(campaign=campaign, state=Campaign.State.OPEN)
    task.reload()
    expect_pair(task, 1)
    expect(task.locator(".save-state")).to_contain_text("Your answer is back")
    task.locator(".submit").click()
    expect_pair(task, 2)
    assert Judgement.objects.count() == 1


@pytest.mark.parametrize("standing", [Membership.Standing.PAUSED, Membership.Standing.EXCLUDED])
def test_a_rater_who_was_taken_out_meanwhile(task: Page, rater: Membership, standing: str) -> None:
    answer(task)
    Membership.objects.filter(pk=rater.pk).update(
        standing=standing, standing_reason=Membership.StandingReason.LEAD
    )
    with task.expect_response(SEATS) as answered:
        task.locator(".submit").click()
    assert answered.value.headers["x-outcome"] == "not_active"
    expect(task.locator("section.finished h1")).to_be_focused()
    assert "Saved" not in task.locator("#status").inner_text()
    assert not Judgement.objects.exists()
    expect_kept(task, "outbox", 0)


def test_a_waiting_answer_that_is_not_taken_any_more_is_told(
    task: Page, campaign: Campaign
) -> None:
    answer(task)
    context = task.context
    context.set_offline(True)
    task.locator(".submit").click()
    expect_waiting(task)
    task.close()
    move_campaign(campaign=campaign, state=Campaign.State.CLOSED)
    context.set_offline(False)
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#problem")).to_contain_text("is not counted")
    expect_kept(page, "outbox", 0)
    assert not Judgement.objects.exists()
