"""Corrections: a new revision in the place of the former answer, which stays as it was."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.domain.rubric import Answer
from annotation.domain.timing import read_timing
from annotation.models import Assignment, Event, Membership, PairSeats
from annotation.services import answers
from annotation.services.answers import Outcome, stored_answer
from annotation.services.campaigns import import_votes_into, move_campaign
from annotation.services.seats import NothingLeft, claim_seat, free_lapsed_seats
from benchmark.models import CriterionVerdict, Judgement, Tally, Verdict, Vote
from tests.annotation.seating import (
    LEASE,
    NOW,
    answer,
    assert_sound,
    fresh,
    revise,
    seat,
    seated_campaign,
    submit,
    votes_of,
)
from tests.annotation.threads import together
from tests.benchmark.jobs.runs import aggregated
from tests.factories import vote_rows, write_jsonl

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=5)
SKIPPED = Answer(choices={"helpfulness": "skip", "personalization": "skip"}, skip_reason="broken")


def reloaded(held: Assignment) -> Assignment:
    """As the next request loads it."""
    return Assignment.objects.select_related("campaign__pair_set", "membership__user").get(
        pk=held.pk
    )


def answered(rater: Membership, first: Answer | None = None) -> Assignment:
    """A seat with an answer that took 40 seconds."""
    held = seat(rater)
    at = NOW + timedelta(seconds=40)
    assert submit(seat=held, answer=first or answer("A", "A"), now=at) is Outcome.ACCEPTED
    return reloaded(held)


def tallies() -> dict[str, tuple[int, int, int, int]]:
    rows = Tally.objects.values_list("criterion__key", "a", "b", "tie", "skip")
    return {key: counts for key, *counts in rows for counts in [tuple(counts)]}


class TestRevise:
    def test_the_former_answer_stays_and_the_new_one_counts(self, tmp_path: Path) -> None:
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=1, raters_per_pair=3)
        held = answered(rater)
        submit(seat=seat(other), answer=answer("A", "B"), now=NOW)
        before = {row.pk: row for row in Judgement.objects.all()}
        former = Judgement.objects.get(assignment=held)
        outcome = revise(seat=held, answer=answer("B", "A", "Hm."), revision=1, now=LATER)
        assert outcome is Outcome.REVISED

        revised = Judgement.objects.get(assignment=held)
        former.refresh_from_db()
        assert former.superseded_by == revised
        assert votes_of(former) == {"helpfulness": "A", "personalization": "A"}
        assert votes_of(revised) == {"helpfulness": "B", "personalization": "A"}
        assert (revised.revision, revised.comment, former.comment) == (2, "Hm.", "")
        for field in ("pair_id", "rater_id", "seat", "raters_per_pair", "shown_left", "opened_at"):
            assert getattr(revised, field) == getattr(former, field)
        assert (former.submitted_at, revised.submitted_at) == (
            NOW + timedelta(seconds=40),
            LATER,
        )
        assert revised.pk > max(before)
        assert Judgement.objects.count() == 3
        assert Vote.objects.count() == 6
        assert tallies() == {"helpfulness": (1, 1, 0, 0), "personalization": (1, 1, 0, 0)}
        assert PairSeats.objects.get().free == 1
        seats = Assignment.objects.get(pk=held.pk)
        assert seats.submitted_at == NOW + timedelta(seconds=40)
        event = Event.objects.get(action="judgement:revised")
        assert (event.actor, event.data) == (
            rater.user,
            {"seat": str(held.pk), "revision": 2},
        )
        assert_sound(campaign)

    def test_one_criterion_alone(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        revise(seat=held, answer=answer("A", "B"), revision=1, now=LATER)
        assert tallies() == {"helpfulness": (1, 0, 0, 0), "personalization": (0, 1, 0, 0)}
        assert_sound(campaign)

    def test_of_what_is_no_vote(self, tmp_path: Path) -> None:
        """A comment, confidence or reasons alone are a correction as well."""
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        given = replace(answer("A", "A"), confidence=3, reasons=("taste", "tone"))
        assert revise(seat=held, answer=given, revision=1, now=LATER) is Outcome.REVISED
        revised = Judgement.objects.get(assignment=held)
        assert (revised.revision, revised.confidence, revised.reasons) == (2, 3, ["taste", "tone"])
        assert stored_answer(held) == (given, 2)
        assert tallies() == {"helpfulness": (1, 0, 0, 0), "personalization": (1, 0, 0, 0)}
        assert_sound(campaign)

    def test_a_skip_becomes_a_vote_and_a_skip_again(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater, SKIPPED)
        assert stored_answer(held) == (SKIPPED, 1)
        assert tallies()["helpfulness"] == (0, 0, 0, 1)
        revise(seat=held, answer=answer("B", "B"), revision=1, now=LATER)
        assert stored_answer(held) == (answer("B", "B"), 2)
        assert tallies()["helpfulness"] == (0, 1, 0, 0)
        revise(seat=held, answer=SKIPPED, revision=2, now=LATER)
        assert stored_answer(held) == (SKIPPED, 3)
        assert tallies() == {"helpfulness": (0, 0, 0, 1), "personalization": (0, 0, 0, 1)}
        assert set(Vote.objects.filter(choice="skip").values_list("reason", flat=True)) == {
            "broken"
        }
        assert_sound(campaign)

    def test_another_reason_for_skipping_is_a_correction(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater, SKIPPED)
        unsafe = replace(SKIPPED, skip_reason="unsafe")
        assert revise(seat=held, answer=unsafe, revision=1, now=LATER) is Outcome.REVISED
        assert stored_answer(held) == (unsafe, 2)
        assert_sound(campaign)

    def test_times_add_up(self, tmp_path: Path) -> None:
        _, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        spans = {"opened_ms": "30000", "first_ms": "4000", "active_ms": "20000"}
        at = NOW + timedelta(seconds=40)
        first = read_timing(spans, since=NOW, now=at)
        answers.submit(seat=held, answer=answer("A", "A"), timing=first, now=at)
        held = reloaded(held)
        for revision, given in ((1, answer("A", "B")), (2, answer("B", "B"))):
            spans = {"opened_ms": "5000", "first_ms": "1000", "active_ms": "4500"}
            timing = read_timing(spans, since=at, now=LATER, is_correction=True)
            answers.revise(seat=held, answer=given, timing=timing, revision=revision)
        newest = Judgement.objects.get(assignment=held)
        assert (newest.seconds, newest.active_seconds) == (40.0, 29.0)
        assert newest.opened_at == first.opened_at
        assert newest.first_action_at == first.first_action_at
        assert newest.submitted_at == LATER
        # Active time of which a part is not known is not known.
        timing = read_timing({}, since=at, now=LATER, is_correction=True)
        answers.revise(seat=held, answer=answer("A", "A"), timing=timing, revision=3)
        newest = Judgement.objects.get(assignment=held)
        assert (newest.seconds, newest.active_seconds) == (40.0, None)

    def test_the_same_correction_again_is_no_second_one(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        for _ in range(3):
            outcome = revise(seat=held, answer=answer("B", "B"), revision=1, now=LATER)
            assert outcome is Outcome.REVISED
        # Nor is one that changes nothing.
        assert revise(seat=held, answer=answer("B", "B"), revision=2, now=LATER) is Outcome.REVISED
        assert Judgement.objects.count() == 2
        assert Event.objects.filter(action="judgement:revised").count() == 1
        assert_sound(campaign)

    @pytest.mark.parametrize("revision", [1, 3, 99])
    def test_of_an_answer_that_is_not_the_newest(self, tmp_path: Path, revision: int) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        revise(seat=held, answer=answer("B", "B"), revision=1, now=LATER)
        outcome = revise(seat=held, answer=answer("A", "B"), revision=revision, now=LATER)
        assert outcome is Outcome.CHANGED_ELSEWHERE
        assert stored_answer(held) == (answer("B", "B"), 2)
        assert_sound(campaign)

    @pytest.mark.parametrize("state", ["paused", "closed"])
    def test_not_when_the_campaign_takes_no_answers(self, tmp_path: Path, state: str) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        move_campaign(campaign=campaign, state=state)
        given = answer("B", "B")
        assert revise(seat=held, answer=given, revision=1, now=LATER) is Outcome.CAMPAIGN_CLOSED
        assert stored_answer(held) == (answer("A", "A"), 1)
        move_campaign(campaign=campaign, state="open")
        assert revise(seat=held, answer=given, revision=1, now=LATER) is Outcome.REVISED
        assert_sound(campaign)

    @pytest.mark.parametrize("standing", ["paused", "excluded", "left"])
    def test_not_by_a_rater_who_is_out(self, tmp_path: Path, standing: str) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        Membership.objects.update(standing=standing, standing_reason="lead")
        given = answer("B", "B")
        assert revise(seat=held, answer=given, revision=1, now=LATER) is Outcome.NOT_ACTIVE
        assert stored_answer(held) == (answer("A", "A"), 1)
        assert_sound(campaign)

    @pytest.mark.parametrize("is_swept", [False, True])
    def test_not_of_a_seat_without_an_answer(self, tmp_path: Path, is_swept: bool) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = seat(rater)
        if is_swept:
            free_lapsed_seats(campaign=campaign, now=NOW + LEASE)
        outcome = revise(seat=reloaded(held), answer=answer(), revision=1, now=LATER)
        assert outcome is Outcome.EXPIRED
        assert stored_answer(held) is None
        assert not Judgement.objects.exists()
        assert_sound(campaign)

    def test_not_by_way_of_an_expired_seat_on_the_same_pair(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        old = seat(rater)
        free_lapsed_seats(campaign=campaign, now=NOW + LEASE)
        held = answered(rater)
        assert held.pk != old.pk
        outcome = revise(seat=reloaded(old), answer=answer("B", "B"), revision=1, now=LATER)
        assert outcome is Outcome.EXPIRED
        assert stored_answer(held) == (answer("A", "A"), 1)
        assert_sound(campaign)

    def test_it_needs_no_place(self, tmp_path: Path) -> None:
        """A pair that is full, and a rater who holds a seat elsewhere."""
        campaign, (rater, other) = seated_campaign(tmp_path, pairs=2, raters_per_pair=1)
        held = answered(rater)
        elsewhere = seat(rater)
        assert claim_seat(membership=fresh(other), now=NOW) == NothingLeft(
            NothingLeft.ALL_TAKEN, NOW + LEASE
        )
        outcome = revise(seat=held, answer=answer("B", "B"), revision=1, now=LATER)
        assert outcome is Outcome.REVISED
        assert submit(seat=elsewhere, answer=answer(), now=LATER) is Outcome.ACCEPTED
        assert_sound(campaign)

    def test_a_correction_without_a_choice_changes_nothing(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        with pytest.raises(KeyError):
            revise(seat=held, answer=Answer(choices={"helpfulness": "B"}), revision=1, now=LATER)
        assert stored_answer(held) == (answer("A", "A"), 1)
        assert Judgement.objects.count() == 1
        assert_sound(campaign)


class TestBesideVotesMadeElsewhere:
    def rows(self, rater: Membership, choice: str = "A") -> list[dict[str, object]]:
        """A judgement of each pair under the rater's pseudonym."""
        assert rater.rater is not None
        rows = vote_rows(rater.campaign.pair_set, raters=1, choose=lambda *_: choice)
        return [row | {"rater": rater.rater.pseudonym} for row in rows]

    def test_an_answer_that_came_in_this_way_can_be_corrected(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        held = seat(rater, now=timezone.now())
        rows = [row | {"reason": "It is shorter."} for row in self.rows(rater)]
        # Imported votes need not say what stood left; the rater saw what the seat says.
        Assignment.objects.filter(pk=held.pk).update(shown_left="B")
        path = write_jsonl(tmp_path / "votes.jsonl", rows)
        assert not import_votes_into(campaign=campaign, path=path).problems
        held = reloaded(held)
        # The reason that a vote made elsewhere gives for its choice is no skip.
        assert stored_answer(held) == (answer("A", "A"), 1)
        outcome = revise(seat=held, answer=answer("B", "A"), revision=1, now=timezone.now())
        assert outcome is Outcome.REVISED
        first, second = Judgement.objects.order_by("revision")
        assert (first.shown_left, second.shown_left) == ("A", "B")
        assert (first.seconds, second.seconds) == (10.5, 10.5)
        assert second.opened_at is None
        assert tallies() == {"helpfulness": (0, 1, 0, 0), "personalization": (1, 0, 0, 0)}
        assert_sound(campaign)

    def test_the_newest_revision_is_what_an_import_must_agree_with(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        held = answered(rater)
        revise(seat=held, answer=answer("B", "B"), revision=1, now=LATER)
        former = write_jsonl(tmp_path / "former.jsonl", self.rows(rater, "A"))
        report = import_votes_into(campaign=campaign, path=former)
        assert [problem.field for problem in report.problems] == ["choice", "choice"]
        newest = write_jsonl(tmp_path / "newest.jsonl", self.rows(rater, "B"))
        report = import_votes_into(campaign=campaign, path=newest)
        assert (report.problems, report.new_judgements) == ([], 0)
        assert_sound(campaign)


@pytest.mark.django_db(transaction=True)
class TestAtTheSameMoment:
    def test_two_tabs_correct_one_answer(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path)
        held = answered(rater)
        tabs = [
            partial(revise, seat=reloaded(held), answer=given, revision=1, now=LATER)
            for given in (answer("A", "B"), answer("B", "A"))
            for _ in range(3)
        ]
        outcomes = together(*tabs)
        # One correction came first, with its retries; the other one has lost.
        assert Counter(outcomes) == {Outcome.REVISED: 3, Outcome.CHANGED_ELSEWHERE: 3}
        won = answer("A", "B") if outcomes[0] is Outcome.REVISED else answer("B", "A")
        assert stored_answer(held) == (won, 2)
        assert Judgement.objects.count() == 2
        assert Event.objects.filter(action="judgement:revised").count() == 1
        assert_sound(campaign)

    def test_the_raters_of_one_pair(self, tmp_path: Path) -> None:
        """Some correct, some judge, some look for a pair; nobody waits in a circle."""
        campaign, raters = seated_campaign(tmp_path, pairs=2, annotators=9)
        correcting, judging, looking = raters[:3], raters[3:6], raters[6:]
        held = [answered(rater) for rater in correcting]
        open_seats = [seat(rater) for rater in judging]
        outcomes = together(
            *(
                partial(revise, seat=each, answer=answer("B", "B"), revision=1, now=LATER)
                for each in held
            ),
            *(partial(submit, seat=each, answer=answer("A", "B"), now=NOW) for each in open_seats),
            *(partial(seat, rater) for rater in looking),
        )
        assert outcomes[:6] == [Outcome.REVISED] * 3 + [Outcome.ACCEPTED] * 3
        assert tallies()["helpfulness"] == (3, 3, 0, 0)
        assert_sound(campaign)

    def test_a_correction_and_an_import_of_votes(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=3)
        held = answered(rater)
        path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=4))
        report, outcome = together(
            partial(import_votes_into, campaign=campaign, path=path),
            partial(revise, seat=held, answer=answer("B", "B"), revision=1, now=LATER),
        )
        assert outcome is Outcome.REVISED
        assert getattr(report, "new_judgements", None) == 12
        assert_sound(campaign)


@pytest.mark.django_db(transaction=True)
class TestRuns:
    """Each aggregation counts the answers that stood when it began, and says so for ever."""

    def test_before_and_after_a_correction(self, tmp_path: Path) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        held = answered(rater)
        before, again = aggregated(campaign.pair_set), aggregated(campaign.pair_set)
        revise(seat=held, answer=answer("B", "B"), revision=1, now=LATER)
        after = aggregated(campaign.pair_set)
        assert before.digest == again.digest != after.digest
        counted = {
            run.pk: set(CriterionVerdict.objects.filter(run=run).values_list("a", "b"))
            for run in (before, again, after)
        }
        assert counted == {before.pk: {(1, 0)}, again.pk: {(1, 0)}, after.pk: {(0, 1)}}
        assert Verdict.objects.filter(run__in=[before, after]).count() == 2

        first, second = Judgement.objects.order_by("revision")
        assert before.last_judgement == first.pk < second.pk == after.last_judgement
        # Asked now, the earlier run still counts the earlier answer.
        assert list(Judgement.objects.as_of(before.last_judgement)) == [first]
        assert list(Judgement.objects.as_of(after.last_judgement)) == [second]
        assert list(Judgement.objects.current()) == [second]

    def test_a_snapshot_waits_for_a_correction_and_keeps_the_next_one_out(
        self, tmp_path: Path
    ) -> None:
        campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
        held = answered(rater)
        revise(seat=held, answer=answer("A", "B"), revision=1, now=LATER)
        with campaign.pair_set.snapshot() as last:
            [outcome] = together(
                partial(revise, seat=held, answer=answer("B", "B"), revision=2, now=LATER)
            )
            assert outcome is Outcome.REVISED
            seen = [row.revision for row in Judgement.objects.as_of(last)]
            counted = tallies()
        assert seen == [2]
        assert counted == {"helpfulness": (1, 0, 0, 0), "personalization": (0, 1, 0, 0)}
        assert [row.revision for row in Judgement.objects.as_of(last)] == [2]
        assert [row.revision for row in Judgement.objects.current()] == [3]
        assert_sound(campaign)
