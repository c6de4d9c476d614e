"""The votes that an aggregation counted, as they stood then, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db import connection

from benchmark.models import Rater, Run
from benchmark.selectors.arrays import whole_columns
from benchmark.stats.codes import Floats, Ints
from benchmark.stats.votes import Votes

# Judgements that were current when the run was made; parameter ``last`` is Run.last_judgement.
AS_OF = (
    "judgement.id <= %(last)s"
    " AND (judgement.superseded_by_id IS NULL OR judgement.superseded_by_id > %(last)s)"
)
_IS_COUNTED = """NOT EXISTS (
    SELECT FROM benchmark_run_exclusions of_run
    JOIN benchmark_exclusion exclusion ON exclusion.id = of_run.exclusion_id
    WHERE of_run.run_id = %(run)s AND exclusion.rater_id = judgement.rater_id
      AND (exclusion.pair_id IS NULL OR exclusion.pair_id = judgement.pair_id))"""


def parameters(run: Run) -> dict[str, int]:
    """What `AS_OF` and `is_counted` need."""
    return {"run": run.pk, "last": run.last_judgement or 0}


def is_counted(run: Run) -> str:
    """Of the judgements `AS_OF`, those whose votes the run did not leave out; as a condition."""
    # Without any exclusion, nothing has to be looked up for each of a million judgements.
    return _IS_COUNTED if run.exclusions.exists() else "true"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunVotes:
    """J counted judgements by R raters on N pairs, ordered by pair, then rater.

    ``pairs`` (N,) and ``raters`` (R,) are the database's ids in ascending order; ``pair`` and
    ``rater`` (J,) are places in them. ``left`` (J,): 1 or 2 for A or B on the left, 0 unknown.
    ``seconds`` (J,) are active seconds, else all; ``at`` (J,) seconds since 1970; both nan where
    unknown. ``choices`` has for each criterion (J,): 0 A, 1 B, 2 tie, 3 skip.
    """

    pairs: Ints
    raters: Ints
    pseudonyms: list[str]
    is_simulated: list[bool]
    categories: tuple[str, ...]
    pair: Ints
    rater: Ints
    left: Ints
    seconds: Floats
    at: Floats
    choices: dict[str, Ints]

    def is_vote(self, criterion: str) -> Ints:
        """Rows that are votes on the criterion and no skips."""
        return np.flatnonzero(self.choices[criterion] < len(self.categories))

    def votes(self, criterion: str) -> Votes:
        """The votes on a criterion, in the order of `is_vote`."""
        rows = self.is_vote(criterion)
        return Votes(
            item=self.pair[rows],
            rater=self.rater[rows],
            choice=self.choices[criterion][rows],
            n_items=len(self.pairs),
            n_raters=len(self.raters),
            categories=self.categories,
        )


def run_votes(run: Run) -> RunVotes:
    """Three queries; memory for a judgement is some 100 bytes."""
    pair_set = run.pair_set
    criteria = pair_set.criteria_in_order
    choices = ", ".join(
        "coalesce(max(array_position(ARRAY['A', 'B', 'tie', 'skip'], vote.choice::text))"
        f" FILTER (WHERE vote.criterion_id = {criterion.pk}), 4)::bigint"
        for criterion in criteria
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT pair_id FROM benchmark_verdict WHERE run_id = %s", [run.pk])
        pairs = np.array(sorted(row[0] for row in cursor.fetchall()), dtype=np.int64)
    table = whole_columns(
        f"""
        SELECT judgement.pair_id, judgement.rater_id,
            CASE judgement.shown_left WHEN 'A' THEN 1 WHEN 'B' THEN 2 ELSE 0 END::bigint,
            coalesce(round(1000 * coalesce(active_seconds, seconds)), -1)::bigint,
            coalesce(floor(extract(epoch FROM submitted_at)), -1)::bigint, {choices}
        FROM benchmark_judgement judgement
        JOIN benchmark_verdict verdict
            ON verdict.pair_id = judgement.pair_id AND verdict.run_id = %(run)s
        JOIN benchmark_vote vote ON vote.judgement_id = judgement.id
        WHERE {AS_OF} AND {is_counted(run)}
        GROUP BY judgement.id ORDER BY judgement.pair_id, judgement.rater_id
        """,
        parameters(run),
        columns=5 + len(criteria),
    )
    raters = np.unique(table[:, 1])
    people = {
        pk: (pseudonym, simulated)
        for pk, pseudonym, simulated in Rater.objects.filter(pair_set=pair_set).values_list(
            "pk", "pseudonym", "is_simulated"
        )
    }
    return RunVotes(
        pairs=pairs,
        raters=raters,
        pseudonyms=[people[rater][0] for rater in raters.tolist()],
        is_simulated=[people[rater][1] for rater in raters.tolist()],
        categories=pair_set.categories,
        pair=np.searchsorted(pairs, table[:, 0]),
        rater=np.searchsorted(raters, table[:, 1]),
        left=table[:, 2],
        seconds=np.where(table[:, 3] < 0, np.nan, table[:, 3] / 1000),
        at=np.where(table[:, 4] < 0, np.nan, table[:, 4].astype(np.float64)),
        choices={
            criterion.key: table[:, 5 + place] - 1 for place, criterion in enumerate(criteria)
        },
    )


def run_counts(run: Run, pairs: Ints) -> dict[str, Ints]:
    """The counts that the run decided on: for each criterion (N, 4), in the order of ``pairs``."""
    found = whole_columns(
        "SELECT criterion_id, pair_id, a::bigint, b::bigint, tie::bigint, skip::bigint"
        " FROM benchmark_criterionverdict WHERE run_id = %s",
        [run.pk],
        columns=6,
    )
    counts = {}
    for criterion in run.pair_set.criteria_in_order:
        rows = found[found[:, 0] == criterion.pk]
        table = np.zeros((len(pairs), 4), dtype=np.int64)
        table[np.searchsorted(pairs, rows[:, 1])] = rows[:, 2:]
        counts[criterion.key] = table
    return counts
