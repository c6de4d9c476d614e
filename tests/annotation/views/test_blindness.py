"""What an annotator must not know is in nothing that the browser gets."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership
from benchmark.models import Judgement, Pair, Tally
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.views.pages import HTMX, Page, browser, plain, task_address
from tests.factories import add_pairs, make_member

pytestmark = pytest.mark.django_db

ANSWER = {"helpfulness": "1", "personalization": "2"}
# Distinctive words in every field that is nobody's business.
SECRETS = {
    "source_a": "srcmarkone",
    "source_b": "srcmarktwo",
    "priors": [{"tier": "tiermark", "label": "A", "origin": "originmark"}],
    "meta": {"metamark": "metavalue"},
}
MARKS = ("srcmark", "tiermark", "originmark", "metamark", "metavalue", "pairmark", "personamark")


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    campaign, _ = seated_campaign(tmp_path, pairs=0, annotators=0)
    add_pairs(campaign, tmp_path, 2)
    for number, pair in enumerate(Pair.objects.order_by("id")):
        for name, value in SECRETS.items():
            setattr(pair, name, value)
        pair.pair_id = f"pairmark-{number}"
        pair.save()
        pair.persona.persona_id = f"personamark-{pair.persona_id}"
        pair.persona.save()
    return campaign


def everything(client: Client, rater: Membership) -> list[str]:
    """All that a browser gets on the way through a campaign: addresses, headers, bodies."""
    got: list[str] = []

    def ask(method: str, address: str, data: object = None, **headers: str) -> None:
        response = getattr(client, method)(address, data or {}, headers=headers)
        body = b"" if response.status_code in (204, 302, 303) else response.content
        got.append(f"{address}\n{response.status_code}\n{response.headers}\n{body.decode()}")

    task = task_address(rater)
    ask("get", reverse("home"))
    ask("get", reverse("guidelines", args=[rater.campaign.slug]))
    while True:
        ask("get", task)
        ask("get", task, **HTMX)
        held = Assignment.objects.filter(membership=rater, state="open").first()
        if held is None:
            break
        submit = reverse("submit", args=[held.pk])
        ask("post", reverse("renew", args=[held.pk]))
        ask("post", submit, {"helpfulness": "1"})
        ask("post", submit, {"helpfulness": "1"}, **HTMX)
        ask("get", submit)
        ask("post", submit, ANSWER)
        ask("post", submit, ANSWER)
        ask("get", task, {"notice": "already_submitted"})
    return got


def test_no_secret_is_in_anything_a_rater_gets(
    campaign: Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    rater = make_member(campaign)
    with caplog.at_level("DEBUG"):
        got = everything(browser(rater), rater)
    assert len(got) > 15
    assert Judgement.objects.count() == 2
    for part in got:
        assert not [mark for mark in MARKS if mark in part.lower()], part
    assert not [mark for mark in MARKS if mark in caplog.text.lower()]


def test_the_page_is_the_same_whatever_is_known_of_the_pair(campaign: Campaign) -> None:
    rater, other = make_member(campaign), make_member(campaign)
    client = browser(rater)
    before = plain(client.get(task_address(rater)).content.decode())
    held = Assignment.objects.get(membership=rater)
    # Another source, another tier, another label, others' votes: all of it shows nowhere.
    Pair.objects.update(source_a="x", source_b="y", priors=[], meta={})
    theirs = seat(other, now=timezone.now())
    assert theirs.pair_id == held.pair_id
    browser(other).post(reverse("submit", args=[theirs.pk]), ANSWER)
    assert Tally.objects.filter(pair=held.pair_id).exists()
    assert plain(client.get(task_address(rater)).content.decode()) == before


def test_the_page_does_not_say_which_response_is_canonically_which(campaign: Campaign) -> None:
    """Two raters with opposite orders get the same page with the texts exchanged."""
    pages: dict[str, str] = {}
    pair = None
    for number in range(5):
        rater = make_member(campaign, pseudonym=f"r-{number}")
        html = plain(browser(rater).get(task_address(rater)).content.decode())
        held = Assignment.objects.get(membership=rater)
        pair = held.pair
        pages[held.shown_left] = html.replace(rater.user.username, "rater")
    assert pair is not None
    exchanged = (
        pages["B"]
        .replace(pair.response_a, "\x00")
        .replace(pair.response_b, pair.response_a)
        .replace("\x00", pair.response_b)
    )
    assert pages["A"] != pages["B"]
    assert exchanged == pages["A"]


def test_answers_are_by_place_and_not_by_letter(campaign: Campaign) -> None:
    rater = make_member(campaign)
    page = Page(browser(rater).get(task_address(rater)))
    values = {found.get("value") for _, found in page.elements}
    assert {"1", "2"} <= values
    assert not values & {"A", "B", "a", "b"}
    for name in ("helpfulness", "personalization"):
        assert [found["value"] for found in page.having(type="radio", name=name)] == ["1", "2"]


def test_seats_have_names_that_say_nothing(campaign: Campaign) -> None:
    seats = [seat(make_member(campaign), now=timezone.now()) for _ in range(3)]
    assert {held.pk.version for held in seats} == {4}
