"""Excluding raters and judgements over HTTP: what it would change, doing it, undoing it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Event, Membership
from benchmark.models import Exclusion, Pair, Rater, Run
from tests.annotation.seating import answer, seat, seated_campaign, submit
from tests.annotation.views.pages import Page, browser
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)


def choose(pair: str, rater: int, criterion: str) -> str:
    """Five against four on the first pair, all for A on the others."""
    return "AB"[rater < 4] if pair == "pair-0" else "A"


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return judged_campaign(tmp_path, pairs=3, choose=choose)


@pytest.fixture
def client(campaign: Campaign) -> Client:
    return browser(make_member(campaign, Membership.Role.LEAD))


@pytest.fixture
def rater(campaign: Campaign) -> Rater:
    return campaign.pair_set.raters.get(pseudonym="rater-8")


def address(campaign: Campaign, rater: Rater, pair: Pair | None = None) -> str:
    if pair is None:
        return reverse("exclude_rater", args=[campaign.slug, rater.pk])
    return reverse("exclude_judgement", args=[campaign.slug, rater.pk, pair.pk])


def first(campaign: Campaign) -> Pair:
    return campaign.pair_set.pairs.get(pair_id="pair-0")


def test_it_is_seen_before_it_is_done_and_can_be_undone(
    client: Client, campaign: Campaign, rater: Rater
) -> None:
    run = aggregated(campaign.pair_set)
    before = Page(client.get(address(campaign, rater)))
    assert "Exclude rater-8" in before.text
    assert "1 of 3 pairs would change its status, chosen response or tier." in before.text
    assert "hard chosen: A tied" in before.text
    assert before.having(href=reverse("run_pair", args=[campaign.slug, run.pk, first(campaign).pk]))
    assert "policy personafeedback-v1, version 1" in before.text
    assert not Exclusion.objects.exists()

    done = client.post(address(campaign, rater), {"reason": " Two seconds a pair. "})
    assert done.status_code == 302
    made = Exclusion.objects.get()
    assert (made.rater, made.pair, made.reason) == (rater, None, "Two seconds a pair.")
    after = Page(client.get(done.headers["Location"]))
    assert "The next aggregation leaves these votes out." in after.text
    assert "rater-8 is excluded" in after.text
    assert "What lifting it would change" in after.text
    assert "Two seconds a pair." in after.text
    assert aggregated(campaign.pair_set).result["statuses"]["tied"] == 1

    lift = reverse("lift_exclusion", args=[campaign.slug, made.pk])
    assert after.having(action=lift)
    page = Page(client.post(lift, follow=True))
    assert "From the next aggregation on these votes count again." in page.text
    again = Page(client.post(lift, follow=True))
    assert "the exclusion had been lifted already" in again.text
    assert aggregated(campaign.pair_set).digest == run.digest
    assert [event.action for event in Event.objects.filter(campaign=campaign).order_by("id")][
        -2:
    ] == ["rater:excluded", "exclusion:lifted"]


def test_a_doubled_press_is_told(client: Client, campaign: Campaign, rater: Rater) -> None:
    for status in (302, 409):
        response = client.post(address(campaign, rater), {"reason": "No."})
        assert response.status_code == status
    assert "These votes were excluded already" in Page(response).text
    assert Exclusion.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "  ", "\u200b", "x" * 1_001])
def test_a_reason_is_needed(client: Client, campaign: Campaign, rater: Rater, reason: str) -> None:
    for target in (address(campaign, rater), address(campaign, rater, first(campaign))):
        response = client.post(target, {"reason": reason})
        assert response.status_code == 422
        page = Page(response)
        assert page.having(id="id_reason", aria_invalid="true")
        assert "What it would change" in page.text
    assert not Exclusion.objects.exists()


def test_one_judgement(client: Client, campaign: Campaign, rater: Rater) -> None:
    pair = first(campaign)
    page = Page(client.get(address(campaign, rater, pair)))
    assert "Leave out rater-8 on pair-0" in page.text
    assert "The pair would change its status" in page.text
    done = client.post(address(campaign, rater, pair), {"reason": "Fast."})
    made = Exclusion.objects.get()
    assert (made.rater, made.pair) == (rater, pair)
    after = Page(client.get(done.headers["Location"]))
    assert "rater-8 on pair-0 is left out" in after.text
    assert client.post(address(campaign, rater, pair), {"reason": "Fast."}).status_code == 409
    # Both can hold, and the page of the one tells of the other.
    client.post(address(campaign, rater), {"reason": "All."})
    other = campaign.pair_set.pairs.get(pair_id="pair-1")
    page = Page(client.get(address(campaign, rater, other)))
    assert "All votes of this rater are excluded already" in page.text
    assert "nothing would change" in page.text
    newcomer = Rater.objects.create(pair_set=campaign.pair_set, pseudonym="newcomer")
    page = Page(client.get(address(campaign, newcomer, pair)))
    assert "has not judged the pair" in page.text
    assert not page.having(name="reason")
    refused = client.post(address(campaign, newcomer, pair), {"reason": "Fast."})
    assert refused.status_code == 409
    assert Exclusion.objects.count() == 2


def test_a_member_gets_no_more_pairs(tmp_path: Path) -> None:
    campaign, (member, _other) = seated_campaign(tmp_path)
    assert member.rater is not None
    submit(seat=seat(member), answer=answer())
    client = browser(make_member(campaign, Membership.Role.LEAD))
    page = Page(client.get(address(campaign, member.rater)))
    assert "they get no more pairs from now on" in page.text
    client.post(address(campaign, member.rater), {"reason": "A bot."})
    member.refresh_from_db()
    assert member.standing == "excluded"
    made = Exclusion.objects.get()
    client.post(reverse("lift_exclusion", args=[campaign.slug, made.pk]))
    member.refresh_from_db()
    assert member.is_active
    assert not Exclusion.objects.in_force().exists()


def test_what_is_not_of_the_campaign_is_not_there(
    client: Client, campaign: Campaign, rater: Rater, tmp_path: Path
) -> None:
    theirs = judged_campaign(tmp_path, slug="mugs", pairs=1, choose=choose)
    stranger = theirs.pair_set.raters.order_by("id")[0]
    pair = theirs.pair_set.pairs.get()
    made = Exclusion.objects.create(rater=stranger, reason="No.", by="them")
    lift = reverse("lift_exclusion", args=[campaign.slug, made.pk])
    for target in (
        address(campaign, stranger),
        address(campaign, rater, pair),
        address(campaign, stranger, first(campaign)),
        reverse("exclude_rater", args=[campaign.slug, 10**30]),
        lift,
    ):
        assert client.post(target, {"reason": "No."}).status_code == 404, target
    made.refresh_from_db()
    assert made.lifted_at is None


def test_a_get_on_the_way_to_lift_leads_back(client: Client, campaign: Campaign) -> None:
    made = Exclusion.objects.create(
        rater=campaign.pair_set.raters.order_by("id")[0], reason="No.", by="them"
    )
    lift = reverse("lift_exclusion", args=[campaign.slug, made.pk])
    assert client.get(lift).headers["Location"] == reverse("people", args=[campaign.slug])
    run: Any = Run.objects.create(
        pair_set=campaign.pair_set, kind=Run.Kind.AGGREGATION, state=Run.State.DONE, version="1"
    )
    raters = reverse("run_raters", args=[campaign.slug, run.pk])
    assert client.get(lift).headers["Location"] == raters
    made.refresh_from_db()
    assert made.lifted_at is None
