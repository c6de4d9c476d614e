from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from benchmark.models.pair_set import PairSet


class Persona(models.Model):
    """A structured profile of a person, or a text about one."""

    pair_set = models.ForeignKey(PairSet, models.CASCADE, related_name="personas")
    persona_id = models.CharField(_("persona id"), max_length=200)
    name = models.CharField(_("name"), max_length=200)
    # JSON as text: PostgreSQL's jsonb would lose the order in which the profile was written.
    profile = models.TextField(_("profile"))
    digest = models.BinaryField(_("digest"), max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pair_set", "persona_id"], name="persona_once_a_set"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def own_name(self) -> str:
        """The name in the profile; empty where an id stands in for it."""
        return "" if self.name == self.persona_id else self.name

    @property
    def body(self) -> dict[str, Any] | str:
        """The profile: an object, or a text."""
        body: dict[str, Any] | str = json.loads(self.profile)
        return body


class PairQuerySet(models.QuerySet["Pair"]):
    def for_list(self) -> PairQuerySet:
        """Without the large texts."""
        return self.defer("query", "response_a", "response_b", "meta")


class Pair(models.Model):
    """Persona, query and two responses. A and B are canonical; their order says nothing."""

    pair_set = models.ForeignKey(PairSet, models.CASCADE, related_name="pairs")
    pair_id = models.CharField(_("pair id"), max_length=200)
    persona = models.ForeignKey(Persona, models.PROTECT, related_name="pairs")
    query = models.TextField(_("query"))
    query_kind = models.CharField(_("query kind"), max_length=10, blank=True)
    response_a = models.TextField(_("response A"))
    response_b = models.TextField(_("response B"))
    # Never in any annotator's context: access to them goes through the lead's and export code only.
    source_a = models.CharField(_("source of A"), max_length=200, blank=True)
    source_b = models.CharField(_("source of B"), max_length=200, blank=True)
    # What was published about the pair before: a list of {tier, label, origin}.
    priors: models.JSONField[list[dict[str, Any]]] = models.JSONField(_("priors"), default=list)
    meta: models.JSONField[dict[str, Any]] = models.JSONField(_("meta"), default=dict)
    # SHA-256 of the content (formats.PairRecord.digest): tells a repeat from a clash.
    digest = models.BinaryField(_("digest"), max_length=32)
    # Copied from the set so that a foreign key over both columns can bound a judgement's seat.
    raters_per_pair = models.PositiveSmallIntegerField(_("raters per pair"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = PairQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pair_set", "pair_id"], name="pair_once_a_set"),
            # Target of the foreign key judgement_raters_of_pair (migration 0002).
            models.UniqueConstraint(fields=["id", "raters_per_pair"], name="pair_id_raters"),
            models.CheckConstraint(
                condition=~Q(response_a=F("response_b")), name="pair_responses_differ"
            ),
            models.CheckConstraint(
                condition=Q(query_kind__in=["", "specific", "general"]), name="pair_query_kind"
            ),
        ]

    def __str__(self) -> str:
        return self.pair_id
