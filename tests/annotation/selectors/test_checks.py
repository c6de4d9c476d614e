"""What pages say about checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.models import Membership
from annotation.selectors.checks import CheckCounts, check_counts, check_figures, gold_rows
from annotation.services.checks import pause
from tests.annotation.checking import (
    MINUTE,
    answer_gold,
    checked_campaign,
    judge,
    on_check,
    onboard,
    store,
    take,
)
from tests.annotation.seating import NOW
from tests.factories import make_member

pytestmark = pytest.mark.django_db


def test_figures_of_a_rater_who_has_done_nothing(tmp_path: Path) -> None:
    campaign, [rater] = checked_campaign(tmp_path, training=1, qualification=2, gold=3)
    figures = check_figures(rater)
    assert (figures.training.items, figures.training.score.percent) == (0, None)
    assert (figures.qualification, figures.gold.items, figures.repeats.items) == ({}, 0, 0)
    assert check_counts(campaign) == CheckCounts(training=1, qualification=2, gold=3)


def test_figures_count_current_answers_of_the_rater_alone(tmp_path: Path) -> None:
    _, [one, other] = checked_campaign(tmp_path, training=1, gold=2, annotators=2)
    training = onboard(one)
    assert training is not None
    store(training, on_check(right=1))
    for minute, right in enumerate([2, 0], start=1):
        answer_gold(one, right=right, now=NOW + minute * MINUTE)
    answer_gold(other, right=0, now=NOW)
    figures = check_figures(one)
    assert (figures.training.items, figures.training.score) == (1, (2, 1))
    assert (figures.gold.items, figures.gold.score) == (2, (4, 2))


def test_gold_rows_name_raters_by_pseudonym_in_two_queries(
    tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    campaign, raters = checked_campaign(tmp_path, gold=2, pairs=1, annotators=4)
    make_member(campaign, Membership.Role.LEAD)
    answer_gold(raters[0], right=1, now=NOW)
    answer_gold(raters[0], right=2, now=NOW + MINUTE)
    answer_gold(raters[2], right=0, now=NOW)
    judge(raters[2], 1, start=NOW + MINUTE)
    again = take(raters[2], "repeat", now=NOW + 9 * MINUTE)
    # The oldest of the few answers was gold.
    assert again is None
    pause(membership=raters[2], reason="gold", now=NOW, data={})
    with django_assert_num_queries(2):
        rows = gold_rows(campaign)
    assert [(row.pseudonym, row.gold.items, row.gold.score) for row in rows] == [
        ("r-0", 2, (4, 3)),
        ("r-1", 0, (0, 0)),
        ("r-2", 1, (2, 0)),
        ("r-3", 0, (0, 0)),
    ]
    assert [(row.standing, row.standing_reason) for row in rows[1:3]] == [
        ("active", ""),
        ("paused", "gold"),
    ]
