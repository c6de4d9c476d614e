"""What a policy makes of a set of pairs, in numbers: one function for runs, pages and releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmark.stats import codes
from benchmark.stats.agreement import Engine
from benchmark.stats.bootstrap import REPLICATES
from benchmark.stats.codes import Ints
from benchmark.stats.patterns import Patterns
from benchmark.stats.policy import Policy
from benchmark.stats.report import criterion_report
from benchmark.stats.verdicts import Verdicts, decide


def overview(
    patterns: Patterns,
    *,
    policy: Policy,
    categories: Sequence[str],
    by_rater: Mapping[str, Ints] | None = None,
    replicates: int = REPLICATES,
    engine: Engine = "statsmodels",
) -> dict[str, object]:
    """Verdicts and tiers in numbers, vote splits, and agreement per criterion.

    ``by_rater`` has for each criterion votes per rater and category, shape (R, K): what Conger's
    kappa needs. JSON-ready.
    """
    verdicts = decide(policy, patterns.tallies(), adjudged=patterns.adjudged)
    return {
        "pairs": patterns.total,
        # Every judgement votes on each criterion, so any one counts them.
        "judgements": max(
            (int(patterns.pairs @ counts.sum(axis=1)) for counts in patterns.counts.values()),
            default=0,
        ),
        **verdict_counts(patterns, verdicts),
        "splits": {
            key: vote_splits(counts, pairs=patterns.pairs)
            for key, counts in patterns.counts.items()
        },
        "agreement": {
            key: criterion_report(
                counts[:, : len(categories)],
                categories=categories,
                multiplicity=patterns.pairs,
                by_rater=None if by_rater is None else by_rater[key],
                seed=key,
                replicates=replicates,
                engine=engine,
            )
            for key, counts in patterns.counts.items()
        },
    }


def verdict_counts(patterns: Patterns, verdicts: Verdicts) -> dict[str, object]:
    """Pairs by status and by tier; ``none`` are decided pairs with too few votes for one."""

    def pairs(rows: codes.Bools) -> int:
        return int(patterns.pairs[rows].sum())

    decided = verdicts.status == codes.DECIDED
    return {
        "statuses": {
            name: pairs(verdicts.status == code) for code, name in enumerate(codes.STATUSES)
        },
        "tiers": {
            name or "none": pairs(decided & (verdicts.tier == code))
            for code, name in enumerate(codes.TIERS)
        },
        "provisional": pairs(verdicts.provisional),
        "adjudicated": pairs(verdicts.is_adjudicated),
    }


def vote_splits(counts: Ints, *, pairs: Ints) -> list[list[int]]:
    """Rows [majority, minority, pairs] over the votes for A and B, the clearest split first.

    ``counts`` has shape (P, 2) or more columns, ``pairs`` (P,) says how many pairs a row stands
    for.
    """
    ordered = np.sort(counts[:, :2], axis=1)[:, ::-1]
    splits, places = np.unique(ordered, axis=0, return_inverse=True)
    sums = np.bincount(places.reshape(-1), weights=pairs, minlength=len(splits)).astype(np.int64)
    rows: list[list[int]] = np.column_stack((splits, sums)).tolist()
    return sorted(rows, key=lambda row: (-(row[0] + row[1]), -row[0]))
