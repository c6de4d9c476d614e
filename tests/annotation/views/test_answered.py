"""Seats with an answer: sent again later, corrected, or explained."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership
from annotation.services.seats import give_back
from benchmark.models import Judgement
from tests.annotation.checking import checked_campaign
from tests.annotation.seating import assert_sound, seat, seated_campaign, votes_of
from tests.annotation.views.pages import (
    ANSWER,
    HTMX,
    Page,
    browser,
    open_seat,
    submit_address,
    task_address,
)

pytestmark = pytest.mark.django_db


def undo_in(page: Page) -> tuple[str, int]:
    """The address of undo (empty without it), and for how many seconds it is offered."""
    links = [found["href"] for found in page.having(data_action="undo") if "href" in found]
    [bar] = page.having(class_="task-bar")
    return ("".join(links), int(bar["data-undo-seconds"]))


class TestReplay:
    """Answers that a browser had kept, whose pair is not on screen any more."""

    HEADERS = HTMX | {"X-Replay": "1"}

    @pytest.mark.parametrize("headers", [HEADERS, {"X-Replay": "1"}], ids=["htmx", "plain"])
    def test_what_became_of_it_and_nothing_else(
        self, tmp_path: Path, headers: dict[str, str]
    ) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        held = seat(rater, now=timezone.now())
        for expected in ("accepted", "already_submitted"):
            response = client.post(submit_address(held), ANSWER, headers=headers)
            assert (response.status_code, response.content) == (204, b"")
            assert response.headers["X-Outcome"] == expected
        # Nobody has asked for the next pair yet.
        assert not Assignment.objects.filter(state="open").exists()
        correction = {"helpfulness": "2", "personalization": "2", "revision": "1"}
        for expected in ("revised", "revised"):
            response = client.post(submit_address(held), correction, headers=headers)
            assert (response.status_code, response.headers["X-Outcome"]) == (204, expected)
        response = client.post(submit_address(held), ANSWER | {"revision": "1"}, headers=headers)
        assert (response.status_code, response.headers["X-Outcome"]) == (204, "changed_elsewhere")
        assert Judgement.objects.current().count() == 1
        assert_sound(campaign)

    def test_what_is_incomplete_is_refused_without_a_word(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        response = browser(rater).post(submit_address(held), {}, headers=self.HEADERS)
        assert (response.status_code, response.content) == (422, b"")
        assert "X-Outcome" not in response.headers

    def test_of_others_and_of_nobody(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path)
        address = submit_address(seat(rater, now=timezone.now()))
        assert browser(other).post(address, ANSWER, headers=self.HEADERS).status_code == 404
        response = Client().post(address, ANSWER, headers=self.HEADERS)
        assert response.status_code == 302
        assert response.headers["Location"] == f"{reverse('login')}?next={address}"
        strict = browser(rater, enforce_csrf_checks=True)
        assert strict.post(address, ANSWER, headers=self.HEADERS).status_code == 403
        assert not Judgement.objects.exists()


class TestCorrections:
    def answered(self, rater: Membership, **changes: Any) -> tuple[Client, Assignment]:
        client = browser(rater)
        held = seat(rater, now=timezone.now())
        response = client.post(submit_address(held), ANSWER | changes)
        assert response.status_code == 303
        return client, held

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["whole", "htmx"])
    def test_the_page_has_the_answer_filled_in(
        self, tmp_path: Path, headers: dict[str, str]
    ) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        Campaign.objects.update(asks_confidence=True, asks_reasons=True)
        client, held = self.answered(rater, comment="Hm.", confidence="2", reasons=["tone"])
        page = Page(client.get(submit_address(held), headers=headers))
        assert page.is_whole is not bool(headers)
        assert page.checked() == ANSWER | {"confidence": "2"}
        ticked = [found["value"] for found in page.having(name="reasons") if "checked" in found]
        assert ticked == ["tone"]
        assert "Hm." in page.text
        assert held.pair.query in page.text
        [shown] = page.having(id="task")
        assert (shown["data-seat"], shown["data-revision"]) == (str(held.pk), "1")
        assert [found["value"] for found in page.having(name="revision")] == ["1"]
        # Looking at it claims no seat.
        assert not Assignment.objects.filter(state="open").exists()

    def test_a_skip_is_filled_in_as_well(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client, held = self.answered(rater, action="skip", skip_reason="unsafe")
        page = Page(client.get(submit_address(held)))
        assert page.checked() == {"skip_reason": "unsafe"}

    def test_sending_it(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        client, held = self.answered(rater)
        changed = {"helpfulness": "2", "personalization": "2", "revision": "1"}
        response = client.post(submit_address(held), changed, headers=HTMX)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "revised")
        page = Page(response)
        assert "Your change is saved." in page.text
        assert page.having(id="task")[0]["data-seat"] == str(open_seat(rater).pk)
        assert Page(client.get(submit_address(held))).having(name="revision")[0]["value"] == "2"
        other = "B" if held.shown_left == "A" else "A"
        assert set(votes_of(Judgement.objects.current().get()).values()) == {other}
        response = client.post(submit_address(held), ANSWER | {"revision": "1"})
        assert response.headers["Location"].endswith("?notice=changed_elsewhere")
        assert_sound(campaign)

    def test_an_incomplete_one_is_shown_again(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client, held = self.answered(rater)
        response = client.post(
            submit_address(held), {"helpfulness": "2", "revision": "1"}, headers=HTMX
        )
        page = Page(response)
        assert response.status_code == 422
        assert page.checked() == {"helpfulness": "2"}
        assert page.having(name="revision")[0]["value"] == "1"
        assert Judgement.objects.count() == 1

    @pytest.mark.parametrize("revision", ["", "0", "-1", "x", "１", "99999999999"])
    def test_a_number_that_is_none_is_a_first_answer(self, tmp_path: Path, revision: str) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client, held = self.answered(rater)
        given = {"helpfulness": "2", "personalization": "2", "revision": revision}
        response = client.post(submit_address(held), given, headers=HTMX)
        assert response.headers["X-Outcome"] == "already_submitted"
        assert Judgement.objects.count() == 1

    @pytest.mark.parametrize("why", ["closed", "paused"])
    def test_not_when_it_is_too_late(self, tmp_path: Path, why: str) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client, held = self.answered(rater)
        if why == "closed":
            Campaign.objects.update(state="closed")
        else:
            Membership.objects.update(standing="paused", standing_reason="lead")
        response = client.get(submit_address(held))
        assert (response.status_code, response.headers["Location"]) == (302, task_address(rater))
        page = Page(client.get(submit_address(held), headers=HTMX))
        assert not page.having(name="helpfulness")
        assert page.having(id="finished")

    def test_undo_leads_there_for_a_while(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        page = Page(client.get(task_address(rater)))
        assert undo_in(page) == ("", 0)
        held = open_seat(rater)
        client.post(submit_address(held), ANSWER)
        page = Page(client.get(task_address(rater)))
        address, seconds = undo_in(page)
        assert address == submit_address(held)
        assert 290 <= seconds <= 300
        saved = Assignment.objects.get(pk=held.pk).submitted_at
        assert saved is not None
        [bar] = page.having(class_="task-bar")
        assert datetime.fromisoformat(bar["data-saved-at"]) == saved
        Assignment.objects.filter(pk=held.pk).update(submitted_at=saved - timedelta(seconds=301))
        assert undo_in(Page(client.get(task_address(rater)))) == ("", 0)
        # It only ends the offer: the history leads there as long as the campaign is open.
        assert Page(client.get(submit_address(held))).checked() == ANSWER

    def test_of_somebody_else(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path)
        _, held = self.answered(rater)
        assert browser(other).get(submit_address(held)).status_code == 404
        changed = ANSWER | {"revision": "1"}
        assert browser(other).post(submit_address(held), changed).status_code == 404


class TestSeatsByTheirAddress:
    @pytest.mark.parametrize("state", ["open", "expired"])
    def test_without_an_answer_it_leads_to_the_task(self, tmp_path: Path, state: str) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        if state == "expired":
            give_back(membership=rater)
        client = browser(rater)
        response = client.get(submit_address(held))
        assert (response.status_code, response.headers["Location"]) == (302, task_address(rater))
        response = client.get(submit_address(held), headers=HTMX)
        page = Page(response)
        assert response.status_code == 200
        assert not page.is_whole
        assert page.having(id="task")[0]["data-seat"] == str(open_seat(rater).pk)
        assert page.having(name="revision")[0]["value"] == "0"


class TestTraining:
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["whole", "htmx"])
    def test_an_answer_leads_to_its_explanation(
        self, tmp_path: Path, headers: dict[str, str]
    ) -> None:
        _, (rater,) = checked_campaign(tmp_path, training=1, pairs=1)
        client = browser(rater)
        page = Page(client.get(task_address(rater)))
        assert "Training: pair 1 of 1" in page.text
        assert not page.having(name="skip_reason")
        held = open_seat(rater)
        # Response A is expected on both criteria.
        right, wrong = ("1", "2") if held.shown_left == "A" else ("2", "1")
        given = {"helpfulness": right, "personalization": wrong}
        response = client.post(submit_address(held), given, headers=headers)
        if headers:
            assert (response.status_code, response.headers["X-Outcome"]) == (200, "accepted")
        else:
            assert response.status_code == 303
            assert response.headers["Location"] == submit_address(held)
            response = client.get(response.headers["Location"])
        page = Page(response)
        assert page.is_whole is not bool(headers)
        assert "Not as expected" in page.text
        assert "Why" in page.text
        assert ("strong", {}) in page.elements
        assert not page.having(name="helpfulness")
        assert page.having(href=task_address(rater))
        assert not Judgement.objects.exists()
        # A reload shows it again, and an answer sent again is no second one.
        again = client.post(submit_address(held), ANSWER, headers=HTMX)
        assert again.headers["X-Outcome"] == "already_submitted"
        assert "Not as expected" in Page(client.get(submit_address(held))).text
        # The next step is the main round, which has no name.
        page = Page(client.get(task_address(rater)))
        assert "Training" not in page.text
        assert page.having(name="skip_reason")

    def test_before_the_answer_nothing_is_explained(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, training=1)
        client = browser(rater)
        client.get(task_address(rater))
        held = open_seat(rater)
        for address, headers in itertools.product(
            (task_address(rater), submit_address(held)), ({}, HTMX)
        ):
            page = Page(client.get(address, headers=headers, follow=True))
            assert "Why" not in page.text
            assert "expected" not in page.text.replace("which answer was expected", "")

    def test_qualification_is_named_and_explains_nothing(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, qualification=2)
        client = browser(rater)
        page = Page(client.get(task_address(rater)))
        assert "Qualification: pair 1 of 2" in page.text
        assert "80 % of the answers" in page.text
        assert "This is try 1 of 2" in page.text
        held = open_seat(rater)
        response = client.post(submit_address(held), ANSWER, headers=HTMX)
        assert response.headers["X-Outcome"] == "accepted"
        page = Page(response)
        assert "Qualification: pair 2 of 2" in page.text
        assert "Why" not in page.text
        response = client.get(submit_address(held))
        assert (response.status_code, response.headers["Location"]) == (302, task_address(rater))
