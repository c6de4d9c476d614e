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


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def lapsed(self, *, now: datetime) -> AssignmentQuerySet:
        """Open seats whose lease has ended."""
        return self.filter(state=Assignment.State.OPEN, lease_expires_at__lte=now)


class Assignment(models.Model):
    """A seat: one rater's place on one pair, on a lease until it is submitted."""

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("seat", "open")
        SUBMITTED = "submitted", _("submitted")
        EXPIRED = "expired", _("expired")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="assignments")
    membership = models.ForeignKey(Membership, models.PROTECT, related_name="assignments")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="assignments")
    state = models.CharField(_("state"), max_length=10, choices=State.choices)
    shown_left = models.CharField(_("shown left"), max_length=1, choices=Side.choices)
    claimed_at = models.DateTimeField(_("claimed at"))
    lease_expires_at = models.DateTimeField(_("lease expires at"))
    judgement = models.OneToOneField(
        Judgement, models.PROTECT, null=True, blank=True, related_name="assignment"
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pair", "membership"],
                condition=Q(state__in=["open", "submitted"]),
                name="assignment_once_a_pair_and_rater",
            ),
            models.UniqueConstraint(
                fields=["membership"],
                condition=Q(state="open"),
                name="assignment_one_open_a_rater",
            ),
            models.CheckConstraint(
                condition=Q(state="submitted", judgement__isnull=False)
                | Q(state__in=["open", "expired"], judgement=None),
                name="assignment_judgement_iff_submitted",
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
        ]
