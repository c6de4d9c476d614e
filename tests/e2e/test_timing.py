"""Opened, first action and active time: measured by spans, however often the page is loaded."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Membership
from benchmark.models import Judgement
from tests.e2e.answering import expect_kept, fields_of
from tests.e2e.conftest import NewPage, answer, choice, task_address
from tests.e2e.gate import SEATS

IDLE = 60


@pytest.fixture
def page(new_page: NewPage, campaign: Campaign, rater: Membership) -> Page:
    """The first pair, on a clock that the test moves; claimed an hour ago by the server's."""
    Campaign.objects.update(idle_seconds=IDLE)
    page = new_page(rater.user)
    page.clock.install()
    page.goto(task_address(campaign))
    expect(page.locator("form.answer")).to_be_visible()
    Assignment.objects.update(claimed_at=timezone.now() - timedelta(hours=1))
    return page


def wait(page: Page, seconds: int) -> None:
    page.clock.fast_forward(1000 * seconds)


def spans_when_sent(page: Page) -> dict[str, float]:
    with page.expect_request(SEATS) as sent:
        page.locator(".submit").click()
    fields = fields_of(sent.value)
    return {
        name: int(fields[name][0]) / 1000
        for name in ("opened_ms", "first_ms", "active_ms", "waited_ms")
    }


def near(seconds: float) -> object:
    """The clock runs on while the test works."""
    return pytest.approx(seconds + 7.5, abs=8)


def test_idling_is_on_screen_but_not_active(page: Page) -> None:
    wait(page, 30)
    page.mouse.move(100, 100)
    page.mouse.move(110, 110)
    wait(page, 600)
    answer(page)
    spans = spans_when_sent(page)
    assert spans["opened_ms"] == near(630)
    assert spans["first_ms"] == near(630)
    assert spans["active_ms"] == near(30 + IDLE)
    assert spans["waited_ms"] == near(0)
    expect_kept(page, "outbox", 0)
    judgement = Judgement.objects.get()
    assert judgement.seconds == near(630)
    assert judgement.active_seconds == near(30 + IDLE)
    assert judgement.first_action_at is not None


def test_a_hidden_tab_is_not_active(page: Page) -> None:
    hide(page, True)
    wait(page, 40)
    hide(page, False)
    wait(page, 20)
    answer(page)
    spans = spans_when_sent(page)
    assert spans["opened_ms"] == near(60)
    assert spans["active_ms"] == near(20)


def test_times_add_up_over_a_reload(page: Page) -> None:
    wait(page, 50)
    page.locator(choice("helpfulness", "1")).check()
    page.reload()
    expect(page.locator(choice("helpfulness", "1"))).to_be_checked()
    wait(page, 40)
    answer(page)
    spans = spans_when_sent(page)
    assert spans["opened_ms"] == near(90)
    assert spans["active_ms"] == near(90)
    assert spans["first_ms"] == near(50)


def test_each_pair_has_its_own(page: Page) -> None:
    wait(page, 300)
    answer(page)
    assert spans_when_sent(page)["opened_ms"] == near(300)
    expect(page.locator("form.answer input:checked")).to_have_count(0)
    wait(page, 20)
    answer(page)
    spans = spans_when_sent(page)
    assert spans["opened_ms"] == near(20)
    assert spans["first_ms"] == near(20)
    assert spans["active_ms"] == near(20)


def test_the_wait_for_the_network_is_told_apart(page: Page) -> None:
    page.route(SEATS, lambda route: route.abort())
    wait(page, 30)
    answer(page)
    page.locator(".submit").click()
    expect(page.locator(".save-state")).to_contain_text("Waiting for the network")
    page.unroute_all()
    with page.expect_request(SEATS) as sent:
        wait(page, 500)
    fields = fields_of(sent.value)
    assert int(fields["opened_ms"][0]) / 1000 == near(30)
    assert int(fields["waited_ms"][0]) / 1000 == near(500)
    expect_kept(page, "outbox", 0)
    judgement = Judgement.objects.get()
    assert (judgement.created_at - judgement.submitted_at).total_seconds() == near(500)


def hide(page: Page, hidden: bool) -> None:
    page.evaluate(
        """hidden => {
          const state = hidden ? "hidden" : "visible";
          Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )
