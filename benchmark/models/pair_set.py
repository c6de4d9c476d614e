from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, models, transaction
from django.db.models import Q
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

# First half of the advisory lock of a set's judgements; the second is the set's id.
_LOCK = 7_001


class PairSet(models.Model):
    """A set of pairs that is judged, aggregated and released as one."""

    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    name = models.CharField(_("name"), max_length=200)
    # Everything drawn at random for this set is drawn from here: A/B order, order shown, positions.
    seed = models.CharField(_("seed"), max_length=64)
    raters_per_pair = models.PositiveSmallIntegerField(_("raters per pair"), default=9)
    # With ties, a vote has three categories and not two: coefficients depend on that.
    allows_tie = models.BooleanField(_("ties allowed"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(raters_per_pair__gte=1, raters_per_pair__lte=99),
                name="pair_set_raters_per_pair_1_to_99",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def categories(self) -> tuple[str, ...]:
        """What a vote can be, skips aside; never inferred from the votes there are."""
        return ("A", "B", "tie") if self.allows_tie else ("A", "B")

    @cached_property
    def criteria_in_order(self) -> list[Criterion]:
        """The questions asked about each pair; one query in the life of this object."""
        return list(self.criteria.order_by("position", "id"))

    def lock_for_writing(self) -> None:
        """Keep `snapshot` from being taken until this transaction ends; writers share the lock."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock_shared(%s, %s)", [_LOCK, self.pk])

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """A transaction that sees one state of the set; gives the id of its newest judgement.

        Writers hold the shared lock from before their judgement gets its id until they commit, so
        at the moment when the exclusive lock is held, every judgement with an id up to that number
        is visible and all later ones will have larger ids. That makes the number enough to find
        the same judgements again. Must not be used inside another transaction.
        """
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s, %s)", [_LOCK, self.pk])
            is_locked = True
            try:
                with transaction.atomic(durable=True):
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    cursor.execute("SELECT coalesce(max(id), 0) FROM benchmark_judgement")
                    last_judgement: int = cursor.fetchone()[0]
                    cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCK, self.pk])
                    is_locked = False
                    yield last_judgement
            finally:
                if is_locked and connection.is_usable():
                    cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCK, self.pk])

    @property
    def is_simulated(self) -> bool:
        """Whether any of its votes comes from a noise model and not from a person; one query."""
        return self.raters.filter(is_simulated=True).exists()


class Criterion(models.Model):
    """A question asked about each pair of the set, in both languages of the interface."""

    pair_set = models.ForeignKey(PairSet, models.CASCADE, related_name="criteria")
    key = models.SlugField(_("key"), max_length=40)
    position = models.PositiveSmallIntegerField(_("position"))
    question_en = models.CharField(max_length=200)
    question_zh = models.CharField(max_length=200)
    help_en = models.CharField(max_length=400, blank=True)
    help_zh = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pair_set", "key"], name="criterion_once_a_set"),
            models.UniqueConstraint(
                fields=["pair_set", "position"], name="criterion_position_once_a_set"
            ),
        ]

    def __str__(self) -> str:
        return self.key
