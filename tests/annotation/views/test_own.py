"""My page: a rater's own numbers, and nobody else's."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.rubric import Answer
from annotation.models import (
    Assignment,
    Campaign,
    CheckAnswer,
    CrowdPlace,
    CrowdStudy,
    Flag,
    Membership,
)
from annotation.own_contexts import OwnView, own_view, span_words
from annotation.services.flags import raise_flag, resolve_flag
from annotation.services.steps import next_step
from benchmark.models import Judgement
from tests.annotation.seating import NOW, fresh, seated_campaign
from tests.annotation.views.answering import (
    KINDS,
    add_checks,
    give,
    judge,
    mixed_campaign,
    onboard,
)
from tests.annotation.views.pages import Page, browser, plain
from tests.factories import make_member

pytestmark = pytest.mark.django_db


def own(client: Client, rater: Membership) -> Page:
    response = client.get(reverse("own", args=[rater.campaign.slug]))
    assert response.status_code == 200
    return Page(response)


def view_of(rater: Membership, *, now: datetime = NOW) -> OwnView:
    return own_view(fresh(rater), now=now)


def tiles(view: OwnView) -> dict[str, tuple[str, str]]:
    return {str(tile.label): (tile.number, str(tile.sentence)) for tile in view.tiles}


def test_the_numbers_of_a_rater(tmp_path: Path) -> None:
    """Five answers of 20 active seconds two minutes apart, and two on the day before."""
    _, (rater, _) = seated_campaign(tmp_path, pairs=10)
    judge(rater, 2, start=NOW - timedelta(days=1), active=50)
    judge(rater, 5)
    view = view_of(rater, now=NOW + timedelta(hours=1))
    assert tiles(view) == {
        "Judged": ("7", "of 10 pairs"),
        "At most to go": ("3", "about 1 min at your pace; fewer if others fill pairs first"),
        "Today": ("5", "judged since midnight (UTC)"),
        # 200 seconds for seven pairs.
        "Pairs an hour": ("126", "of active time, over 7 answers"),
        "Time for a pair": (
            "20 s",
            "of active time; half of your answers took less (median of 7)",
        ),
    }
    assert [(day.date.day, day.n, day.active) for day in view.days] == [
        (2, 5, "2 min"),
        (1, 2, "2 min"),
    ]
    assert [(found.label, found.n) for found in view.bins if found.n] == [
        ("15 s to 30 s", 5),
        ("30 s to 1 min", 2),
    ]
    page = own(browser(rater), rater)
    for words in ("7", "of 10 pairs", "2026", "15 s to 30 s", "71.4%"):
        assert words in page.text


def test_checks_are_among_the_pairs_and_move_no_number(tmp_path: Path) -> None:
    """With each answer one more is done and one less is left, whatever was asked."""
    rater = mixed_campaign(tmp_path, pairs=20)
    seen = []
    for number in range(20):
        (seat,) = judge(rater, 1, start=NOW + timedelta(minutes=5 * number))
        found = tiles(view_of(rater))
        seen.append((seat.purpose, int(found["Judged"][0]), int(found["At most to go"][0])))
    assert {purpose for purpose, *_ in seen} == set(KINDS)
    assert [done for _, done, _ in seen] == list(range(1, 21))
    assert len({done + left for _, done, left in seen}) == 1
    days = view_of(rater).days
    assert [day.n for day in days] == [20]
    assert view_of(rater).time_n == 20


def test_without_scripts_the_pace_is_unknown_and_says_why(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    judge(rater, 2, active=None)
    found = tiles(view_of(rater))
    assert found["Pairs an hour"] == ("—", "It is not known how long the answers took.")
    assert found["Time for a pair"] == (
        *("1 min 0 s", "from opening to submitting; half took less (median of 2)"),
    )
    assert found["At most to go"][1] == "How long they take is known after the first answers."
    assert "not known" in own(browser(rater), rater).text


def test_before_the_first_answer(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    view = view_of(rater)
    assert tiles(view)["Pairs an hour"] == ("—", "There are no answers yet.")
    assert (view.days, view.bins, view.skips, view.flags, view.scores) == ([], [], [], [], [])
    text = own(browser(rater), rater).text
    for words in ("No answers yet", "No times yet", "None skipped", "Nothing reported"):
        assert words in text
    assert "Answers as expected" not in text


def test_only_the_last_fourteen_days_are_shown(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path, pairs=20)
    judge(rater, 17, apart=timedelta(days=2))
    view = view_of(rater, now=NOW + timedelta(days=60))
    assert (len(view.days), view.days_in_all) == (14, 17)
    assert tiles(view)["Today"][0] == "0"


def test_skips_by_reason(tmp_path: Path) -> None:
    reasons = ["broken", "both_bad", "broken", ""]

    def say(seat: Assignment, number: int) -> Answer:
        choices = {"helpfulness": "skip", "personalization": "skip"}
        return Answer(choices=choices, skip_reason=reasons[number])

    rater = mixed_campaign(tmp_path, gold_percent=50, repeat_percent=0)
    seats = judge(rater, 4, say=say)
    assert {seat.purpose for seat in seats} == {"vote", "gold"}
    judge(rater, 2, start=NOW + timedelta(hours=1))
    view = view_of(rater)
    assert [(str(row.label), row.n) for row in view.skips] == [
        ("A text is broken or missing", 2),
        ("Without a reason", 1),
        ("Both responses are equally bad", 1),
    ]
    assert "4 pairs, by your reason" in own(browser(rater), rater).text


def test_flags_are_told_by_place_with_what_became_of_them(tmp_path: Path) -> None:
    campaign, (rater, other) = seated_campaign(tmp_path)
    (seat,) = judge(rater, 1)
    (theirs,) = judge(other, 1)
    lead = make_member(campaign, Membership.Role.LEAD)
    for number, (target, kind) in enumerate([("persona", "wrong"), ("2", "unsafe")]):
        flag = raise_flag(seat=seat, target=target, kind=kind, comment="")
        assert isinstance(flag, Flag)
        Flag.objects.filter(pk=flag.pk).update(created_at=NOW + timedelta(minutes=number))
    assert isinstance(raise_flag(seat=theirs, target="query", kind="private", comment=""), Flag)
    resolve_flag(flag=Flag.objects.get(target="persona"), actor=lead.user, now=NOW)
    view = view_of(rater)
    assert [(str(f.target), str(f.kind), f.resolved_at) for f in view.flags] == [
        ("Response 2", "unsafe or offensive", None),
        ("The profile", "wrong or contradictory", NOW),
    ]
    page = own(browser(rater), rater)
    assert "1 of 2 settled by the campaign lead" in page.text
    assert "private" not in page.text
    assert lead.user.username not in page.text


class TestScores:
    def rater(self, folder: Path, **changes: Any) -> Membership:
        campaign, (rater, _) = seated_campaign(folder, pairs=12)
        add_checks(campaign, folder, training=2, qualification=2, gold=5)
        Campaign.objects.filter(pk=campaign.pk).update(**changes)
        return fresh(rater)

    def lines(self, rater: Membership, *, now: datetime = NOW) -> dict[str, tuple[Any, str]]:
        return {
            str(row.label): (row.score and tuple(row.score), str(row.result))
            for row in view_of(rater, now=now).scores
        }

    def test_training_and_qualification(self, tmp_path: Path) -> None:
        rater = self.rater(tmp_path)
        onboard(rater, choice="A")
        assert self.lines(rater) == {
            "Training": ((4, 4), ""),
            "Qualification, try 1": ((4, 4), "passed"),
        }
        text = own(browser(rater), rater).text
        assert "4 of 4" in text
        assert "100.0%" in text

    def test_a_try_that_is_going_on_says_nothing_yet(self, tmp_path: Path) -> None:
        rater = self.rater(tmp_path, qualification_tries=2)
        onboard(rater, choice="A")
        Membership.objects.filter(pk=rater.pk).update(ready_at=None)
        assert self.lines(rater)["Qualification, try 1"] == (None, "going on")
        assert "known when the round is over" in own(browser(rater), rater).text

    def test_tries_that_failed(self, tmp_path: Path) -> None:
        rater = self.rater(tmp_path, qualification_tries=2)
        onboard(rater, choice="B")
        lines = self.lines(rater)
        assert lines["Training"] == ((4, 0), "")
        for number in (1, 2):
            assert lines[f"Qualification, try {number}"] == ((4, 0), "not passed")
        view = view_of(rater)
        assert "paused" in str(view.standing)
        assert not view.may_judge
        page = own(browser(rater), rater)
        assert reverse("task", args=[rater.campaign.slug]) not in page.html

    def test_gold_is_shown_if_the_lead_wants_it_and_then_of_earlier_days(
        self, tmp_path: Path
    ) -> None:
        rater = mixed_campaign(tmp_path, gold_percent=50, repeat_percent=0, gold_minimum=2)
        label = "Pairs with a known answer, up to yesterday (UTC)"
        judge(rater, 8)
        tomorrow = NOW + timedelta(days=1)
        given = CheckAnswer.objects.count()
        assert given >= 2
        assert self.lines(rater, now=tomorrow) == {}
        Campaign.objects.update(shows_gold_accuracy=True)
        # Helpfulness is as expected, personalization is not.
        assert self.lines(rater, now=tomorrow) == {label: ((2 * given, given), "")}
        assert self.lines(rater, now=NOW + timedelta(hours=14)) == {}

        # Neither another answer nor a correction moves it on that day.
        judge(rater, 4, start=tomorrow)
        assert CheckAnswer.objects.count() > given
        CheckAnswer.objects.update(right=0, is_current=False, revision=2)
        CheckAnswer.objects.filter(assignment__submitted_at__lt=tomorrow).update(
            revision=1, right=1
        )
        assert self.lines(rater, now=tomorrow + timedelta(hours=1)) == {
            label: ((2 * given, given), "")
        }
        # Nor does another midnight: by moving it one would find out which pairs are gold.
        for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"):
            with timezone.override(zone):
                assert self.lines(rater, now=tomorrow + timedelta(hours=1)) == {
                    label: ((2 * given, given), "")
                }
                assert self.lines(rater, now=NOW + timedelta(hours=14)) == {}
        Campaign.objects.update(gold_minimum=99)
        assert self.lines(rater, now=tomorrow) == {}


def test_what_was_read_of_the_guidelines(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    client = browser(rater)
    assert "You have read the guidelines, version 1, which is the newest" in own(client, rater).text
    Campaign.objects.filter(pk=campaign.pk).update(guideline_version=3)
    assert "version 1 of the guidelines; version 3 is the newest" in own(client, rater).text
    Membership.objects.filter(pk=rater.pk).update(acknowledged_version=0)
    assert "You have not read the guidelines yet" in own(client, rater).text
    Campaign.objects.filter(pk=campaign.pk).update(guideline_version=0)
    assert "no guidelines" in own(client, rater).text


def test_nothing_of_others_is_on_it(tmp_path: Path) -> None:
    """The page is the same, whatever others do."""
    campaign, (rater, other) = seated_campaign(tmp_path, pairs=5)
    judge(rater, 2)
    client = browser(rater)

    def body() -> list[str]:
        return plain(own(client, rater).html).splitlines()

    before = body()
    judge(other, 5)
    assert Judgement.objects.count() == 7
    make_member(campaign, Membership.Role.LEAD)
    assert list(unified_diff(before, body(), lineterm="")) == []
    assert other.rater is not None
    assert not re.search(rf"\b{other.rater.pseudonym}\b", "\n".join(before))


def test_only_a_crowd_participant_may_stop_taking_part(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=5)
    client = browser(rater)
    leave = reverse("leave", args=[campaign.slug])
    assert leave not in own(client, rater).html
    study = CrowdStudy.objects.create(
        campaign=campaign,
        name="Study",
        consent="Yes?",
        pairs_each=3,
        minutes=60,
        completion_code="C0DE",
        created_by=make_member(campaign, Membership.Role.LEAD).user,
    )
    CrowdPlace.objects.create(
        study=study,
        participant="p-1",
        session="s-1",
        membership=rater,
        consent="Yes?",
        consented_at=timezone.now(),
        ends_at=timezone.now() + timedelta(hours=1),
    )
    page = own(client, rater)
    assert page.having(href=leave)
    assert "of 3 pairs" in page.text
    assert not {"C0DE", "p-1", "s-1"} & set(page.texts)
    Membership.objects.filter(pk=rater.pk).update(standing="left", standing_reason="returned")
    page = own(client, rater)
    assert not page.having(href=leave)
    assert "You have stopped taking part" in page.text


def test_a_page_of_ones_own_is_kept_by_no_cache(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    for name in ("own", "history"):
        response = browser(rater).get(reverse(name, args=[rater.campaign.slug]))
        assert "no-store" in response.headers["Cache-Control"]
        assert "Cookie" in response.headers["Vary"]


def test_both_pages_take_no_posts(tmp_path: Path) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    for name in ("own", "history"):
        address = reverse(name, args=[rater.campaign.slug])
        assert browser(rater).post(address).status_code == 405


def test_home_leads_to_both(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    lead = make_member(campaign, Membership.Role.LEAD)
    for member, expected in ((rater, 1), (lead, 0)):
        page = Page(browser(member).get(reverse("home")))
        for name in ("own", "history"):
            assert len(page.having(href=reverse(name, args=[campaign.slug]))) == expected


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        ("paused", "your judging is paused"),
        ("excluded", "your part has ended"),
        ("left", "you have stopped taking part"),
    ],
)
def test_home_says_why_there_is_nothing_to_do(tmp_path: Path, standing: str, words: str) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path)
    Membership.objects.filter(pk=rater.pk).update(standing=standing, standing_reason="lead")
    page = Page(browser(rater).get(reverse("home")))
    assert words in page.text
    assert not page.having(href=reverse("task", args=[campaign.slug]))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (89, "1 min"),
        (3_569, "59 min"),
        (3_571, "1 h 0 min"),
        (7_800, "2 h 10 min"),
        (3_600 * 1_234, "1,234 h 0 min"),
    ],
)
def test_spans_in_words(seconds: float | None, words: str) -> None:
    assert span_words(seconds) == words


ZONES = [
    (None, [(2, 2)], "UTC"),
    ("Mars/Olympus", [(2, 2)], "UTC"),
    ("Asia/Shanghai", [(3, 1), (2, 1)], "Asia/Shanghai"),
    ("America/New_York", [(2, 2)], "America/New_York"),
    ("Pacific/Pago_Pago", [(2, 1), (1, 1)], "Pacific/Pago_Pago"),
]


@pytest.mark.parametrize(("zone", "days", "name"), ZONES)
def test_days_begin_where_the_reader_is(
    tmp_path: Path, zone: str | None, days: list[tuple[int, int]], name: str
) -> None:
    _, (rater, _) = seated_campaign(tmp_path)
    judge(rater, 1, start=datetime(2026, 3, 2, 17, tzinfo=UTC))
    judge(rater, 1, start=datetime(2026, 3, 2, 9, tzinfo=UTC))
    client = browser(rater)
    if zone:
        client.cookies["timezone"] = zone
    page = own(client, rater)
    assert re.findall(r"March (\d), 2026", page.text) == [str(day) for day, _ in days]
    assert f"judged since midnight ({name})" in page.text
    assert f"Days begin at midnight ({name})" in page.text
    with timezone.override(name):
        view = view_of(rater, now=datetime(2026, 3, 2, 18, tzinfo=UTC))
    assert [(day.date.day, day.n) for day in view.days] == days
    assert tiles(view)["Today"][0] == str(days[0][1])


class TestTraining:
    def lines(self, rater: Membership) -> list[tuple[str, bool, str]]:
        return [(row.query, row.is_right, row.address) for row in view_of(rater).training]

    def test_every_answer_leads_to_its_explanation(self, tmp_path: Path) -> None:
        """What was right in part is not right; of the other checks there is nothing."""
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=30)
        add_checks(campaign, tmp_path, training=3, qualification=2, gold=10)
        Campaign.objects.filter(pk=campaign.pk).update(gold_percent=30, gold_pass_percent=0)
        seats = []
        for number, choices in enumerate(("AA", "AB", "BB")):
            seat = next_step(membership=fresh(rater), now=NOW + timedelta(minutes=number))
            assert isinstance(seat, Assignment)
            answer = Answer({"helpfulness": choices[0], "personalization": choices[1]})
            give(seat, answer, now=NOW + timedelta(minutes=number, seconds=30))
            seats.append(seat)
        addresses = [reverse("submit", args=[seat.pk]) for seat in seats]
        queries = [f"Query {500 + n} of a pair like others?" for n in range(3)]
        expected = list(zip(queries, (True, False, False), addresses, strict=True))
        assert self.lines(rater) == expected
        assert self.lines(other) == []

        onboard(rater, choice="A", start=NOW + timedelta(hours=1))
        judge(rater, 20, start=NOW + timedelta(hours=2))
        kinds = set(Assignment.objects.filter(membership=rater).values_list("purpose", flat=True))
        assert kinds >= {"training", "qualification", "gold", "vote"}
        assert self.lines(rater) == expected

        client = browser(rater)
        page = own(client, rater)
        seats_named = re.findall(r"/seats/[0-9a-f-]{36}/", page.html)
        assert seats_named == addresses
        for state in (Campaign.State.OPEN, Campaign.State.CLOSED):
            Campaign.objects.filter(pk=campaign.pk).update(state=state)
            explained = Page(client.get(addresses[1]))
            assert "So it is." in explained.text
        assert browser(other).get(addresses[1]).status_code == 404

    def test_long_queries_are_cut_and_none_shows_nothing(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        assert "Training pairs" not in own(browser(rater), rater).text
        add_checks(campaign, tmp_path, training=1)
        campaign.refresh_from_db()
        assert campaign.checks is not None
        campaign.checks.pairs.update(query="为什么" * 100)
        onboard(rater, choice="A")
        [(query, is_right, _)] = self.lines(rater)
        assert (query, is_right) == ("为什么" * 33 + "为…", True)
        page = own(browser(rater), rater)
        assert page.having(lang="zh-Hans", class_="own-trained")
        assert "Training pairs" in page.text

    def test_it_asks_as_much_for_many_as_for_few(self, tmp_path: Path) -> None:
        counts = []
        for slug, number in (("few", 1), ("many", 6)):
            campaign, (rater, _) = seated_campaign(tmp_path, slug=slug)
            add_checks(campaign, tmp_path, training=number)
            onboard(rater, choice="A")
            client = browser(rater)
            with CaptureQueriesContext(connection) as asked:
                assert len(own(client, rater).having(scope="row")) >= number
            counts.append(len(asked))
        assert counts[0] == counts[1]
