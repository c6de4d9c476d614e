"""Pages ask as many questions of a large database as of a small one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership, User
from annotation.services.campaigns import import_votes_into
from benchmark.models import Release, Run
from tests.annotation.seating import seated_campaign
from tests.annotation.test_access import make_release, make_run
from tests.annotation.views.pages import browser, task_address
from tests.factories import make_campaign, make_member, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db


def queries(call: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        call()
    return [query["sql"] for query in captured.captured_queries]


def assert_equal_numbers(small: list[str], large: list[str]) -> None:
    assert len(small) == len(large), "\n".join(["small:", *small, "large:", *large])


def campaign_of(folder: Path, slug: str, *, pairs: int, raters: int) -> Membership:
    """A campaign with its judgements, and an annotator who has not begun."""
    campaign, members = seated_campaign(
        folder, slug=slug, pairs=pairs, annotators=raters, raters_per_pair=raters + 1
    )
    rows = vote_rows(campaign.pair_set, raters=raters)
    import_votes_into(campaign=campaign, path=write_jsonl(folder / "votes.jsonl", rows))
    return members[0]


def test_the_task_page(tmp_path: Path) -> None:
    """A first pair, a reload, an answer and the next pair, a refused answer."""

    def steps(rater: Membership) -> list[list[str]]:
        client = browser(rater)
        counted = [queries(lambda: client.get(task_address(rater))) for _ in range(2)]
        held = Assignment.objects.get(membership=rater, state=Assignment.State.OPEN)
        submit = reverse("submit", args=[held.pk])
        counted.append(queries(lambda: client.post(submit, {"helpfulness": "1"})))
        answer = {"helpfulness": "1", "personalization": "1"}
        counted.append(queries(lambda: client.post(submit, answer)))
        counted.append(queries(lambda: client.get(task_address(rater))))
        renew = reverse("renew", args=[Assignment.objects.get(membership=rater, state="open").pk])
        counted.append(queries(lambda: client.post(renew)))
        return counted

    small = steps(campaign_of(tmp_path, "small", pairs=2, raters=2))
    large = steps(campaign_of(tmp_path, "large", pairs=40, raters=12))
    for few, many in zip(small, large, strict=True):
        assert_equal_numbers(few, many)


def test_the_first_page(tmp_path: Path) -> None:
    rater = campaign_of(tmp_path, "small", pairs=2, raters=2)
    client = browser(rater)
    few = queries(lambda: client.get(reverse("home")))
    large = campaign_of(tmp_path, "large", pairs=20, raters=6)
    for role in (Membership.Role.ANNOTATOR, Membership.Role.LEAD):
        for number in range(4):
            make_member(make_campaign(f"{role}-{number}"), role, user=rater.user)
    make_member(large.campaign, user=rater.user)
    many = queries(lambda: client.get(reverse("home")))
    assert client.get(reverse("home")).content.count(b"campaign-row") == 10
    assert_equal_numbers(few, many)


@pytest.mark.parametrize("page", ["campaign", "run"])
def test_pages_of_leads(tmp_path: Path, page: str) -> None:
    def count(campaign: Campaign) -> list[str]:
        lead = make_member(campaign, Membership.Role.LEAD)
        client: Client = browser(lead)
        run = Run.objects.filter(pair_set=campaign.pair_set, kind="aggregation")[0]
        arguments = [campaign.slug] + ([run.pk] if page == "run" else [])
        return queries(lambda: client.get(reverse(page, args=arguments)))

    small = campaign_of(tmp_path, "small", pairs=2, raters=2).campaign
    make_release(small)
    large = campaign_of(tmp_path, "large", pairs=40, raters=12).campaign
    for number in range(6):
        release = make_release(large)
        Release.objects.filter(pk=release.pk).update(version=f"0.{number}.0")
        Run.objects.filter(pk=make_run(large).pk).update(state="queued", created_at=timezone.now())
    assert_equal_numbers(count(small), count(large))


def test_a_page_asks_little(tmp_path: Path) -> None:
    """The page that raters load all day; a new query in it wants a reason."""
    rater = campaign_of(tmp_path, "small", pairs=3, raters=2)
    client = browser(rater)
    client.get(task_address(rater))
    assert len(queries(lambda: client.get(task_address(rater)))) <= 10
    assert User.objects.count() >= 2
