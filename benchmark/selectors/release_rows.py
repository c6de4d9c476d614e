"""What a release holds, row by row, in an order that depends on the users' ids alone.

Rows are streamed from the server in chunks, so memory does not grow with the set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from benchmark.models import Judgement, Rater, Release
from benchmark.selectors.run_votes import AS_OF, is_counted, parameters
from benchmark.stats.policy import Policy
from benchmark.stats.tiers import Bands

Row = dict[str, Any]
CHUNK = 500


def criteria_keys(release: Release) -> list[str]:
    return list(release.pair_set.criteria.order_by("position", "id").values_list("key", flat=True))


def pairs(release: Release) -> Iterator[Row]:
    """Every pair that the aggregation looked at, in the layout that an import reads."""
    for row in _stream(
        """
        SELECT pair.pair_id, persona.persona_id, pair.query, pair.query_kind, pair.response_a,
               pair.response_b, pair.source_a, pair.source_b, pair.priors, pair.meta
        FROM benchmark_verdict verdict
        JOIN benchmark_pair pair ON pair.id = verdict.pair_id
        JOIN benchmark_persona persona ON persona.id = pair.persona_id
        WHERE verdict.run_id = %s ORDER BY pair.pair_id COLLATE "C"
        """,
        [release.aggregation_id],
    ):
        yield row | {"priors": json.loads(row["priors"]), "meta": json.loads(row["meta"])}


def personas(release: Release) -> Iterator[Row]:
    """The personas of these pairs."""
    for row in _stream(
        """
        SELECT persona.persona_id, persona.profile AS persona FROM benchmark_persona persona
        WHERE persona.id IN (
            SELECT pair.persona_id FROM benchmark_verdict verdict
            JOIN benchmark_pair pair ON pair.id = verdict.pair_id WHERE verdict.run_id = %s)
        ORDER BY persona.persona_id COLLATE "C"
        """,
        [release.aggregation_id],
    ):
        yield row | {"persona": json.loads(row["persona"])}


def votes(release: Release) -> Iterator[Row]:
    """Every vote there was, by pseudonym, in the layout that an import reads.

    ``counted`` is false for those that the aggregation left out.
    """
    run = release.aggregation
    yield from _stream(
        f"""
        SELECT pair.pair_id, rater.pseudonym AS rater, criterion.key AS criterion, vote.choice,
               nullif(judgement.shown_left, '') AS shown_left, judgement.seconds,
               judgement.active_seconds,
               -- As text, as Python's isoformat has it: parsing and writing a hundred thousand
               -- moments would take longer than everything else.
               replace(to_char(judgement.submitted_at AT TIME ZONE 'UTC',
                               'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z') AS at,
               vote.reason, judgement.comment, judgement.confidence, judgement.reasons,
               rater.is_simulated AS simulated, {is_counted(run)} AS counted
        FROM benchmark_verdict verdict
        JOIN benchmark_pair pair ON pair.id = verdict.pair_id
        JOIN benchmark_judgement judgement ON judgement.pair_id = pair.id
        JOIN benchmark_rater rater ON rater.id = judgement.rater_id
        JOIN benchmark_vote vote ON vote.judgement_id = judgement.id
        JOIN benchmark_criterion criterion ON criterion.id = vote.criterion_id
        WHERE verdict.run_id = %(run)s AND {AS_OF}
        ORDER BY pair.pair_id COLLATE "C", rater.pseudonym COLLATE "C", criterion.position
        """,
        parameters(run),
    )


def diagnosis(release: Release) -> Iterator[Row]:
    """Every pair: whether it is a case, why or why not, and how many judgements were counted.

    Who adjudicated is a number by name: accounts are nobody's business outside.
    """
    run = release.aggregation
    for row in _stream(
        f"""
        SELECT pair.pair_id, verdict.status, verdict.tier, verdict.chosen,
               verdict.is_provisional AS provisional,
               judged.judgements, judged.counted,
               adjudication.decision AS adjudicated, adjudication.reason AS adjudicated_because,
               'adjudicator-' || adjudicator.number AS adjudicated_by,
               replace(to_char(adjudication.created_at AT TIME ZONE 'UTC',
                               'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z') AS adjudicated_at
        FROM benchmark_verdict verdict
        JOIN benchmark_pair pair ON pair.id = verdict.pair_id
        CROSS JOIN LATERAL (
            SELECT count(*) AS judgements, count(*) FILTER (WHERE {is_counted(run)}) AS counted
            FROM benchmark_judgement judgement WHERE judgement.pair_id = pair.id AND {AS_OF}
        ) judged
        LEFT JOIN benchmark_adjudication adjudication ON adjudication.id = verdict.adjudication_id
        LEFT JOIN (
            SELECT adjudication.by, row_number() OVER (ORDER BY adjudication.by) AS number
            FROM benchmark_verdict of_run
            JOIN benchmark_adjudication adjudication ON adjudication.id = of_run.adjudication_id
            WHERE of_run.run_id = %(run)s GROUP BY 1
        ) adjudicator ON adjudicator.by = adjudication.by
        WHERE verdict.run_id = %(run)s ORDER BY pair.pair_id COLLATE "C"
        """,
        parameters(run),
    ):
        is_case = bool(row["tier"])
        why = "case" if is_case else row["status"]
        yield row | {
            "used": is_case,
            "why": "not_enough_votes" if why == "decided" else why,
            "tier": row["tier"] or None,
            "chosen": row["chosen"] or None,
        }


def raters(release: Release) -> dict[str, bool]:
    """Pseudonyms of those whose judgements were counted, and whether they are simulated."""
    counted = Judgement.objects.as_of(release.aggregation.last_judgement or 0).filter(
        rater=OuterRef("pk")
    )
    found = Rater.objects.filter(Exists(counted), pair_set=release.pair_set)
    return dict(found.order_by("pseudonym", "id").values_list("pseudonym", "is_simulated"))


def tallies(release: Release) -> Iterator[Row]:
    """Counts and what they gave, one row a pair and criterion."""
    bands = Policy.from_json(release.aggregation.policy).bands
    for row in _stream(
        """
        SELECT pair.pair_id, criterion.key AS criterion, found.a, found.b, found.tie, found.skip,
               found.status, found.winner, found.margin, found.s, found.m,
               verdict.status AS verdict, verdict.chosen, verdict.tier,
               verdict.is_provisional AS provisional
        FROM benchmark_criterionverdict found
        JOIN benchmark_verdict verdict
            ON verdict.run_id = found.run_id AND verdict.pair_id = found.pair_id
        JOIN benchmark_pair pair ON pair.id = found.pair_id
        JOIN benchmark_criterion criterion ON criterion.id = found.criterion_id
        WHERE found.run_id = %s ORDER BY pair.pair_id COLLATE "C", criterion.position
        """,
        [release.aggregation_id],
    ):
        s, m = row.pop("s"), row.pop("m")
        yield row | {
            "winner": row["winner"] or None,
            "k": _k(s, m, bands),
            "chosen": row["chosen"] or None,
            "tier": row["tier"] or None,
        }


def cases(release: Release, tier: str) -> Iterator[Row]:
    """The decided pairs of a tier, as chosen and rejected."""
    keys = criteria_keys(release)
    bands = Policy.from_json(release.aggregation.policy).bands
    for row in _stream(
        """
        SELECT pair.pair_id, persona.persona_id, persona.profile AS persona, pair.query,
               pair.query_kind, pair.response_a, pair.response_b, pair.source_a, pair.source_b,
               verdict.chosen, verdict.tier, verdict.is_provisional AS provisional,
               (SELECT json_object_agg(criterion.key,
                           json_build_array(found.a, found.b, found.tie, found.skip,
                                            found.s, found.m))
                FROM benchmark_criterionverdict found
                JOIN benchmark_criterion criterion ON criterion.id = found.criterion_id
                WHERE found.run_id = verdict.run_id AND found.pair_id = verdict.pair_id) AS found
        FROM benchmark_verdict verdict
        JOIN benchmark_pair pair ON pair.id = verdict.pair_id
        JOIN benchmark_persona persona ON persona.id = pair.persona_id
        WHERE verdict.run_id = %s AND verdict.status = 'decided' AND verdict.tier = %s
        ORDER BY pair.pair_id COLLATE "C"
        """,
        [release.aggregation_id, tier],
    ):
        yield _case(row, keys, bands)


def _case(row: Row, keys: list[str], bands: Bands) -> Row:
    chosen_is_a = row["chosen"] == "A"
    chosen, rejected = ("a", "b") if chosen_is_a else ("b", "a")
    case: Row = {
        "pair_id": row["pair_id"],
        "persona_id": row["persona_id"],
        "persona": json.loads(row["persona"]),
        "query": row["query"],
        "query_kind": row["query_kind"],
        "chosen": row[f"response_{chosen}"],
        "rejected": row[f"response_{rejected}"],
        "chosen_side": row["chosen"],
        "chosen_source": row[f"source_{chosen}"],
        "rejected_source": row[f"source_{rejected}"],
        "tier": row["tier"],
        "provisional": row["provisional"],
    }
    for key in keys:
        a, b, tie, skip, s, m = row["found"][key]
        case[f"{key}_chosen"] = a if chosen_is_a else b
        case[f"{key}_rejected"] = b if chosen_is_a else a
        case[f"{key}_tie"] = tie
        case[f"{key}_skip"] = skip
        case[f"{key}_k"] = _k(s, m, bands)
    return case


def _k(s: int, m: int, bands: Bands) -> float | None:
    """Item agreement beyond the policy's chance; None below two votes."""
    if not m:
        return None
    above, whole = bands.excess(s, m)
    return above / whole


def _stream(sql: str, parameters: list[Any] | dict[str, int]) -> Iterator[Row]:
    """Rows as dictionaries through a cursor on the server; the caller holds a transaction."""
    # Django's own named cursors belong to querysets; this one is psycopg's.
    connection.ensure_connection()
    assert connection.connection is not None
    with connection.connection.cursor(name="release_rows") as cursor:
        cursor.execute(sql, parameters)
        names = [column.name for column in cursor.description or ()]
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                yield dict(zip(names, row, strict=True))
