"""Campaigns to measure on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.contrib.auth.hashers import make_password
from django.db import connection

from annotation.models import Campaign, Membership, User
from annotation.services.campaigns import create_campaign, import_pairs_into
from annotation.services.members import add_member
from annotation.services.steps import acknowledge
from benchmark.models import PairSet
from tests.bench import material

RATERS = 30
RATERS_PER_PAIR = 9
PASSWORD = "as many letters as it takes"


def user(name: str) -> User:
    return User.objects.get_or_create(username=name, defaults={"password": _hashed_password()})[0]


@cache
def _hashed_password() -> str:
    # Hashed once: thirty times would take as long as everything else.
    return make_password(PASSWORD)


def campaign(slug: str, folder: Path, *, pairs: int = material.PAIRS) -> Campaign:
    """A new campaign with that many pairs, through the importer, and a lead named lead."""
    made = create_campaign(slug=slug, name=f"Bench {slug}", raters_per_pair=RATERS_PER_PAIR)
    path = folder / f"pairs-{pairs}.jsonl"
    if not path.exists():
        material.write_pairs(path, pairs)
    report = import_pairs_into(campaign=made, paths=[path])
    assert report.new_pairs == pairs, report.problems[:3]
    add_member(campaign=made, user=user("lead"), role=Membership.Role.LEAD)
    return made


def with_raters(made: Campaign, number: int = RATERS) -> list[Membership]:
    """People who have read the guidelines."""
    members = [
        add_member(
            campaign=made,
            user=user(f"rater-{place:02}"),
            role=Membership.Role.ANNOTATOR,
            pseudonym=f"r-{place:02}",
        )
        for place in range(number)
    ]
    for member in members:
        acknowledge(membership=member, version=made.guideline_version)
    return members


def judge_all(made: Campaign) -> None:
    """Nine judgements on every pair with all that goes with them, straight into the tables.

    Votes come from a hash of pair, rater and criterion: of nine, between five and nine name the
    same response on most pairs, and both criteria agree on many.
    """
    pair_set: PairSet = made.pair_set
    members = with_raters(made)
    with connection.cursor() as cursor:
        cursor.execute(_JUDGEMENTS, {"set": pair_set.pk, "raters": len(members)})
        cursor.execute(_VOTES, {"set": pair_set.pk})
        cursor.execute(_TALLIES, {"set": pair_set.pk})
        cursor.execute(_SEATS, {"set": pair_set.pk})
        cursor.execute("ANALYZE")


_JUDGEMENTS = """
    INSERT INTO benchmark_judgement (pair_id, rater_id, seat, raters_per_pair, revision,
        shown_left, opened_at, submitted_at, seconds, comment, reasons, created_at)
    SELECT pair.id, rater.id, place.seat, pair.raters_per_pair, 1,
        CASE WHEN hashint8(pair.id * 31 + rater.id) %% 2 = 0 THEN 'A' ELSE 'B' END,
        now() - interval '30 seconds', now(), 30, '', '{}', now()
    FROM (SELECT *, row_number() OVER (ORDER BY id) AS number FROM benchmark_pair
          WHERE pair_set_id = %(set)s) pair
    JOIN (SELECT *, row_number() OVER (ORDER BY id) AS number FROM benchmark_rater
          WHERE pair_set_id = %(set)s) rater ON true
    CROSS JOIN LATERAL (
        SELECT (rater.number + pair.number) %% %(raters)s + 1 AS seat) place
    WHERE place.seat <= pair.raters_per_pair
    ORDER BY pair.id, place.seat
"""
_VOTES = """
    INSERT INTO benchmark_vote (judgement_id, criterion_id, choice, reason)
    SELECT judgement.id, criterion.id,
        CASE WHEN abs(hashint8(judgement.id * 7 + criterion.id)) %% 100
                  < 50 + 10 * (abs(hashint8(judgement.pair_id)) %% 6)
             THEN 'A' ELSE 'B' END, ''
    FROM benchmark_judgement judgement
    JOIN benchmark_pair pair ON pair.id = judgement.pair_id
    JOIN benchmark_criterion criterion ON criterion.pair_set_id = pair.pair_set_id
    WHERE pair.pair_set_id = %(set)s
    ORDER BY judgement.id, criterion.position
"""
_TALLIES = """
    INSERT INTO benchmark_tally (pair_id, criterion_id, a, b, tie, skip)
    SELECT judgement.pair_id, vote.criterion_id, count(*) FILTER (WHERE choice = 'A'),
        count(*) FILTER (WHERE choice = 'B'), 0, 0
    FROM benchmark_vote vote
    JOIN benchmark_judgement judgement ON judgement.id = vote.judgement_id
    JOIN benchmark_pair pair ON pair.id = judgement.pair_id
    WHERE pair.pair_set_id = %(set)s GROUP BY 1, 2
"""
_SEATS = """
    WITH taken AS (UPDATE annotation_pairseats SET free = 0 WHERE campaign_id = %(set)s)
    INSERT INTO annotation_assignment (id, campaign_id, membership_id, pair_id, purpose, attempt,
        state, is_ahead, shown_left, claimed_at, lease_expires_at, submitted_at, judgement_id)
    SELECT gen_random_uuid(), %(set)s, membership.id, judgement.pair_id, 'vote', 0, 'submitted',
        false, judgement.shown_left, judgement.opened_at, judgement.submitted_at,
        judgement.submitted_at, judgement.id
    FROM benchmark_judgement judgement
    JOIN annotation_membership membership ON membership.rater_id = judgement.rater_id
    WHERE membership.campaign_id = %(set)s
"""
