"""Campaigns as their people see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Count, Exists, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Campaign, Guideline, Membership, PairSeats, User
from benchmark.models import Rater


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A line of "my campaigns"."""

    membership: Membership
    pairs: int
    done: int
    is_simulated: bool

    @property
    def campaign(self) -> Campaign:
        return self.membership.campaign


def campaigns_of(user: User) -> list[CampaignRow]:
    """One query, whatever the number of campaigns."""
    pairs = PairSeats.objects.filter(campaign=OuterRef("campaign")).order_by()
    done = Assignment.objects.filter(
        membership=OuterRef("pk"), state=Assignment.State.SUBMITTED
    ).order_by()
    rows = (
        Membership.objects.filter(user=user)
        .select_related("campaign__pair_set")
        .annotate(
            pairs=Coalesce(
                Subquery(pairs.values("campaign").annotate(n=Count("*")).values("n")), 0
            ),
            done=Coalesce(
                Subquery(done.values("membership").annotate(n=Count("*")).values("n")), 0
            ),
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
            done=row.done,
            is_simulated=row.is_simulated,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class RaterProgress:
    done: int
    pairs: int
    saved_at: datetime | None

    @property
    def percent(self) -> int:
        return 100 * self.done // self.pairs if self.pairs else 0


def rater_progress(membership: Membership) -> RaterProgress:
    """How many pairs the rater has judged, of all, and when the last answer was stored."""
    with connection.cursor() as cursor:
        # Asked on every task page. Judgements have ascending ids, so the newest is found without
        # reading all of them.
        cursor.execute(
            """
            SELECT own.done, (SELECT count(*) FROM annotation_pairseats WHERE campaign_id = %s),
                (SELECT submitted_at FROM benchmark_judgement WHERE id = own.newest)
            FROM (SELECT count(*) AS done, max(judgement_id) AS newest FROM annotation_assignment
                  WHERE membership_id = %s AND state = 'submitted') own
            """,
            [membership.campaign_id, membership.pk],
        )
        return RaterProgress(*cursor.fetchone())


def open_leases(campaign: Campaign, *, now: datetime) -> int:
    return Assignment.objects.filter(
        campaign=campaign, state=Assignment.State.OPEN, lease_expires_at__gt=now
    ).count()


def newest_guideline(campaign: Campaign) -> Guideline | None:
    return campaign.guidelines.order_by("-version").first()


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
