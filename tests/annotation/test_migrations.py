"""A database of the version before keeps what it holds, and its rows get what is new."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.models import Assignment, Campaign, Membership
from annotation.services.answers import Outcome, stored_answer
from annotation.services.seats import claim_ahead, claim_seat
from annotation.services.steps import MustRead, acknowledge, next_step
from benchmark.models import Judgement
from tests.annotation.seating import (
    answer,
    assert_sound,
    fresh,
    seat,
    seated_campaign,
    submit,
)

BEFORE = [("annotation", "0002_event_append_only"), ("benchmark", "0002_seat_in_range")]
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)

pytestmark = pytest.mark.django_db(transaction=True)


def migrate(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


def newest() -> list[tuple[str, str]]:
    """Of every app, as `migrate` does it."""
    return MigrationExecutor(connection).loader.graph.leaf_nodes()


@pytest.fixture
def old_apps() -> Iterator[Any]:
    """The models of the version before, on its tables; afterwards the tables are the newest."""
    try:
        yield migrate(BEFORE)
    finally:
        migrate(newest())


class Old:
    """Rows as that version wrote them."""

    def __init__(self, apps: Any) -> None:
        self.annotation = lambda name: apps.get_model("annotation", name).objects
        self.benchmark = lambda name: apps.get_model("benchmark", name).objects

    def campaign(self, slug: str, *, versions: int) -> Any:
        pair_set = self.benchmark("PairSet").create(slug=slug, name=slug, seed=slug)
        for position, key in enumerate(("helpfulness", "personalization")):
            self.benchmark("Criterion").create(
                pair_set=pair_set, key=key, position=position, question_en="?", question_zh="?"
            )
        campaign = self.annotation("Campaign").create(
            pair_set=pair_set, state="open", lease_seconds=1200
        )
        for version in range(1, versions + 1):
            self.annotation("Guideline").create(
                campaign=campaign, version=version, body=f"# Version {version}"
            )
        return campaign

    def pairs(self, campaign: Any, number: int) -> list[Any]:
        persona = self.benchmark("Persona").create(
            pair_set=campaign.pair_set, persona_id="p", name="P", profile={}, digest=b"0" * 32
        )
        pairs = [
            self.benchmark("Pair").create(
                pair_set=campaign.pair_set,
                pair_id=f"pair-{n}",
                persona=persona,
                query="?",
                response_a=f"A {n}",
                response_b=f"B {n}",
                raters_per_pair=9,
                digest=bytes([n]) * 32,
            )
            for n in range(number)
        ]
        for position, pair in enumerate(pairs):
            self.annotation("PairSeats").create(
                pair=pair, campaign=campaign, position=position, free=9
            )
        return pairs

    def rater(self, campaign: Any, name: str) -> Any:
        return self.annotation("Membership").create(
            campaign=campaign,
            user=self.annotation("User").create(username=name),
            role="annotator",
            rater=self.benchmark("Rater").create(pair_set=campaign.pair_set, pseudonym=name),
        )

    def seat(self, member: Any, pair: Any, state: str, **fields: Any) -> Any:
        if state != "expired":
            self.annotation("PairSeats").filter(pk=pair.pk).update(free=8)
        return self.annotation("Assignment").create(
            campaign=member.campaign,
            membership=member,
            pair=pair,
            state=state,
            shown_left="A",
            claimed_at=AT,
            lease_expires_at=AT + timedelta(minutes=20),
            **fields,
        )

    def judgement(self, member: Any, pair: Any, **fields: Any) -> Any:
        judgement = self.benchmark("Judgement").create(
            pair=pair, rater=member.rater, seat=1, raters_per_pair=9, shown_left="A", **fields
        )
        for criterion in self.benchmark("Criterion").filter(pair_set=member.campaign.pair_set):
            self.benchmark("Vote").create(judgement=judgement, criterion=criterion, choice="A")
            self.benchmark("Tally").create(pair=pair, criterion=criterion, a=1)
        return judgement


def test_backwards_no_rater_holds_two_seats(tmp_path: Path) -> None:
    campaign, (rater,) = seated_campaign(tmp_path, annotators=1)
    at_work = seat(rater, now=AT)
    held = claim_ahead(membership=fresh(rater), now=AT)
    assert held is not None
    try:
        migrate([("annotation", "0005_submitted_at")])
    finally:
        migrate(newest())
    assert Assignment.objects.get(state="open") == at_work
    assert_sound(campaign)


def test_rows_of_the_version_before(old_apps: Any) -> None:
    old = Old(old_apps)
    campaign = old.campaign("cups", versions=3)
    old.campaign("bare", versions=0)
    here, elsewhere, left, held = old.pairs(campaign, 4)
    member = old.rater(campaign, "ada")
    # One judged here, one by votes made elsewhere without a time, one given up, one in hand.
    given_at = AT + timedelta(minutes=2)
    judged = old.judgement(member, here, opened_at=AT, submitted_at=given_at, seconds=120.0)
    imported = old.judgement(member, elsewhere)
    seats = {
        "judged": old.seat(member, here, "submitted", judgement=judged).pk,
        "imported": old.seat(member, elsewhere, "submitted", judgement=imported).pk,
        "expired": old.seat(member, left, "expired").pk,
        "open": old.seat(member, held, "open").pk,
    }

    migrate(newest())

    found = {name: Assignment.objects.get(pk=key) for name, key in seats.items()}
    assert {name: seat.submitted_at for name, seat in found.items()} == {
        "judged": given_at,
        "imported": imported.created_at,
        "expired": None,
        "open": None,
    }
    assert {(seat.purpose, seat.attempt, seat.repeats_id) for seat in found.values()} == {
        ("vote", 0, None)
    }
    assert dict(Campaign.objects.values_list("pair_set__slug", "guideline_version")) == {
        "cups": 3,
        "bare": 0,
    }
    first = Judgement.objects.get(pk=judged.pk)
    assert (first.seconds, first.active_seconds, first.confidence, first.reasons) == (
        120.0,
        None,
        None,
        [],
    )
    assert stored_answer(found["judged"]) == (answer("A", "A"), 1)
    # And the rater goes on where they were, once they have read.
    ada = fresh(Membership.objects.get(pk=member.pk))
    assert ada.is_active
    assert next_step(membership=ada, now=AT) == MustRead(3)
    assert acknowledge(membership=ada, version=3)
    step = next_step(membership=fresh(ada), now=AT)
    assert isinstance(step, Assignment)
    assert step.pk == found["open"].pk
    assert submit(seat=step, answer=answer(), now=AT) is Outcome.ACCEPTED
    following = claim_seat(membership=fresh(ada), now=AT)
    assert isinstance(following, Assignment)
    assert following.pair_id == left.pk
    assert isinstance(following.pk, uuid.UUID)
    assert_sound(Campaign.objects.get(pk=campaign.pk))
