"""Tallies into verdicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from django.db import connection

from benchmark.models import CriterionVerdict, Run, Verdict
from benchmark.selectors.tallies import TallyTable, tally_table
from benchmark.stats import codes
from benchmark.stats.agreement import agreement
from benchmark.stats.policy import Policy
from benchmark.stats.verdicts import Tally, Verdicts, decide

CHUNK = 20_000

Progress = Callable[[int, int], None]


def aggregate(run: Run, *, progress: Progress) -> None:
    """Write the run's verdicts and fill in its digest and result.

    The same tallies and policy give the same rows. Doing it again replaces what an interrupted
    attempt has written.
    """
    policy = Policy.from_json(run.policy)
    with run.pair_set.snapshot() as last_judgement:
        table = tally_table(run.pair_set)
    verdicts = decide(policy, {key: Tally(*counts.T) for key, counts in table.counts.items()})
    run.last_judgement = last_judgement
    run.digest = table.digest()
    run.result = summary(table, verdicts, categories=run.pair_set.categories)
    Verdict.objects.filter(run=run).delete()
    CriterionVerdict.objects.filter(run=run).delete()
    total = len(table.pairs)
    for start in range(0, total, CHUNK):
        stop = min(start + CHUNK, total)
        _write(run, table, verdicts, start, stop)
        progress(stop, total)


def summary(
    table: TallyTable, verdicts: Verdicts, *, categories: tuple[str, ...]
) -> dict[str, object]:
    """What the run found, in numbers."""
    decided = verdicts.status == codes.DECIDED
    return {
        "pairs": len(table.pairs),
        # Every judgement votes on each criterion, so any one counts them.
        "judgements": max((int(counts.sum()) for counts in table.counts.values()), default=0),
        "statuses": {
            name: int((verdicts.status == code).sum()) for code, name in enumerate(codes.STATUSES)
        },
        "tiers": {
            name or "none": int((verdicts.tier[decided] == code).sum())
            for code, name in enumerate(codes.TIERS)
        },
        "provisional": int(verdicts.provisional.sum()),
        "splits": {key: vote_splits(counts) for key, counts in table.counts.items()},
        "agreement": {
            key: agreement(counts[:, : len(categories)], categories=categories).as_json()
            for key, counts in table.counts.items()
        },
    }


def vote_splits(counts: npt.NDArray[np.int64]) -> list[list[int]]:
    """Rows [majority, minority, pairs] over the votes for A and B, the clearest split first."""
    ordered = np.sort(counts[:, :2], axis=1)[:, ::-1]
    splits, pairs = np.unique(ordered, axis=0, return_counts=True)
    rows = np.column_stack((splits, pairs)).tolist()
    return sorted(rows, key=lambda row: (-(row[0] + row[1]), -row[0]))


def _write(run: Run, table: TallyTable, verdicts: Verdicts, start: int, stop: int) -> None:
    pairs = table.pairs[start:stop].tolist()
    rows = zip(
        pairs,
        verdicts.status[start:stop].tolist(),
        verdicts.chosen[start:stop].tolist(),
        verdicts.tier[start:stop].tolist(),
        verdicts.provisional[start:stop].tolist(),
        strict=True,
    )
    with connection.cursor() as cursor:
        with cursor.copy(
            "COPY benchmark_verdict (run_id, pair_id, status, chosen, tier, is_provisional)"
            " FROM STDIN"
        ) as copy:
            for pair, status, chosen, tier, provisional in rows:
                copy.write_row(
                    (
                        *(run.pk, pair, codes.STATUSES[status]),
                        *(codes.WINNERS[chosen] or "", codes.TIERS[tier] or "", provisional),
                    )
                )
        with cursor.copy(
            "COPY benchmark_criterionverdict (run_id, pair_id, criterion_id, a, b, tie, skip,"
            " status, winner, margin, s, m) FROM STDIN"
        ) as copy:
            for key, criterion in table.criterion_ids.items():
                found = verdicts.criteria[key]
                numbers = np.column_stack(
                    (
                        *(table.counts[key][start:stop], found.status[start:stop]),
                        *(found.winner[start:stop], found.margin[start:stop]),
                        *(found.s[start:stop], found.m[start:stop]),
                    )
                ).tolist()
                for pair, (a, b, tie, skip, status, winner, margin, s, m) in zip(
                    pairs, numbers, strict=True
                ):
                    copy.write_row(
                        (
                            *(run.pk, pair, criterion, a, b, tie, skip, codes.STATUSES[status]),
                            *(codes.WINNERS[winner] or "", margin, s, m),
                        )
                    )
