"""The annotator's page: from a pair to an answer to the next pair."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain.rubric import COMMENT_LIMIT, REASONS
from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.answers import Outcome
from benchmark.models import Judgement, Pair, Vote
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
from tests.factories import make_campaign, make_member

pytestmark = pytest.mark.django_db


class TestThePage:
    def test_it_shows_the_pair_as_it_was_drawn(self, tmp_path: Path) -> None:
        campaign, raters = seated_campaign(tmp_path, pairs=1, annotators=8)
        orders = set()
        for rater in raters:
            response = browser(rater).get(task_address(rater))
            page = Page(response)
            held = open_seat(rater)
            orders.add(held.shown_left)
            assert response.status_code == 200
            assert held.pair.query in page.text
            assert held.pair.persona.name in page.text
            first, second = held.pair.response_a, held.pair.response_b
            if held.shown_left == "B":
                first, second = second, first
            assert 0 < page.text.index(first) < page.text.index(second)
            assert page.checked() == {}
        assert orders == {"A", "B"}
        assert_sound(campaign)

    def test_a_reload_shows_the_same(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        first, second = (Page(client.get(task_address(rater))) for _ in range(2))
        assert first.texts == second.texts
        assert Assignment.objects.count() == 1

    def test_it_is_never_stored_by_caches(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        response = browser(rater).get(task_address(rater))
        assert response.headers["Cache-Control"] == "no-store"
        assert {"HX-Request", "Cookie"} <= {
            name.strip() for name in response.headers["Vary"].split(",")
        }
        assert "default-src 'self'" in response.headers["Content-Security-Policy"]
        assert "unsafe" not in response.headers["Content-Security-Policy"]

    def test_htmx_gets_the_fragment_of_the_same_address(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        whole = Page(client.get(task_address(rater)))
        fragment = Page(client.get(task_address(rater), headers=HTMX))
        assert whole.is_whole
        assert not fragment.is_whole
        assert len(fragment.having(id="task")) == len(whole.having(id="task")) == 1
        assert not fragment.having(id="main")
        assert open_seat(rater).pair.query in fragment.text

    def test_questions_are_asked_in_the_readers_language(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        english = Page(client.get(task_address(rater), headers={"Accept-Language": "en"}))
        chinese = Page(client.get(task_address(rater), headers={"Accept-Language": "zh-CN"}))
        assert "Which response is more helpful?" in english.text
        assert "哪个回答更有帮助？" in chinese.text
        assert chinese.having(lang="zh-hans")

    def test_ties_are_offered_where_the_campaign_allows_them(self, tmp_path: Path) -> None:
        _, (strict, _) = seated_campaign(tmp_path)
        _, (lenient, _) = seated_campaign(tmp_path, slug="mugs", allows_tie=True)
        for rater, values in ((strict, ["1", "2"]), (lenient, ["1", "tie", "2"])):
            page = Page(browser(rater).get(task_address(rater)))
            options = page.having(type="radio", name="helpfulness")
            assert [option["value"] for option in options] == values


class TestSubmit:
    def test_an_answer_leads_to_the_next_pair(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=2)
        client = browser(rater)
        client.get(task_address(rater))
        held = open_seat(rater)
        response = client.post(submit_address(held), ANSWER | {"comment": " Thin. "})
        assert (response.status_code, response.headers["Location"]) == (303, task_address(rater))
        other = "B" if held.shown_left == "A" else "A"
        judgement = Judgement.objects.get()
        assert votes_of(judgement) == {"helpfulness": held.shown_left, "personalization": other}
        assert judgement.comment == "Thin."
        page = Page(client.get(response.headers["Location"]))
        assert open_seat(rater).pair.query in page.text
        assert held.pair.query not in page.text
        assert "1 of 2 judged" in page.text
        assert_sound(campaign)

    def test_htmx_gets_the_next_pair_at_once(self, tmp_path: Path) -> None:
        """No redirect: the next pair is on screen one way to the server earlier."""
        _, (rater, _) = seated_campaign(tmp_path, pairs=2)
        client = browser(rater)
        client.get(task_address(rater))
        held = open_seat(rater)
        response = client.post(submit_address(held), ANSWER, headers=HTMX)
        page = Page(response)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "accepted")
        assert not page.is_whole
        following = open_seat(rater)
        assert following.pk != held.pk
        [shown] = page.having(id="task")
        assert shown["data-seat"] == str(following.pk)
        assert following.pair.query in page.text
        assert held.pair.query not in page.text
        assert "1 of 2 judged" in page.text
        assert not [found for _, found in page.elements if "notice-" in found.get("class", "")]
        last = client.post(submit_address(following), ANSWER, headers=HTMX)
        assert (last.status_code, last.headers["X-Outcome"]) == (200, "accepted")
        assert "You have judged every pair" in Page(last).text

    def test_all_that_a_form_can_say_is_stored(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        Campaign.objects.update(asks_confidence=True, asks_reasons=True)
        held = seat(rater, now=timezone.now() - timedelta(minutes=2))
        given = ANSWER | {
            "comment": "Hm.",
            "confidence": "3",
            "reasons": ["tone", "taste"],
            "opened_ms": "60000",
            "first_ms": "5000",
            "active_ms": "41250",
            "waited_ms": "0",
        }
        assert browser(rater).post(submit_address(held), given).status_code == 303
        judgement = Judgement.objects.get()
        assert (judgement.comment, judgement.confidence) == ("Hm.", 3)
        assert judgement.reasons == ["taste", "tone"]
        assert (judgement.seconds, judgement.active_seconds) == (60.0, 41.25)
        assert judgement.opened_at is not None
        assert judgement.first_action_at == judgement.opened_at + timedelta(seconds=5)
        assert_sound(campaign)

    @pytest.mark.parametrize("clock", ["-86400000", "86400000000000000", "NaN", "yesterday", "９"])
    def test_a_clock_that_is_wrong_cannot_hurt(self, tmp_path: Path, clock: str) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now() - timedelta(minutes=2))
        times = dict.fromkeys(("opened_ms", "first_ms", "active_ms", "waited_ms"), clock)
        assert browser(rater).post(submit_address(held), ANSWER | times).status_code == 303
        judgement = Judgement.objects.get()
        assert judgement.submitted_at is not None
        assert judgement.opened_at == held.claimed_at < judgement.submitted_at <= timezone.now()
        assert judgement.active_seconds is None

    def test_a_skip(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        given = {"helpfulness": "1", "action": "skip", "skip_reason": "broken"}
        assert browser(rater).post(submit_address(held), given).status_code == 303
        assert set(votes_of(Judgement.objects.get()).values()) == {"skip"}
        assert set(Vote.objects.values_list("reason", flat=True)) == {"broken"}
        assert_sound(campaign)

    def test_where_there_is_no_skipping(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        Campaign.objects.update(allows_skip=False)
        held = seat(rater, now=timezone.now())
        client = browser(rater)
        assert not Page(client.get(task_address(rater))).having(name="skip_reason")
        given = {"action": "skip", "skip_reason": "broken"}
        response = client.post(submit_address(held), given, headers=HTMX)
        assert response.status_code == 422
        assert not Judgement.objects.exists()

    def test_confidence_and_reasons_where_they_are_asked_for(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        page = Page(client.get(task_address(rater)))
        assert not page.having(name="confidence")
        assert not page.having(name="reasons")
        Campaign.objects.update(asks_confidence=True, asks_reasons=True)
        page = Page(client.get(task_address(rater)))
        assert [found["value"] for found in page.having(name="confidence")] == ["1", "2", "3"]
        assert len(page.having(name="reasons", type="checkbox")) == len(REASONS)
        assert not [found for found in page.having(name="reasons") if "checked" in found]

    def test_a_tie(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path, allows_tie=True)
        response = browser(rater).post(
            submit_address(seat(rater, now=timezone.now())),
            {"helpfulness": "tie", "personalization": "tie"},
        )
        assert response.status_code == 303
        assert set(votes_of(Judgement.objects.get()).values()) == {"tie"}

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["whole", "htmx"])
    def test_an_incomplete_answer_is_shown_again(
        self, tmp_path: Path, headers: dict[str, str]
    ) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        client.get(task_address(rater))
        held = open_seat(rater)
        given = {"personalization": "2", "comment": "<b>Both</b> are thin."}
        response = client.post(submit_address(held), given, headers=headers)
        page = Page(response)
        assert response.status_code == 422
        assert page.is_whole is not bool(headers)
        assert "Choose one of the responses." in page.text
        assert page.checked() == {"personalization": "2"}
        assert "<b>Both</b> are thin." in page.text
        assert held.pair.query in page.text
        # Fields alone: each closed dialog has a focus of its own.
        focused = [found for _, found in page.elements if {"autofocus", "name"} <= set(found)]
        assert [found["name"] for found in focused] == ["helpfulness"]
        assert not Judgement.objects.exists()
        assert client.post(submit_address(held), given | ANSWER).status_code == 303

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"helpfulness": "A"}, "Choose one of the responses shown."),
            ({"helpfulness": "tie"}, "Choose one of the responses shown."),
            ({"comment": "x" * (COMMENT_LIMIT + 1)}, f"limit is {COMMENT_LIMIT:,} characters"),
            ({"comment": "x" * 100_000}, f"limit is {COMMENT_LIMIT:,} characters"),
            ({"comment": "nothing\x00ness"}, "characters that cannot be stored"),
            ({"confidence": "9"}, "Choose from what is shown, or nothing."),
            ({"reasons": ["taste", "looks"]}, "Choose from what is shown, or nothing."),
            ({"action": "skip"}, "Choose why you skip this pair."),
            ({"action": "skip", "skip_reason": "bored"}, "Choose why you skip this pair."),
            ({"action": "skip", "skip_reason": "other"}, "Say in the comment why you skip"),
        ],
        ids=[
            *("letter", "tie", "long", "100 kB", "odd", "confidence", "reasons"),
            *("no reason", "foreign reason", "no comment"),
        ],
    )
    def test_what_cannot_be_stored_is_said(
        self, tmp_path: Path, changes: dict[str, str], words: str
    ) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        Campaign.objects.update(asks_confidence=True, asks_reasons=True)
        held = seat(rater, now=timezone.now())
        for headers in ({}, HTMX):
            response = browser(rater).post(submit_address(held), ANSWER | changes, headers=headers)
            page = Page(response)
            assert response.status_code == 422
            assert "X-Outcome" not in response.headers
            assert words in page.text
            assert page.is_whole is not bool(headers)
            [shown] = page.having(id="task")
            assert shown["data-seat"] == str(held.pk)
            assert page.checked().items() >= {**ANSWER}.items() or "helpfulness" in changes
            if len(str(changes.get("comment", ""))) < 1_000:
                assert str(changes.get("comment", "")).replace("\x00", "") in page.html.replace(
                    "\x00", ""
                )
        assert not Judgement.objects.exists()

    def test_a_comment_of_just_the_limit(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        comment = "好" * COMMENT_LIMIT
        held = seat(rater, now=timezone.now())
        assert (
            browser(rater).post(submit_address(held), ANSWER | {"comment": comment}).status_code
            == 303
        )
        assert Judgement.objects.get().comment == comment

    def test_a_get_leads_back_to_the_task(self, tmp_path: Path) -> None:
        """A reload of a refused answer, or the way back from signing in again."""
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        response = browser(rater).get(submit_address(held))
        assert (response.status_code, response.headers["Location"]) == (302, task_address(rater))


class TestNotices:
    """What became of an answer, when it is not simply stored."""

    def answer_late(self, rater: Membership, held: Assignment) -> tuple[str, Page]:
        client = browser(rater)
        response = client.post(submit_address(held), ANSWER)
        assert response.status_code == 303
        return response.headers["Location"], Page(client.get(response.headers["Location"]))

    def lapsed_seat(self, rater: Membership) -> Assignment:
        """A seat whose lease has ended and was swept."""
        now = timezone.now()
        held = seat(rater, now=now - timedelta(hours=1))
        Assignment.objects.filter(pk=held.pk).update(state=Assignment.State.EXPIRED)
        PairSeats.objects.filter(pk=held.pair_id).update(free=9)
        return held

    def test_sent_twice(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        browser(rater).post(submit_address(held), ANSWER | {"comment": "Another one."})
        address, page = self.answer_late(rater, held)
        assert address.endswith("?notice=already_submitted")
        assert "your first answer stands" in page.text

    def test_sent_again_because_the_reply_was_lost(self, tmp_path: Path) -> None:
        """The rater did nothing unusual, and is told nothing unusual."""
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        browser(rater).post(submit_address(held), ANSWER)
        address, page = self.answer_late(rater, held)
        assert address == task_address(rater)
        assert "your first answer stands" not in page.text

    def test_kept(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        address, page = self.answer_late(rater, self.lapsed_seat(rater))
        assert address.endswith("?notice=kept_after_expiry")
        assert "your answer counts" in page.text
        assert_sound(campaign)

    def test_not_needed(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = self.lapsed_seat(rater)
        PairSeats.objects.filter(pk=held.pair_id).update(free=0)
        address, page = self.answer_late(rater, held)
        assert address.endswith("?notice=expired")
        assert "others have filled its places" in page.text
        assert not Judgement.objects.exists()

    def test_closed(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        Campaign.objects.update(state="closed")
        address, page = self.answer_late(rater, held)
        assert address.endswith("?notice=campaign_closed")
        assert "your last answer is not counted" in page.text
        assert "This campaign is closed" in page.text

    def test_with_htmx_the_words_come_with_the_next_pair(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        client = browser(rater)
        client.post(submit_address(held), ANSWER | {"comment": "Another one."})
        response = client.post(submit_address(held), ANSWER, headers=HTMX)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "already_submitted")
        page = Page(response)
        assert "your first answer stands" in page.text
        assert page.having(id="task")[0]["data-seat"] == str(open_seat(rater).pk)
        following = open_seat(rater)
        Campaign.objects.update(state="closed")
        response = client.post(submit_address(following), ANSWER, headers=HTMX)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "campaign_closed")
        assert "This campaign is closed" in Page(response).text
        Campaign.objects.update(state="open")
        Membership.objects.filter(pk=rater.pk).update(standing="excluded", standing_reason="lead")
        response = client.post(submit_address(following), ANSWER, headers=HTMX)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "not_active")
        assert "Your part in this campaign has ended" in Page(response).text
        assert_sound(campaign)

    def test_every_outcome_but_the_ordinary_one_has_words(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        for outcome in Outcome:
            page = Page(client.get(task_address(rater), {"notice": outcome.value}))
            shown = [found for _, found in page.elements if "notice-" in found.get("class", "")]
            assert bool(shown) is (outcome is not Outcome.ACCEPTED), outcome

    def test_an_address_cannot_make_words_up(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        for code in ("You won", "<script>alert(1)</script>", "x" * 5_000):
            response = browser(rater).get(task_address(rater), {"notice": code})
            page = Page(response)
            assert not [found for _, found in page.elements if "notice-" in found.get("class", "")]
            assert code not in page.text


class TestFinished:
    """Why there is nothing to judge."""

    def page(self, rater: Membership) -> Page:
        response = browser(rater).get(task_address(rater))
        assert response.status_code == 200
        page = Page(response)
        assert not page.having(name="helpfulness")
        return page

    @pytest.mark.parametrize(
        ("state", "words"),
        [
            ("draft", "This campaign has not started"),
            ("paused", "This campaign is paused"),
            ("closed", "This campaign is closed"),
        ],
    )
    def test_not_open(self, tmp_path: Path, state: str, words: str) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        Campaign.objects.update(state=state)
        assert words in self.page(rater).text

    def test_no_pairs(self) -> None:
        assert "has no pairs yet" in self.page(make_member(make_campaign())).text

    def test_all_judged(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path, pairs=1)
        browser(rater).post(submit_address(seat(rater, now=timezone.now())), ANSWER)
        page = self.page(rater)
        assert "You have judged every pair" in page.text
        assert "1 of 1 judged" in page.text

    def test_all_taken(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        held = seat(other, now=timezone.now())
        page = self.page(rater)
        assert "Nothing is free right now" in page.text
        assert page.having(datetime=held.lease_expires_at.isoformat(timespec="seconds"))
        assert page.having(href=task_address(rater))

    def test_all_full(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=1)
        browser(other).post(submit_address(seat(other, now=timezone.now())), ANSWER)
        assert "Nothing more is needed from you" in self.page(rater).text


@pytest.mark.parametrize("seat_id", ["00000000-0000-4000-8000-000000000000", "1", "pair-1"])
def test_seats_that_there_are_not(tmp_path: Path, seat_id: str) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    for action in ("", "renew/", "ahead/", "flags/"):
        assert browser(rater).post(f"/seats/{seat_id}/{action}", ANSWER).status_code == 404


def test_texts_that_would_be_html_are_shown_as_written(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path, pairs=1)
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    Pair.objects.update(query=f"Q {evil}", response_a=f"A {evil}", response_b=f"B {evil}")
    page = Page(browser(rater).get(task_address(rater)))
    for place in "QAB":
        assert f"{place} {evil}" in page.text
    assert all("src" in found for tag, found in page.elements if tag == "script")
    assert not [tag for tag, found in page.elements if tag == "img" or "onerror" in found]


def test_signing_in_leads_back(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    response = Client().get(task_address(rater))
    assert response.status_code == 302
    assert response.headers["Location"] == f"{reverse('login')}?next={task_address(rater)}"
