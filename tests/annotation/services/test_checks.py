"""Gold and repeats: which seat is given, and what answers lead to."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from annotation.domain.mixing import REPEAT_GAP
from annotation.domain.scoring import Score
from annotation.models import Assignment, CheckAnswer, CheckItem, Membership
from annotation.selectors.checks import check_figures
from annotation.services import standing
from annotation.services.checks import current_answer, pause, take_check_seat
from annotation.services.seats import give_back
from benchmark.models import Judgement, Tally, Vote
from tests.annotation.checking import (
    MINUTE,
    SKIPPED,
    answer_gold,
    checked_campaign,
    events,
    judge,
    judge_gold,
    on_check,
    onboard,
    store,
    take,
    take_gold,
)
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
)
from tests.factories import make_member

pytestmark = pytest.mark.django_db


# Gold


def test_a_gold_seat_looks_like_a_vote(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=1, pairs=1)
    given = take_gold(rater)
    item = CheckItem.objects.get()
    assert (given.purpose, given.check_item, given.pair) == ("gold", item, item.pair)
    assert (given.state, given.claimed_at, given.lease_expires_at) == ("open", NOW, NOW + LEASE)
    assert (given.attempt, given.repeats, given.judgement) == (0, None, None)
    give_back(membership=rater)
    vote = seat(rater)
    same = {"campaign_id", "membership_id", "state", "claimed_at", "lease_expires_at"}
    assert {name: getattr(given, name) for name in same} == {
        name: getattr(vote, name) for name in same
    }


def test_each_gold_item_comes_once_to_a_rater(tmp_path: Path) -> None:
    _, raters = checked_campaign(tmp_path, training=1, qualification=1, gold=5, annotators=6)
    orders = []
    for rater in raters:
        order = []
        for minute in range(5):
            given = answer_gold(rater, right=2, now=NOW + minute * MINUTE)
            order.append(given.pair.pair_id)
        assert take(rater, "gold") is None
        orders.append(order)
    assert all(sorted(order) == [f"check-{n}" for n in range(2, 7)] for order in orders)
    # An order of its own for each of them.
    assert len({tuple(order) for order in orders}) == 6


def test_the_order_shown_is_drawn_like_that_of_votes(tmp_path: Path) -> None:
    _, raters = checked_campaign(tmp_path, gold=8, annotators=4)
    shown: Counter[str] = Counter()
    for rater in raters:
        for minute in range(8):
            now = NOW + minute * MINUTE
            shown[answer_gold(rater, right=2, now=now).shown_left] += 1
    assert min(shown["A"], shown["B"]) >= 8


def test_a_gold_item_that_was_given_back_may_come_again(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=1)
    first = take_gold(rater)
    give_back(membership=rater)
    again = take_gold(rater)
    assert (again.pk != first.pk, again.check_item) == (True, first.check_item)
    assert again.shown_left == first.shown_left


def test_a_gold_item_that_lapsed_comes_back_after_all_others(tmp_path: Path) -> None:
    """As a pair to be voted on does: else coming back soon would tell what it is."""
    _, raters = checked_campaign(tmp_path, gold=5, annotators=6)
    for rater in raters:
        lapsed = take_gold(rater)
        give_back(membership=rater)
        order = [
            answer_gold(rater, right=2, now=NOW + minute * MINUTE).pair_id for minute in range(5)
        ]
        assert order[-1] == lapsed.pair_id
        assert len(set(order)) == 5


def test_there_is_no_gold_without_items(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, training=1, qualification=1, pairs=2)
    assert take(rater, "gold") is None
    assert not Assignment.objects.filter(campaign=campaign).exists()


def test_checks_of_another_campaign_are_none_of_this_one(tmp_path: Path) -> None:
    checked_campaign(tmp_path, gold=2)
    (tmp_path / "other").mkdir()
    _, [rater] = seated_campaign(tmp_path / "other", annotators=1, slug="mugs")
    assert take(rater, "gold") is None


# Repeats


def test_a_repeat_asks_an_old_answer_again_with_the_sides_swapped(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, pairs=14)
    votes = judge(rater, 13)
    again = take(rater, "repeat", now=NOW + 60 * MINUTE)
    assert again is not None
    first = again.repeats
    assert first in votes[: 13 - REPEAT_GAP + 1]
    assert (again.purpose, again.pair, again.check_item) == ("repeat", first.pair, None)
    assert {again.shown_left, first.shown_left} == {"A", "B"}
    assert (again.state, again.lease_expires_at) == ("open", NOW + 60 * MINUTE + LEASE)
    store(again, answer("A", "A"))
    assert_sound(campaign)


def test_each_vote_is_repeated_once(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, pairs=13)
    votes = judge(rater, 12)
    repeated = []
    for hour in range(1, 14):
        again = take(rater, "repeat", now=NOW + hour * timedelta(hours=1))
        if again is None:
            break
        repeated.append(again.repeats)
        store(again, answer())
    # With each repeat one more is old enough, until all have been repeated.
    assert sorted(s.pk for s in repeated) == sorted(s.pk for s in votes)


def test_which_one_is_repeated_is_drawn_for_each_rater(tmp_path: Path) -> None:
    _, raters = checked_campaign(tmp_path, pairs=25, annotators=5)
    drawn = set()
    for rater in raters:
        judge(rater, 25)
        again = take(rater, "repeat", now=NOW + timedelta(hours=2))
        assert again is not None
        drawn.add(again.pair_id)
    assert len(drawn) >= 3


def test_the_newest_answers_are_not_repeated(tmp_path: Path) -> None:
    """Gold among them counts: what matters is how much was read in between."""
    _, [rater] = checked_campaign(tmp_path, pairs=3, gold=REPEAT_GAP)
    old, *_ = judge(rater, 2)
    for minute in range(REPEAT_GAP - 2):
        answer_gold(rater, right=2, now=NOW + timedelta(hours=1) + minute * MINUTE)
    again = take(rater, "repeat", now=NOW + timedelta(hours=2))
    assert again is not None
    assert again.repeats == old


def test_nothing_is_repeated_before_ten_answers(tmp_path: Path) -> None:
    """Who has just read a pair would recognise it."""
    _, [rater] = checked_campaign(tmp_path, pairs=12)
    first, *_ = judge(rater, REPEAT_GAP - 1)
    assert take(rater, "repeat", now=NOW + timedelta(hours=1)) is None
    judge(rater, 1, start=NOW + timedelta(hours=1))
    again = take(rater, "repeat", now=NOW + timedelta(hours=2))
    assert again is not None
    assert again.repeats == first


def test_a_skip_is_not_repeated(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, pairs=12)
    given = seat(rater)
    submit(seat=given, answer=SKIPPED, now=NOW + MINUTE)
    judge(rater, REPEAT_GAP - 1, start=NOW + 2 * MINUTE)
    later = NOW + timedelta(hours=1)
    assert take(rater, "repeat", now=later) is None
    # Judged after all: the current answer counts.
    revise(seat=given, answer=answer(), revision=1, now=later + MINUTE)
    again = take(rater, "repeat", now=later + 2 * MINUTE)
    assert again is not None
    assert again.repeats == given


def test_an_answer_of_somebody_else_is_not_repeated(tmp_path: Path) -> None:
    _, [one, other] = checked_campaign(tmp_path, pairs=10, annotators=2)
    judge(one, REPEAT_GAP)
    assert take(other, "repeat", now=NOW + timedelta(hours=1)) is None


@pytest.mark.parametrize(
    ("second", "score"),
    [(answer("A", "B"), (2, 2)), (answer("A", "A"), (2, 1)), (SKIPPED, (0, 0))],
)
def test_a_repeat_is_scored_by_the_first_answer(
    tmp_path: Path, second: object, score: tuple[int, int]
) -> None:
    campaign, [rater] = checked_campaign(tmp_path, pairs=10)
    judge(rater, REPEAT_GAP)
    again = take(rater, "repeat", now=NOW + timedelta(hours=1))
    assert again is not None
    store(again, second)  # type: ignore[arg-type]
    assert check_figures(rater).repeats.score == score
    assert (Judgement.objects.count(), Vote.objects.count()) == (10, 20)
    assert_sound(campaign)


def test_a_repeat_is_scored_by_the_current_answer(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, pairs=10)
    given, *_ = judge(rater, REPEAT_GAP)
    revise(seat=given, answer=answer("B", "B"), revision=1, now=NOW + 20 * MINUTE)
    again = take(rater, "repeat", now=NOW + timedelta(hours=1))
    assert again is not None
    store(again, answer("A", "B"))
    assert check_figures(rater).repeats.score == Score(asked=2, right=1)


# Answers


def test_an_answer_is_stored_with_all_particulars(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, gold=1)
    given = take_gold(rater)
    store(given, on_check(right=1), at=NOW + MINUTE, seconds=40, active_seconds=25.5)
    stored = CheckAnswer.objects.get()
    assert current_answer(given) == stored
    assert (stored.revision, stored.is_current) == (1, True)
    assert stored.choices == {"helpfulness": "A", "personalization": "B"}
    assert (stored.asked, stored.right) == (2, 1)
    assert (stored.seconds, stored.active_seconds) == (40, 25.5)
    assert (stored.opened_at, stored.submitted_at) == (NOW + MINUTE / 3, NOW + MINUTE)
    kept = Assignment.objects.get()
    assert (kept.state, kept.submitted_at) == ("submitted", NOW + MINUTE)
    assert (given.state, given.submitted_at) == ("submitted", NOW + MINUTE)
    # Never counted as votes.
    assert not Judgement.objects.exists()
    assert not Tally.objects.exists()
    assert_sound(campaign)


def test_a_skip_of_gold_counts_neither_way(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=1)
    store(take_gold(rater), SKIPPED)
    stored = CheckAnswer.objects.get()
    assert (stored.asked, stored.right, stored.skip_reason) == (0, 0, "cannot_judge")


def test_a_correction_is_a_new_revision(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=1)
    given = take_gold(rater)
    store(given, on_check(right=0), at=NOW + MINUTE, seconds=40, active_seconds=30)
    store(
        given,
        on_check(right=2),
        at=NOW + 9 * MINUTE,
        seconds=10,
        active_seconds=8,
        revision=1,
    )
    first, second = CheckAnswer.objects.order_by("revision")
    assert (first.is_current, first.right, first.seconds) == (False, 0, 40)
    assert (second.is_current, second.right, second.revision) == (True, 2, 2)
    assert (second.seconds, second.active_seconds) == (50, 38)
    assert (second.opened_at, second.first_action_at) == (first.opened_at, first.first_action_at)
    assert second.submitted_at == NOW + 9 * MINUTE
    # The seat keeps the moment of its first answer: the order of history does not change.
    assert Assignment.objects.get().submitted_at == NOW + MINUTE
    assert check_figures(rater).gold.score == Score(asked=2, right=2)


def test_active_time_that_is_unknown_stays_so(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=1)
    given = take_gold(rater)
    store(given, on_check(), active_seconds=None)
    store(given, on_check(right=1), active_seconds=4, revision=1)
    assert current_answer(given).active_seconds is None  # type: ignore[union-attr]


def test_an_answer_is_never_stored_twice(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=1)
    given = take_gold(rater)
    store(given, on_check())
    with pytest.raises(IntegrityError), transaction.atomic():
        store(given, on_check())
    assert CheckAnswer.objects.count() == 1


# Failing gold


def test_missing_too_much_gold_pauses_the_rater_and_tells_the_lead(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, gold=6, gold_minimum=4, gold_pass_percent=70)
    for minute, right in enumerate([2, 1, 1]):
        answer_gold(rater, right=right, now=NOW + minute * MINUTE)
        # Not enough to tell.
        assert not judge_gold(rater, now=NOW + minute * MINUTE)
    answer_gold(rater, right=1, now=NOW + 3 * MINUTE)
    assert judge_gold(rater, now=NOW + 3 * MINUTE)
    for member in (rater, fresh(rater)):
        assert (member.standing, member.standing_reason) == ("paused", "gold")
        assert member.standing_at == NOW + 3 * MINUTE
    assert events(campaign, "rater:paused") == [
        {"membership": rater.pk, "reason": "gold", "items": 4, "asked": 8, "right": 5}
    ]
    # Once: what happens now is the lead's to say.
    assert not judge_gold(rater, now=NOW + 4 * MINUTE)
    assert len(events(campaign, "rater:paused")) == 1


def test_the_pass_mark_itself_is_enough(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=4, gold_minimum=4, gold_pass_percent=75)
    for minute, right in enumerate([2, 2, 1, 1]):
        answer_gold(rater, right=right, now=NOW + minute * MINUTE)
    assert not judge_gold(rater, now=NOW + timedelta(hours=1))
    assert fresh(rater).is_active


def test_after_the_lead_lets_a_rater_go_on_older_gold_is_not_counted(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, gold=6, gold_minimum=2)
    lead = make_member(campaign, Membership.Role.LEAD).user
    for minute in (0, 1):
        answer_gold(rater, right=0, now=NOW + minute * MINUTE)
    assert judge_gold(rater, now=NOW + MINUTE)
    standing.resume(membership=rater, actor=lead, now=NOW + 10 * MINUTE)
    answer_gold(rater, right=0, now=NOW + 11 * MINUTE)
    assert not judge_gold(rater, now=NOW + 11 * MINUTE)
    # A correction of an old answer does not make it a new one.
    old = Assignment.objects.filter(purpose="gold").order_by("submitted_at").first()
    assert old is not None
    store(old, on_check(right=1), at=NOW + 12 * MINUTE, revision=1)
    assert not judge_gold(rater, now=NOW + 12 * MINUTE)
    answer_gold(rater, right=0, now=NOW + 13 * MINUTE)
    assert judge_gold(rater, now=NOW + 13 * MINUTE)
    assert [event["items"] for event in events(campaign, "rater:paused")] == [2, 2]


def test_skipped_gold_is_not_enough_to_tell(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, gold=4, gold_minimum=2)
    answer_gold(rater, right=0, now=NOW)
    for minute in (1, 2):
        store(take_gold(rater), SKIPPED, at=NOW + minute * MINUTE)
    assert not judge_gold(rater, now=NOW + 3 * MINUTE)
    answer_gold(rater, right=0, now=NOW + 4 * MINUTE)
    assert judge_gold(rater, now=NOW + 4 * MINUTE)
    assert [event["items"] for event in events(campaign, "rater:paused")] == [2]


def test_the_newest_answers_are_not_judged_yet(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=4, pairs=4, gold_minimum=1)
    answer_gold(rater, right=0, now=NOW)
    assert judge_gold(fresh(rater), now=NOW, gap=1) is False
    for minute in (1, 2):
        answer_gold(rater, right=2, now=NOW + minute * MINUTE)
        assert not judge_gold(rater, now=NOW + minute * MINUTE, gap=3)
    judge(rater, 1, start=NOW + 3 * MINUTE)
    # Three are newer now; of those, two are right and do not count.
    assert judge_gold(rater, now=NOW + 4 * MINUTE, gap=3)


def test_gold_is_judged_by_what_stands_in_the_database(tmp_path: Path) -> None:
    """The membership at hand may be older than the lock."""
    _, [rater] = checked_campaign(tmp_path, gold=2, gold_minimum=1)
    answer_gold(rater, right=0, now=NOW)
    old = fresh(rater)
    Membership.objects.filter(pk=rater.pk).update(standing_at=NOW + MINUTE)
    assert not judge_gold(old, now=NOW + 2 * MINUTE)


def test_repeats_and_training_do_not_count_as_gold(tmp_path: Path) -> None:
    _, [rater] = checked_campaign(tmp_path, pairs=10, training=1, gold=1, gold_minimum=1)
    judge(rater, REPEAT_GAP)
    again = take(rater, "repeat", now=NOW + timedelta(hours=1))
    assert again is not None
    store(again, answer("B", "A"))
    training = onboard(fresh(rater))
    assert training is not None
    store(training, on_check(right=0))
    assert not judge_gold(rater, now=NOW + timedelta(hours=2))


def test_pausing_says_why_to_the_lead_alone(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path)
    pause(membership=rater, reason=Membership.StandingReason.GOLD, now=NOW, data={"items": 3})
    assert (fresh(rater).standing, fresh(rater).standing_reason) == ("paused", "gold")
    assert events(campaign, "rater:paused") == [
        {"membership": rater.pk, "reason": "gold", "items": 3}
    ]


def test_giving_a_check_asks_few_questions(
    tmp_path: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    _, [rater] = checked_campaign(tmp_path, gold=3, pairs=12)
    judge(rater, 12)
    member = fresh(rater)
    with transaction.atomic(), django_assert_max_num_queries(5):
        assert take_check_seat(membership=member, purpose="repeat", now=NOW) is not None
    give_back(membership=rater)
    with transaction.atomic(), django_assert_max_num_queries(3):
        assert take_check_seat(membership=member, purpose="gold", now=NOW) is not None
