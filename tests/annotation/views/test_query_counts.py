"""Pages ask as many questions of a large database as of a small one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Membership
from annotation.services.campaigns import import_votes_into
from benchmark.models import PairSet, Release, Run
from tests.annotation.checking import checked_campaign
from tests.annotation.seating import seated_campaign
from tests.annotation.test_access import make_release, make_run, nobody_else_writes
from tests.annotation.views.pages import HTMX, browser, open_seat, task_address
from tests.benchmark.jobs.runs import aggregated
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


ANSWERS = [
    {"helpfulness": "1", "personalization": "1"},
    {"helpfulness": "2", "personalization": "1"},
]


def steps(rater: Membership) -> dict[str, list[str]]:
    """All that happens on a pair."""
    client = browser(rater)
    counted: dict[str, list[str]] = {}

    def count(name: str, call: Callable[[], Any], status: int) -> None:
        def asked() -> None:
            assert call().status_code == status, name

        counted[name] = queries(asked)

    def address(name: str) -> str:
        return reverse(name, args=[open_seat(rater).pk])

    task = task_address(rater)
    count("first page", lambda: client.get(task), 200)
    count("reload", lambda: client.get(task), 200)
    submit, renew, flags = (address(name) for name in ("submit", "renew", "flag"))
    flag = {"target": "1", "kind": "wrong"}
    count("renew", lambda: client.post(renew), 204)
    count("flag", lambda: client.post(flags, flag, headers=HTMX), 200)
    count("refused", lambda: client.post(submit, {"helpfulness": "1"}, headers=HTMX), 422)
    count("answer and next", lambda: client.post(submit, ANSWERS[0], headers=HTMX), 200)
    count("answer again", lambda: client.post(submit, ANSWERS[0], headers=HTMX), 200)
    count("to correct it", lambda: client.get(submit, headers=HTMX), 200)
    correction = ANSWERS[1] | {"revision": "1"}
    count("corrected", lambda: client.post(submit, correction, headers=HTMX), 200)
    following, ahead = address("submit"), address("ahead")
    count("ahead", lambda: client.post(ahead, headers=HTMX), 200)
    shown = Assignment.objects.get(membership=rater, state="open", is_ahead=True)
    headers = HTMX | {"X-Ahead": str(shown.pk)}
    count("answer", lambda: client.post(following, ANSWERS[0], headers=headers), 200)
    last = address("submit")
    count("answer alone", lambda: client.post(last, ANSWERS[0]), 303)
    return counted


def test_the_task_page(tmp_path: Path) -> None:
    """A first pair, a reload, answers, a refused one, a correction: as many in any campaign."""
    small = steps(campaign_of(tmp_path, "small", pairs=6, raters=2))
    large = steps(campaign_of(tmp_path, "large", pairs=40, raters=12))
    for name, few in small.items():
        assert_equal_numbers(few, large[name])


# At most, of what is asked all day; a new query in one of them wants a reason.
LIMITS = {
    "reload": 8,
    "renew": 5,
    "answer and next": 23,
    "answer alone": 11,
    "ahead": 15,
    "answer": 19,
}


def test_pages_ask_little(tmp_path: Path) -> None:
    counted = steps(campaign_of(tmp_path, "small", pairs=6, raters=2))
    for name, limit in LIMITS.items():
        assert len(counted[name]) <= limit, "\n".join([name, *counted[name]])


def test_checks_among_the_pairs_cost_little(tmp_path: Path) -> None:
    """As many questions for a rater's fiftieth pair as for the tenth."""
    _, (rater,) = checked_campaign(
        tmp_path, gold=30, pairs=60, gold_percent=25, repeat_percent=25, gold_pass_percent=0
    )
    client = browser(rater)
    client.get(task_address(rater))
    numbers: dict[tuple[str, str], set[int]] = {}
    for number in range(60):
        held = open_seat(rater)
        submit = reverse("submit", args=[held.pk])
        asked = len(queries(lambda: client.post(submit, ANSWERS[0], headers=HTMX)))  # noqa: B023
        following = open_seat(rater)
        if number > 15:
            numbers.setdefault((held.purpose, following.purpose), set()).add(asked)
    assert {given for given, _ in numbers} == {"vote", "gold", "repeat"}
    assert all(len(found) == 1 for found in numbers.values()), numbers
    assert max(max(found) for found in numbers.values()) <= 33, numbers


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
def test_pages_of_leads(tmp_path: Path, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PairSet, "snapshot", nobody_else_writes)

    def count(campaign: Campaign) -> list[str]:
        lead = make_member(campaign, Membership.Role.LEAD)
        client: Client = browser(lead)
        run = aggregated(campaign.pair_set)
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
