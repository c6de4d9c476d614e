from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.assignment import Assignment
from annotation.models.campaign import Campaign
from benchmark.models import Pair


class CheckItem(models.Model):
    """A pair with a known answer. The pair is in the campaign's set of checks."""

    class Purpose(models.TextChoices):
        TRAINING = "training", _("training")
        QUALIFICATION = "qualification", _("qualification")
        GOLD = "gold", _("gold")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="check_items")
    pair = models.OneToOneField(Pair, models.CASCADE, related_name="check_item")
    purpose = models.CharField(_("purpose"), max_length=13, choices=Purpose.choices)
    # The order in which training and qualification are given; gold is drawn.
    position = models.PositiveIntegerField(_("position"))
    # criterion key -> A or B, on at least one criterion.
    expected: models.JSONField[dict[str, str]] = models.JSONField(_("expected"))
    # Markdown, shown after a training answer and nowhere else.
    explanation = models.TextField(_("explanation"), blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "purpose", "position"], name="check_item_position_once"
            ),
            models.CheckConstraint(condition=~Q(expected={}), name="check_item_expects_something"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.position}"


class CheckAnswerQuerySet(models.QuerySet["CheckAnswer"]):
    def current(self) -> CheckAnswerQuerySet:
        """The newest revision of each."""
        return self.filter(is_current=True)


class CheckAnswer(models.Model):
    """What a rater answered on a check seat. A correction is a new row with a revision.

    Like `Judgement`, but never counted as votes.
    """

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="check_answers")
    revision = models.PositiveSmallIntegerField(_("revision"), default=1)
    is_current = models.BooleanField(_("current"), default=True)
    # criterion key -> A, B, tie or skip, by canonical response.
    choices: models.JSONField[dict[str, Any]] = models.JSONField(_("choices"))
    skip_reason = models.CharField(_("reason for skipping"), max_length=200, blank=True)
    comment = models.TextField(_("comment"), blank=True)
    confidence = models.PositiveSmallIntegerField(_("confidence"), null=True, blank=True)
    reasons = ArrayField(
        models.CharField(max_length=40), verbose_name=_("reasons"), default=list, blank=True
    )
    opened_at = models.DateTimeField(_("opened at"))
    first_action_at = models.DateTimeField(_("first action at"), null=True, blank=True)
    submitted_at = models.DateTimeField(_("submitted at"))
    seconds = models.FloatField(_("seconds"))
    active_seconds = models.FloatField(_("active seconds"), null=True, blank=True)
    # On how many criteria an answer was expected, and how many of them were as expected. Of a
    # repeat: criteria answered A or B both times, and how many of them the same.
    asked = models.PositiveSmallIntegerField(_("asked"))
    right = models.PositiveSmallIntegerField(_("right"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = CheckAnswerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "revision"], name="check_answer_revision_once"
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(is_current=True),
                name="check_answer_one_current",
            ),
            models.CheckConstraint(
                condition=Q(right__lte=F("asked")), name="check_answer_right_at_most_asked"
            ),
        ]
