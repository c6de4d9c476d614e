"""The adjudication desk over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Campaign, Event, Membership
from benchmark.models import Adjudication, Pair, Run, Verdict
from tests.annotation.adjudicating import open_campaign, pair_named, raise_flag
from tests.annotation.views.pages import Page, browser
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db(transaction=True)

DECISION = {"decision": "B", "reason": "The profile asks for it."}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return open_campaign(tmp_path)


@pytest.fixture
def run(campaign: Campaign) -> Run:
    return aggregated(campaign.pair_set)


@pytest.fixture
def client(campaign: Campaign) -> Client:
    return browser(make_member(campaign, Membership.Role.LEAD))


def desk(client: Client, **query: str) -> Page:
    answer = client.get(reverse("adjudication", args=["cups"]), query)
    assert answer.status_code == 200
    return Page(answer)


def decide_address(pair: Pair) -> str:
    return reverse("adjudicate", args=["cups", pair.pk])


def test_the_first_of_the_queue_is_shown_blind(
    client: Client, campaign: Campaign, run: Run
) -> None:
    pair = pair_named(campaign, "pair-1")
    Pair.objects.filter(pk=pair.pk).update(source_a="model-of-a", source_b="model-of-b")
    page = desk(client)
    assert "2 pairs wait for a decision." in page.text
    assert page.having(action=decide_address(pair))
    assert pair.response_a in page.text
    # The split says how clear it was, not for which response.
    assert "9–0" in page.text
    assert "8–1" in page.text
    # Sources and votes are in the part that is closed.
    before, _, hidden = page.html.partition('<details class="card unfold">')
    assert "model-of-a" not in before
    assert "A 9" not in before
    assert "model-of-a" in hidden.partition("</details>")[0]


def test_deciding_leads_to_the_next(client: Client, campaign: Campaign, run: Run) -> None:
    first, second = (pair_named(campaign, name) for name in ("pair-1", "pair-3"))
    answer: Any = client.post(decide_address(first), DECISION | {"kind": "conflict"})
    assert answer.status_code == 302
    assert f"pair={second.pk}" in answer.url
    assert "kind=conflict" in answer.url
    page = Page(client.get(answer.url.partition("#")[0]))
    assert "It takes effect in the next aggregation." in page.text
    assert page.having(action=decide_address(second))
    assert "The profile asks for it." in page.text
    last: Any = client.post(decide_address(second), DECISION | {"decision": "withdrawn"})
    assert "pair=" not in last.url
    assert "The queue is empty" in Page(client.get(last.url.partition("#")[0])).text
    # And so it comes about.
    again = aggregated(campaign.pair_set)
    verdicts = {row.pair_id: (row.status, row.chosen) for row in Verdict.objects.filter(run=again)}
    assert verdicts[first.pk] == ("decided", "B")
    assert verdicts[second.pk] == ("withdrawn", "")


WRONG: list[tuple[dict[str, str], str]] = [
    ({"decision": "A", "reason": " "}, "Say why"),
    ({"decision": "A", "reason": "\u200b"}, "Say why"),
    ({"decision": "", "reason": "both are fine"}, "Choose a response"),
    ({"decision": "C", "reason": "both are fine"}, "Choose a response"),
    ({"decision": "A", "reason": "x" * 2_001}, "too long"),
]


def test_what_is_missing_is_said_and_the_rest_kept(
    client: Client, campaign: Campaign, run: Run
) -> None:
    # Not the first of the queue, so that it is seen to stay.
    pair = pair_named(campaign, "pair-3")
    for given, words in WRONG:
        answer = client.post(decide_address(pair), given)
        assert answer.status_code == 422
        page = Page(answer)
        assert words in page.text
        assert page.having(action=decide_address(pair))
        assert given["reason"].strip(" \u200b")[:20] in page.html
        if given["decision"] == "A":
            assert page.checked() == {"decision": "A"}
    assert not Adjudication.objects.exists()


def test_a_doubled_submit_changes_nothing_twice(
    client: Client, campaign: Campaign, run: Run
) -> None:
    address = decide_address(pair_named(campaign, "pair-1"))
    for _ in range(2):
        assert client.post(address, DECISION).status_code == 302
    assert Adjudication.objects.count() == 1
    assert Event.objects.filter(action="pair:adjudicated").count() == 1


def test_undoing(client: Client, campaign: Campaign, run: Run) -> None:
    client.post(decide_address(pair_named(campaign, "pair-1")), DECISION)
    made = Adjudication.objects.get()
    address = reverse("revoke_adjudication", args=["cups", made.pk])
    answer: Any = client.post(address)
    assert "notice=undone" in answer.url
    page = desk(client)
    assert "2 pairs wait for a decision." in page.text
    assert "undone" in page.text
    assert not page.having(action=address)
    again: Any = client.post(address)
    assert "notice=unchanged" in again.url
    assert Event.objects.filter(action="adjudication:revoked").count() == 1
    assert client.post(reverse("revoke_adjudication", args=["cups", 0])).status_code == 404


def test_a_pair_that_the_votes_decide(client: Client, campaign: Campaign, run: Run) -> None:
    raise_flag(campaign, "pair-0")
    page = desk(client, kind="flagged")
    assert "half a question" in page.text
    assert "Naming a response changes nothing" in page.text


def test_researchers_read_it(campaign: Campaign, run: Run) -> None:
    member = make_member(campaign, Membership.Role.RESEARCHER)
    page = desk(browser(member))
    assert "Leads decide." in page.text
    posts = [
        found for tag, found in page.elements if tag == "form" and "adjudication" in found["action"]
    ]
    assert posts == []


def test_pairs_of_others_are_not_there(
    client: Client, campaign: Campaign, run: Run, tmp_path: Path
) -> None:
    other = make_campaign("others")
    add_pairs(other, tmp_path, 1)
    pair = other.pair_set.pairs.get()
    assert client.post(decide_address(pair), DECISION).status_code == 404
    asked = client.get(reverse("adjudication", args=["cups"]), {"pair": str(pair.pk)})
    assert asked.status_code == 404
    assert not Adjudication.objects.exists()


def test_nothing_at_all() -> None:
    campaign = make_campaign()
    page = desk(browser(make_member(campaign, Membership.Role.LEAD)), pair="x", kind="odd")
    assert "There is no finished aggregation yet" in page.text
    assert "Nobody has decided on a pair yet." in page.text


def test_queries_do_not_grow(tmp_path: Path) -> None:
    def count(slug: str, pairs: int) -> int:
        made = judged_campaign(
            tmp_path, slug=slug, pairs=pairs, choose=lambda _p, _r, key: "AB"[key == "helpfulness"]
        )
        aggregated(made.pair_set)
        client = browser(make_member(made, Membership.Role.LEAD))
        for pair in list(made.pair_set.pairs.all())[1::2]:
            client.post(reverse("adjudicate", args=[slug, pair.pk]), DECISION)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(reverse("adjudication", args=[slug])).status_code == 200
        return len(captured)

    few = count("few", 2)
    assert few == count("many", 16)
    assert few <= 20
