from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.pair import Pair
from benchmark.models.pair_set import Criterion, PairSet


class Side(models.TextChoices):
    A = "A", "A"
    B = "B", "B"


class Choice(models.TextChoices):
    A = "A", "A"
    B = "B", "B"
    TIE = "tie", _("tie")
    SKIP = "skip", _("skip")


class Rater(models.Model):
    """Whoever judges, by pseudonym: files and pages for researchers know no other name."""

    pair_set = models.ForeignKey(PairSet, models.CASCADE, related_name="raters")
    pseudonym = models.CharField(_("pseudonym"), max_length=200)
    is_simulated = models.BooleanField(_("simulated"), default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pair_set", "pseudonym"], name="rater_once_a_set"),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class JudgementQuerySet(models.QuerySet["Judgement"]):
    def current(self) -> JudgementQuerySet:
        """The newest revision of each."""
        return self.filter(superseded_by=None)

    def as_of(self, last_id: int) -> JudgementQuerySet:
        """Those that were current when ``last_id`` (Run.last_judgement) was the newest."""
        return self.filter(id__lte=last_id).filter(
            Q(superseded_by=None) | Q(superseded_by__gt=last_id)
        )


class Judgement(models.Model):
    """One rater's answer on one pair. Append-only: a correction is a new row with a revision.

    At most ``raters_per_pair`` current ones a pair, never two by one rater: `seat` is unique among
    the current ones of a pair and lies in 1..raters_per_pair, which the foreign key
    (pair, raters_per_pair) of migration 0002 ties to the pair's own number.
    """

    pair = models.ForeignKey(Pair, models.PROTECT, related_name="judgements")
    rater = models.ForeignKey(Rater, models.PROTECT, related_name="judgements")
    seat = models.PositiveSmallIntegerField(_("seat"))
    raters_per_pair = models.PositiveSmallIntegerField(_("raters per pair"))
    revision = models.PositiveSmallIntegerField(_("revision"), default=1)
    superseded_by = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="supersedes"
    )
    # The canonical response that stood left (or first); empty when votes made elsewhere lack it.
    shown_left = models.CharField(_("shown left"), max_length=1, choices=Side.choices, blank=True)
    opened_at = models.DateTimeField(_("opened at"), null=True, blank=True)
    submitted_at = models.DateTimeField(_("submitted at"), null=True, blank=True)
    first_action_at = models.DateTimeField(_("first action at"), null=True, blank=True)
    # From opening to submitting; in a correction with the time that it took added.
    seconds = models.FloatField(_("seconds"), null=True, blank=True)
    # With the page in sight and somebody at work on it; null when the browser could not tell.
    active_seconds = models.FloatField(_("active seconds"), null=True, blank=True)
    comment = models.TextField(_("comment"), blank=True)
    # 1 (a guess) to 3 (certain), where the campaign asks for it and the rater answers.
    confidence = models.PositiveSmallIntegerField(_("confidence"), null=True, blank=True)
    # Keys of the reasons that the rater ticked.
    reasons = ArrayField(
        models.CharField(max_length=40), verbose_name=_("reasons"), default=list, blank=True
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair", "seat"],
                condition=Q(superseded_by=None),
                name="judgement_seat_once_a_pair",
            ),
            models.UniqueConstraint(
                fields=["pair", "rater"],
                condition=Q(superseded_by=None),
                name="judgement_once_a_rater_and_pair",
            ),
            models.UniqueConstraint(
                fields=["pair", "rater", "revision"], name="judgement_revision_once"
            ),
            models.CheckConstraint(
                condition=Q(seat__gte=1, seat__lte=F("raters_per_pair")),
                name="judgement_seat_in_range",
            ),
            models.CheckConstraint(
                condition=Q(shown_left__in=["", "A", "B"]), name="judgement_shown_left"
            ),
            models.CheckConstraint(
                condition=Q(seconds=None) | Q(seconds__gte=0), name="judgement_seconds_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(active_seconds=None) | Q(active_seconds__gte=0),
                name="judgement_active_seconds_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(confidence=None) | Q(confidence__gte=1, confidence__lte=3),
                name="judgement_confidence_1_to_3",
            ),
        ]


class Vote(models.Model):
    """One rater's choice on one criterion, by canonical response."""

    judgement = models.ForeignKey(Judgement, models.PROTECT, related_name="votes")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="+")
    choice = models.CharField(_("choice"), max_length=4, choices=Choice.choices)
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgement", "criterion"], name="vote_once_a_judgement_and_criterion"
            ),
            models.CheckConstraint(condition=Q(choice__in=Choice.values), name="vote_choice"),
        ]
