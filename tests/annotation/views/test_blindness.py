"""What an annotator must not know is in nothing that the browser gets."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership
from annotation.services import standing
from benchmark.models import Judgement, Pair, Tally
from tests.annotation.checking import checked_campaign
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.views.pages import (
    ANSWER,
    HTMX,
    Page,
    browser,
    open_seat,
    plain,
    task_address,
)
from tests.factories import add_pairs, make_member

pytestmark = pytest.mark.django_db

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
        held = Assignment.objects.filter(membership=rater, state="open", is_ahead=False).first()
        if held is None:
            break
        submit = reverse("submit", args=[held.pk])
        ask("post", reverse("renew", args=[held.pk]))
        ask("post", reverse("ahead", args=[held.pk]), **HTMX)
        ask("post", submit, {"helpfulness": "1"})
        ask("post", submit, {"helpfulness": "1"}, **HTMX)
        ask("get", submit)
        ask("post", submit, ANSWER)
        ask("post", submit, ANSWER)
        ask("get", submit)
        ask("get", submit, **HTMX)
        ask("post", submit, {"helpfulness": "1", "revision": "1"}, **HTMX)
        ask("post", submit, ANSWER | {"comment": "Hm.", "revision": "1"}, **HTMX)
        ask("post", reverse("flag", args=[held.pk]), {"target": "1", "kind": "wrong"}, **HTMX)
        ask("get", task, {"notice": "already_submitted"})
    return got


def test_no_secret_is_in_anything_a_rater_gets(
    campaign: Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    rater = make_member(campaign)
    with caplog.at_level("DEBUG"):
        got = everything(browser(rater), rater)
    assert len(got) > 15
    assert Judgement.objects.current().count() == 2
    assert Judgement.objects.count() == 4
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
        html = re.sub(r'data-user="\d+"', "", html).replace(rater.user.username, "rater")
        pages[held.shown_left] = html
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


# What a browser might be told of a pair that is a check.
_TELLING = re.compile(
    r"gold|repeat|purpose|expect|training|qualif|honey|attention|consisten|\bvotes?\b"
    r"|check[_ -]?(item|answer|seat|pair)|is[_-]check",
    re.IGNORECASE,
)
_LATER = {"revision": "1", "comment": "Hm."}


def shape(text: str) -> str:
    """Without ids, tokens, numbers, times, and which of the two texts it is."""
    text = plain(text)
    text = re.sub(r"\d+", "#", text)
    text = re.sub(r"of (one|another) kind", "of a kind", text)
    return re.sub(r"# [ap]\.m\.", "#", text)


def answer_next(client: Client, rater: Membership) -> Assignment:
    client.get(task_address(rater))
    held = open_seat(rater)
    client.post(reverse("submit", args=[held.pk]), ANSWER)
    return held


def on_one_seat(client: Client, rater: Membership) -> tuple[str, list[str]]:
    """What the seat in hand is for, and the shape of all that a browser gets on it."""
    got: list[str] = []

    def ask(method: str, address: str, data: object = None, **headers: str) -> HttpResponse:
        response: HttpResponse = getattr(client, method)(address, data or {}, headers=headers)
        names = sorted(response.headers.items())
        cookies = sorted(response.cookies)
        body = response.content.decode()
        got.append(shape(f"{method} {address}\n{response.status_code}\n{names}\n{cookies}\n{body}"))
        return response

    task = task_address(rater)
    ask("get", task)
    ask("get", task, **HTMX)
    held = open_seat(rater)
    seat, renew = reverse("submit", args=[held.pk]), reverse("renew", args=[held.pk])
    flags = reverse("flag", args=[held.pk])
    ask("post", renew)
    assert ask("post", reverse("ahead", args=[held.pk]), **HTMX).status_code == 200
    following = Assignment.objects.get(membership=rater, state="open", is_ahead=True)
    ask("post", reverse("renew", args=[following.pk]))
    ask("get", seat)
    ask("post", flags, {"target": "1", "kind": "other"}, **HTMX)
    ask("post", flags, {"target": "2", "kind": "wrong"}, **HTMX)
    ask("get", task)
    ask("post", seat, {"helpfulness": "1"}, **HTMX)
    ask("post", seat, {"action": "skip"}, **HTMX)
    ask("post", seat, ANSWER | _LATER, **HTMX)  # a correction of what is not answered yet
    shown = {"X-Ahead": str(following.pk)}
    assert ask("post", seat, ANSWER, **HTMX, **shown).headers["X-Outcome"] == "accepted"
    ask("post", seat, ANSWER, **HTMX, **shown)
    ask("post", seat, ANSWER, **HTMX)
    ask("post", seat, ANSWER)
    ask("post", seat, ANSWER, **HTMX, **{"X-Replay": "1"})
    ask("post", renew)
    for headers in ({}, HTMX):
        ask("get", seat, **headers)
    ask("post", seat, {"helpfulness": "1", "revision": "1"}, **HTMX)
    assert ask("post", seat, ANSWER | _LATER, **HTMX).headers["X-Outcome"] == "revised"
    ask("post", seat, ANSWER | _LATER, **HTMX)
    ask("post", seat, ANSWER | {"revision": "1"}, **HTMX)
    ask("post", seat, {"action": "skip", "skip_reason": "broken", "revision": "2"})
    ask("get", seat)
    ask("post", seat, ANSWER | {"revision": "3"}, **HTMX, **{"X-Replay": "1"})
    ask("post", flags, {"target": "2", "kind": "wrong"}, **HTMX)
    ask("get", task, {"notice": "revised"})
    return held.purpose, got


def test_gold_and_repeated_pairs_look_like_any_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On the page, in headers and statuses, in corrections, retries, refusals and flags."""
    _, (rater,) = checked_campaign(
        tmp_path,
        gold=20,
        pairs=30,
        gold_percent=33,
        repeat_percent=33,
        gold_pass_percent=0,
        asks_confidence=True,
        asks_reasons=True,
    )
    client = browser(rater)
    # Before the first answer there is nothing to undo, and before ten nothing to repeat.
    for _ in range(12):
        answer_next(client, rater)
    with caplog.at_level("DEBUG"):
        traces = [on_one_seat(client, rater) for _ in range(9)]
    kinds = Counter(purpose for purpose, _ in traces)
    assert set(kinds) == {"vote", "gold", "repeat"}
    _, reference = traces[0]
    for purpose, got in traces:
        assert len(got) == len(reference)
        for number, (part, like) in enumerate(zip(got, reference, strict=True)):
            assert part == like, (purpose, number)
            assert not _TELLING.search(part), (number, _TELLING.search(part))
    assert not _TELLING.search(caplog.text)


@pytest.mark.parametrize("why", ["closed", "paused"])
def test_also_when_it_is_too_late(tmp_path: Path, why: str) -> None:
    _, (rater,) = checked_campaign(
        tmp_path, gold=20, pairs=30, gold_percent=50, repeat_percent=50, gold_pass_percent=0
    )
    client = browser(rater)
    given: dict[str, Assignment] = {}
    while set(given) != {"vote", "gold", "repeat"}:
        held = answer_next(client, rater)
        given[held.purpose] = held
    client.get(task_address(rater))
    if why == "closed":
        Campaign.objects.update(state="closed")
    else:
        Membership.objects.update(standing="paused", standing_reason="lead")
    traces = []
    for held in given.values():
        seat = reverse("submit", args=[held.pk])
        responses = [
            client.get(seat),
            client.get(seat, headers=HTMX),
            client.post(seat, ANSWER, headers=HTMX),
            client.post(seat, ANSWER | _LATER, headers=HTMX),
            client.post(seat, ANSWER | _LATER),
            client.post(reverse("renew", args=[held.pk])),
        ]
        traces.append(
            [
                shape(f"{response.status_code} {response.headers} {response.content.decode()}")
                for response in responses
            ]
        )
    assert traces[0] == traces[1] == traces[2]


def test_what_a_lead_stopped_and_let_go_on_looks_alike(tmp_path: Path) -> None:
    """A seat that was given back by a pause, answered or renewed afterwards."""
    _, raters = checked_campaign(
        tmp_path, gold=20, pairs=30, annotators=6, gold_percent=50, gold_pass_percent=0
    )
    kinds = set()
    for number, rater in enumerate(raters):
        client = browser(rater)
        client.get(task_address(rater))
        held = open_seat(rater)
        kinds.add(held.purpose)
        lead = rater.user
        standing.pause(membership=rater, actor=lead, now=timezone.now())
        standing.resume(membership=rater, actor=lead, now=timezone.now())
        if number % 2:
            assert client.post(reverse("renew", args=[held.pk])).status_code == 204
        response = client.post(reverse("submit", args=[held.pk]), ANSWER, headers=HTMX)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "accepted")
    assert kinds == {"vote", "gold"}
