"""Tallies of a whole set as arrays, without the votes that are left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db import connection

from benchmark.models import Exclusion, PairSet
from benchmark.selectors.arrays import whole_columns
from benchmark.stats.codes import ADJUDGED, Ints
from benchmark.stats.patterns import Patterns

_ROWS = 50_000

# Votes that exclusions in force leave out, one a row; parameter ``set`` is the set's id.
_LEFT_OUT = """
    SELECT excluded.pair_id, vote.criterion_id, vote.choice
    FROM (
        SELECT DISTINCT judgement.id, judgement.pair_id
        FROM benchmark_exclusion exclusion
        JOIN benchmark_rater rater ON rater.id = exclusion.rater_id
        JOIN benchmark_judgement judgement ON judgement.rater_id = exclusion.rater_id
            AND (exclusion.pair_id IS NULL OR exclusion.pair_id = judgement.pair_id)
        WHERE rater.pair_set_id = %(set)s AND exclusion.lifted_at IS NULL
          AND judgement.superseded_by_id IS NULL
    ) excluded JOIN benchmark_vote vote ON vote.judgement_id = excluded.id
"""
# Counters of a set, and the same for votes that are left out, below zero. Rows side by side, to be
# summed: linear under whatever plan, where a join without statistics would not be.
MOVES = f"""
    SELECT tally.pair_id, tally.criterion_id, tally.a, tally.b, tally.tie, tally.skip
    FROM benchmark_tally tally WHERE tally.criterion_id IN (
        SELECT id FROM benchmark_criterion WHERE pair_set_id = %(set)s)
    UNION ALL
    SELECT pair_id, criterion_id, -(choice = 'A')::int, -(choice = 'B')::int,
        -(choice = 'tie')::int, -(choice = 'skip')::int
    FROM ({_LEFT_OUT}) left_out
"""

# A code of benchmark.stats.codes.ADJUDGED for the decision in force.
_ADJUDGED = "array_position(ARRAY['A', 'B', 'withdrawn'], adjudication.decision::text)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TallyTable:
    """Counted votes of N pairs, ordered by their pair ids.

    ``pairs`` are the database's ids (N,), ``pair_ids`` the users'; ``counts`` has, for each
    criterion in its order, an array (N, 4) of votes for A, B, tie and skip. ``adjudications`` (N,)
    are ids, 0 for none, and ``adjudged`` (N,) what they say, as codes. ``by_rater`` has, for each
    criterion, votes per rater and category, shape (R, K): no skips.
    """

    pairs: Ints
    pair_ids: list[str]
    criterion_ids: dict[str, int]
    counts: dict[str, Ints]
    adjudications: Ints
    adjudged: Ints
    by_rater: dict[str, Ints]
    exclusions: list[Exclusion]

    def digest(self) -> str:
        """SHA-256 over every count, in lines of pair id, criterion, A, B, tie, skip.

        After the counts of a pair that was adjudicated comes a line of its id, ``adjudicated``, and
        A, B or ``withdrawn``.
        """
        digest = hashlib.sha256()
        rows = {key: counts.tolist() for key, counts in self.counts.items()}
        adjudged = self.adjudged.tolist()
        for index, pair_id in enumerate(self.pair_ids):
            for key in rows:
                a, b, tie, skip = rows[key][index]
                digest.update(f"{pair_id}\t{key}\t{a}\t{b}\t{tie}\t{skip}\n".encode())
            if adjudged[index]:
                digest.update(f"{pair_id}\tadjudicated\t{ADJUDGED[adjudged[index]]}\n".encode())
        return digest.hexdigest()


def tally_table(pair_set: PairSet) -> TallyTable:
    """All counted votes of the set; pairs without any have zeros. A fixed number of queries.

    Call it in a transaction that sees one state.
    """
    criterion_ids = {each.key: each.pk for each in pair_set.criteria_in_order}
    pairs, pair_ids = _pairs(pair_set)
    order = np.argsort(pairs)
    sorted_pairs = pairs[order]

    def places(found: Ints) -> Ints:
        """Rows of the table that have these ids."""
        return order[np.searchsorted(sorted_pairs, found)]

    moves = whole_columns(
        "SELECT criterion_id, pair_id, a::bigint, b::bigint, tie::bigint, skip::bigint"
        f" FROM ({MOVES}) moves",
        {"set": pair_set.pk},
        columns=6,
    )
    counts = {}
    for key, criterion in criterion_ids.items():
        rows = moves[moves[:, 0] == criterion]
        counts[key] = np.zeros((len(pairs), 4), dtype=np.int64)
        np.add.at(counts[key], places(rows[:, 1]), rows[:, 2:])
    del moves
    said = whole_columns(
        f"SELECT adjudication.pair_id, adjudication.id, {_ADJUDGED}::bigint"
        " FROM benchmark_adjudication adjudication"
        " JOIN benchmark_pair pair ON pair.id = adjudication.pair_id"
        " WHERE pair.pair_set_id = %s AND adjudication.revoked_at IS NULL",
        [pair_set.pk],
        columns=3,
    )
    adjudications, adjudged = np.zeros((2, len(pairs)), dtype=np.int64)
    adjudications[places(said[:, 0])] = said[:, 1]
    adjudged[places(said[:, 0])] = said[:, 2]
    return TallyTable(
        pairs=pairs,
        pair_ids=pair_ids,
        criterion_ids=criterion_ids,
        counts=counts,
        adjudications=adjudications,
        adjudged=adjudged,
        by_rater=votes_by_rater(pair_set),
        exclusions=list(
            Exclusion.objects.in_force().filter(rater__pair_set=pair_set).order_by("id")
        ),
    )


def left_out(exclusions: Iterable[Exclusion]) -> dict[str, int]:
    """How many raters these leave out, and how many judgements of others."""
    marks = [(each.rater_id, each.pair_id) for each in exclusions]
    raters = {rater for rater, pair in marks if pair is None}
    return {
        "raters": len(raters),
        "judgements": sum(pair is not None and rater not in raters for rater, pair in marks),
    }


def _pairs(pair_set: PairSet) -> tuple[Ints, list[str]]:
    pairs: list[int] = []
    pair_ids: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, pair_id FROM benchmark_pair WHERE pair_set_id = %s"
            ' ORDER BY pair_id COLLATE "C"',
            [pair_set.pk],
        )
        while rows := cursor.fetchmany(_ROWS):
            pairs.extend(row[0] for row in rows)
            pair_ids.extend(row[1] for row in rows)
    return np.array(pairs, dtype=np.int64), pair_ids


def votes_by_rater(pair_set: PairSet) -> dict[str, Ints]:
    """Counted votes per rater and category, (R, K) for each criterion; one grouped query."""
    categories = pair_set.categories
    found = whole_columns(
        """
        SELECT vote.criterion_id, judgement.rater_id,
            array_position(ARRAY['A', 'B', 'tie'], vote.choice::text)::bigint, count(*)
        FROM benchmark_judgement judgement
        JOIN benchmark_rater rater ON rater.id = judgement.rater_id
        JOIN benchmark_vote vote ON vote.judgement_id = judgement.id
        WHERE rater.pair_set_id = %(set)s AND judgement.superseded_by_id IS NULL
          AND vote.choice <> 'skip' AND judgement.id NOT IN (
            SELECT excluded.id FROM benchmark_exclusion exclusion
            JOIN benchmark_judgement excluded ON excluded.rater_id = exclusion.rater_id
                AND (exclusion.pair_id IS NULL OR exclusion.pair_id = excluded.pair_id)
            WHERE exclusion.lifted_at IS NULL)
        GROUP BY 1, 2, 3
        """,
        {"set": pair_set.pk},
        columns=4,
    )
    raters = np.unique(found[:, 1])
    tables = {}
    for criterion in pair_set.criteria_in_order:
        rows = found[found[:, 0] == criterion.pk]
        table = np.zeros((len(raters), len(categories)), dtype=np.int64)
        table[np.searchsorted(raters, rows[:, 1]), rows[:, 2] - 1] = rows[:, 3]
        tables[criterion.key] = table[table.any(axis=1)]
    return tables


def live_patterns(pair_set: PairSet) -> Patterns:
    """The patterns of the set as it is now; one grouped query, whatever the number of pairs."""
    criteria = pair_set.criteria_in_order
    columns = [
        f"coalesce(sum({name}) FILTER (WHERE criterion_id = {criterion.pk}), 0)::bigint"
        for criterion in criteria
        for name in ("a", "b", "tie", "skip")
    ]
    numbers = ", ".join(str(n + 1) for n in range(len(columns) + 1))
    table = whole_columns(
        f"""
        SELECT {", ".join(f"c{n}" for n in range(len(columns)))}, adjudged, count(*) FROM (
            SELECT {", ".join(f"{column} AS c{n}" for n, column in enumerate(columns))},
                coalesce(max(adjudged), 0)::bigint AS adjudged
            FROM (
                SELECT moves.*, NULL::int AS adjudged FROM ({MOVES}) moves
                UNION ALL
                SELECT pair.id, NULL, 0, 0, 0, 0, NULL FROM benchmark_pair pair
                WHERE pair.pair_set_id = %(set)s
                UNION ALL
                SELECT adjudication.pair_id, NULL, 0, 0, 0, 0, {_ADJUDGED}
                FROM benchmark_adjudication adjudication
                JOIN benchmark_pair pair ON pair.id = adjudication.pair_id
                WHERE pair.pair_set_id = %(set)s AND adjudication.revoked_at IS NULL
            ) rows GROUP BY pair_id
        ) by_pair GROUP BY {numbers}
        """,
        {"set": pair_set.pk},
        columns=len(columns) + 2,
    )
    return Patterns.of_table([criterion.key for criterion in criteria], table)
