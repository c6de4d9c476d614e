"""Pairs and personas out of files, all of them or none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from benchmark.formats import PairRecord, PersonaRecord, Problem, read_pairs
from benchmark.formats.checks import UNSEEN
from benchmark.models import PairSet
from benchmark.services.staging import (
    Problems,
    Progress,
    Stage,
    column,
    counted,
    execute,
    prepare,
    scalar,
    temporary,
)

# A pair that two rows label both ways: one pair, both labels remembered.
_CONTRADICTIONS = """
    SELECT pair.pair_id FROM benchmark_pair pair
    WHERE pair.pair_set_id = %s
      AND pair.pair_id IN (SELECT pair_id FROM incoming_pair)
      AND pair.priors @> '[{"label": "A"}]' AND pair.priors @> '[{"label": "B"}]'
    ORDER BY pair.pair_id
"""


def _seen(column: str) -> str:
    return f"""regexp_replace({column} COLLATE "C", '{UNSEEN}+', '', 'g')"""


# What a rater sees of a pair, whichever side the responses stand on. OFFSET keeps PostgreSQL from
# working out each text as often as it is named.
_CONTENT = f"""
    (SELECT md5(jsonb_build_array(encode(persona.digest, 'hex'), query,
                                  least(one, other), greatest(one, other))::text)
     FROM (SELECT {_seen("pair.query")} AS query, {_seen("pair.response_a")} AS one,
                  {_seen("pair.response_b")} AS other OFFSET 0) seen)
"""


@dataclass(frozen=True, slots=True)
class PairImportReport:
    """What a file holds and what came of it. With problems, nothing was written."""

    personas: int = 0
    rows: int = 0
    pairs: int = 0
    repeats: int = 0
    contradictions: int = 0
    rejected: int = 0
    new_personas: int = 0
    new_pairs: int = 0
    updated_pairs: int = 0
    dry_run: bool = False
    contradictory_pairs: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.new_personas or self.new_pairs or self.updated_pairs)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "changed": self.changed,
            "problems": [problem.as_json() for problem in self.problems],
        }


def import_pairs(
    *,
    pair_set: PairSet,
    paths: Sequence[Path],
    apart_from: PairSet | None = None,
    distinct: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> PairImportReport:
    """Read files or folders into the set, in one transaction.

    A pair that is there already with the same content is left as it is, except that it learns
    prior labels which it did not have. A new one that is in ``apart_from`` too, under whatever id,
    is refused; with ``distinct`` also one that the set or the files have under another id.
    ``progress`` gets the number of records read so far.
    """
    with transaction.atomic():
        # Two imports into one set take turns.
        PairSet.objects.select_for_update(no_key=True).get(pk=pair_set.pk)
        problems = Problems()
        _stage(pair_set=pair_set, paths=paths, problems=problems, progress=progress)
        _check(pair_set, problems)
        if apart_from is not None or distinct:
            _check_content(pair_set, problems, apart_from=apart_from, distinct=distinct)
        counts: dict[str, Any] = {
            "personas": scalar("SELECT count(DISTINCT persona_id) FROM incoming_persona"),
            "rows": scalar("SELECT count(*) FROM incoming_pair"),
            "pairs": scalar("SELECT count(DISTINCT pair_id) FROM incoming_pair"),
            "repeats": scalar(
                "SELECT coalesce(sum(n - greatest(labels, 1)), 0)::bigint FROM"
                " (SELECT count(*) n, count(DISTINCT priors -> 0 ->> 'label') labels"
                "  FROM incoming_pair GROUP BY pair_id) a_pair"
            ),
        }
        if problems:
            transaction.set_rollback(True)
            return PairImportReport(
                **counts, rejected=problems.count, problems=problems.listed, dry_run=dry_run
            )
        written = _take_over(pair_set)
        with_both_labels = column(_CONTRADICTIONS, [pair_set.pk])
        if dry_run:
            transaction.set_rollback(True)
    return PairImportReport(
        **counts,
        **written,
        contradictions=len(with_both_labels),
        contradictory_pairs=with_both_labels,
        dry_run=dry_run,
    )


def _stage(
    *, pair_set: PairSet, paths: Sequence[Path], problems: Problems, progress: Progress | None
) -> None:
    place = {"n": "bigint", "file": "text", "line": "bigint"}
    personas = Stage(
        "incoming_persona",
        place | {"persona_id": "text", "name": "text", "profile": "text", "digest": "bytea"},
    )
    pairs = Stage(
        "incoming_pair",
        place
        | dict.fromkeys(("pair_id", "persona_id", "query", "query_kind"), "text")
        | dict.fromkeys(("response_a", "response_b", "source_a", "source_b"), "text")
        | {"priors": "jsonb", "meta": "jsonb", "digest": "bytea"},
    )
    records = counted(read_pairs(paths, seed=pair_set.seed), progress)
    for n, record in enumerate(records):
        if isinstance(record, Problem):
            problems.add(record)
        elif isinstance(record, PersonaRecord):
            personas.add(
                (
                    *(n, record.at.file, record.at.line, record.persona_id, record.name[:200]),
                    *(_json(record.body), record.digest),
                )
            )
        elif isinstance(record, PairRecord):
            pairs.add(
                (
                    *(n, record.at.file, record.at.line, record.pair_id, record.persona_id),
                    *(record.query, record.query_kind, record.response_a, record.response_b),
                    *(record.source_a, record.source_b),
                    *(_json([asdict(prior) for prior in record.priors]), _json(record.meta)),
                    record.digest,
                )
            )
    personas.finish("persona_id")
    pairs.finish("pair_id", "persona_id")


def _check(pair_set: PairSet, problems: Problems) -> None:
    """What no single row can tell: clashes within the files and with what is stored."""
    for table, key, stored in (
        ("incoming_persona", "persona_id", "benchmark_persona"),
        ("incoming_pair", "pair_id", "benchmark_pair"),
    ):
        problems.add_query(
            f"""
            SELECT later.file, later.line, '{key}',
                   format('%%s stands with other content in %%s:%%s',
                          later.{key}, first.file, first.line)
            FROM {table} later JOIN (
                SELECT DISTINCT ON ({key}) {key}, digest, n, file, line
                FROM {table} ORDER BY {key}, n
            ) first USING ({key})
            WHERE later.digest <> first.digest ORDER BY later.n
            """
        )
        problems.add_query(
            f"""
            SELECT incoming.file, incoming.line, '{key}',
                   format('%%s is in the campaign already, with other content', incoming.{key})
            FROM {table} incoming
            JOIN {stored} stored ON stored.pair_set_id = %s AND stored.{key} = incoming.{key}
            WHERE stored.digest <> incoming.digest ORDER BY incoming.n
            """,
            [pair_set.pk],
        )
    problems.add_query(
        """
        SELECT pair.file, pair.line, 'persona_id',
               format('persona %%s is in no file and not in the campaign', pair.persona_id)
        FROM incoming_pair pair
        WHERE NOT EXISTS (SELECT FROM incoming_persona persona
                          WHERE persona.persona_id = pair.persona_id)
          AND NOT EXISTS (SELECT FROM benchmark_persona persona
                          WHERE persona.pair_set_id = %s AND persona.persona_id = pair.persona_id)
        ORDER BY pair.n
        """,
        [pair_set.pk],
    )
    nothing_read = not scalar(
        "SELECT EXISTS (SELECT FROM incoming_pair) OR EXISTS (SELECT FROM incoming_persona)"
    )
    if nothing_read and not problems:
        problems.add(Problem("", None, None, "no pair and no persona was found"))


def _check_content(
    pair_set: PairSet, problems: Problems, *, apart_from: PairSet | None, distinct: bool
) -> None:
    """New pairs that raters could not tell from one of the other set or, if so, of this one."""
    others = [apart_from.pk] if apart_from is not None else []
    temporary(
        "kept_apart",
        f"""
        ON COMMIT DROP AS
        SELECT {_CONTENT} AS content, pair.pair_set_id, min(pair.pair_id) AS pair_id
        FROM benchmark_pair pair JOIN benchmark_persona persona ON persona.id = pair.persona_id
        WHERE pair.pair_set_id = ANY(%s) GROUP BY 1, 2
        """,
        [[*others, pair_set.pk] if distinct else others],
    )
    prepare("kept_apart", "content")
    temporary(
        "new_content",
        f"""
        ON COMMIT DROP AS
        WITH known_persona AS (
            SELECT persona_id, digest FROM incoming_persona
            UNION SELECT persona_id, digest FROM benchmark_persona WHERE pair_set_id = %s
        )
        SELECT DISTINCT ON (pair.n) pair.n, pair.file, pair.line, pair.pair_id,
               {_CONTENT} AS content
        FROM incoming_pair pair
        JOIN known_persona persona ON persona.persona_id = pair.persona_id
        WHERE NOT EXISTS (SELECT FROM benchmark_pair stored
                          WHERE stored.pair_set_id = %s AND stored.pair_id = pair.pair_id)
        ORDER BY pair.n
        """,
        [pair_set.pk, pair_set.pk],
    )
    prepare("new_content", "content")
    problems.add_query(
        """
        SELECT DISTINCT ON (pair.n) pair.file, pair.line, 'pair_id',
               format('%%s is the same as %%s of %%s (persona, query and both responses)',
                      pair.pair_id, kept_apart.pair_id, pair_set.slug)
        FROM new_content pair
        JOIN kept_apart USING (content)
        JOIN benchmark_pairset pair_set ON pair_set.id = kept_apart.pair_set_id
        ORDER BY pair.n, kept_apart.pair_set_id = %s
        """,
        [pair_set.pk],
    )
    if distinct:
        problems.add_query(
            """
            SELECT later.file, later.line, 'pair_id',
                   format('%%s is the same as %%s in %%s:%%s (persona, query and both responses)',
                          later.pair_id, first.pair_id, first.file, first.line)
            FROM new_content later JOIN (
                SELECT DISTINCT ON (content) content, pair_id, file, line
                FROM new_content ORDER BY content, n
            ) first USING (content)
            WHERE later.pair_id <> first.pair_id
              AND NOT EXISTS (SELECT FROM kept_apart WHERE kept_apart.content = later.content)
            ORDER BY later.n
            """
        )


def _take_over(pair_set: PairSet) -> dict[str, Any]:
    new_personas = execute(
        """
        INSERT INTO benchmark_persona (pair_set_id, persona_id, name, profile, digest)
        SELECT %s, persona_id, name, profile, digest FROM (
            SELECT DISTINCT ON (persona_id) * FROM incoming_persona ORDER BY persona_id, n
        ) one ORDER BY n
        ON CONFLICT (pair_set_id, persona_id) DO NOTHING
        """,
        [pair_set.pk],
    )
    # The different prior labels of a pair, in the order in which they were met.
    temporary(
        "incoming_priors",
        """
        ON COMMIT DROP AS
        SELECT pair_id, jsonb_agg(prior ORDER BY n, place) AS priors FROM (
            SELECT DISTINCT ON (pair_id, prior) pair_id, prior, n, place
            FROM incoming_pair, jsonb_array_elements(priors) WITH ORDINALITY AS a (prior, place)
            ORDER BY pair_id, prior, n, place
        ) a_prior GROUP BY pair_id
        """,
    )
    temporary(
        "stored_priors",
        """
        ON COMMIT DROP AS
        SELECT pair.id, pair.priors || jsonb_agg(prior ORDER BY place) AS priors
        FROM benchmark_pair pair
        JOIN incoming_priors incoming USING (pair_id),
             jsonb_array_elements(incoming.priors) WITH ORDINALITY AS a (prior, place)
        WHERE pair.pair_set_id = %s AND NOT pair.priors @> jsonb_build_array(prior)
        GROUP BY pair.id, pair.priors
        """,
        [pair_set.pk],
    )
    updated_pairs = execute(
        "UPDATE benchmark_pair pair SET priors = stored.priors"
        " FROM stored_priors stored WHERE stored.id = pair.id"
    )
    new_pairs = execute(
        """
        INSERT INTO benchmark_pair (pair_set_id, pair_id, persona_id, query, query_kind,
            response_a, response_b, source_a, source_b, priors, meta, digest, raters_per_pair,
            created_at)
        SELECT %s, one.pair_id, persona.id, query, query_kind, response_a, response_b,
            source_a, source_b, coalesce(incoming_priors.priors, '[]'), meta, one.digest, %s, now()
        FROM (SELECT DISTINCT ON (pair_id) * FROM incoming_pair ORDER BY pair_id, n) one
        JOIN benchmark_persona persona
            ON persona.pair_set_id = %s AND persona.persona_id = one.persona_id
        LEFT JOIN incoming_priors ON incoming_priors.pair_id = one.pair_id
        ORDER BY one.n
        ON CONFLICT (pair_set_id, pair_id) DO NOTHING
        """,
        [pair_set.pk, pair_set.raters_per_pair, pair_set.pk],
    )
    return {"new_personas": new_personas, "new_pairs": new_pairs, "updated_pairs": updated_pairs}


# Made once: json.dumps builds an encoder at every call that departs from its defaults.
_json = json.JSONEncoder(ensure_ascii=False).encode
