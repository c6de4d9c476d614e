"""The three public sets of votes as arrays, for the tests of what depends on raters."""

import csv
from functools import cache

import numpy as np

from benchmark.stats.codes import Ints
from benchmark.stats.votes import Votes
from tests.benchmark.stats.reference import AGREEMENT_DATA


@cache
def public_votes(name: str) -> tuple[Votes, Ints]:
    """The votes, in their order, and the column of each item's gold label."""
    with (AGREEMENT_DATA / f"{name}_label.csv").open(newline="") as lines:
        rows = [[int(r["item"]), int(r["worker"]), int(r["label"])] for r in csv.DictReader(lines)]
    (items, item), (raters, rater), (labels, choice) = (
        np.unique(column, return_inverse=True) for column in zip(*rows, strict=True)
    )
    votes = Votes.of(
        item,
        rater,
        choice,
        n_items=len(items),
        n_raters=len(raters),
        categories=[str(label) for label in labels],
    )
    with (AGREEMENT_DATA / f"{name}_truth.csv").open(newline="") as lines:
        gold = {int(row["item"]): int(row["truth"]) for row in csv.DictReader(lines)}
    return votes, np.searchsorted(labels, [gold[code] for code in items.tolist()])


def votes_of(
    table: list[tuple[int, int, int]], *, k: int = 2, n_raters: int | None = None
) -> Votes:
    """Votes from rows (item, rater, choice)."""
    columns = np.array(table, dtype=np.int64).reshape(-1, 3).T
    return Votes.of(
        *columns,
        n_items=int(columns[0].max(initial=-1)) + 1,
        n_raters=int(columns[1].max(initial=-1)) + 1 if n_raters is None else n_raters,
        categories=["A", "B", "tie", "other"][:k],
    )


def random_votes(seed: int, *, items: int, raters: int, per_item: int, k: int = 2) -> Votes:
    """``per_item`` raters for each item; choices lean, item by item, to one category."""
    rng = np.random.default_rng(seed)
    rater = rng.permuted(np.tile(np.arange(raters), (items, 1)), axis=1)[:, :per_item].ravel()
    item = np.repeat(np.arange(items), per_item)
    share = rng.dirichlet(np.full(k, 0.6), size=items)[item]
    choice = (rng.random(len(item))[:, None] > share.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return Votes.of(
        item,
        rater,
        choice,
        n_items=items,
        n_raters=raters,
        categories=["A", "B", "tie", "other"][:k],
    )
