"""Gold and repeats among a rater's pairs: at the rate, on nobody's place, and a reason to pause."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from django.db import OperationalError

from annotation.domain import mixing
from annotation.domain.rubric import SKIP, Answer
from annotation.models import Assignment, CheckAnswer, Event, PairSeats
from annotation.services import checks, standing
from annotation.services.answers import Outcome, stored_answer
from annotation.services.campaigns import import_votes_into
from annotation.services.seats import NothingLeft, give_back, renew_lease
from benchmark.models import Judgement, Tally
from tests.annotation.checking import checked_campaign, on_check
from tests.annotation.seating import LEASE, NOW, answer, assert_sound, fresh, revise, submit
from tests.annotation.services.stepping import MINUTE, judge_all, seat, step, why
from tests.annotation.threads import together
from tests.factories import UserFactory, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db

VOTE, GOLD, REPEAT = "vote", "gold", "repeat"


def nth_gold(given: list[Assignment], number: int) -> int:
    """How many seats were given up to that gold one."""
    return [place for place, each in enumerate(given, 1) if each.purpose == GOLD][number - 1]


class TestChecksAmongPairs:
    def test_they_come_at_the_rate_and_take_no_place(self, tmp_path: Path) -> None:
        campaign, (rater,) = checked_campaign(
            tmp_path, gold=40, pairs=60, gold_percent=20, repeat_percent=20
        )
        given = judge_all(rater)
        purposes = Counter(each.purpose for each in given)
        assert purposes[VOTE] == 60
        total = len(given)
        # One in each block of five slots, to within the block at the end.
        assert abs(purposes[GOLD] - total // 5) <= 1
        assert total // 5 - 2 <= purposes[REPEAT] <= total // 5 + 1
        for start in range(0, total - 4, 5):
            block = Counter(each.purpose for each in given[start : start + 5])
            assert block[GOLD] == 1, start
        # Nobody's places, nobody's votes.
        assert set(PairSeats.objects.values_list("free", flat=True)) == {8}
        assert Judgement.objects.count() == 60
        assert sum(tally.a + tally.b for tally in Tally.objects.all()) == 120
        assert_sound(campaign)

    def test_they_are_where_the_seed_has_drawn_them(self, tmp_path: Path) -> None:
        campaign, raters = checked_campaign(
            tmp_path, gold=20, pairs=20, annotators=2, gold_percent=25
        )
        orders = []
        for rater in raters:
            assert rater.rater is not None
            purposes = [each.purpose for each in judge_all(rater)]
            orders.append(purposes)
            assert purposes == [
                mixing.due(
                    seed=campaign.pair_set.seed,
                    rater=rater.rater.pseudonym,
                    slot=slot,
                    gold_percent=25,
                    repeat_percent=0,
                )
                for slot in range(len(purposes))
            ]
        assert orders[0] != orders[1]

    def test_without_any_left_pairs_come_instead(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(tmp_path, gold=1, pairs=12, gold_percent=50)
        purposes = Counter(each.purpose for each in judge_all(rater))
        assert purposes == {VOTE: 12, GOLD: 1}

    def test_without_a_pair_to_vote_on_there_is_no_check(self, tmp_path: Path) -> None:
        """It would be known by coming all the same."""
        _, raters = checked_campaign(tmp_path, gold=20, pairs=3, annotators=8, gold_percent=50)
        PairSeats.objects.update(free=0)
        assert {why(rater) for rater in raters} == {NothingLeft.ALL_FULL}
        PairSeats.objects.update(free=8)
        given = [judge_all(rater) for rater in raters]
        assert {each[0].purpose for each in given} == {VOTE, GOLD}
        assert {each[-1].purpose for each in given} == {VOTE}

    def test_a_check_does_not_outlive_the_lease_where_a_pair_does_not(self, tmp_path: Path) -> None:
        """Else a rater would know checks by coming back late: pairs are swept, checks stay."""
        campaign, raters = checked_campaign(
            tmp_path, gold=8, pairs=8, annotators=5, gold_percent=50
        )
        *coming_late, other = raters
        held = {rater.pk: seat(rater) for rater in coming_late}
        late = NOW + LEASE
        assert {each.purpose for each in held.values()} == {VOTE, GOLD}
        seat(other, now=late)
        for rater in coming_late:
            old = Assignment.objects.get(pk=held[rater.pk].pk)
            assert old.state == Assignment.State.EXPIRED
            new = seat(rater, now=late)
            assert new.pk != old.pk
            give_back(membership=fresh(rater))
            # All of them can be taken back, and all late answers count.
            assert renew_lease(assignment=Assignment.objects.get(pk=old.pk), now=late)
            give_back(membership=fresh(rater))
            old.refresh_from_db()
            after = late + 2 * LEASE
            assert submit(seat=old, answer=on_check(), now=after) is Outcome.KEPT_AFTER_EXPIRY
            assert submit(seat=old, answer=on_check(), now=after) is Outcome.ALREADY_SUBMITTED
            assert not renew_lease(assignment=Assignment.objects.get(pk=old.pk), now=after)
        assert_sound(campaign)

    def test_a_late_answer_to_a_gold_pair_that_was_given_again(self, tmp_path: Path) -> None:
        """The newer seat takes it, as with votes."""
        campaign, (rater,) = checked_campaign(tmp_path, gold=1, pairs=30, gold_percent=50)
        purpose = ""
        minutes = count()
        while purpose != GOLD:
            old = seat(rater, now=NOW + next(minutes) * MINUTE)
            purpose = old.purpose
            if purpose != GOLD:
                submit(seat=old, answer=answer(), now=NOW)
        give_back(membership=fresh(rater))
        purpose = ""
        while purpose != GOLD:
            new = seat(rater, now=NOW + next(minutes) * MINUTE)
            purpose = new.purpose
            if purpose != GOLD:
                submit(seat=new, answer=answer(), now=NOW)
        assert (new.pair_id, new.shown_left) == (old.pair_id, old.shown_left)
        old = Assignment.objects.get(pk=old.pk)
        assert submit(seat=old, answer=answer("A", "A"), now=NOW) is Outcome.ACCEPTED
        assert submit(seat=new, answer=answer("B", "B"), now=NOW) is Outcome.ALREADY_SUBMITTED
        assert stored_answer(new) == (answer("A", "A"), 1)
        old.refresh_from_db()
        assert old.state == Assignment.State.EXPIRED
        assert_sound(campaign)

    def test_a_correction_of_a_check_is_a_revision(self, tmp_path: Path) -> None:
        campaign, (rater,) = checked_campaign(
            tmp_path, gold=10, pairs=20, gold_percent=25, repeat_percent=25
        )
        given = {each.purpose: each for each in judge_all(rater)}
        outcomes = []
        for purpose in (VOTE, GOLD, REPEAT):
            held = Assignment.objects.get(pk=given[purpose].pk)
            for reply, revision in (
                (answer("B", "A"), 1),  # a correction
                (answer("B", "A"), 1),  # the same again
                (answer("B", "B"), 1),  # of one that is not the newest
                (Answer(dict.fromkeys(("helpfulness", "personalization"), SKIP), "", "broken"), 2),
            ):
                outcomes.append(revise(seat=held, answer=reply, revision=revision, now=NOW))
            stored = stored_answer(held)
            assert stored is not None
            assert stored[1] == 3
        kinds = [outcomes[:4], outcomes[4:8], outcomes[8:]]
        assert (
            kinds
            == [[Outcome.REVISED, Outcome.REVISED, Outcome.CHANGED_ELSEWHERE, Outcome.REVISED]] * 3
        )
        assert_sound(campaign)

    def test_missing_too_much_gold_pauses(self, tmp_path: Path) -> None:
        campaign, (rater, other) = checked_campaign(
            tmp_path,
            gold=20,
            pairs=40,
            annotators=2,
            gold_percent=25,
            gold_minimum=4,
            gold_pass_percent=70,
        )
        given = judge_all(rater, right=1)
        # Not in the answer that told, which would say which pair was gold: a few answers later.
        assert len(given) == nth_gold(given, 4) + mixing.PAUSE_GAP
        assert why(rater) == NothingLeft.PAUSED
        event = Event.objects.get(action="rater:paused")
        assert event.data["reason"] == "gold"
        assert (event.data["items"], event.data["asked"], event.data["right"]) == (4, 8, 4)
        # What was answered before still counts; others go on.
        votes = [each for each in given if each.purpose == VOTE]
        assert Judgement.objects.count() == len(votes)
        held = Assignment.objects.get(pk=given[0].pk)
        assert revise(seat=held, answer=answer(), revision=1, now=NOW) is Outcome.NOT_ACTIVE
        assert isinstance(step(other), Assignment)
        # Whom the lead lets go on is measured anew.
        late = NOW + 5 * LEASE
        standing.resume(membership=fresh(rater), actor=UserFactory.create(), now=late)
        more = judge_all(rater, right=1, start=late + MINUTE)
        assert len(more) == nth_gold(more, 4) + mixing.PAUSE_GAP
        assert why(rater, now=late) == NothingLeft.PAUSED
        assert_sound(campaign)

    def test_any_answer_may_bring_the_pause(self, tmp_path: Path) -> None:
        """Votes as well as checks: the kind of the last one is by chance."""
        _, raters = checked_campaign(
            tmp_path, gold=20, pairs=40, annotators=8, gold_percent=40, gold_minimum=1
        )
        last = {judge_all(rater, right=0)[-1].purpose for rater in raters}
        assert {why(rater) for rater in raters} == {NothingLeft.PAUSED}
        assert last == {VOTE, GOLD}

    def test_an_answer_is_kept_when_judging_gold_fails(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign, (rater,) = checked_campaign(tmp_path, gold=4, pairs=4, gold_percent=50)

        def fail(**_: object) -> bool:
            raise OperationalError

        kinds = set()
        for minute in range(4):
            now = NOW + minute * MINUTE
            given = seat(rater, now=now)
            kinds.add(given.purpose)
            with monkeypatch.context() as patch:
                patch.setattr(checks, "judge_gold", fail)
                with pytest.raises(OperationalError):
                    submit(seat=given, answer=answer(), now=now)
            assert stored_answer(Assignment.objects.get(pk=given.pk)) == (answer(), 1)
            assert submit(seat=given, answer=answer(), now=now) is Outcome.ALREADY_SUBMITTED
        assert kinds == {VOTE, GOLD}
        assert_sound(campaign)

    def test_enough_right_gold_does_not(self, tmp_path: Path) -> None:
        _, (rater,) = checked_campaign(
            tmp_path, gold=20, pairs=20, gold_percent=50, gold_minimum=1, gold_pass_percent=50
        )
        judge_all(rater, right=1)
        assert why(rater) == NothingLeft.ALL_JUDGED


@pytest.mark.django_db(transaction=True)
class TestAtTheSameMoment:
    def test_eight_raters_and_all_kinds_of_seats(self, tmp_path: Path) -> None:
        campaign, raters = checked_campaign(
            tmp_path,
            training=1,
            qualification=1,
            gold=6,
            pairs=12,
            annotators=8,
            gold_percent=25,
            repeat_percent=25,
        )
        together(*(partial(judge_all, rater) for rater in raters))
        assert Judgement.objects.count() == 8 * 12
        assert set(PairSeats.objects.values_list("free", flat=True)) == {1}
        purposes = Counter(Assignment.objects.values_list("purpose", flat=True))
        assert purposes["training"] == purposes["qualification"] == 8
        assert purposes[GOLD] >= 8
        assert purposes[REPEAT] >= 8
        assert set(Assignment.objects.values_list("state", flat=True)) == {"submitted"}
        assert_sound(campaign)

    def test_one_person_in_eight_tabs(self, tmp_path: Path) -> None:
        campaign, (rater,) = checked_campaign(
            tmp_path, training=1, gold=4, pairs=6, gold_percent=50
        )
        for minute in count():
            now = NOW + minute * MINUTE
            steps = together(*[partial(step, rater, now=now)] * 8)
            held = {each.pk: each for each in steps if isinstance(each, Assignment)}
            if not held:
                break
            assert len(held) == 1
            assert len(steps) == 8
            [given] = held.values()
            reply = on_check()
            outcomes = together(*[partial(submit, seat=given, answer=reply, now=now)] * 4)
            assert Counter(outcomes) == {Outcome.ACCEPTED: 1, Outcome.ALREADY_SUBMITTED: 3}
        assert Judgement.objects.count() == 6
        assert CheckAnswer.objects.count() == Assignment.objects.exclude(purpose=VOTE).count()
        assert_sound(campaign)

    def test_checks_beside_an_import_of_votes(self, tmp_path: Path) -> None:
        campaign, raters = checked_campaign(
            tmp_path, gold=4, pairs=6, annotators=2, gold_percent=50
        )
        rows = vote_rows(campaign.pair_set, raters=3)
        path = write_jsonl(tmp_path / "votes.jsonl", rows)
        together(
            *(partial(judge_all, rater) for rater in raters),
            partial(import_votes_into, campaign=campaign, path=path),
        )
        assert Judgement.objects.count() == 6 * 5
        assert_sound(campaign)
