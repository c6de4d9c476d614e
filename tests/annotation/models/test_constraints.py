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

from annotation.models import (
    Acknowledgement,
    Assignment,
    Campaign,
    CheckAnswer,
    CheckItem,
    CrowdPlace,
    CrowdStudy,
    Event,
    Flag,
    Guideline,
    Invite,
    Membership,
    PairSeats,
)
from benchmark.models import (
    Adjudication,
    Analysis,
    Criterion,
    Exclusion,
    Judgement,
    Pair,
    PairSet,
    PatternVerdict,
    Persona,
    Rater,
    Release,
    Run,
    SavedPolicy,
    Tally,
    Verdict,
    Vote,
)
from tests.annotation.seating import LEASE, NOW, answer, seat, seated_campaign, submit
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

    def item(self, **changes: Any) -> CheckItem:
        """Something known about the second pair that would be fine without the changes."""
        return CheckItem.objects.create(
            **{
                "campaign": self.campaign,
                "pair": self.pair_set.pairs.exclude(pk=self.pair.pk).get(),
                "purpose": "gold",
                "position": 1,
                "expected": {"helpfulness": "A"},
            }
            | changes
        )

    def check_answer(self, **changes: Any) -> CheckAnswer:
        """An answer on a gold seat, likewise."""
        if "assignment" not in changes:
            item = self.item()
            changes["assignment"] = self.assign(purpose="gold", check_item=item, pair=item.pair)
        return CheckAnswer.objects.create(
            **{
                "choices": {"helpfulness": "A", "personalization": "B"},
                "opened_at": NOW,
                "submitted_at": NOW,
                "seconds": 1.0,
                "asked": 2,
                "right": 1,
            }
            | changes
        )

    def flag(self, **changes: Any) -> Flag:
        return Flag.objects.create(
            **{"campaign": self.campaign, "assignment": self.held, "target": "A", "kind": "broken"}
            | changes
        )

    def invite(self, **changes: Any) -> Invite:
        return Invite.objects.create(
            **{
                "campaign": self.campaign,
                "max_uses": 2,
                "uses": 2,
                "expires_at": NOW + LEASE,
                "created_by": self.members[0].user,
            }
            | changes
        )

    def study(self, **changes: Any) -> CrowdStudy:
        return CrowdStudy.objects.create(
            **{
                "campaign": self.campaign,
                "name": "Pilot",
                "consent": "You compare two texts.",
                "pairs_each": 1,
                "minutes": 1,
                "completion_code": "C",
                "created_by": self.members[0].user,
            }
            | changes
        )

    def place(self, **changes: Any) -> CrowdPlace:
        given = {
            "study": changes.get("study") or self.study(),
            "participant": "p-1",
            "session": "s-1",
            "membership": self.members[0],
            "consent": "You compare two texts.",
            "consented_at": NOW,
            "ends_at": NOW + LEASE,
        }
        return CrowdPlace.objects.create(**given | changes)

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
                "pattern": 0,
            }
            | changes
        )

    def pattern_verdict(self) -> PatternVerdict:
        return PatternVerdict.objects.create(
            **{"run": self.run(), "pattern": 0, "criterion": self.criterion}
            | {"status": "decided", "winner": "A", "margin": 1, "s": 0, "m": 1}
            | {"a": 1, "b": 0, "tie": 0, "skip": 0}
        )

    def policy(self, **changes: Any) -> SavedPolicy:
        return SavedPolicy.objects.create(
            **{"pair_set": self.pair_set, "name": "strict", "version": 1, "rules": {}, "by": "lead"}
            | changes
        )

    def analysis(self, **changes: Any) -> Analysis:
        return Analysis.objects.create(
            **{"run": self.run(), "subject": "raters", "data": {}} | changes
        )

    def exclusion(self, **changes: Any) -> Exclusion:
        return Exclusion.objects.create(
            **{"rater": self.members[0].rater, "reason": "did not read", "by": "lead"} | changes
        )

    def adjudication(self, **changes: Any) -> Adjudication:
        return Adjudication.objects.create(
            **{"pair": self.pair, "decision": "A", "reason": "by the profile", "by": "lead"}
            | changes
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
    ("judgement_active_seconds_not_negative", lambda w: w.judge(active_seconds=-0.1)),
    ("judgement_confidence_1_to_3", lambda w: w.judge(confidence=0)),
    ("judgement_confidence_1_to_3", lambda w: w.judge(confidence=4)),
    ("vote_choice", lambda w: Vote.objects.create(
        judgement=w.judge(), criterion=w.criterion, choice="1")),
    ("vote_once_a_judgement_and_criterion", lambda w: Vote.objects.create(
        judgement=w.judgement, criterion=w.criterion, choice="B")),
    ("tally_once_a_pair_and_criterion", lambda w: w.copy(Tally.objects.order_by("id")[0])),
    ("benchmark_tally_b_check", lambda w: Tally.objects.uncount_votes(
        [(w.pair.pk, w.criterion.pk, "B")])),
    ("run_steps_in_range", lambda w: w.run(done_steps=2, total_steps=1)),
    ("verdict_once_a_run_and_pair", lambda w: w.copy(w.verdict())),
    ("verdict_chosen_iff_decided", lambda w: w.verdict(chosen="")),
    ("verdict_chosen_iff_decided", lambda w: w.verdict(status="tied", tier="")),
    ("verdict_chosen_iff_decided", lambda w: w.verdict(status="tied", chosen="")),
    ("pattern_verdict_once", lambda w: w.copy(w.pattern_verdict())),
    ("run_of_iff_analysis", lambda w: w.run(kind="analysis")),
    ("run_of_iff_analysis", lambda w: w.run(of=w.run())),
    ("policy_version_once", lambda w: w.copy(w.policy())),
    ("policy_version_positive", lambda w: w.policy(version=0)),
    ("analysis_once_a_subject", lambda w: w.copy(w.analysis())),
    ("analysis_subject", lambda w: w.analysis(subject="odd")),
    ("exclusion_once_a_rater", lambda w: w.copy(w.exclusion())),
    ("exclusion_once_a_judgement", lambda w: w.copy(w.exclusion(pair=w.pair))),
    ("exclusion_lifted_by_somebody", lambda w: w.exclusion(lifted_at=NOW)),
    ("exclusion_lifted_by_somebody", lambda w: w.exclusion(lifted_by="lead")),
    ("exclusion_has_a_reason", lambda w: w.exclusion(reason="")),
    ("adjudication_once_a_pair", lambda w: w.copy(w.adjudication())),
    ("adjudication_decision", lambda w: w.adjudication(decision="tie")),
    ("adjudication_revoked_by_somebody", lambda w: w.adjudication(revoked_at=NOW)),
    ("adjudication_revoked_by_somebody", lambda w: w.adjudication(revoked_by="lead")),
    ("adjudication_has_a_reason", lambda w: w.adjudication(reason="")),
    ("release_version_once", lambda w: w.copy(w.release(), job=w.run())),
    ("campaign_lease_positive", lambda w: change(Campaign.objects, lease_seconds=0)),
    ("campaign_at_most_half_checks", lambda w: change(Campaign.objects, gold_percent=51)),
    ("campaign_at_most_half_checks", lambda w: change(Campaign.objects, repeat_percent=51)),
    ("campaign_pass_marks_in_percent", lambda w: change(Campaign.objects, gold_pass_percent=101)),
    ("campaign_pass_marks_in_percent", lambda w: change(
        Campaign.objects, qualification_pass_percent=101)),
    ("campaign_checks_at_least_one", lambda w: change(Campaign.objects, gold_minimum=0)),
    ("campaign_checks_at_least_one", lambda w: change(Campaign.objects, qualification_tries=0)),
    ("guideline_version_once", lambda w: w.copy(Guideline.objects.get())),
    ("membership_once", lambda w: w.copy(
        w.members[0], rater=Rater.objects.create(pair_set=w.pair_set, pseudonym="x"))),
    ("membership_rater_iff_annotator", lambda w: w.copy(
        w.members[0], user=UserFactory.create(), rater=None)),
    ("membership_rater_iff_annotator", lambda w: change(Membership.objects, role="lead")),
    ("membership_standing_has_a_reason", lambda w: change(Membership.objects, standing="paused")),
    ("membership_standing_has_a_reason", lambda w: change(Membership.objects, standing="left")),
    ("acknowledgement_once", lambda w: w.copy(Acknowledgement.objects.order_by("id")[0])),
    ("pair_seats_not_negative", lambda w: change(PairSeats.objects, free=-1)),
    ("pair_seats_position_once", lambda w: change(PairSeats.objects, position=7)),
    ("assignment_once_a_pair_and_rater", lambda w: w.assign(membership=w.members[0])),
    ("assignment_one_open_a_rater", lambda w: [
        w.assign(pair=pair) for pair in w.pair_set.pairs.order_by("id")]),
    ("assignment_judgement_iff_submitted", lambda w: w.assign(state="submitted")),
    ("assignment_judgement_iff_submitted", lambda w: change(Assignment.objects, state="expired")),
    ("assignment_submitted_at_iff_submitted", lambda w: w.assign(state="lost")),
    ("assignment_submitted_at_iff_submitted", lambda w: w.assign(
        state="lost", submitted_at=NOW)),
    ("assignment_judgement_iff_submitted", lambda w: change(
        Assignment.objects, state="open", submitted_at=None)),
    ("assignment_judgement_iff_submitted", lambda w: change(
        Assignment.objects, purpose="repeat", repeats=w.assign())),
    ("assignment_submitted_at_iff_submitted", lambda w: change(
        Assignment.objects, submitted_at=None)),
    ("assignment_submitted_at_iff_submitted", lambda w: w.assign(submitted_at=NOW)),
    ("assignment_submitted_at_iff_submitted", lambda w: w.assign(
        state="expired", submitted_at=NOW)),
    ("assignment_item_iff_known", lambda w: w.assign(purpose="gold")),
    ("assignment_item_iff_known", lambda w: w.assign(purpose="training")),
    ("assignment_item_iff_known", lambda w: w.assign(purpose="qualification", attempt=1)),
    ("assignment_item_iff_known", lambda w: w.assign(check_item=w.item())),
    ("assignment_item_iff_known", lambda w: w.assign(
        purpose="repeat", repeats=w.held, check_item=w.item())),
    ("assignment_item_iff_known", lambda w: w.assign(purpose="odd")),
    ("assignment_repeats_iff_repeat", lambda w: w.assign(purpose="repeat")),
    ("assignment_repeats_iff_repeat", lambda w: w.assign(repeats=w.held)),
    ("assignment_attempt_iff_qualification", lambda w: w.assign(attempt=1)),
    ("assignment_attempt_iff_qualification", lambda w: w.assign(
        purpose="qualification", check_item=w.item(purpose="qualification"))),
    ("assignment_shown_left", lambda w: w.assign(shown_left="")),
    # A seat is repeated once, whatever became of the repetition.
    ("annotation_assignment_repeats_id_key", lambda w: [
        w.assign(purpose="repeat", repeats=w.held, state=state) for state in ("expired", "open")]),
    ("check_item_position_once", lambda w: [w.item(), w.item(pair=w.pair)]),
    ("check_item_expects_something", lambda w: w.item(expected={})),
    ("check_answer_revision_once", lambda w: w.copy(w.check_answer(), is_current=False)),
    ("check_answer_one_current", lambda w: w.copy(w.check_answer(), revision=2)),
    ("check_answer_right_at_most_asked", lambda w: w.check_answer(right=3)),
    ("invite_uses_at_most_allowed", lambda w: w.invite(uses=3)),
    ("invite_for_somebody", lambda w: w.invite(max_uses=0, uses=0)),
    ("study_pairs_and_minutes", lambda w: w.study(pairs_each=0)),
    ("study_pairs_and_minutes", lambda w: w.study(minutes=0)),
    ("crowd_place_once_a_participant", lambda w: w.copy(w.place(), membership=w.members[1])),
    ("annotation_crowdplace_membership_id_key", lambda w: w.copy(w.place(), participant="p-2")),
    ("crowd_place_ended_iff_not_started", lambda w: w.place(state="completed")),
    ("crowd_place_ended_iff_not_started", lambda w: w.place(ended_at=NOW)),
    ("flag_once_while_unresolved", lambda w: w.copy(w.flag())),
    ("flag_resolved_by_somebody", lambda w: w.flag(resolved_at=NOW)),
    ("flag_resolved_by_somebody", lambda w: w.flag(resolved_by=w.members[0].user)),
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
    world.pattern_verdict()
    world.run(kind="analysis", of=world.run())
    world.policy()
    world.policy(version=2)
    world.analysis()
    world.exclusion()
    world.exclusion(pair=world.pair)
    world.exclusion(lifted_at=NOW, lifted_by="lead")
    world.adjudication()
    world.adjudication(revoked_at=NOW, revoked_by="lead")
    world.release()
    world.check_answer(
        assignment=world.assign(
            membership=world.members[2],
            pair=(item := world.item()).pair,
            purpose="gold",
            check_item=item,
        )
    )
    world.assign(membership=world.members[0], purpose="repeat", repeats=world.held)
    world.invite()
    world.invite(max_uses=None, uses=9)
    study = world.study()
    world.place(study=study)
    world.place(
        study=study, participant="p-2", membership=world.members[1], state="completed", ended_at=NOW
    )
    flag = world.flag()
    change(Flag.objects, resolved_at=NOW, resolved_by=world.members[1].user)
    world.copy(flag)
    change(Membership.objects, standing="paused", standing_reason="lead")
    change(Membership.objects, standing="active", standing_reason="")
    connection.check_constraints()


def test_a_qualification_is_tried_again_with_the_same_pairs(world: World) -> None:
    item = world.item(purpose="qualification")
    seats = {"purpose": "qualification", "check_item": item, "pair": item.pair}
    for attempt in (1, 2):
        world.assign(state="submitted", submitted_at=NOW, attempt=attempt, **seats)
    with refused("assignment_once_a_pair_and_rater"):
        world.assign(state="submitted", submitted_at=NOW, attempt=2, **seats)


def test_a_pair_cannot_want_fewer_judgements_than_it_has_seats_used(world: World) -> None:
    world.judge()
    with refused("judgement_seat_in_range"):
        change(Pair.objects.filter(pk=world.pair.pk), raters_per_pair=1)
    change(Pair.objects.filter(pk=world.pair.pk), raters_per_pair=3)
    assert set(Judgement.objects.values_list("raters_per_pair", flat=True)) == {3}
    world.judge(rater=world.members[2].rater, seat=3, raters_per_pair=3)


def test_a_revision_takes_the_place_of_the_first_answer(world: World) -> None:
    first = world.judgement
    with refused("judgement_seat_once_a_pair"):
        world.judge(rater=first.rater, seat=1, revision=2)
    # The first one yields before the second comes: its id is known before.
    change(Judgement.objects, superseded_by=first.pk + 1_000)
    revision = world.judge(pk=first.pk + 1_000, rater=first.rater, seat=1, revision=2)
    connection.check_constraints()
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
