"""What the tests of seats share: answers, a clock, and what must hold at every moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from annotation.domain.rubric import Answer
from annotation.domain.timing import read_timing
from annotation.models import Assignment, Campaign, Membership
from annotation.services import answers
from annotation.services.answers import Outcome
from annotation.services.seats import claim_seat
from benchmark.models import Judgement, Vote
from benchmark.services.tallies import rebuild_tallies
from tests.factories import add_pairs, make_campaign, make_member

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LEASE = timedelta(minutes=20)


def answer(helpfulness: str = "A", personalization: str = "B", comment: str = "") -> Answer:
    return Answer(
        choices={"helpfulness": helpfulness, "personalization": personalization}, comment=comment
    )


def seated_campaign(
    folder: Path, *, pairs: int = 3, annotators: int = 2, **options: Any
) -> tuple[Campaign, list[Membership]]:
    """An open campaign with pairs and people; leases of 20 minutes.

    The pseudonyms are given, so that the orders shown are the same in every run.
    """
    campaign = make_campaign(**options)
    Campaign.objects.filter(pk=campaign.pk).update(lease_seconds=LEASE.total_seconds())
    campaign.refresh_from_db()
    if pairs:
        add_pairs(campaign, folder, pairs)
    return campaign, [make_member(campaign, pseudonym=f"r-{n}") for n in range(annotators)]


def fresh(membership: Membership) -> Membership:
    """As the next request loads it."""
    return Membership.objects.select_related("campaign__pair_set", "rater").get(pk=membership.pk)


def seat(membership: Membership, *, now: datetime = NOW) -> Assignment:
    """Claim a seat; there must be one."""
    claimed = claim_seat(membership=fresh(membership), now=now)
    assert isinstance(claimed, Assignment), claimed
    return claimed


def submit(*, seat: Assignment, answer: Answer, now: datetime | None = None) -> Outcome:
    """As a browser without scripts does: the answer took from the claim until now."""
    now = now or timezone.now()
    timing = read_timing({}, since=seat.claimed_at, now=now)
    return answers.submit(seat=seat, answer=answer, timing=timing, now=now)


def revise(*, seat: Assignment, answer: Answer, revision: int, now: datetime) -> Outcome:
    timing = read_timing({}, since=seat.claimed_at, now=now, is_correction=True)
    return answers.revise(seat=seat, answer=answer, timing=timing, revision=revision)


def votes_of(judgement: Judgement) -> dict[str, str]:
    return dict(Vote.objects.filter(judgement=judgement).values_list("criterion__key", "choice"))


# Each returns rows that must not be there.
_BROKEN = {
    "more judgements than raters_per_pair": """
        SELECT pair.pair_id, count(*) FROM benchmark_judgement judgement
        JOIN benchmark_pair pair ON pair.id = judgement.pair_id
        WHERE judgement.superseded_by_id IS NULL
        GROUP BY pair.id HAVING count(*) > pair.raters_per_pair
    """,
    "two judgements by one rater": """
        SELECT pair_id, rater_id, count(*) FROM benchmark_judgement
        WHERE superseded_by_id IS NULL GROUP BY pair_id, rater_id HAVING count(*) > 1
    """,
    "free seats that are not what judgements and leases leave": """
        SELECT * FROM (
            SELECT pair.pair_id, seats.free, pair.raters_per_pair
                - (SELECT count(*) FROM benchmark_judgement judgement
                   WHERE judgement.pair_id = pair.id AND judgement.superseded_by_id IS NULL)
                - (SELECT count(*) FROM annotation_assignment lease
                   WHERE lease.pair_id = pair.id AND lease.state = 'open'
                     AND lease.purpose = 'vote') AS counted
            FROM annotation_pairseats seats JOIN benchmark_pair pair ON pair.id = seats.pair_id
        ) places WHERE free <> counted
    """,
    "a judgement without a vote on every criterion": """
        SELECT judgement.id, count(vote.id) FROM benchmark_judgement judgement
        LEFT JOIN benchmark_vote vote ON vote.judgement_id = judgement.id
        GROUP BY judgement.id HAVING count(vote.id) <> 2
    """,
    "a seat whose judgement is of another pair or rater": """
        SELECT seat.id FROM annotation_assignment seat
        JOIN annotation_membership member ON member.id = seat.membership_id
        JOIN benchmark_judgement judgement ON judgement.id = seat.judgement_id
        WHERE (judgement.pair_id, judgement.rater_id) <> (seat.pair_id, member.rater_id)
    """,
}


def assert_sound(campaign: Campaign) -> None:
    """Exactly n, one a rater, free seats and tallies as counted."""
    with connection.cursor() as cursor:
        for what, query in _BROKEN.items():
            cursor.execute(query)
            rows = cursor.fetchall()
            assert not rows, (what, rows)
    assert rebuild_tallies(pair_set=campaign.pair_set, repair=False) == []
