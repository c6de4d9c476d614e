"""A rater's own answers, in which a check looks like any other pair."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import own_contexts
from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, Membership
from benchmark.models import Pair
from tests.annotation.seating import NOW, fresh, revise, seated_campaign
from tests.annotation.views.answering import KINDS, add_checks, judge, mixed_campaign, onboard
from tests.annotation.views.pages import Page, browser
from tests.factories import add_pairs, make_campaign

pytestmark = pytest.mark.django_db


def history(client: Client, rater: Membership, **query: str) -> Page:
    response = client.get(reverse("history", args=[rater.campaign.slug]), query)
    assert response.status_code == 200
    return Page(response)


def rows_of(page: Page) -> list[str]:
    """The HTML of each row."""
    return re.findall(r'<li class="own-answer">.*?</li>', page.html, re.DOTALL)


def seats_of(page: Page) -> list[str]:
    """The seats that the rows lead to, in their order."""
    return [re.findall(r"/seats/([0-9a-f-]{36})/", row)[0] for row in rows_of(page)]


def newest(rater: Membership) -> list[Assignment]:
    return list(
        Assignment.objects.of_main_round()
        .filter(membership=rater, state="submitted")
        .order_by("-submitted_at", "-id")
    )


def shape(row: str) -> str:
    """A row without what differs between any two."""
    row = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "SEAT", row)
    row = re.sub(r"<time .*?</time>", "TIME", row)
    row = re.sub(r"Query [^?]*\?", "QUERY", row)
    return re.sub(r"Response [12]", "RESPONSE", row)


def test_the_newest_answer_comes_first_in_words_by_place(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    seats = judge(rater, 3)
    page = history(browser(rater), rater)
    assert seats_of(page) == [str(seat.pk) for seat in reversed(seats)]
    for row, seat in zip(rows_of(page), reversed(seats), strict=True):
        helpful, fits = ("1", "2") if seat.shown_left == "A" else ("2", "1")
        assert re.search(rf"More helpful:\s*<strong>Response {helpful}</strong>", row)
        assert re.search(rf"Fits the person better:\s*<strong>Response {fits}</strong>", row)
        assert Pair.objects.get(pk=seat.pair_id).query in row


def test_nothing_tells_checks_from_votes(tmp_path: Path) -> None:
    """Every kind, plain, changed, skipped and with a comment: the same row but for its texts."""

    def say(seat: Assignment, number: int) -> Answer:
        if number % 4 == 1:
            return Answer(
                choices={"helpfulness": "skip", "personalization": "skip"}, skip_reason="broken"
            )
        comment = "Hm." if number % 4 == 2 else ""
        choices = {"helpfulness": "B", "personalization": "A"}
        return Answer(choices=choices, comment=comment, confidence=2, reasons=("tone",))

    rater = mixed_campaign(tmp_path, pairs=30)
    judge(rater, 40, say=say)
    for number, seat in enumerate(reversed(newest(rater))):
        if number % 4 == 3:
            changed = Answer(choices={"helpfulness": "A", "personalization": "A"})
            revise(seat=seat, answer=changed, revision=1, now=NOW + timedelta(days=1))

    client = browser(rater)
    seen: dict[str, dict[str, set[str]]] = {}
    page = history(client, rater)
    assert seats_of(page) == [str(seat.pk) for seat in newest(rater)]
    for row, seat in zip(rows_of(page), newest(rater), strict=True):
        kind = ("skipped" if "Skipped" in row else "changed" if "changed" in row else "") or (
            "comment" if "with a comment" in row else "plain"
        )
        seen.setdefault(kind, {}).setdefault(seat.purpose, set()).add(shape(row))
    assert sorted(seen) == ["changed", "comment", "plain", "skipped"]
    for kind, shapes in seen.items():
        # A skipped pair is not asked again.
        assert set(KINDS) - set(shapes) <= {"repeat"}, kind
        assert len(set.union(*shapes.values())) == 1, kind
    assert any("repeat" in shapes for shapes in seen.values())
    assert not re.search(r"gold|repeat|check", "".join(rows_of(page)), re.IGNORECASE)


def test_filters_look_into_every_kind_of_answer(tmp_path: Path) -> None:
    def say(seat: Assignment, number: int) -> Answer:
        if number % 2:
            choices = {"helpfulness": "A", "personalization": "A"}
            return Answer(choices=choices, comment="Hm.")
        choices = {"helpfulness": "skip", "personalization": "skip"}
        return Answer(choices=choices, skip_reason="both_bad")

    rater = mixed_campaign(tmp_path, pairs=20, repeat_percent=0, gold_percent=40)
    seats = judge(rater, 10, say=say)
    assert {seat.purpose for seat in seats[::2]} == {"vote", "gold"}
    assert {seat.purpose for seat in seats[1::2]} == {"vote", "gold"}
    for seat in seats[:5]:
        changed = Answer(choices={"helpfulness": "B", "personalization": "B"})
        revise(seat=seat, answer=changed, revision=1, now=NOW + timedelta(days=1))
    client = browser(rater)
    expected = {"skipped": seats[6::2], "comment": seats[5::2], "changed": seats[:5]}
    for show, shown in expected.items():
        page = history(client, rater, show=show)
        assert seats_of(page) == [str(seat.pk) for seat in reversed(shown)], show
        current = page.having(aria_current="page", class_="button button-plain")
        assert [found["href"] for found in current] == [f"{_address(rater)}?show={show}"]
    skipped = history(client, rater, show="skipped").text
    assert "Skipped: Both responses are equally bad" in skipped
    assert "More helpful" not in skipped
    assert len(rows_of(history(client, rater, show="no such filter"))) == 10


def _address(rater: Membership) -> str:
    return reverse("history", args=[rater.campaign.slug])


def test_a_correction_shows_what_stands_now(tmp_path: Path) -> None:
    rater = mixed_campaign(tmp_path, pairs=20)
    seats = judge(rater, 20)
    kinds = {seat.purpose: seat for seat in seats}
    assert set(kinds) == set(KINDS)
    for seat in kinds.values():
        for number, side in enumerate(("A", "B"), start=1):
            answer = Answer(choices={"helpfulness": side, "personalization": side})
            revise(seat=seat, answer=answer, revision=number, now=NOW + timedelta(days=number))
    page = history(browser(rater), rater, show="changed")
    # Where they stood: by the first answer's time.
    assert set(seats_of(page)) == {str(seat.pk) for seat in kinds.values()}
    for row, pk in zip(rows_of(page), seats_of(page), strict=True):
        place = "1" if Assignment.objects.get(pk=pk).shown_left == "B" else "2"
        assert re.search(rf"More helpful:\s*<strong>Response {place}</strong>", row)
        assert "changed 2 times" in row


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(own_contexts, "ROWS", 8)
    return 8


def test_pages_follow_each_other_without_gaps(tmp_path: Path, short_pages: int) -> None:
    """Also over answers that were stored at the same moment, and while new ones come."""
    rater = mixed_campaign(tmp_path, pairs=25)
    judge(rater, 2 * short_pages + 4)
    Assignment.objects.filter(membership=rater).update(submitted_at=NOW)
    expected = [str(seat.pk) for seat in newest(rater)]
    assert {seat.purpose for seat in newest(rater)} == set(KINDS)
    client = browser(rater)
    page = history(client, rater)
    assert not [a for a in page.having(class_="button") if "before" in a.get("href", "")]
    found = seats_of(page)
    judge(rater, 3, start=NOW + timedelta(days=1))
    while older := page.having(rel="next"):
        page = Page(client.get(older[0]["href"]))
        found += seats_of(page)
        assert page.having(class_="button", href=_address(rater))
    assert found == expected
    assert len(found) == 2 * short_pages + 4


def test_the_filter_stays_on_the_next_page(tmp_path: Path, short_pages: int) -> None:
    def skip(seat: Assignment, number: int) -> Answer:
        choices = {"helpfulness": "skip", "personalization": "skip"}
        return Answer(choices=choices, skip_reason="broken")

    _, (rater, _) = seated_campaign(tmp_path, pairs=short_pages + 6)
    judge(rater, 3)
    judge(rater, short_pages + 1, start=NOW + timedelta(days=1), say=skip)
    client = browser(rater)
    page = history(client, rater, show="skipped")
    page = Page(client.get(page.having(rel="next")[0]["href"]))
    assert len(rows_of(page)) == 1
    assert "Skipped" in rows_of(page)[0]


@pytest.mark.parametrize(
    "before",
    [
        *("x", "_", "2026-03-02T09:00:00+00:00", "2026-03-02T09:00:00_" + "0" * 32),
        *("2026-03-02T09:00:00+00:00_x", "\x00_\x00", "9" * 500),
    ],
)
def test_a_place_that_there_is_not_is_the_beginning(tmp_path: Path, before: str) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    judge(rater, 2)
    assert len(rows_of(history(browser(rater), rater, before=before))) == 2


def test_behind_the_last_answer_there_is_a_way_back(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    (seat,) = judge(rater, 1)
    before = f"{Assignment.objects.get(pk=seat.pk).submitted_at.isoformat()}_{seat.pk}"
    page = history(browser(rater), rater, before=before)
    assert rows_of(page) == []
    assert "Nothing older" in page.text
    assert page.having(class_="button", href=_address(rater))


def test_without_answers_it_says_so(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    client = browser(rater)
    assert "No answers yet" in history(client, rater).text
    assert "None of these" in history(client, rater, show="comment").text


def test_practice_and_the_answers_of_others_are_not_in_it(tmp_path: Path) -> None:
    campaign, (rater, other) = seated_campaign(tmp_path)
    add_checks(campaign, tmp_path, training=2, qualification=1)
    onboard(rater, choice="A")
    judge(other, 3)
    assert Assignment.objects.filter(membership=rater, state="submitted").count() == 3
    assert rows_of(history(browser(rater), rater)) == []
    elsewhere = make_campaign("mugs")
    assert browser(rater).get(reverse("history", args=[elsewhere.slug])).status_code == 404


@pytest.mark.parametrize("why", ["paused campaign", "closed campaign", "paused rater"])
def test_answers_are_changed_only_while_they_may_be(tmp_path: Path, why: str) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    judge(rater, 2)
    if why == "paused rater":
        Membership.objects.filter(pk=rater.pk).update(
            standing="paused", standing_reason="lead", standing_at=NOW
        )
    else:
        Campaign.objects.filter(pk=campaign.pk).update(state=why.split()[0])
    page = history(browser(rater), rater)
    assert len(rows_of(page)) == 2
    assert "/seats/" not in page.html
    assert "Answers cannot be changed now" in page.text


def test_long_and_odd_queries_are_cut_and_stay_text(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=0)
    add_pairs(campaign, tmp_path, 1, query="<script>alert(1)</script> " + "很长的问题" * 60)
    judge(rater, 1)
    page = history(browser(rater), rater)
    (query,) = re.findall(r'<p class="own-query" lang="zh-Hans" dir="auto">(.*?)</p>', page.html)
    assert query.startswith("&lt;script&gt;alert(1)&lt;/script&gt; 很长的问题")
    assert query.endswith("…")
    assert "<script>alert" not in page.html


def test_a_page_asks_as_much_of_many_answers_as_of_few(tmp_path: Path) -> None:
    rater = mixed_campaign(tmp_path, pairs=30)
    judge(rater, 2)
    client = browser(rater)

    def queries(page: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse(page, args=[rater.campaign.slug]))
        return len(captured)

    few = {page: queries(page) for page in ("own", "history")}
    judge(fresh(rater), 25, start=NOW + timedelta(days=1))
    assert {page: queries(page) for page in few} == few
    assert few["history"] <= 6
