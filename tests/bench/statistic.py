"""Statistics from counts, beside the bare NumPy that has to be done in any case."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmark.stats.agreement import agreement
from benchmark.stats.bootstrap import REPLICATES, bootstrap
from benchmark.stats.codes import Ints
from tests.bench.figures import Figure, median
from tests.bench.site import Site

SIZES = (8_298, 1_000_000)
BAR_RATIO = 3.0
BAR_BOOTSTRAP_MS = 50.0
_CATEGORIES = ("A", "B")


def statistics(site: Site, folder: Path) -> list[Figure]:
    figures = []
    for items in SIZES:
        counts = _counts(items)
        floor = _median_seconds(lambda table=counts: _bare(table))
        own = _median_seconds(
            lambda table=counts: agreement(table, categories=_CATEGORIES, engine="own")
        )
        name = f"all coefficients of {items:,} items"
        figures += [
            Figure("statistics", name, 1000 * own, "ms", floor=1000 * floor),
            Figure("statistics", f"{name}, against NumPy", own / floor, "x", at_most=BAR_RATIO),
        ]
    counts = _counts(SIZES[0])
    seconds = _median_seconds(
        lambda: bootstrap(counts, categories=_CATEGORIES, seed="bench", replicates=REPLICATES)
    )
    figures.append(
        Figure(
            "statistics",
            f"{REPLICATES:,} bootstrap replicates",
            1000 * seconds,
            "ms",
            at_most=BAR_BOOTSTRAP_MS,
        )
    )
    return figures


def _counts(items: int) -> Ints:
    """Nine votes on each item, whose shares for A differ from item to item."""
    chance = np.random.default_rng(7)
    a = chance.binomial(9, chance.beta(0.5, 0.5, items))
    return np.column_stack((a, 9 - a)).astype(np.int64)


def _bare(counts: Ints) -> float:
    """Majority, item agreement and Fleiss' kappa, with no check and no interval."""
    n = counts.sum(axis=1)
    winner = counts.argmax(axis=1)
    item = (counts * (counts - 1)).sum(axis=1) / (n * (n - 1))
    shares = counts.sum(axis=0) / n.sum()
    expected = float((shares**2).sum())
    return float((item.mean() - expected) / (1 - expected)) + 0.0 * float(winner[0])


def _median_seconds(work: Callable[[], object], *, repeats: int = 15) -> float:
    work()
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return median(taken)
