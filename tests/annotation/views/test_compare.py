"""Two runs side by side over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.audit.comparison_words import cause_words
from annotation.audit.pairs_contexts import TABLES
from annotation.models import Campaign, Membership
from benchmark.models import Run
from benchmark.services.adjudications import adjudicate
from benchmark.services.exclusions import exclude_votes
from tests.annotation.adjudicating import open_campaign, pair_named
from tests.annotation.views.pages import Page, browser
from tests.benchmark.correcting import correct
from tests.benchmark.jobs.runs import aggregated, judged_campaign
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return open_campaign(tmp_path)


@pytest.fixture
def lead(campaign: Campaign) -> Membership:
    return make_member(campaign, Membership.Role.LEAD)


@pytest.fixture
def client(lead: Membership) -> Client:
    return browser(lead)


def compared(client: Client, run: Run, **query: str) -> Page:
    answer = client.get(reverse("run_compare", args=[run.pair_set.slug, run.pk]), query)
    assert answer.status_code == 200
    return Page(answer)


def changed(lead: Membership, run: Run, other: Run, query: str = "") -> dict[str, tuple[str, ...]]:
    """Pair id -> before, after, cause, from the file."""
    table = TABLES["changes"](lead, run, QueryDict(f"with={other.pk}&{query}"))
    return {
        str(row["pair"]): tuple(str(row[key]) for key in ("before", "after", "cause"))
        for row in table.rows
    }


def test_one_run_alone(client: Client, campaign: Campaign) -> None:
    page = compared(client, aggregated(campaign.pair_set))
    assert "Nothing to compare with" in page.text


def test_another_policy(client: Client, lead: Membership, campaign: Campaign) -> None:
    first = aggregated(campaign.pair_set)
    second = aggregated(campaign.pair_set, "helpfulness-v1")
    page = compared(client, second)
    # pair-1 and pair-3 were in conflict, pair-5 was medium by personalization.
    assert "3 of 6 pairs have another status, response or tier." in page.text
    assert "one criterion alone" in page.text
    assert changed(lead, second, first) == {
        "pair-1": ("criteria disagree", "easy", "the policy"),
        "pair-3": ("criteria disagree", "hard", "the policy"),
        "pair-5": ("medium", "easy", "the policy"),
    }
    # Which of the two the page belongs to makes no difference.
    assert changed(lead, first, second) == changed(lead, second, first)


def test_votes_exclusions_adjudications(
    client: Client, lead: Membership, campaign: Campaign
) -> None:
    pair_set = campaign.pair_set
    first = aggregated(pair_set)
    # On pair-2, 8 to 1 becomes 7 to 2 on both criteria: medium becomes hard.
    correct(pair_set, pair="pair-2", rater="rater-0", choice="B")
    exclude_votes(
        rater=pair_set.raters.get(pseudonym="rater-8"),
        pair=pair_named(campaign, "pair-5"),
        reason="a slip of the mouse",
        by="lin",
    )
    adjudicate(
        pair=pair_named(campaign, "pair-1"),
        decision="B",
        reason="by the profile",
        by="lin",
        now=timezone.now(),
    )
    second = aggregated(pair_set)
    page = compared(client, second)
    assert changed(lead, second, first) == {
        "pair-1": ("criteria disagree", "medium", "the adjudication"),
        "pair-2": ("medium", "hard", "the votes"),
        "pair-5": ("medium", "easy", "the votes"),
    }
    assert "a slip of the mouse" in page.text
    assert "1 corrected" in page.text
    assert "1 left out" in page.text
    assert "adjudicated otherwise" in page.text
    assert "Both runs follow the same rules." in page.text
    for run in (first, second):
        kappa = run.result["agreement"]["helpfulness"]["fleiss"]["value"]
        assert f"{kappa:.2f} [" in page.text

    # The numbers of the table lead to just those pairs.
    only = compared(client, second, **{"with": str(first.pk), "from": "medium", "to": "hard"})
    address = reverse("run_pair", args=["cups", second.pk, pair_named(campaign, "pair-2").pk])
    links = {found["href"] for tag, found in only.elements if tag == "a" and "href" in found}
    prefix = reverse("run_pairs", args=["cups", second.pk])
    assert {link for link in links if link.startswith(prefix)} == {prefix, address}
    assert set(changed(lead, second, first, "cause=votes")) == {"pair-2", "pair-5"}
    assert set(changed(lead, second, first, "cause=odd&from=x")) == {"pair-1", "pair-2", "pair-5"}


def test_the_same_votes_and_rules(client: Client, campaign: Campaign) -> None:
    first = aggregated(campaign.pair_set)
    page = compared(client, aggregated(campaign.pair_set), **{"with": str(first.pk)})
    assert "Every pair has the same status, response and tier in both runs." in page.text
    assert "No pair changed." in page.text


def test_what_cannot_be_compared_with_is_not_looked_at(
    client: Client, campaign: Campaign, tmp_path: Path
) -> None:
    first = aggregated(campaign.pair_set)
    second = aggregated(campaign.pair_set)
    other = judged_campaign(tmp_path, slug="others", pairs=1, choose=lambda *_: "A")
    foreign = aggregated(other.pair_set)
    for asked in (str(foreign.pk), "x", str(second.pk), "9" * 30):
        page = compared(client, second, **{"with": asked})
        assert f"From run {first.pk} to run {second.pk}" in page.text


def test_a_page_at_a_time(
    client: Client, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.audit.comparison_contexts.ROWS", 2)
    aggregated(campaign.pair_set)
    page = compared(client, aggregated(campaign.pair_set, "helpfulness-v1"))
    assert ("pair-3" in page.text, "pair-5" in page.text) == (True, False)
    (onwards,) = page.having(rel="next")
    page = Page(client.get(onwards["href"].partition("#")[0]))
    assert ("pair-3" in page.text, "pair-5" in page.text) == (False, True)
    assert not page.having(rel="next")


def test_queries_do_not_grow(tmp_path: Path) -> None:
    def count(slug: str, pairs: int) -> int:
        made = judged_campaign(
            tmp_path, slug=slug, pairs=pairs, choose=lambda _p, _r, key: "AB"[key == "helpfulness"]
        )
        aggregated(made.pair_set)
        run = aggregated(made.pair_set, "helpfulness-v1")
        client = browser(make_member(made, Membership.Role.LEAD))
        with CaptureQueriesContext(connection) as captured:
            compared(client, run)
        return len(captured)

    few = count("few", 2)
    assert few == count("many", 60)
    assert few <= 15


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("votes", "the votes"),
        ("votes+policy", "the votes and the policy, only together"),
        ("votes|policy", "the votes or the policy: each would have been enough"),
        ("came", "the pair is new in the set"),
    ],
)
def test_causes_in_words(cause: str, words: str) -> None:
    assert cause_words(cause) == words
