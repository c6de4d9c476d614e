"""The pages around the task: signing in, languages, themes, the lead's live page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from annotation.models import Campaign, Membership
from annotation.services.campaigns import import_votes_into
from benchmark.models import Run
from benchmark.stats.policy import PERSONAFEEDBACK_V1
from benchmark.tasks import run_aggregation
from tests.annotation.test_access import make_release
from tests.conftest import wait_until
from tests.e2e.conftest import NewPage
from tests.factories import make_member, vote_rows, write_jsonl


def test_language_and_theme_can_be_chosen_before_signing_in(
    transactional_db: None, new_page: NewPage
) -> None:
    page = new_page()
    page.goto("/")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("radio", name="Dark").check()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("radio", name="Light").check()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="EN").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_wrong_password_says_so_and_keeps_the_name(
    transactional_db: None, new_page: NewPage
) -> None:
    page = new_page()
    page.goto("/")
    page.get_by_label("User name").fill("somebody")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("do not fit together")
    expect(page.get_by_label("User name")).to_have_value("somebody")


def test_the_lead_moves_a_campaign_without_leaving_the_page(
    new_page: NewPage, campaign: Campaign
) -> None:
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.goto(f"/campaigns/{campaign.slug}/")
    expect(page.locator(".heading .tag").first).to_have_text("open")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".heading .tag").first).to_have_text("paused")
    expect(page.get_by_role("button", name="Open")).to_be_visible()
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.PAUSED


def test_a_researcher_sees_figures_and_no_buttons(new_page: NewPage, campaign: Campaign) -> None:
    page = new_page(make_member(campaign, Membership.Role.RESEARCHER).user)
    page.goto(f"/campaigns/{campaign.slug}/")
    expect(page.locator("#coverage-table")).to_be_visible()
    assert page.locator("#live button").count() == 0


def test_polling_shows_news_and_disturbs_nobody(new_page: NewPage, campaign: Campaign) -> None:
    for _ in range(60):
        make_member(campaign)
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.clock.install()
    page.goto(f"/campaigns/{campaign.slug}/")
    expect(page.locator(".tile-number").last).to_have_text("60")
    page.locator("#raters-table").evaluate("table => { table.scrollTop = 300; }")
    page.locator("#move-paused").focus()
    make_member(campaign)
    page.clock.run_for(16_000)
    expect(page.locator(".tile-number").last).to_have_text("61")
    assert page.locator("#raters-table").evaluate("table => table.scrollTop") == 300
    expect(page.locator("#move-paused")).to_be_focused()


def test_the_leads_click_wins_over_a_poll_under_way(new_page: NewPage, campaign: Campaign) -> None:
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.clock.install()
    page.goto(f"/campaigns/{campaign.slug}/")
    held: list[Route] = []
    page.route(f"**/campaigns/{campaign.slug}/", lambda route: held.append(route))
    page.clock.run_for(16_000)
    # Asking the page anything lets Playwright hand on the request.
    wait_until(lambda: page.evaluate("true") and held, what="a poll is under way")
    page.unroute_all(behavior="ignoreErrors")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(1_000)
    expect(page.locator(".heading .tag").first).to_have_text("paused")
    assert len(held) == 1


def test_a_page_that_cannot_be_kept_up_to_date_says_so(
    new_page: NewPage, campaign: Campaign
) -> None:
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.clock.install()
    page.goto(f"/campaigns/{campaign.slug}/")
    page.route(f"**/campaigns/{campaign.slug}/", lambda route: route.abort())
    page.clock.run_for(16_000)
    expect(page.locator("#problem")).to_contain_text("not the newest")
    page.unroute_all()
    page.clock.run_for(16_000)
    expect(page.locator("#problem")).to_be_hidden()


def test_times_are_in_the_readers_zone_and_say_utc(new_page: NewPage, campaign: Campaign) -> None:
    """Simulated and imported judgements have known times; here the last one is given."""
    from django.utils.dateparse import parse_datetime

    from benchmark.models import Judgement

    rater = make_member(campaign).rater
    assert rater
    pair = campaign.pair_set.pairs.first()
    assert pair
    Judgement.objects.create(
        pair=pair,
        rater=rater,
        seat=1,
        raters_per_pair=9,
        submitted_at=parse_datetime("2026-07-01T22:30:15Z"),
    )
    page = new_page(make_member(campaign, Membership.Role.LEAD).user)
    page.goto(f"/campaigns/{campaign.slug}/")
    moment = page.locator("#raters-table time")
    expect(moment).to_have_attribute("title", "2026-07-01 22:30:15 UTC")
    expect(moment).to_contain_text("Jul 2, 2026")
    expect(moment).to_contain_text("00:30")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_figures_fit_on_a_phone(
    new_page: NewPage, campaign: Campaign, tmp_path: Path, language: str
) -> None:
    votes = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=9))
    assert not import_votes_into(campaign=campaign, path=votes).problems
    run = Run.objects.create(
        pair_set=campaign.pair_set,
        kind=Run.Kind.AGGREGATION,
        policy=PERSONAFEEDBACK_V1.as_json(),
        version="1",
    )
    run_aggregation(run.pk)
    make_release(campaign)
    page = new_page(make_member(campaign, Membership.Role.LEAD).user, width=320)
    address = f"/campaigns/{campaign.slug}/"
    page.goto(address)
    page.locator(f'.languages [value="{language}"]').click()
    expect(page.locator("html")).to_have_attribute("lang", language)
    for where in (address, f"{address}runs/{run.pk}/"):
        page.goto(where)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{where} is {overflow} px wider than the window"
        # Words of Chinese stay together: a heading of a row is not a column of characters.
        for heading in page.locator("tbody th").all():
            box = heading.bounding_box()
            assert box
            assert box["height"] < 100, heading.inner_text()
