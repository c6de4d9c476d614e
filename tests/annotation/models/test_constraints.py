"""The database itself refuses what must not be, whoever writes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.db import Error, connection, models, transaction

from annotation.models import Assignment, Campaign, Event, Guideline, Membership, PairSeats
from annotation.services.seats import submit
from benchmark.models import (
    Criterion,
    CriterionVerdict,
    Judgement,
    Pair,
    PairSet,
    Persona,
    Rater,
    Release,
    Run,
    Tally,
    Verdict,
    Vote,
)
from tests.annotation.seating import LEASE, NOW, answer, seat, seated_campaign
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@contextmanager
def refused(name: str) -> Iterator[None]:
    """The statement fails by the constraint of that name, or by a trigger with these words."""
    try:
        with transaction.atomic():
            yield
            # A constraint that waits for the commit speaks up here.
            connection.check_constraints()
    except Error as error:
        cause = error.__cause__
        assert isinstance(cause, psycopg.Error)
        assert name in (cause.diag.constraint_name, cause.diag.message_primary), cause
    else:
        pytest.fail(f"{name} did not refuse this")


@dataclass
class World:
    """Two pairs for two raters each; one of three annotators has judged the first pair."""

    campaign: Campaign
    members: list[Membership]
    held: Assignment

    @property
    def pair_set(self) -> PairSet:
        return self.campaign.pair_set

    @property
    def pair(self) -> Pair:
        return self.held.pair

    @property
    def judgement(self) -> Judgement:
        return Judgement.objects.get()

    @property
    def criterion(self) -> Criterion:
        return self.pair_set.criteria.get(position=0)

    def run(self, **changes: Any) -> Run:
        return Run.objects.create(
            **{"pair_set": self.pair_set, "kind": Run.Kind.AGGREGATION, "version": "1"} | changes
        )

    def judge(self, **changes: Any) -> Judgement:
        """A second judgement that would be fine without the changes."""
        return Judgement.objects.create(
            **{
                "pair": self.pair,
                "rater": self.members[1].rater,
                "seat": 2,
                "raters_per_pair": 2,
                "shown_left": "A",
            }
            | changes
        )

    def assign(self, **changes: Any) -> Assignment:
        """A seat that would be fine without the changes."""
        return Assignment.objects.create(
            **{
                "campaign": self.campaign,
                "membership": self.members[1],
                "pair": self.pair,
                "state": "open",
                "shown_left": "A",
                "claimed_at": NOW,
                "lease_expires_at": NOW + LEASE,
            }
            | changes
        )

    def copy(self, row: models.Model, **changes: Any) -> models.Model:
        """The row once more, under a new id."""
        values = {
            field.name: getattr(row, field.name)
            for field in row._meta.concrete_fields
            if not field.primary_key
        }
        return type(row)._default_manager.create(**values | changes)

    def verdict(self, **changes: Any) -> Verdict:
        return Verdict.objects.create(
            **{
                "run": self.run(),
                "pair": self.pair,
                "status": "decided",
                "chosen": "A",
                "tier": "easy",
                "is_provisional": False,
            }
            | changes
        )

    def criterion_verdict(self) -> CriterionVerdict:
        return CriterionVerdict.objects.create(
            **{"run": self.run(), "pair": self.pair, "criterion": self.criterion}
            | {"status": "decided", "winner": "A", "margin": 1, "s": 0, "m": 1}
            | {"a": 1, "b": 0, "tie": 0, "skip": 0}
        )

    def release(self) -> Release:
        return Release.objects.create(
            pair_set=self.pair_set, version="1.0.0", aggregation=self.run(), job=self.run()
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    campaign, members = seated_campaign(tmp_path, pairs=2, annotators=3, raters_per_pair=2)
    held = seat(members[0])
    submit(seat=held, answer=answer(), now=NOW)
    held.refresh_from_db()
    return World(campaign, members, held)


def change(rows: models.Manager[Any] | models.QuerySet[Any], **values: Any) -> int:
    return rows.update(**values)


# Name of the constraint, and what it refuses. More than one line where it has more than one side.
REFUSALS: list[tuple[str, Callable[[World], object]]] = [
    ("pair_set_raters_per_pair_1_to_99", lambda w: change(PairSet.objects, raters_per_pair=0)),
    ("pair_set_raters_per_pair_1_to_99", lambda w: change(PairSet.objects, raters_per_pair=100)),
    ("criterion_once_a_set", lambda w: w.copy(w.criterion, position=9)),
    ("criterion_position_once_a_set", lambda w: w.copy(w.criterion, key="style")),
    ("persona_once_a_set", lambda w: w.copy(Persona.objects.order_by("id")[0])),
    ("pair_once_a_set", lambda w: w.copy(w.pair)),
    ("pair_responses_differ", lambda w: change(Pair.objects, response_a=models.F("response_b"))),
    ("pair_query_kind", lambda w: change(Pair.objects, query_kind="odd")),
    ("rater_once_a_set", lambda w: w.copy(Rater.objects.order_by("id")[0])),
    # A third judgement of a pair that wants two, in any way it could come.
    ("judgement_seat_in_range", lambda w: w.judge(seat=3)),
    ("judgement_seat_in_range", lambda w: w.judge(seat=0)),
    ("judgement_seat_once_a_pair", lambda w: w.judge(seat=1)),
    ("judgement_raters_of_pair", lambda w: w.judge(seat=3, raters_per_pair=3)),
    ("judgement_once_a_rater_and_pair", lambda w: w.judge(rater=w.members[0].rater, revision=2)),
    (
        "judgement_revision_once",
        lambda w: w.judge(rater=w.members[0].rater, superseded_by=w.judgement),
    ),
    ("judgement_shown_left", lambda w: w.judge(shown_left="L")),
    ("judgement_seconds_not_negative", lambda w: w.judge(seconds=-0.1)),
    ("vote_choice", lambda w: Vote.objects.create(
        judgement=w.judge(), criterion=w.criterion, choice="1")),
    ("vote_once_a_judgement_and_criterion", lambda w: Vote.objects.create(
        judgement=w.judgement, criterion=w.criterion, choice="B")),
    ("tally_once_a_pair_and_criterion", lambda w: w.copy(Tally.objects.order_by("id")[0])),
    ("benchmark_tally_b_check", lambda w: Tally.objects.count_votes(
        [(w.pair.pk, w.criterion.pk, "B")], by=-1)),
    ("run_steps_in_range", lambda w: w.run(done_steps=2, total_steps=1)),
    ("verdict_once_a_run_and_pair", lambda w: w.copy(w.verdict())),
    ("verdict_chosen_iff_decided", lambda w: w.verdict(chosen="")),
    ("verdict_chosen_iff_decided", lambda w: w.verdict(status="tied", tier="")),
    ("verdict_chosen_iff_decided", lambda w: w.verdict(status="tied", chosen="")),
    ("criterion_verdict_once", lambda w: w.copy(w.criterion_verdict())),
    ("release_version_once", lambda w: w.copy(w.release(), job=w.run())),
    ("campaign_lease_positive", lambda w: change(Campaign.objects, lease_seconds=0)),
    ("guideline_version_once", lambda w: w.copy(Guideline.objects.get())),
    ("membership_once", lambda w: w.copy(
        w.members[0], rater=Rater.objects.create(pair_set=w.pair_set, pseudonym="x"))),
    ("membership_rater_iff_annotator", lambda w: w.copy(
        w.members[0], user=UserFactory.create(), rater=None)),
    ("membership_rater_iff_annotator", lambda w: change(Membership.objects, role="lead")),
    ("pair_seats_not_negative", lambda w: change(PairSeats.objects, free=-1)),
    ("pair_seats_position_once", lambda w: change(PairSeats.objects, position=7)),
    ("assignment_once_a_pair_and_rater", lambda w: w.assign(membership=w.members[0])),
    ("assignment_one_open_a_rater", lambda w: [
        w.assign(pair=pair) for pair in w.pair_set.pairs.order_by("id")]),
    ("assignment_judgement_iff_submitted", lambda w: w.assign(state="submitted")),
    ("assignment_judgement_iff_submitted", lambda w: change(Assignment.objects, state="expired")),
    ("assignment_judgement_iff_submitted", lambda w: w.assign(state="lost")),
    ("assignment_shown_left", lambda w: w.assign(shown_left="")),
]  # fmt: skip


def test_the_database_refuses(world: World) -> None:
    for name, act in REFUSALS:
        with refused(name):
            act(world)


def test_no_constraint_is_left_out() -> None:
    ours = {
        constraint.name
        for label in ("annotation", "benchmark")
        for model in apps.get_app_config(label).get_models()
        for constraint in model._meta.constraints
    }
    # Two cannot speak: an id alone is unique already, and each counter has a check of its own.
    silent = {"pair_id_raters", "tally_not_negative"}
    assert ours - silent <= {name for name, _ in REFUSALS}


def test_what_is_refused_is_fine_without_the_fault(world: World) -> None:
    """Else the refusals above could be about something else."""
    judgement = world.judge()
    Vote.objects.create(judgement=judgement, criterion=world.criterion, choice="tie")
    world.assign()
    world.verdict()
    world.verdict(status="tied", chosen="", tier="")
    world.criterion_verdict()
    world.release()
    connection.check_constraints()


def test_a_pair_cannot_want_fewer_judgements_than_it_has_seats_used(world: World) -> None:
    world.judge()
    with refused("judgement_seat_in_range"):
        change(Pair.objects.filter(pk=world.pair.pk), raters_per_pair=1)
    change(Pair.objects.filter(pk=world.pair.pk), raters_per_pair=3)
    assert set(Judgement.objects.values_list("raters_per_pair", flat=True)) == {3}
    world.judge(rater=world.members[2].rater, seat=3, raters_per_pair=3)


def test_a_revision_takes_the_place_of_the_first_answer(world: World) -> None:
    first = world.judgement
    revision = Judgement(pair=world.pair, rater=first.rater, seat=1, revision=2, raters_per_pair=2)
    with refused("judgement_seat_once_a_pair"):
        revision.save()
    # The newer row is made first and marked as current last.
    revision.superseded_by = first
    revision.pk = None
    revision.save()
    change(Judgement.objects.filter(pk=first.pk), superseded_by=revision)
    change(Judgement.objects.filter(pk=revision.pk), superseded_by=None)
    assert list(Judgement.objects.current()) == [revision]


@pytest.mark.parametrize("model", [Vote, Event])
@pytest.mark.parametrize("verb", ["update", "delete"])
def test_votes_and_events_are_append_only(
    world: World, model: type[models.Model], verb: str
) -> None:
    table = model._meta.db_table
    assert model._default_manager.exists()
    statement = {"update": f"UPDATE {table} SET id = id", "delete": f"DELETE FROM {table}"}[verb]
    with refused(f"{table} is append-only"), connection.cursor() as cursor:
        cursor.execute(statement)


def test_what_a_judgement_stands_on_cannot_be_deleted(world: World) -> None:
    assert world.held.judgement is not None
    for row in (
        world.held.judgement,
        world.pair,
        world.members[0].rater,
        world.members[0],
        world.members[0].user,
        world.pair_set,
    ):
        assert row is not None
        with pytest.raises(models.ProtectedError):
            row.delete()
    assert Judgement.objects.exists()
