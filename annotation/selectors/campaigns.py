"""Campaigns as their people see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.domain import mixing
from annotation.models import (
    Acknowledgement,
    Assignment,
    Campaign,
    CheckItem,
    CrowdPlace,
    Guideline,
    Membership,
    PairSeats,
    User,
)
from benchmark.models import Rater


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A line of "my campaigns"."""

    membership: Membership
    pairs: int
    # For this rater: with the checks among them.
    total: int
    done: int
    is_simulated: bool

    @property
    def campaign(self) -> Campaign:
        return self.membership.campaign


def campaigns_of(user: User) -> list[CampaignRow]:
    """One query, whatever the number of campaigns."""
    pairs = PairSeats.objects.filter(campaign=OuterRef("campaign")).order_by()
    gold = CheckItem.objects.filter(
        campaign=OuterRef("campaign"), purpose=CheckItem.Purpose.GOLD
    ).order_by()
    done = (
        Assignment.objects.of_main_round()
        .filter(membership=OuterRef("pk"), state=Assignment.State.SUBMITTED)
        .order_by()
    )
    rows = (
        Membership.objects.filter(user=user)
        .select_related("campaign__pair_set", "crowd_place__study")
        .annotate(
            pairs=_count(pairs, "campaign"),
            gold=_count(gold, "campaign"),
            done=_count(done, "membership"),
            is_simulated=Exists(
                Rater.objects.filter(pair_set=OuterRef("campaign"), is_simulated=True)
            ),
        )
        .order_by("campaign__pair_set__name", "id")
    )
    return [
        CampaignRow(
            membership=row,
            pairs=row.pairs,
            total=_total(row, pairs=row.pairs, gold_items=row.gold, done=row.done),
            done=row.done,
            is_simulated=row.is_simulated,
        )
        for row in rows
    ]


def _count(rows: QuerySet[Any], by: str) -> Coalesce:
    """The number of rows of a subquery, 0 without any."""
    return Coalesce(Subquery(rows.values(by).annotate(n=Count("*")).values("n")), 0)


def _total(membership: Membership, *, pairs: int, gold_items: int, done: int) -> int:
    """How many pairs this rater has to judge at most, the checks among them.

    Checks are counted from the beginning, so that the number does not move when one comes.
    """
    campaign = membership.campaign
    total = pairs
    if campaign.gold_percent or campaign.repeat_percent:
        total += mixing.planned(
            pairs=pairs,
            gold_items=gold_items,
            gold_percent=campaign.gold_percent,
            repeat_percent=campaign.repeat_percent,
        )
    place: CrowdPlace | None = getattr(membership, "crowd_place", None)
    if place is not None:
        total = min(total, place.study.pairs_each)
    return max(total, done)


@dataclass(frozen=True, slots=True)
class RaterProgress:
    done: int
    pairs: int
    # When the newest answer was stored, and on which seat.
    saved_at: datetime | None
    last_seat: UUID | None = None

    @property
    def number(self) -> int:
        """Of the pair that comes next."""
        return min(self.done + 1, max(self.pairs, 1))


def rater_progress(membership: Membership) -> RaterProgress:
    """How many pairs the rater has judged, of all, and when the last answer was stored."""
    with connection.cursor() as cursor:
        # Asked on every task page.
        cursor.execute(
            """
            SELECT
                (SELECT count(*) FROM annotation_assignment WHERE membership_id = %(member)s
                    AND state = 'submitted' AND purpose IN ('vote', 'gold', 'repeat')),
                (SELECT count(*) FROM annotation_pairseats WHERE campaign_id = %(campaign)s),
                (SELECT count(*) FROM annotation_checkitem WHERE campaign_id = %(campaign)s
                    AND purpose = 'gold'),
                newest.id, newest.submitted_at
            FROM (SELECT 1) one LEFT JOIN LATERAL (
                SELECT id, submitted_at FROM annotation_assignment
                WHERE membership_id = %(member)s AND state = 'submitted'
                    AND purpose IN ('vote', 'gold', 'repeat')
                ORDER BY submitted_at DESC, id LIMIT 1) newest ON true
            """,
            {"member": membership.pk, "campaign": membership.campaign_id},
        )
        done, pairs, gold_items, last_seat, saved_at = cursor.fetchone()
    return RaterProgress(
        done=done,
        pairs=_total(membership, pairs=pairs, gold_items=gold_items, done=done),
        saved_at=saved_at,
        last_seat=last_seat,
    )


def main_round_done(membership: Membership) -> int:
    """Pairs that the rater has answered, checks among them."""
    return (
        Assignment.objects.of_main_round()
        .filter(membership=membership, state=Assignment.State.SUBMITTED)
        .count()
    )


def open_leases(campaign: Campaign, *, now: datetime) -> int:
    """Pairs that somebody has on screen, as far as the server knows."""
    return Assignment.objects.filter(
        campaign=campaign,
        purpose=Assignment.Purpose.VOTE,
        state=Assignment.State.OPEN,
        is_ahead=False,
        lease_expires_at__gt=now,
    ).count()


def newest_guideline(campaign: Campaign) -> Guideline | None:
    return campaign.guidelines.order_by("-version").first()


def guidelines_read(campaign: Campaign) -> QuerySet[Guideline]:
    """The versions that raters have acknowledged, oldest first."""
    acknowledged = Acknowledgement.objects.filter(
        guideline=OuterRef("pk"), membership__role=Membership.Role.ANNOTATOR
    )
    return campaign.guidelines.filter(Exists(acknowledged)).order_by("version")


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A rater by pseudonym, or a lead or researcher by name."""

    name: str
    role: str
    done: int
    last_at: datetime | None


def rater_rows(campaign: Campaign) -> list[MemberRow]:
    """Raters of the set by pseudonym, busiest first; one query."""
    current = Q(judgements__superseded_by=None)
    rows = (
        Rater.objects.filter(pair_set=campaign.pair_set)
        .annotate(
            done=Count("judgements", filter=current),
            last_at=Max("judgements__submitted_at", filter=current),
        )
        .order_by("-done", "pseudonym", "id")
    )
    return [
        MemberRow(
            name=row.pseudonym,
            role="simulated" if row.is_simulated else "annotator",
            done=row.done,
            last_at=row.last_at,
        )
        for row in rows
    ]
