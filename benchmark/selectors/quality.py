"""The pairs and personas of a set as `benchmark.quality` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from django.db import connection
from django.db.models import Q

from benchmark.formats import Location, PairRecord, PersonaRecord, Prior
from benchmark.formats.records import QueryKind, Side
from benchmark.models import PairSet
from benchmark.quality import PRIOR, VOTES

_ROWS = 500


@dataclass(frozen=True, slots=True)
class SetRecords:
    """Gives all personas and pairs of a set at each call, streamed from the server.

    ``voted`` has the label of each pair (by database id) that the votes name; it is None where the
    pairs have prior labels, which are then used instead.
    """

    pair_set: PairSet
    voted: dict[int, Side] | None

    @property
    def labels_from(self) -> str:
        return PRIOR if self.voted is None else VOTES

    def __call__(self) -> Iterator[PersonaRecord | PairRecord]:
        at = Location(self.pair_set.slug, None)
        personas = self.pair_set.personas.order_by("pk").values_list("persona_id", "profile")
        for persona_id, profile in personas.iterator(chunk_size=_ROWS):
            yield PersonaRecord(persona_id, json.loads(profile), at)
        pairs = self.pair_set.pairs.order_by("pk").select_related("persona")
        for pair in pairs.defer("persona__profile").iterator(chunk_size=_ROWS):
            priors = tuple(
                Prior(prior.get("tier"), prior.get("label"), prior.get("origin") or "")
                for prior in pair.priors
            )
            yield PairRecord(
                pair_id=pair.pair_id,
                persona_id=pair.persona.persona_id,
                query=pair.query,
                query_kind=cast(QueryKind, pair.query_kind),
                response_a=pair.response_a,
                response_b=pair.response_b,
                source_a=pair.source_a,
                source_b=pair.source_b,
                priors=priors if self.voted is None else self._by_votes(pair.pk, priors),
                meta=pair.meta,
                at=at,
            )

    def _by_votes(self, pk: int, priors: tuple[Prior, ...]) -> tuple[Prior, ...]:
        assert self.voted is not None
        label = self.voted.get(pk)
        tiers = dict.fromkeys(prior.tier for prior in priors) or {None: None}
        return tuple(Prior(tier, label, VOTES) for tier in tiers)


def set_records(pair_set: PairSet) -> SetRecords:
    """Two queries at most; the records themselves are read when they are asked for.

    Without any prior label in the set, a pair's label is the response that the current votes prefer
    on every criterion.
    """
    labelled = Q(priors__contains=[{"label": "A"}]) | Q(priors__contains=[{"label": "B"}])
    if pair_set.pairs.filter(labelled).exists():
        return SetRecords(pair_set, None)
    return SetRecords(pair_set, _voted(pair_set))


def _voted(pair_set: PairSet) -> dict[int, Side]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT tally.pair_id, CASE WHEN bool_and(tally.a > tally.b) THEN 'A' ELSE 'B' END
            FROM benchmark_tally tally JOIN benchmark_pair pair ON pair.id = tally.pair_id
            WHERE pair.pair_set_id = %s GROUP BY tally.pair_id
            HAVING bool_and(tally.a > tally.b) OR bool_and(tally.b > tally.a)
            """,
            [pair_set.pk],
        )
        return dict(cursor.fetchall())
