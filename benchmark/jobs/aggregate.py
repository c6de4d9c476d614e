"""Tallies into verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection

from benchmark.models import PatternVerdict, Run, Verdict
from benchmark.selectors.tallies import TallyTable, left_out, tally_table
from benchmark.stats import codes
from benchmark.stats.overview import overview
from benchmark.stats.patterns import Patterns, patterns_of
from benchmark.stats.policy import Policy
from benchmark.stats.verdicts import Verdicts, decide

CHUNK = 20_000

Progress = Callable[[int, int], None]


def aggregate(run: Run, *, progress: Progress) -> None:
    """Write the run's verdicts and fill in its digest and result.

    The same votes, exclusions, adjudications and policy give the same rows. Doing it again replaces
    what an interrupted attempt has written.
    """
    policy = Policy.from_json(run.policy)
    with run.pair_set.snapshot() as last_judgement:
        table = tally_table(run.pair_set)
    patterns, rows = patterns_of(table.counts, adjudged=table.adjudged)
    run.last_judgement = last_judgement
    run.digest = table.digest()
    run.patterns = patterns.as_json()
    run.result = overview(
        patterns, policy=policy, categories=run.pair_set.categories, by_rater=table.by_rater
    ) | {"left_out": left_out(table.exclusions)}
    run.exclusions.set(table.exclusions)
    Verdict.objects.filter(run=run).delete()
    PatternVerdict.objects.filter(run=run).delete()
    found = _Found(
        run=run,
        table=table,
        patterns=patterns,
        rows=rows,
        verdicts=decide(policy, patterns.tallies(), adjudged=patterns.adjudged),
    )
    PatternVerdict.objects.bulk_create(_pattern_verdicts(found), batch_size=2_000)
    total = len(table.pairs)
    for start in range(0, total, CHUNK):
        stop = min(start + CHUNK, total)
        _write(found, start, stop)
        progress(stop, total)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """Verdicts of the patterns; ``rows`` (N,) says which pattern each pair of the table has."""

    run: Run
    table: TallyTable
    patterns: Patterns
    rows: npt.NDArray[np.intp]
    verdicts: Verdicts


def _write(found: _Found, start: int, stop: int) -> None:
    run, verdicts = found.run.pk, found.verdicts
    # What a pattern gives is put together once.
    wholes = [
        (codes.STATUSES[status], codes.WINNERS[chosen] or "", codes.TIERS[tier] or "", provisional)
        for status, chosen, tier, provisional in zip(
            verdicts.status.tolist(),
            verdicts.chosen.tolist(),
            verdicts.tier.tolist(),
            verdicts.provisional.tolist(),
            strict=True,
        )
    ]
    is_adjudicated = verdicts.is_adjudicated.tolist()
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY benchmark_verdict (run_id, pair_id, pattern, status, chosen, tier,"
            " is_provisional, adjudication_id) FROM STDIN"
        ) as copy,
    ):
        for pair, row, adjudication in zip(
            found.table.pairs[start:stop].tolist(),
            found.rows[start:stop].tolist(),
            found.table.adjudications[start:stop].tolist(),
            strict=True,
        ):
            copy.write_row(
                (run, pair, row, *wholes[row], adjudication if is_adjudicated[row] else None)
            )


def _pattern_verdicts(found: _Found) -> Iterator[PatternVerdict]:
    for key, criterion in found.table.criterion_ids.items():
        one = found.verdicts.criteria[key]
        numbers = np.column_stack(
            (found.patterns.counts[key], one.status, one.winner, one.margin, one.s, one.m)
        ).tolist()
        for pattern, (a, b, tie, skip, status, winner, margin, s, m) in enumerate(numbers):
            yield PatternVerdict(
                run=found.run,
                pattern=pattern,
                criterion_id=criterion,
                a=a,
                b=b,
                tie=tie,
                skip=skip,
                status=codes.STATUSES[status],
                winner=codes.WINNERS[winner] or "",
                margin=margin,
                s=s,
                m=m,
            )
