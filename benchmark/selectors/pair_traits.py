"""What a pair is like, apart from its votes: kinds to break figures down by, and lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db import connection

from benchmark.models import Run
from benchmark.stats.codes import Ints

_ROWS = 20_000
UNKNOWN = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTraits:
    """Of N pairs, in the order of the ids asked for.

    ``kinds`` maps a dimension to the value of each pair, empty where it is unknown; lengths are
    characters, shape (N,).
    """

    kinds: dict[str, list[str]]
    source_a: list[str]
    source_b: list[str]
    length_a: Ints
    length_b: Ints
    length_query: Ints
    length_persona: Ints


def pair_traits(run: Run, pairs: Ints) -> PairTraits:
    """One query, without the texts themselves."""
    place = {pair: n for n, pair in enumerate(pairs.tolist())}
    kinds = {
        name: [UNKNOWN] * len(pairs)
        for name in ("query_kind", "source_pair", "batch", "prior_tier")
    }
    sources = [[UNKNOWN] * len(pairs), [UNKNOWN] * len(pairs)]
    lengths = np.zeros((4, len(pairs)), dtype=np.int64)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT pair.id, pair.query_kind,
                source_a, source_b,
                coalesce(pair.meta ->> 'batch',
                         to_char(pair.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
                coalesce(pair.priors -> 0 ->> 'tier', ''), length(response_a), length(response_b),
                length(query), length(persona.profile)
            FROM benchmark_verdict verdict
            JOIN benchmark_pair pair ON pair.id = verdict.pair_id
            JOIN benchmark_persona persona ON persona.id = pair.persona_id
            WHERE verdict.run_id = %s
            """,
            [run.pk],
        )
        while rows := cursor.fetchmany(_ROWS):
            for pair, kind, first, second, batch, tier, *numbers in rows:
                n = place[pair]
                kinds["query_kind"][n] = kind
                kinds["source_pair"][n] = " · ".join(sorted(filter(None, (first, second))))
                sources[0][n], sources[1][n] = first, second
                kinds["batch"][n] = batch
                kinds["prior_tier"][n] = tier
                lengths[:, n] = numbers
    a, b, query, persona = lengths
    return PairTraits(
        kinds=kinds,
        source_a=sources[0],
        source_b=sources[1],
        length_a=a,
        length_b=b,
        length_query=query,
        length_persona=persona,
    )
