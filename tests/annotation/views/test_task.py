"""The annotator's page: from a pair to an answer to the next pair."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain.rubric import COMMENT_LIMIT
from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.seats import Outcome
from benchmark.models import Judgement, Pair
from tests.annotation.seating import assert_sound, seat, seated_campaign, votes_of
from tests.annotation.views.pages import HTMX, Page, browser, task_address
from tests.factories import add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db

ANSWER = {"helpfulness": "1", "personalization": "2"}


def open_seat(membership: Membership) -> Assignment:
    return Assignment.objects.get(membership=membership, state=Assignment.State.OPEN)


def submit_address(held: Assignment) -> str:
    return reverse("submit", args=[held.pk])


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

    def test_with_htmx_too(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path, pairs=2)
        client = browser(rater)
        client.get(task_address(rater))
        held = open_seat(rater)
        response = client.post(submit_address(held), ANSWER, headers=HTMX, follow=True)
        assert response.redirect_chain == [(task_address(rater), 303)]
        page = Page(response)
        assert not page.is_whole
        assert open_seat(rater).pair.query in page.text

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
        focused = [found for _, found in page.elements if "autofocus" in found]
        assert [found.get("name") for found in focused] == ["helpfulness"]
        assert not Judgement.objects.exists()
        assert client.post(submit_address(held), given | ANSWER).status_code == 303

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"helpfulness": "A"}, "Choose one of the responses shown."),
            ({"helpfulness": "tie"}, "Choose one of the responses shown."),
            ({"comment": "x" * (COMMENT_LIMIT + 1)}, f"limit is {COMMENT_LIMIT:,} characters"),
            ({"comment": "nothing\x00ness"}, "characters that cannot be stored"),
        ],
        ids=["letter", "tie", "long", "odd"],
    )
    def test_what_cannot_be_stored_is_said(
        self, tmp_path: Path, changes: dict[str, str], words: str
    ) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        response = browser(rater).post(submit_address(held), ANSWER | changes)
        assert response.status_code == 422
        assert words in Page(response).text
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
        browser(rater).post(submit_address(held), ANSWER)
        address, page = self.answer_late(rater, held)
        assert address.endswith("?notice=already_submitted")
        assert "your first answer stands" in page.text

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


class TestRenew:
    def test_a_sign_of_life(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now() - timedelta(minutes=10))
        address = reverse("renew", args=[held.pk])
        response = browser(rater).post(address)
        assert (response.status_code, response.content) == (204, b"")
        before, held = held, Assignment.objects.get(pk=held.pk)
        assert held.lease_expires_at > before.lease_expires_at
        assert browser(other).post(address).status_code == 404

    def test_a_seat_that_is_not_held_any_more(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        address = reverse("renew", args=[held.pk])
        Campaign.objects.update(state="closed")
        assert browser(rater).post(address).status_code == 409
        Campaign.objects.update(state="open")
        browser(rater).post(submit_address(held), ANSWER)
        assert browser(rater).post(address).status_code == 409


def test_guidelines(tmp_path: Path) -> None:
    campaign = make_campaign(guidelines="# How to judge\n\n**Read both.** <script>x</script>")
    add_pairs(campaign, tmp_path)
    rater = make_member(campaign)
    lead = make_member(campaign, Membership.Role.LEAD)
    address = reverse("guidelines", args=[campaign.slug])
    page = Page(browser(rater).get(address))
    assert "How to judge" in page.text
    assert "<script>x</script>" in page.text
    assert ("strong", {}) in page.elements
    assert page.having(href=task_address(rater))
    assert not Page(browser(lead).get(address)).having(href=task_address(rater))


@pytest.mark.parametrize("seat_id", ["00000000-0000-4000-8000-000000000000", "1", "pair-1"])
def test_seats_that_there_are_not(tmp_path: Path, seat_id: str) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    for action in ("", "renew/"):
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
