"""Texts of all kinds: they run nothing, load nothing, tell nothing and break no page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import APIResponse, Page, Route, expect

from annotation.models import Assignment, Campaign, Membership
from annotation.services.campaigns import import_pairs_into
from benchmark.models import Pair
from tests.e2e.conftest import NewPage, answer, expect_pair, task_address
from tests.factories import make_campaign, make_member, pair_row, write_jsonl

HOSTILE = """
<script>window.hit = "script"</script><img src=x onerror="window.hit = 'image'">
<svg onload="window.hit = 'svg'"></svg><iframe src="https://example.org/"></iframe>
<style>body { display: none }</style><form action="/"><button>Press</button></form>

![picture](https://example.org/tracker.png) ![inline](data:image/png;base64,AAAA)
[link](javascript:window.hit='link') <https://example.org/> <b style="color:red">raw</b>

**bold** and `code`
"""


def campaign_of(folder: Path, **changes: Any) -> Campaign:
    campaign = make_campaign(allows_tie=True)
    path = write_jsonl(folder / "pairs.jsonl", [pair_row(0, **changes), pair_row(1)])
    report = import_pairs_into(campaign=campaign, paths=[path])
    assert not report.problems, report.problems
    return campaign


def open_pair(new_page: NewPage, campaign: Campaign) -> Page:
    """The campaign's pair-0, whatever its position."""
    page = new_page(make_member(campaign).user)
    page.goto(task_address(campaign))
    expect_pair(page, 1)
    if Assignment.objects.latest("claimed_at").pair.pair_id != "pair-0":
        answer(page)
        page.locator(".submit").click()
        expect_pair(page, 2)
    return page


def test_a_hostile_response_is_inert(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    campaign = campaign_of(
        tmp_path,
        response_a=HOSTILE,
        query="<script>window.hit = 'query'</script>",
        persona={"Name": "<img src=x onerror=\"window.hit='name'\">", "Bias": HOSTILE},
    )
    page = new_page(make_member(campaign).user)
    foreign: list[str] = []
    page.on("request", lambda request: foreign.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    page.goto(task_address(campaign))
    for number in (1, 2):
        expect_pair(page, number)
        inside = page.locator(".pane, .persona, .query")
        for tag in ("script", "img", "iframe", "style", "form", "button", "a"):
            assert inside.locator(tag).count() == 0, tag
        answer(page)
        page.locator(".submit").click()
    expect(page.locator("h1")).to_have_text("You have judged every pair")
    assert page.evaluate("window.hit") is None
    assert not [url for url in foreign if "example.org" in url]


MARKS = {
    "source_a": "mark-source-alpha",
    "source_b": "mark-source-beta",
    "collected_from": "mark-meta",
    "pair_id": "mark-pair-id",
}


def test_nothing_in_the_traffic_of_a_task_tells_where_a_response_is_from(
    transactional_db: None, new_page: NewPage, tmp_path: Path
) -> None:
    campaign = campaign_of(tmp_path, **MARKS)
    Pair.objects.update(priors=[{"tier": "mark-tier", "label": "A", "origin": "mark-origin"}])
    page = new_page(make_member(campaign).user)
    answers: list[APIResponse] = []

    def overhear(route: Route) -> None:
        answers.append(route.fetch(max_redirects=0))
        route.fulfill(response=answers[-1])

    page.route(lambda url: "/static/" not in url, overhear)
    page.goto("/")
    page.get_by_role("link", name="Continue").click()
    expect_pair(page, 1)
    page.locator(".submit").click()
    expect(page.locator("#task .field-error").first).to_be_visible()
    for number in (1, 2):
        expect(page.locator(".number").first).to_have_text(f"{number - 1} of 2 judged")
        answer(page)
        page.locator(".submit").click()
    expect(page.locator("h1")).to_have_text("You have judged every pair")
    assert {response.status for response in answers} >= {200, 422}
    for response in answers:
        told = f"{response.url} {response.headers} {response.text()}"
        assert "mark-" not in told, response.url
        assert not re.search(r"shown_left|source_[ab]|prior|response_[ab]", told), response.url


def test_pages_of_both_orders_differ_in_nothing_but_the_order(
    transactional_db: None, tmp_path: Path
) -> None:
    campaign = campaign_of(tmp_path, response_a="one-text", response_b="other-text")
    pages: dict[str, str] = {}
    while len(pages) < 2:
        member = make_member(campaign)
        client = Client()
        client.force_login(member.user)
        html = client.get(task_address(campaign)).content.decode()
        seat = Assignment.objects.select_related("pair").get(membership=member)
        if seat.pair.pair_id == "pair-0":
            pages[seat.shown_left] = _without_names(html, member)
    swapped = re.sub(
        "one-text|other-text",
        lambda found: {"one-text": "other-text", "other-text": "one-text"}[found[0]],
        pages["B"],
    )
    assert pages["A"] == swapped
    assert pages["A"] != pages["B"]


def _without_names(html: str, member: Membership) -> str:
    """What differs between any two people."""
    html = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", html)
    html = re.sub(r'data-user="\d+"', "", html)
    html = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "SEAT", html)
    return html.replace(member.user.username, "NAME")


WIDE_TABLE = ("|" + "|".join(f" Column {n} " for n in range(20)) + "|\n" + "|---" * 20 + "|\n") + (
    "|" + "|".join(" a cell with words " for _ in range(20)) + "|\n"
) * 40


@pytest.mark.parametrize(
    "text",
    [
        "word " * 4_000,
        "w" * 3_000,
        WIDE_TABLE,
        "```\n" + "code " * 400 + "\n```",
        "مرحبا بالعالم. " * 50,
        "zero\u200bwidth\u200d\u2060" * 200,
        "是",
    ],
    ids=["20,000 characters", "one word", "table", "code", "right to left", "zero width", "tiny"],
)
def test_no_text_breaks_the_page(
    transactional_db: None, new_page: NewPage, tmp_path: Path, text: str
) -> None:
    persona = {"Name": "N" * 200, **{f"Section {n}": {"Key": text[:400]} for n in range(12)}}
    campaign = campaign_of(tmp_path, response_a=text, query=text[:1_500], persona=persona)
    page = open_pair(new_page, campaign)
    for width in (320, 768, 900, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("details.persona")).to_have_attribute("open", "")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"at {width} px the page is {overflow} px wider than the window"
        if width < 900:
            continue
        for place in (1, 2):
            box = page.locator(f"#pane-{place}").bounding_box()
            assert box
            assert box["y"] + 200 < 800, f"at {width} px response {place} is below the fold"
            assert box["height"] < 800, f"at {width} px response {place} does not scroll by itself"
        heights = [page.locator(f"#pane-{place}").bounding_box() for place in (1, 2)]
        assert heights[0]
        assert heights[1]
        for side in ("width", "height", "y"):
            assert heights[0][side] == heights[1][side], f"at {width} px they differ in {side}"
