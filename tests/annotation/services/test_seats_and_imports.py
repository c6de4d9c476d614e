"""Seats beside votes made elsewhere. An import reads the clock itself, so leases run from now."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.models import Membership, PairSeats
from annotation.services.answers import Outcome
from annotation.services.campaigns import SeatsOnLease, import_votes_into
from annotation.services.seats import NothingLeft, claim_seat
from benchmark.models import Judgement
from tests.annotation.seating import (
    LEASE,
    answer,
    assert_sound,
    fresh,
    seat,
    seated_campaign,
    submit,
    votes_of,
)
from tests.factories import vote_rows, write_jsonl

pytestmark = pytest.mark.django_db


def judged_file(rater: Membership, folder: Path) -> Path:
    """A file with one judgement of each pair under the rater's pseudonym, all for A."""
    assert rater.rater is not None
    rows = vote_rows(rater.campaign.pair_set, raters=1)
    return write_jsonl(
        folder / "votes.jsonl", (row | {"rater": rater.rater.pseudonym} for row in rows)
    )


def test_they_take_places(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=2, raters_per_pair=3)
    held = seat(rater, now=timezone.now())
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=2))
    report = import_votes_into(campaign=campaign, path=path)
    assert report.new_judgements == 4
    assert PairSeats.objects.get(pair=held.pair_id).free == 0
    assert submit(seat=held, answer=answer()) is Outcome.ACCEPTED
    assert_sound(campaign)


def test_not_the_place_of_somebody_who_is_judging(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=2, raters_per_pair=3)
    held = seat(rater, now=timezone.now())
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=3))
    with pytest.raises(SeatsOnLease):
        import_votes_into(campaign=campaign, path=path)
    assert not Judgement.objects.exists()
    assert submit(seat=held, answer=answer()) is Outcome.ACCEPTED
    assert_sound(campaign)


def test_a_lapsed_lease_is_not_in_their_way(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=2, raters_per_pair=3)
    held = seat(rater, now=timezone.now() - 2 * LEASE)
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=3))
    assert import_votes_into(campaign=campaign, path=path).new_judgements == 6
    assert submit(seat=held, answer=answer()) is Outcome.EXPIRED
    assert_sound(campaign)


@pytest.mark.parametrize("age", [timedelta(0), 2 * LEASE], ids=["held", "lapsed"])
def test_an_answer_that_came_in_this_way_is_the_first_one(tmp_path: Path, age: timedelta) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
    held = seat(rater, now=timezone.now() - age)
    import_votes_into(campaign=campaign, path=judged_file(rater, tmp_path))
    assert submit(seat=held, answer=answer("B", "B")) is Outcome.ALREADY_SUBMITTED
    assert votes_of(Judgement.objects.get())["helpfulness"] == "A"
    assert claim_seat(membership=fresh(rater)) == NothingLeft(NothingLeft.ALL_JUDGED)
    assert_sound(campaign)


def test_pairs_that_the_rater_judged_elsewhere_do_not_come_again(tmp_path: Path) -> None:
    campaign, (rater, _) = seated_campaign(tmp_path, pairs=1)
    import_votes_into(campaign=campaign, path=judged_file(rater, tmp_path))
    assert claim_seat(membership=fresh(rater)) == NothingLeft(NothingLeft.ALL_JUDGED)
    assert_sound(campaign)
