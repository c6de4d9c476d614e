"""What came of checks: for a rater's own page, and for the lead."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Sum

from annotation.domain.scoring import Score
from annotation.models import Assignment, Campaign, CheckAnswer, CheckItem, Membership

_NOTHING = Score(0, 0)


@dataclass(frozen=True, slots=True)
class CheckScore:
    """Answers on check pairs (`items`), and the criteria that they were scored on."""

    items: int = 0
    score: Score = _NOTHING


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """How a rater did. Whether the rater may see `gold` is the campaign's to say."""

    training: CheckScore
    qualification: dict[int, CheckScore]  # by try, from 1
    gold: CheckScore
    # With oneself: criteria answered A or B both times, and how many of them the same.
    repeats: CheckScore


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A rater's checks of the main round, for the lead."""

    pseudonym: str
    standing: str
    standing_reason: str
    gold: CheckScore
    repeats: CheckScore


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """How many pairs with known answers a campaign has."""

    training: int = 0
    qualification: int = 0
    gold: int = 0


def check_figures(membership: Membership) -> CheckFigures:
    """One query."""
    rows = (
        CheckAnswer.objects.current()
        .filter(assignment__membership=membership)
        .order_by("assignment__attempt")
        .values_list("assignment__purpose", "assignment__attempt")
        .annotate(items=Count("pk"), asked=Sum("asked"), right=Sum("right"))
    )
    found: defaultdict[str, dict[int, CheckScore]] = defaultdict(dict)
    for purpose, attempt, items, asked, right in rows:
        found[purpose][attempt] = CheckScore(items, Score(asked, right))
    kinds = Assignment.Purpose
    return CheckFigures(
        training=found[kinds.TRAINING].get(0, CheckScore()),
        qualification=found[kinds.QUALIFICATION],
        gold=found[kinds.GOLD].get(0, CheckScore()),
        repeats=found[kinds.REPEAT].get(0, CheckScore()),
    )


def gold_rows(campaign: Campaign) -> list[GoldRow]:
    """Annotators by pseudonym, those without an answer too; two queries."""
    rows = (
        CheckAnswer.objects.current()
        .filter(
            assignment__campaign=campaign,
            assignment__purpose__in=[Assignment.Purpose.GOLD, Assignment.Purpose.REPEAT],
        )
        .order_by()
        .values_list("assignment__membership", "assignment__purpose")
        .annotate(items=Count("pk"), asked=Sum("asked"), right=Sum("right"))
    )
    found = {
        (membership, purpose): CheckScore(items, Score(asked, right))
        for membership, purpose, items, asked, right in rows
    }
    raters = (
        Membership.objects.filter(campaign=campaign, role=Membership.Role.ANNOTATOR)
        .order_by("rater__pseudonym", "id")
        .values_list("pk", "rater__pseudonym", "standing", "standing_reason")
    )
    return [
        GoldRow(
            pseudonym=pseudonym,
            standing=standing,
            standing_reason=reason,
            gold=found.get((pk, Assignment.Purpose.GOLD), CheckScore()),
            repeats=found.get((pk, Assignment.Purpose.REPEAT), CheckScore()),
        )
        for pk, pseudonym, standing, reason in raters
    ]


def check_counts(campaign: Campaign) -> CheckCounts:
    """One query."""
    rows = (
        CheckItem.objects.filter(campaign=campaign)
        .order_by()
        .values_list("purpose")
        .annotate(n=Count("pk"))
    )
    return CheckCounts(**dict(rows))
