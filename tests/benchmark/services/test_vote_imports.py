"""Votes made elsewhere: taken over by the rules of votes made here."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, Membership, PairSeats
from annotation.services.answers import Outcome
from annotation.services.campaigns import SeatsOnLease, import_votes_into
from annotation.services.seats import NothingLeft, claim_seat
from benchmark.models import Judgement, Rater, Tally, Vote
from benchmark.services.tallies import rebuild_tallies
from tests.annotation.seating import submit
from tests.annotation.threads import together
from tests.benchmark.services.files import Rows, write_rows
from tests.factories import add_pairs, make_campaign, make_member, vote_rows, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    """Three pairs, three raters each."""
    campaign = make_campaign(raters_per_pair=3)
    add_pairs(campaign, tmp_path, 3)
    return campaign


def votes_file(folder: Path, rows: Rows, name: str = "votes.jsonl") -> Path:
    return write_rows(folder / name, rows)


def by_criterion(pair: str, rater: int, criterion: str) -> str:
    return "A" if criterion == "helpfulness" else "B"


def refused(campaign: Campaign, path: Path, *expected: tuple[int | None, str, str]) -> None:
    before = row_digests()
    report = import_votes_into(campaign=campaign, path=path)
    assert [(p.file, p.line, p.field) for p in report.problems] == [
        (path.name, line, field) for line, field, _ in expected
    ]
    for problem, (*_, words) in zip(report.problems, expected, strict=True):
        assert words in problem.reason
    assert (report.rejected, report.changed) == (len(expected), False)
    assert row_digests() == before


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.csv", "votes.parquet"])
def test_votes_become_judgements_and_tallies(campaign: Campaign, name: str, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=2, choose=by_criterion)
    for row in rows:
        row |= {"reason": "因为", "comment": f"by {row['rater']}", "reasons": []}
        row |= {"active_seconds": None, "confidence": None}
        if row["rater"] == "rater-1":
            row |= {"active_seconds": 0.5, "confidence": 3, "reasons": ["tone", '"好",{NULL']}
    report = import_votes_into(campaign=campaign, path=votes_file(tmp_path, rows, name))

    assert (report.rows, report.votes, report.judgements, report.new_judgements) == (12, 12, 6, 6)
    assert (report.raters, report.pairs, report.repeats, report.rejected) == (2, 3, 0, 0)
    stored = Vote.objects.values_list(
        *("judgement__pair__pair_id", "judgement__rater__pseudonym", "criterion__key", "choice"),
        *("reason", "judgement__comment", "judgement__shown_left", "judgement__seconds"),
        *("judgement__submitted_at", "judgement__active_seconds", "judgement__confidence"),
        "judgement__reasons",
    )
    names = ("pair_id", "rater", "criterion", "choice", "reason", "comment", "shown_left")
    assert sorted(stored) == sorted(
        (
            *(row[name] for name in names),
            row["seconds"],
            datetime.fromisoformat(row["at"]).astimezone(UTC),
            *(row[name] for name in ("active_seconds", "confidence", "reasons")),
        )
        for row in rows
    )
    for tally in Tally.objects.select_related("criterion"):
        expected = (2, 0, 0, 0) if tally.criterion.key == "helpfulness" else (0, 2, 0, 0)
        assert (tally.a, tally.b, tally.tie, tally.skip) == expected
    assert rebuild_tallies(pair_set=campaign.pair_set, repair=False) == []
    assert Counter(Judgement.objects.values_list("seat", flat=True)) == {1: 3, 2: 3}


def test_seats_are_counted_right_afterwards(campaign: Campaign, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=3)
    full, one_left = rows[:6], rows[6:10]  # three raters on pair-0, two on pair-1
    import_votes_into(campaign=campaign, path=votes_file(tmp_path, full + one_left))

    free = dict(PairSeats.objects.values_list("pair__pair_id", "free"))
    assert free == {"pair-0": 0, "pair-1": 1, "pair-2": 3}
    member = make_member(campaign)
    given = []
    while isinstance(seat := claim_seat(membership=member), Assignment):
        given.append(seat.pair.pair_id)
        choices = {"helpfulness": "A", "personalization": "A"}
        assert submit(seat=seat, answer=Answer(choices=choices)) is Outcome.ACCEPTED
        member.refresh_from_db()
    assert sorted(given) == ["pair-1", "pair-2"]
    assert seat == NothingLeft(NothingLeft.ALL_FULL)


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.csv", "votes.parquet"])
def test_the_same_file_again_changes_nothing(campaign: Campaign, name: str, tmp_path: Path) -> None:
    path = votes_file(tmp_path, vote_rows(campaign.pair_set, raters=3), name)
    assert import_votes_into(campaign=campaign, path=path).new_judgements == 9
    before = row_digests()
    again = import_votes_into(campaign=campaign, path=path)
    assert (again.changed, again.judgements, again.new_judgements) == (False, 9, 0)
    assert row_digests() == before


def test_a_file_that_has_grown_adds_what_is_new(campaign: Campaign, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=3)
    first = [row for row in rows if row["rater"] == "rater-1"]
    import_votes_into(campaign=campaign, path=votes_file(tmp_path, first))
    report = import_votes_into(campaign=campaign, path=votes_file(tmp_path, rows))
    assert (report.judgements, report.new_judgements) == (9, 6)
    assert Vote.objects.count() == 18
    assert rebuild_tallies(pair_set=campaign.pair_set, repair=False) == []


def test_a_repeated_row_counts_once(campaign: Campaign, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=1)
    report = import_votes_into(campaign=campaign, path=votes_file(tmp_path, rows + rows[:2]))
    assert (report.rows, report.votes, report.repeats) == (8, 6, 2)
    assert Vote.objects.count() == 6


def test_a_dry_run_writes_nothing(campaign: Campaign, tmp_path: Path) -> None:
    path = votes_file(tmp_path, vote_rows(campaign.pair_set, raters=3))
    before = row_digests()
    report = import_votes_into(campaign=campaign, path=path, dry_run=True)
    assert (report.dry_run, report.changed, report.new_judgements) == (True, True, 9)
    assert row_digests() == before


# What is changed in the rows of two raters on three pairs; line, field, words of each problem.
# Row 4 p + 2 r + c is pair p, rater r, criterion c.
BAD_ROWS: dict[str, tuple[Any, list[tuple[int | None, str, str]]]] = {
    "unknown pair": (
        lambda rows: [row | {"pair_id": "nowhere"} for row in rows[:2]] + rows[2:],
        [(1, "pair_id", "pair nowhere is not in"), (2, "pair_id", "pair nowhere is not in")],
    ),
    "unknown criterion": (
        lambda rows: [*rows, rows[0] | {"criterion": "wit"}],
        [(13, "criterion", "wit is not a criterion of the campaign")],
    ),
    "a tie where none is allowed": (
        lambda rows: [rows[0] | {"choice": "tie"}, *rows[1:]],
        [(1, "choice", "the campaign does not allow ties")],
    ),
    "no such choice": (
        lambda rows: [rows[0] | {"choice": "left"}, *rows[1:]],
        [
            (1, "choice", "must be exactly A, B, tie or skip"),
            (2, "criterion", "rater-0 has no vote on helpfulness for pair pair-0"),
        ],
    ),
    "a rater that may be simulated": (
        lambda rows: [rows[0] | {"simulated": "perhaps"}, *rows[1:]],
        [
            (1, "simulated", "must be true or false"),
            (2, "criterion", "rater-0 has no vote on helpfulness for pair pair-0"),
        ],
    ),
    "half a judgement": (
        lambda rows: rows[1:],
        [(1, "criterion", "rater rater-0 has no vote on helpfulness for pair pair-0")],
    ),
    "two choices by one rater": (
        lambda rows: [*rows, rows[0] | {"choice": "B"}],
        [(13, "choice", "the same rater chooses otherwise in votes.jsonl:1")],
    ),
    "two orders in one judgement": (
        lambda rows: [rows[0], rows[1] | {"shown_left": "B"}, *rows[2:]],
        [(2, "shown_left", "the same rater had another order in votes.jsonl:1")],
    ),
    "two confidences in one judgement": (
        lambda rows: [rows[0] | {"confidence": 2}, rows[1] | {"confidence": 3}, *rows[2:]],
        [(2, "confidence", "the same rater has another confidence in votes.jsonl:1")],
    ),
    "two lists of reasons in one judgement": (
        lambda rows: [rows[0] | {"reasons": ["a"]}, rows[1] | {"reasons": ["b"]}, *rows[2:]],
        [(2, "reasons", "the same rater gives other reasons in votes.jsonl:1")],
    ),
    "no such confidence": (
        lambda rows: [rows[0] | {"confidence": 4}, *rows[1:]],
        [
            (1, "confidence", "must be 1, 2 or 3"),
            (2, "criterion", "rater-0 has no vote on helpfulness for pair pair-0"),
        ],
    ),
    "one rater too many": (
        lambda rows: rows + [row | {"rater": f"rater-{n}"} for n in (7, 8) for row in rows[4:6]],
        [(15, "rater", "pair pair-1 takes 3 raters: rater-8 is one too many")],
    ),
    "a rater both simulated and not": (
        lambda rows: [
            row | ({"simulated": kind} if kind is not None else {})
            for row, kind in zip(rows, [None, True, True, None, False, *[None] * 7], strict=True)
        ],
        [(5, "simulated", "the same rater is marked otherwise in votes.jsonl:2")],
    ),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_votes_are_refused(campaign: Campaign, case: str, tmp_path: Path) -> None:
    change, expected = BAD_ROWS[case]
    rows = change(vote_rows(campaign.pair_set, raters=2))
    refused(campaign, votes_file(tmp_path, rows), *expected)


def test_what_clashes_with_stored_votes_is_refused(campaign: Campaign, tmp_path: Path) -> None:
    stored = vote_rows(campaign.pair_set, raters=3)
    import_votes_into(campaign=campaign, path=votes_file(tmp_path, stored[:6] + stored[6:8]))
    later = [
        *(stored[0], stored[1] | {"choice": "B"}),  # another choice on pair-0
        *(row | {"rater": "a fourth"} for row in stored[:2]),  # pair-0 is full
        *(row | {"rater": "a second"} for row in stored[6:8]),  # pair-1 is not
    ]
    refused(
        campaign,
        write_jsonl(tmp_path / "later.jsonl", later),
        (2, "choice", "rater rater-0 has judged pair pair-0 already, with A"),
        (3, "rater", "pair pair-0 takes 3 raters: a fourth is one too many"),
    )


def test_what_one_row_of_a_judgement_says_holds_for_it(campaign: Campaign, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=1)[:2]
    rows[1] |= {"active_seconds": 2.5, "confidence": 1, "reasons": ["clear"]}
    assert not import_votes_into(campaign=campaign, path=votes_file(tmp_path, rows)).problems
    judgement = Judgement.objects.get()
    assert (judgement.active_seconds, judgement.confidence) == (2.5, 1)
    assert judgement.reasons == ["clear"]


def test_an_empty_file_is_refused(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "votes.jsonl").write_bytes(b"")
    before = row_digests()
    report = import_votes_into(campaign=campaign, path=tmp_path / "votes.jsonl")
    assert [str(problem) for problem in report.problems] == [
        "votes.jsonl: is empty: it holds no rows"
    ]
    assert row_digests() == before


def test_ties_and_skips_count_where_they_are_allowed(tmp_path: Path) -> None:
    campaign = make_campaign(allows_tie=True, raters_per_pair=2)
    add_pairs(campaign, tmp_path, 1)
    choices = {"rater-0": "tie", "rater-1": "skip"}
    rows = vote_rows(campaign.pair_set, raters=2, choose=lambda pair, rater, key: None)
    rows = [row | {"choice": choices[row["rater"]]} for row in rows]
    assert not import_votes_into(campaign=campaign, path=votes_file(tmp_path, rows)).problems
    assert set(Tally.objects.values_list("a", "b", "tie", "skip")) == {(0, 0, 1, 1)}


def test_simulated_raters_are_marked(campaign: Campaign, tmp_path: Path) -> None:
    rows = vote_rows(campaign.pair_set, raters=3)
    by_column = [row | {"simulated": row["rater"] == "rater-1"} for row in rows]
    some = [row for row in by_column if row["rater"] != "rater-2"]
    import_votes_into(campaign=campaign, path=votes_file(tmp_path, some, "votes.csv"))
    rest = [row for row in rows if row["rater"] == "rater-2"]
    import_votes_into(campaign=campaign, path=votes_file(tmp_path, rest), is_simulated=True)
    raters = dict(Rater.objects.values_list("pseudonym", "is_simulated"))
    assert raters == {"rater-0": False, "rater-1": True, "rater-2": True}

    other = [row | {"simulated": row["rater"] != "rater-1"} for row in rows]
    refused(
        campaign,
        votes_file(tmp_path, other),
        (1, "simulated", "rater rater-0 is a person in the campaign"),
        (3, "simulated", "rater rater-1 is simulated in the campaign"),
    )


def held_seat(campaign: Campaign) -> Assignment:
    """The seat of a rater who has opened the campaign's one pair."""
    seat = claim_seat(membership=make_member(campaign, pseudonym="rater-here"))
    assert isinstance(seat, Assignment)
    return seat


def small_campaign(folder: Path, *, raters_per_pair: int) -> Campaign:
    campaign = make_campaign(raters_per_pair=raters_per_pair)
    add_pairs(campaign, folder, 1)
    return campaign


ANSWER = Answer(choices={"helpfulness": "B", "personalization": "B"})


def test_places_that_raters_hold_are_not_taken_from_them(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, raters_per_pair=2)
    seat = held_seat(campaign)
    path = votes_file(tmp_path, vote_rows(campaign.pair_set, raters=2))
    before = row_digests()
    with pytest.raises(SeatsOnLease, match="pause the campaign"):
        import_votes_into(campaign=campaign, path=path)
    assert row_digests() == before

    assert submit(seat=seat, answer=ANSWER) is Outcome.ACCEPTED
    report = import_votes_into(campaign=campaign, path=path)
    assert [problem.field for problem in report.problems] == ["rater"]


def test_a_lease_that_has_ended_keeps_no_place(tmp_path: Path) -> None:
    """Also in a paused campaign, where nobody's claim sweeps it."""
    campaign = small_campaign(tmp_path, raters_per_pair=1)
    seat = held_seat(campaign)
    campaign.state = Campaign.State.PAUSED
    campaign.save()
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.filter(pk=seat.pk).update(lease_expires_at=past)

    path = votes_file(tmp_path, vote_rows(campaign.pair_set, raters=1))
    assert import_votes_into(campaign=campaign, path=path).new_judgements == 1
    assert PairSeats.objects.get().free == 0
    campaign.state = Campaign.State.OPEN
    campaign.save()
    assert submit(seat=seat, answer=ANSWER) is Outcome.EXPIRED


@pytest.mark.parametrize("lapsed", [False, True])
def test_a_rater_whose_judgement_is_imported_has_answered(lapsed: bool, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, raters_per_pair=2)
    seat = held_seat(campaign)
    if lapsed:
        past = timezone.now() - timedelta(seconds=1)
        Assignment.objects.filter(pk=seat.pk).update(lease_expires_at=past)
    rows = [row | {"rater": "rater-here"} for row in vote_rows(campaign.pair_set, raters=1)]
    assert import_votes_into(campaign=campaign, path=votes_file(tmp_path, rows)).new_judgements == 1

    assert PairSeats.objects.get().free == 1
    assert submit(seat=seat, answer=ANSWER) is Outcome.ALREADY_SUBMITTED
    assert set(Vote.objects.values_list("choice", flat=True)) == {"A"}
    nothing = claim_seat(membership=Membership.objects.get())
    assert nothing == NothingLeft(NothingLeft.ALL_JUDGED)


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_give_what_one_gives(tmp_path: Path) -> None:
    campaign = make_campaign(raters_per_pair=3)
    add_pairs(campaign, tmp_path, 20)
    path = votes_file(tmp_path, vote_rows(campaign.pair_set, raters=3))
    reports = together(
        *(lambda: import_votes_into(campaign=Campaign.objects.get(), path=path) for _ in range(4))
    )
    assert sorted(report.new_judgements for report in reports) == [0, 0, 0, 60]
    assert [report.problems for report in reports] == [[], [], [], []]
    assert Judgement.objects.count() == 60
    assert rebuild_tallies(pair_set=campaign.pair_set, repair=False) == []
    assert set(PairSeats.objects.values_list("free", flat=True)) == {0}
