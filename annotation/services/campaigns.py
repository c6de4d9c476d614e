"""Campaigns: made, filled, opened and closed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from annotation.domain import lifecycle
from annotation.domain.rendering import shows_nothing
from annotation.models import Campaign, Event, Guideline, PairSeats, User
from annotation.services.seats import free_lapsed_seats
from benchmark.formats.checks import is_blank
from benchmark.models import Criterion, PairSet
from benchmark.services.pair_imports import PairImportReport, import_pairs
from benchmark.services.staging import Progress
from benchmark.services.vote_imports import VoteImportReport, import_votes

DEFAULT_CRITERIA = (
    {
        "key": "helpfulness",
        "question_en": "Which response is more helpful?",
        "question_zh": "哪个回答更有帮助？",
        "help_en": "Correct, complete and usable as an answer to the query, for whoever asks.",
        "help_zh": "作为对这个问题的回答，内容正确、完整、可用，不论提问者是谁。",
    },
    {
        "key": "personalization",
        "question_en": "Which response fits this person better?",
        "question_zh": "哪个回答更适合这个人？",
        "help_en": "Takes up what the profile says about the person: situation, taste, limits.",
        "help_zh": "考虑了档案里这个人的处境、喜好和限制。",
    },
)

# Raters are always told something; a campaign may bring its own text.
DEFAULT_GUIDELINES = Path(__file__).resolve().parent.parent / "demo" / "guidelines.md"


class SeatsOnLease(Exception):
    """Votes need seats that raters hold at this moment."""


class CannotMove(Exception):
    """The campaign's state does not allow this."""


def create_campaign(
    *,
    slug: str,
    name: str = "",
    seed: str = "",
    raters_per_pair: int = 9,
    state: str = Campaign.State.OPEN,
    allows_tie: bool = False,
    guidelines: str = "",
    actor: User | None = None,
) -> Campaign:
    """A campaign with its pair set, the two criteria and a first version of the guidelines.

    The seed is the slug unless one is given, so that the same files give the same A/B order again.
    Raises ValidationError.
    """
    if name and is_blank(name):
        raise ValidationError({"name": "There is nothing in it that can be seen."})
    with transaction.atomic():
        pair_set = PairSet(
            slug=slug,
            name=name or slug,
            seed=seed or slug,
            raters_per_pair=raters_per_pair,
            allows_tie=allows_tie,
        )
        pair_set.full_clean()
        pair_set.save()
        Criterion.objects.bulk_create(
            Criterion(pair_set=pair_set, position=position, **criterion)
            for position, criterion in enumerate(DEFAULT_CRITERIA)
        )
        campaign = Campaign.objects.create(
            pair_set=pair_set,
            state=state,
            lease_seconds=settings.LEASE_SECONDS,
            guideline_version=1,
        )
        Guideline.objects.create(
            campaign=campaign,
            version=1,
            body=DEFAULT_GUIDELINES.read_text(encoding="utf-8")
            if shows_nothing(guidelines)
            else guidelines,
        )
        Event.objects.create(campaign=campaign, actor=actor, action="campaign:created")
    return campaign


def move_campaign(*, campaign: Campaign, state: str, actor: User | None = None) -> None:
    """Open, pause or close. Raises CannotMove where the lifecycle has no such step."""
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if not lifecycle.may_move(locked.state, state):
            raise CannotMove(f"{locked.state} -> {state}")
        before, locked.state = locked.state, state
        locked.save(update_fields=["state"])
        Event.objects.create(
            campaign=locked,
            actor=actor,
            action="campaign:moved",
            data={"from": before, "to": state},
        )
    campaign.state = state


def import_pairs_into(
    *,
    campaign: Campaign,
    paths: Sequence[Path],
    dry_run: bool = False,
    progress: Progress | None = None,
    actor: User | None = None,
) -> PairImportReport:
    """Import pairs and make their seats; all in one transaction. Checks are not to be judged."""
    with transaction.atomic():
        # An import of checks waits for this one, or is seen by it.
        PairSet.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        report = import_pairs(
            pair_set=campaign.pair_set,
            paths=paths,
            apart_from=PairSet.objects.filter(checks_of=campaign).first(),
            dry_run=dry_run,
            progress=progress,
        )
        if report.changed and not dry_run:
            _make_seats(campaign)
            Event.objects.create(
                campaign=campaign,
                actor=actor,
                action="pairs:imported",
                data={"files": [path.name for path in paths], "new_pairs": report.new_pairs},
            )
    return report


def import_votes_into(
    *,
    campaign: Campaign,
    path: Path,
    is_simulated: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    actor: User | None = None,
) -> VoteImportReport:
    """Import votes and take their seats; all in one transaction.

    Raises SeatsOnLease, and writes nothing, when a seat that the votes need is held by a rater.
    """
    with transaction.atomic():
        # Nobody claims or submits while seats are being counted.
        list(
            PairSeats.objects.filter(campaign=campaign)
            .select_for_update(no_key=True)
            .order_by("pair_id")
            .values_list("pair_id")
        )
        report = import_votes(
            pair_set=campaign.pair_set,
            path=path,
            is_simulated=is_simulated,
            dry_run=dry_run,
            progress=progress,
        )
        if report.changed and not dry_run:
            free_lapsed_seats(campaign=campaign)
            _fill_seats(campaign)
            if _count_seats(campaign):
                raise SeatsOnLease(
                    "Some of these votes need places that raters hold on a lease right now:"
                    " pause the campaign, wait until the leases have ended, and try again."
                )
            Event.objects.create(
                campaign=campaign,
                actor=actor,
                action="votes:imported",
                data={"file": path.name, "new_judgements": report.new_judgements},
            )
    return report


def _make_seats(campaign: Campaign) -> None:
    """Seats for pairs that have none, behind the present ones, shuffled by the set's seed."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO annotation_pairseats (pair_id, campaign_id, position, free)
            SELECT pair.id, pair.pair_set_id,
                coalesce((SELECT max(position) FROM annotation_pairseats
                          WHERE campaign_id = %s), -1)
                + row_number() OVER (
                    ORDER BY md5(%s || pair.pair_id) COLLATE "C", pair.pair_id COLLATE "C"),
                pair.raters_per_pair
            FROM benchmark_pair pair
            WHERE pair.pair_set_id = %s
              AND NOT EXISTS (SELECT FROM annotation_pairseats seats WHERE seats.pair_id = pair.id)
            """,
            [campaign.pk, campaign.pair_set.seed, campaign.pk],
        )
        # The next claim searches this table: its planner statistics should know the new rows.
        cursor.execute("ANALYZE annotation_pairseats")


def _fill_seats(campaign: Campaign) -> None:
    """Seats of raters for whom a judgement was imported are submitted: they have answered."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE annotation_assignment seat
            SET state = 'submitted', judgement_id = answered.judgement_id,
                submitted_at = answered.at
            FROM (
                SELECT DISTINCT ON (judgement.id) held.id, judgement.id AS judgement_id,
                    coalesce(judgement.submitted_at, judgement.created_at) AS at
                FROM annotation_assignment held
                JOIN annotation_membership member ON member.id = held.membership_id
                JOIN benchmark_judgement judgement
                    ON judgement.pair_id = held.pair_id AND judgement.rater_id = member.rater_id
                    AND judgement.superseded_by_id IS NULL
                WHERE held.campaign_id = %s AND held.purpose = 'vote'
                  AND NOT EXISTS (
                      SELECT FROM annotation_assignment submitted
                      WHERE submitted.pair_id = held.pair_id
                        AND submitted.membership_id = held.membership_id
                        AND submitted.purpose = 'vote' AND submitted.state = 'submitted')
                ORDER BY judgement.id, held.state = 'open' DESC, held.claimed_at DESC, held.id
            ) answered
            WHERE answered.id = seat.id
            """,
            [campaign.pk],
        )


def _count_seats(campaign: Campaign) -> int:
    """Set the free seats to what judgements and open leases leave; pairs where they leave less."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            CREATE TEMPORARY TABLE seats_left ON COMMIT DROP AS
            SELECT seats.pair_id, pair.raters_per_pair
                - (SELECT count(*) FROM benchmark_judgement judgement
                   WHERE judgement.pair_id = seats.pair_id AND judgement.superseded_by_id IS NULL)
                - (SELECT count(*) FROM annotation_assignment lease
                   WHERE lease.pair_id = seats.pair_id AND lease.state = 'open'
                     AND lease.purpose = 'vote') AS free
            FROM annotation_pairseats seats JOIN benchmark_pair pair ON pair.id = seats.pair_id
            WHERE seats.campaign_id = %s
            """,
            [campaign.pk],
        )
        cursor.execute("SELECT count(*) FROM seats_left WHERE free < 0")
        overfull: int = cursor.fetchone()[0]
        if not overfull:
            cursor.execute(
                "UPDATE annotation_pairseats seats SET free = seats_left.free FROM seats_left"
                " WHERE seats_left.pair_id = seats.pair_id AND seats_left.free <> seats.free"
            )
        cursor.execute("DROP TABLE seats_left")
    return overfull
