from __future__ import annotations

import uuid
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.models.campaign import Campaign
from annotation.models.user import Membership
from benchmark.models import Judgement, Pair, Side


class PairSeats(models.Model):
    """How many seats of a pair are free: neither submitted nor on a lease.

    This slim row is also the lock of its pair: whatever claims, submits, frees or imports takes it
    first (`select_for_update(no_key=True)`), then assignments, judgements, tallies.
    """

    pair = models.OneToOneField(Pair, models.CASCADE, primary_key=True, related_name="seats")
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="seats")
    # The order in which pairs are handed out: shuffled by the set's seed at import.
    position = models.IntegerField(_("position"))
    free = models.SmallIntegerField(_("free seats"))

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(free__gte=0), name="pair_seats_not_negative"),
            models.UniqueConstraint(
                fields=["campaign", "position"], name="pair_seats_position_once"
            ),
        ]
        indexes = [
            # The search for the next pair.
            models.Index(
                fields=["campaign", "position"],
                condition=Q(free__gt=0),
                name="pair_seats_with_a_place",
            ),
        ]


MAIN_ROUND = ("vote", "gold", "repeat")


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def lapsed(self, *, now: datetime) -> AssignmentQuerySet:
        """Open seats whose lease has ended. Only those of votes keep a place from others."""
        return self.filter(
            state=Assignment.State.OPEN,
            purpose=Assignment.Purpose.VOTE,
            lease_expires_at__lte=now,
        )

    def of_main_round(self) -> AssignmentQuerySet:
        """What a rater takes for pairs to be judged: votes and the checks among them."""
        return self.filter(purpose__in=MAIN_ROUND)


class Assignment(models.Model):
    """A seat: one rater's place on one pair, on a lease until it is submitted.

    Checks (training, qualification, gold, repeats) are seats as well and look the same, but take
    no place on the pair and lead to no judgement: their answers are `CheckAnswer` rows.
    """

    class Purpose(models.TextChoices):
        VOTE = "vote", _("vote")
        TRAINING = "training", _("training")
        QUALIFICATION = "qualification", _("qualification")
        GOLD = "gold", _("gold")
        REPEAT = "repeat", _("repeat")

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("seat", "open")
        SUBMITTED = "submitted", _("submitted")
        EXPIRED = "expired", _("expired")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="assignments")
    membership = models.ForeignKey(Membership, models.PROTECT, related_name="assignments")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="assignments")
    purpose = models.CharField(
        _("purpose"), max_length=13, choices=Purpose.choices, default=Purpose.VOTE
    )
    # What is known about the pair; for training, qualification and gold.
    check_item = models.ForeignKey(
        "annotation.CheckItem", models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    # The seat that this one asks again, with the sides swapped.
    repeats = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="repeated_by"
    )
    # Of a qualification, from 1.
    attempt = models.PositiveSmallIntegerField(_("try"), default=0)
    state = models.CharField(_("state"), max_length=10, choices=State.choices)
    shown_left = models.CharField(_("shown left"), max_length=1, choices=Side.choices)
    claimed_at = models.DateTimeField(_("claimed at"))
    lease_expires_at = models.DateTimeField(_("lease expires at"))
    # Open beside the one at which the rater is working, so that its pair can be shown at once.
    is_ahead = models.BooleanField(_("is ahead"), default=False)
    # When the first answer was stored.
    submitted_at = models.DateTimeField(_("submitted at"), null=True, blank=True)
    judgement = models.OneToOneField(
        Judgement, models.PROTECT, null=True, blank=True, related_name="assignment"
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair", "membership", "purpose", "attempt"],
                condition=Q(state__in=["open", "submitted"]),
                name="assignment_once_a_pair_and_rater",
            ),
            models.UniqueConstraint(
                fields=["membership", "is_ahead"],
                condition=Q(state="open"),
                name="assignment_one_open_a_rater",
            ),
            models.CheckConstraint(
                condition=Q(state="submitted", purpose="vote", judgement__isnull=False)
                | Q(judgement=None) & ~Q(state="submitted", purpose="vote"),
                name="assignment_judgement_iff_submitted",
            ),
            models.CheckConstraint(
                condition=Q(state="submitted", submitted_at__isnull=False)
                | Q(state__in=["open", "expired"], submitted_at=None),
                name="assignment_submitted_at_iff_submitted",
            ),
            models.CheckConstraint(
                condition=Q(
                    purpose__in=["training", "qualification", "gold"], check_item__isnull=False
                )
                | Q(purpose__in=["vote", "repeat"], check_item=None),
                name="assignment_item_iff_known",
            ),
            models.CheckConstraint(
                condition=Q(purpose="repeat", repeats__isnull=False)
                | ~Q(purpose="repeat") & Q(repeats=None),
                name="assignment_repeats_iff_repeat",
            ),
            models.CheckConstraint(
                condition=Q(purpose="qualification", attempt__gte=1)
                | ~Q(purpose="qualification") & Q(attempt=0),
                name="assignment_attempt_iff_qualification",
            ),
            models.CheckConstraint(
                condition=Q(shown_left__in=["A", "B"]), name="assignment_shown_left"
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "lease_expires_at"],
                condition=Q(state="open"),
                name="assignment_open_leases",
            ),
            models.Index(fields=["membership", "state"], name="assignment_of_a_rater"),
            # The newest answers: undo, history.
            models.Index(
                fields=["membership", "-submitted_at"],
                condition=Q(state="submitted"),
                name="assignment_newest_of_a_rater",
            ),
        ]

    @property
    def is_main_round(self) -> bool:
        return self.purpose in MAIN_ROUND
