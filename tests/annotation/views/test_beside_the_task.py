"""What goes with the task: flags, and the guidelines before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain.rubric import COMMENT_LIMIT
from annotation.models import Assignment, Flag, Membership
from annotation.services.judging_settings import publish_guidelines
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.views.pages import (
    ANSWER,
    HTMX,
    Page,
    browser,
    submit_address,
    task_address,
)
from tests.factories import add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db


class TestFlags:
    def address(self, held: Assignment) -> str:
        return reverse("flag", args=[held.pk])

    def test_with_htmx_the_form_comes_back_and_says_so(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        client = browser(rater)
        held = seat(rater, now=timezone.now())
        given = {"target": "2", "kind": "unsafe", "comment": "Look."}
        response = client.post(self.address(held), given, headers=HTMX)
        page = Page(response)
        assert response.status_code == 200
        assert not page.is_whole
        assert len(page.having(id="flags")) == 1
        assert not page.having(id="task")
        assert "Response 2 · unsafe or offensive" in page.text
        other = "B" if held.shown_left == "A" else "A"
        flag = Flag.objects.get()
        assert (flag.assignment_id, flag.target, flag.kind) == (held.pk, other, "unsafe")
        # And the page has it after a reload.
        assert "Response 2 · unsafe or offensive" in Page(client.get(task_address(rater))).text

    def test_without_scripts_it_leads_back_to_the_pair(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        response = browser(rater).post(self.address(held), {"target": "persona", "kind": "wrong"})
        address = f"{task_address(rater)}?notice=flagged"
        assert (response.status_code, response.headers["Location"]) == (303, address)
        assert "The campaign lead has been told." in Page(browser(rater).get(address)).text
        assert Flag.objects.get().target == "persona"

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["whole", "htmx"])
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({}, "Choose what your report is about."),
            ({"target": "A", "kind": "broken"}, "Choose what your report is about."),
            ({"target": "1"}, "Choose what is wrong."),
            ({"target": "1", "kind": "odd"}, "Choose what is wrong."),
            ({"target": "1", "kind": "other"}, "Say in your words what is wrong."),
            (
                {"target": "1", "kind": "other", "comment": "x" * 100_000},
                f"limit is {COMMENT_LIMIT:,} characters",
            ),
        ],
    )
    def test_what_is_missing_is_said(
        self, tmp_path: Path, given: dict[str, str], words: str, headers: dict[str, str]
    ) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        response = browser(rater).post(self.address(held), given, headers=headers)
        page = Page(response)
        assert response.status_code == 422
        assert page.is_whole is not bool(headers)
        assert words in page.text
        assert not Flag.objects.exists()
        if not headers:
            assert page.having(id="task")[0]["data-seat"] == str(held.pk)

    def test_of_others_and_of_nobody(self, tmp_path: Path) -> None:
        _, (rater, other) = seated_campaign(tmp_path)
        address = self.address(seat(rater, now=timezone.now()))
        given = {"target": "1", "kind": "broken"}
        assert browser(other).post(address, given).status_code == 404
        assert Client().post(address, given).status_code == 302
        assert not Flag.objects.exists()


def open_page(client: Client, rater: Membership) -> Page:
    response = client.get(task_address(rater))
    assert response.status_code == 200
    return Page(response)


class TestGuidelinesFirst:
    def test_they_come_before_the_first_pair(self, tmp_path: Path) -> None:
        campaign, _ = seated_campaign(tmp_path)
        rater = make_member(campaign, has_read=False)
        client = browser(rater)
        guidelines = reverse("guidelines", args=[campaign.slug])
        response = client.get(task_address(rater))
        assert (response.status_code, response.headers["Location"]) == (302, guidelines)
        page = Page(client.get(task_address(rater), headers=HTMX))
        assert not page.is_whole
        assert page.having(href=guidelines)
        assert not Assignment.objects.exists()
        page = Page(client.get(guidelines))
        assert [found["value"] for found in page.having(name="version")] == ["1"]
        response = client.post(guidelines, {"version": "1"})
        assert (response.status_code, response.headers["Location"]) == (302, task_address(rater))
        assert open_page(client, rater).having(name="helpfulness")

    def test_a_version_that_is_not_the_newest_any_more(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        publish_guidelines(campaign=campaign, body="# Two", actor=rater.user)
        client = browser(rater)
        guidelines = reverse("guidelines", args=[campaign.slug])
        for version in ("1", "", "x", "99"):
            response = client.post(guidelines, {"version": version})
            assert (response.status_code, response.headers["Location"]) == (302, guidelines)
        rater.refresh_from_db()
        assert rater.acknowledged_version == 1
        assert "They have changed since you last read them." in Page(client.get(guidelines)).text

    def test_after_an_answer_they_are_said_to_have_changed(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater, now=timezone.now())
        publish_guidelines(campaign=campaign, body="# Two", actor=rater.user)
        response = browser(rater).post(submit_address(held), ANSWER, headers=HTMX)
        assert (response.status_code, response.headers["X-Outcome"]) == (200, "accepted")
        assert "The guidelines have changed" in Page(response).text

    def test_the_dialog_gets_the_article_alone(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        response = browser(rater).get(reverse("guidelines", args=[campaign.slug]), headers=HTMX)
        page = Page(response)
        assert not page.is_whole
        assert [tag for tag, _ in page.elements].count("article") == 1
        assert not page.having(name="version")
        assert not page.having(href=task_address(rater))


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
