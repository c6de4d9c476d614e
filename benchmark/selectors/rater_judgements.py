"""What one rater has judged, as a run saw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from benchmark.models import Rater, Run
from benchmark.selectors.run_votes import AS_OF, is_counted, parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterJudgement:
    """``pattern`` is the number of the pair's counts in the run; ``is_counted`` whether this
    judgement is among them. ``choices`` are A, B, tie or skip by criterion."""

    pair: int
    pair_id: str
    pattern: int
    shown_left: str
    seconds: float | None
    at: datetime | None
    is_counted: bool
    choices: dict[str, str]


def rater_judgements(run: Run, rater: Rater) -> list[RaterJudgement]:
    """Those that were current when the run was made, in the order of their times; one query.

    Seconds are active ones where they are known.
    """
    criteria = run.pair_set.criteria_in_order
    choices = ", ".join(
        f"coalesce(max(vote.choice) FILTER (WHERE vote.criterion_id = {criterion.pk}), 'skip')"
        for criterion in criteria
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT judgement.pair_id, pair.pair_id, verdict.pattern, judgement.shown_left,
                coalesce(judgement.active_seconds, judgement.seconds), judgement.submitted_at,
                {is_counted(run)}, {choices}
            FROM benchmark_judgement judgement
            JOIN benchmark_verdict verdict
                ON verdict.pair_id = judgement.pair_id AND verdict.run_id = %(run)s
            JOIN benchmark_pair pair ON pair.id = judgement.pair_id
            JOIN benchmark_vote vote ON vote.judgement_id = judgement.id
            WHERE judgement.rater_id = %(rater)s AND {AS_OF}
            GROUP BY judgement.id, pair.id, verdict.id
            ORDER BY judgement.submitted_at NULLS LAST, pair.pair_id
            """,
            parameters(run) | {"rater": rater.pk},
        )
        rows = cursor.fetchall()
    keys = [criterion.key for criterion in criteria]
    return [
        RaterJudgement(
            pair=pair,
            pair_id=pair_id,
            pattern=pattern,
            shown_left=left,
            seconds=seconds,
            at=at,
            is_counted=counted,
            choices=dict(zip(keys, given, strict=True)),
        )
        for pair, pair_id, pattern, left, seconds, at, counted, *given in rows
    ]


def characters_of(pairs: Sequence[int]) -> dict[int, int]:
    """Characters to read, query and both responses, of each pair."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, length(query) + length(response_a) + length(response_b)"
            " FROM benchmark_pair WHERE id = ANY(%s)",
            [list(pairs)],
        )
        return dict(cursor.fetchall())
