"""Signs of life while a rater is at work on a pair."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.services.seats import free_lapsed_seats, give_back
from tests.annotation.seating import assert_sound, seat, seated_campaign
from tests.annotation.views.pages import ANSWER, browser, submit_address

pytestmark = pytest.mark.django_db


def test_a_sign_of_life(tmp_path: Path) -> None:
    _, (rater, other) = seated_campaign(tmp_path)
    held = seat(rater, now=timezone.now() - timedelta(minutes=10))
    address = reverse("renew", args=[held.pk])
    response = browser(rater).post(address)
    assert (response.status_code, response.content) == (204, b"")
    before, held = held, Assignment.objects.get(pk=held.pk)
    assert held.lease_expires_at > before.lease_expires_at
    assert browser(other).post(address).status_code == 404


def test_a_seat_that_is_not_held_any_more(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    held = seat(rater, now=timezone.now())
    address = reverse("renew", args=[held.pk])
    Campaign.objects.update(state="closed")
    assert browser(rater).post(address).status_code == 409
    Campaign.objects.update(state="open")
    browser(rater).post(submit_address(held), ANSWER)
    assert browser(rater).post(address).status_code == 409


def test_a_seat_that_was_given_away_comes_back_while_there_is_a_place(tmp_path: Path) -> None:
    campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
    held = seat(rater, now=timezone.now() - timedelta(hours=1))
    free_lapsed_seats(campaign=campaign)
    address = reverse("renew", args=[held.pk])
    assert browser(rater).post(address).status_code == 204
    held.refresh_from_db()
    assert held.state == Assignment.State.OPEN
    give_back(membership=rater)
    seat(other, now=timezone.now())
    assert browser(rater).post(address).status_code == 409
    assert_sound(campaign)


def test_signed_out(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    address = reverse("renew", args=[seat(rater, now=timezone.now()).pk])
    assert Client().post(address).status_code == 302
