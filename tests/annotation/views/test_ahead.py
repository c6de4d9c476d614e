"""The next pair, handed out while the rater is at work on the one before."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.seats import free_lapsed_seats
from benchmark.models import Judgement
from tests.annotation.checking import checked_campaign
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.views.pages import (
    ANSWER,
    HTMX,
    Page,
    browser,
    open_seat,
    submit_address,
    task_address,
)
from tests.annotation.views.test_answered import undo_in

pytestmark = pytest.mark.django_db


def ask_ahead(client: Client, held: Assignment) -> HttpResponse:
    response = client.post(reverse("ahead", args=[held.pk]), headers=HTMX)
    return response


def held_ahead(rater: Membership) -> Assignment:
    return Assignment.objects.get(membership=rater, state="open", is_ahead=True)


@pytest.fixture
def rater(tmp_path: Path) -> Membership:
    _, (rater,) = seated_campaign(tmp_path, pairs=4, annotators=1)
    return rater


@pytest.fixture
def client(rater: Membership) -> Client:
    """The first pair is on screen."""
    client = browser(rater)
    client.get(task_address(rater))
    return client


def submit_ahead(client: Client, held: Assignment, shown: object, **answer: str) -> HttpResponse:
    headers = HTMX | {"X-Ahead": str(shown)}
    response: HttpResponse = client.post(submit_address(held), ANSWER | answer, headers=headers)
    return response


def test_it_is_as_it_will_be_when_the_pair_before_is_answered(
    client: Client, rater: Membership
) -> None:
    first = open_seat(rater)
    response = ask_ahead(client, first)
    following = held_ahead(rater)
    page = Page(response)
    assert not page.is_whole
    [task] = page.having(id="task")
    assert task["data-seat"] == str(following.pk)
    assert "data-is-ahead" in task
    assert task["data-announce"].strip() == "Pair 2 of 4."
    assert following.pair.query in page.text
    assert "1 of 4 judged" in page.text
    assert undo_in(page) == ("", 0)
    assert response.headers["Cache-Control"] == "no-store"
    assert following.pk != first.pk


def test_the_answer_brings_the_task_bar_alone_where_the_pair_is_shown(
    client: Client, rater: Membership
) -> None:
    first = open_seat(rater)
    ask_ahead(client, first)
    following = held_ahead(rater)
    response = submit_ahead(client, first, following.pk)
    assert (response.status_code, response.headers["X-Outcome"]) == (200, "accepted")
    assert response.headers["X-Ahead"] == str(following.pk)
    page = Page(response)
    assert not page.having(id="task")
    address, seconds = undo_in(page)
    assert address == submit_address(first)
    assert 290 <= seconds <= 300
    [bar] = page.having(class_="task-bar")
    stored = Judgement.objects.get()
    assert datetime.fromisoformat(bar["data-saved-at"]) == stored.submitted_at
    assert "1 of 4 judged" in page.text
    assert following.pair.query not in page.text
    assert open_seat(rater) == following
    # It is the rater's pair now like any other: the page tells it of none that came by itself.
    [task] = Page(client.get(task_address(rater))).having(id="task")
    assert "data-is-ahead" not in task
    assert task["data-seat"] == str(following.pk)


def test_what_is_shown_and_does_not_come_is_replaced(client: Client, rater: Membership) -> None:
    first = open_seat(rater)
    response = submit_ahead(client, first, first.pk)
    assert "X-Ahead" not in response.headers
    [task] = Page(response).having(id="task")
    assert task["data-seat"] == str(open_seat(rater).pk)


def test_a_refused_answer_comes_back(client: Client, rater: Membership) -> None:
    first = open_seat(rater)
    ask_ahead(client, first)
    response = submit_ahead(client, first, held_ahead(rater).pk, comment="x" * 10_000)
    assert response.status_code == 422
    page = Page(response)
    [task] = page.having(id="task")
    assert task["data-seat"] == str(first.pk)
    assert "data-is-ahead" not in task
    assert page.checked() == ANSWER
    assert "The comment is too long" in page.text


def test_what_became_of_the_answer_is_told(client: Client, rater: Membership) -> None:
    """Others have filled the pair: the whole page comes, with the words for it."""
    first = open_seat(rater)
    Assignment.objects.filter(pk=first.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    ask_ahead(client, first)
    following = held_ahead(rater)
    free_lapsed_seats(campaign=rater.campaign)
    PairSeats.objects.filter(pair=first.pair_id).update(free=0)
    response = submit_ahead(client, first, following.pk)
    assert response.headers["X-Outcome"] == "expired"
    page = Page(response)
    assert "is not counted" in page.text
    assert page.having(id="task")[0]["data-seat"] == str(following.pk)


@pytest.mark.parametrize(
    ("why", "outcome"), [("closed", "campaign_closed"), ("paused", "not_active")]
)
def test_whoever_was_stopped_sees_that(
    client: Client, rater: Membership, why: str, outcome: str
) -> None:
    first = open_seat(rater)
    ask_ahead(client, first)
    following = held_ahead(rater)
    if why == "closed":
        Campaign.objects.update(state="closed")
    else:
        Membership.objects.update(standing="paused", standing_reason="lead")
    response = submit_ahead(client, first, following.pk)
    assert response.headers["X-Outcome"] == outcome
    assert Page(response).having(id="finished")
    assert ask_ahead(client, first).status_code == 204


def test_the_last_pair_has_none(tmp_path: Path) -> None:
    _, (rater,) = seated_campaign(tmp_path, pairs=1, annotators=1)
    client = browser(rater)
    client.get(task_address(rater))
    response = ask_ahead(client, open_seat(rater))
    assert (response.status_code, response.content) == (204, b"")


def test_a_training_pair_has_none(tmp_path: Path) -> None:
    """Its explanation comes first."""
    _, (rater,) = checked_campaign(tmp_path, training=2, pairs=4)
    Membership.objects.update(ready_at=None)
    client = browser(rater)
    page = Page(client.get(task_address(rater)))
    held = open_seat(rater)
    assert held.purpose == "training"
    assert not [found for _, found in page.elements if "data-ahead" in found]
    assert ask_ahead(client, held).status_code == 204


def test_it_is_nothing_to_others(client: Client, rater: Membership, tmp_path: Path) -> None:
    _, (other,) = seated_campaign(tmp_path, slug="other", annotators=1)
    held = seat(other, now=timezone.now())
    assert ask_ahead(client, held).status_code == 404
    assert client.get(reverse("ahead", args=[open_seat(rater).pk])).status_code == 405
