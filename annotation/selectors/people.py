"""The people of a campaign as its leads see them: few queries, whatever their number."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Aggregate, Count, F, FloatField, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.domain.scoring import Score
from annotation.models import (
    Assignment,
    Campaign,
    CheckAnswer,
    CrowdPlace,
    CrowdStudy,
    Event,
    Flag,
    Invite,
    Membership,
    User,
)
from annotation.selectors.checks import gold_rows
from benchmark.models import Judgement

# Flags shown at once; resolving some brings the next ones up.
FLAGS_SHOWN = 50

NO_SCORE = Score(asked=0, right=0)

_BY_CHECKS = (Membership.StandingReason.GOLD, Membership.StandingReason.QUALIFICATION)


def invite(invite_id: UUID) -> Invite | None:
    return Invite.objects.filter(pk=invite_id).select_related("campaign__pair_set").first()


def study(study_id: UUID) -> CrowdStudy | None:
    return CrowdStudy.objects.filter(pk=study_id).select_related("campaign__pair_set").first()


def membership_of(user: User, campaign: Campaign) -> Membership | None:
    return (
        Membership.objects.filter(user=user, campaign=campaign)
        .select_related("campaign__pair_set")
        .first()
    )


def attention_count(campaign: Campaign) -> int:
    """Unresolved flags, and raters whom checks have paused; one query."""
    paused = Membership.objects.filter(
        campaign=campaign,
        standing=Membership.Standing.PAUSED,
        standing_reason__in=_BY_CHECKS,
    )
    flags = Flag.objects.filter(campaign=campaign, resolved_at=None)
    return paused.order_by().values("pk").union(flags.values("pk"), all=True).count()


def unresolved_flags(campaign: Campaign) -> QuerySet[Flag]:
    return (
        Flag.objects.filter(campaign=campaign, resolved_at=None)
        .select_related("assignment__membership__rater", "assignment__pair")
        .order_by("-id")
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """A rater's votes in numbers."""

    done: int = 0
    last_at: datetime | None = None
    median_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A rater by pseudonym."""

    membership: Membership
    pseudonym: str
    place: CrowdPlace | None  # of a crowd participant
    judged: Judged
    gold: Score
    repeats: Score
    qualification: Score
    excluded_because: str  # in the lead's words; empty for everybody else

    @property
    def is_paused_by_checks(self) -> bool:
        return (
            self.membership.standing == Membership.Standing.PAUSED
            and self.membership.standing_reason in _BY_CHECKS
        )


class _Median(Aggregate):
    """percentile_cont is exact: with an even number, the mean of the two in the middle."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def person_rows(campaign: Campaign) -> list[PersonRow]:
    """Annotators by pseudonym; a fixed number of queries."""
    judged = _judged(campaign)
    checks = {row.pseudonym: row for row in gold_rows(campaign)}
    qualifications = _qualifications(campaign)
    reasons = _exclusions(campaign)
    members = (
        Membership.objects.filter(campaign=campaign, role=Membership.Role.ANNOTATOR)
        .select_related("rater", "crowd_place", "user")
        .order_by("rater__pseudonym", "id")
    )
    rows = []
    for member in members:
        assert member.rater is not None
        place: CrowdPlace | None = getattr(member, "crowd_place", None)
        # Who joined between the queries has no figures yet.
        figures = checks.get(member.rater.pseudonym)
        rows.append(
            PersonRow(
                membership=member,
                pseudonym=member.rater.pseudonym,
                place=place,
                judged=judged.get(member.rater.pk, Judged()),
                gold=figures.gold.score if figures else NO_SCORE,
                repeats=figures.repeats.score if figures else NO_SCORE,
                qualification=qualifications.get(member.pk, NO_SCORE),
                excluded_because=reasons.get(member.pk, "")
                if member.standing == Membership.Standing.EXCLUDED
                else "",
            )
        )
    return rows


def _exclusions(campaign: Campaign) -> dict[int, str]:
    """The reason last given for excluding each member."""
    events = Event.objects.filter(campaign=campaign, action="rater:excluded").order_by("id")
    return {
        data["membership"]: data.get("reason", "") for data in events.values_list("data", flat=True)
    }


def _judged(campaign: Campaign) -> dict[int, Judged]:
    """By rater."""
    rows = (
        Judgement.objects.current()
        .filter(rater__membership__campaign=campaign)
        .order_by()
        .values_list("rater")
        .annotate(
            done=Count("pk"),
            last_at=Max("submitted_at"),
            median_seconds=_Median(Coalesce("active_seconds", "seconds")),
        )
    )
    return {rater: Judged(*figures) for rater, *figures in rows}


def _qualifications(campaign: Campaign) -> dict[int, Score]:
    """By member: of the try that is going on, or was the last."""
    sums = (
        CheckAnswer.objects.current()
        .filter(
            assignment__campaign=campaign,
            assignment__purpose=Assignment.Purpose.QUALIFICATION,
            assignment__attempt=F("assignment__membership__qualification_try"),
        )
        .order_by()
        .values_list("assignment__membership")
        .annotate(asked=Sum("asked"), right=Sum("right"))
    )
    return {member: Score(asked=asked, right=right) for member, asked, right in sums}


def watchers(campaign: Campaign) -> list[Membership]:
    """Leads and researchers, by name."""
    return list(
        Membership.objects.filter(campaign=campaign)
        .exclude(role=Membership.Role.ANNOTATOR)
        .select_related("user")
        .order_by("role", "user__username", "id")
    )


def invites_of(campaign: Campaign) -> list[Invite]:
    """Newest first."""
    return list(
        Invite.objects.filter(campaign=campaign)
        .select_related("campaign")
        .order_by("-created_at", "id")
    )


@dataclass(frozen=True, slots=True)
class StudyRow:
    study: CrowdStudy
    places: dict[str, int]  # by state


def study_rows(campaign: Campaign) -> list[StudyRow]:
    """Newest first; one query."""
    counts = {
        f"n_{state}": Count("places", filter=Q(places__state=state))
        for state in CrowdPlace.State.values
    }
    studies = CrowdStudy.objects.filter(campaign=campaign).annotate(**counts)
    return [
        StudyRow(
            study=row,
            places={state: getattr(row, f"n_{state}") for state in CrowdPlace.State.values},
        )
        for row in studies.order_by("-created_at", "id")
    ]
