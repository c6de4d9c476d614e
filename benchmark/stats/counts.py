"""Votes to count tables, and count tables to histograms of patterns.

A count table has one row per item and one column per category of the study's schema: ``counts[i,
j]`` raters of item i chose category j. A skip is not a vote and has no column. Every coefficient
depends on the table only through its histogram (ten patterns for nine binary votes), so that is
what the estimators work on: their cost does not grow with the number of items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Ints

# Keeps every product of counts taken in this package inside 64 bits.
MAX_COUNT: Final = 1_000_000

# Up to here patterns are binned by their mixed-radix number (nine votes on three categories: 1,000
# bins), which is tens of times faster than sorting rows.
_MAX_BINS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many items show each pattern of counts.

    ``patterns`` has shape (P, K), rows distinct and in ascending order; ``multiplicity`` has shape
    (P,) and is positive. The order of items, and the way they were split into batches, leave no
    trace, so equal data give bitwise equal results.
    """

    categories: tuple[str, ...]
    patterns: Ints
    multiplicity: Ints

    def expand(self) -> Ints:
        """The count table, shape (items, K), in pattern order."""
        return np.repeat(self.patterns, self.multiplicity, axis=0)


def check_categories(categories: Sequence[str]) -> tuple[str, ...]:
    """The schema's categories as a tuple; ValueError unless there are two or more, all distinct."""
    if isinstance(categories, str):
        raise ValueError(f"categories must be a list of names, not the text {categories!r}")
    names = tuple(categories)
    if len(names) < 2:
        raise ValueError(f"agreement needs at least two categories, the schema has {len(names)}")
    if len(set(names)) != len(names):
        raise ValueError(f"categories must be distinct: {', '.join(names)}")
    return names


def whole_numbers(
    values: npt.ArrayLike, *, name: str, dimensions: int = 1, maximum: int = MAX_COUNT
) -> Ints:
    """``values`` as an int64 array; ValueError unless whole, from 0 to ``maximum``, of that shape.

    Floats are refused even where they are whole: a count that arrives as a float has been through
    arithmetic that may have rounded it.
    """
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension(s), not {array.ndim}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, not {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > maximum):
        raise ValueError(
            f"{name} must lie between 0 and {maximum:,}; found {array.min()} to {array.max()}"
        )
    return array.astype(np.int64)


def count_table(counts: npt.ArrayLike, *, categories: Sequence[str]) -> Ints:
    """``counts`` as a checked int64 table of shape (N, K), K the number of schema categories.

    K is never inferred: a category that nobody chose keeps its column of zeros, because chance
    agreement (Randolph, AC1) depends on what raters could choose. Raises ValueError.
    """
    names = check_categories(categories)
    array = np.asarray(counts)
    if array.shape == (0,):  # an empty list says nothing about its columns
        return np.zeros((0, len(names)), dtype=np.int64)
    table = whole_numbers(array, name="counts", dimensions=2)
    if table.shape[1] != len(names):
        raise ValueError(
            f"counts has {table.shape[1]} columns but the schema has {len(names)} categories: "
            + ", ".join(names)
        )
    return table


def count_votes(
    items: npt.ArrayLike,
    choices: Sequence[str],
    *,
    n_items: int,
    categories: Sequence[str],
    raters: npt.ArrayLike | None = None,
) -> Ints:
    """Count table of shape (n_items, K) from a long table with one vote per row.

    ``items`` (and ``raters``, where given) are integer codes, ``choices`` category names; skips
    must be left out. Raises ValueError for an unknown category, an item outside ``n_items`` and,
    where raters are given, for a second vote by a rater on an item.
    """
    names = check_categories(categories)
    rows = whole_numbers(items, name="items", maximum=np.iinfo(np.int32).max)
    if len(rows) != len(choices):
        raise ValueError(f"{len(rows)} items but {len(choices)} choices")
    if len(rows) and rows.max() >= n_items:
        raise ValueError(f"item {rows.max()} is outside the table of {n_items} items")
    columns = {name: column for column, name in enumerate(names)}
    try:
        coded = np.fromiter((columns[choice] for choice in choices), np.int64, len(choices))
    except KeyError as error:
        raise ValueError(
            f"{error.args[0]!r} is no category of the schema ({', '.join(names)})"
        ) from None
    if raters is not None:
        people = whole_numbers(raters, name="raters", maximum=np.iinfo(np.int32).max)
        if len(people) != len(rows):
            raise ValueError(f"{len(rows)} items but {len(people)} raters")
        _refuse_second_votes(rows, people)
    k = len(names)
    table = np.bincount(rows * k + coded, minlength=n_items * k).reshape(n_items, k)
    return table.astype(np.int64)


def _refuse_second_votes(items: Ints, raters: Ints) -> None:
    order = np.lexsort((raters, items))
    repeated = (np.diff(items[order]) == 0) & (np.diff(raters[order]) == 0)
    if repeated.any():
        first = order[1:][repeated][0]
        raise ValueError(f"rater {raters[first]} voted more than once on item {items[first]}")


def histogram(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    multiplicity: npt.ArrayLike | None = None,
) -> Histogram:
    """Histogram of the rows of a count table of shape (N, K).

    With ``multiplicity`` (shape (N,)) row i stands for that many items, which is what a database
    returns for ``GROUP BY a, b``; equal rows are merged. Raises ValueError as `count_table` does.
    """
    names = check_categories(categories)
    table = count_table(counts, categories=names)
    weights = (
        None
        if multiplicity is None
        else whole_numbers(multiplicity, name="multiplicity", maximum=np.iinfo(np.int32).max)
    )
    if weights is not None and len(weights) != len(table):
        raise ValueError(f"{len(table)} patterns but {len(weights)} multiplicities")
    base = int(table.max(initial=0)) + 1
    if base ** len(names) <= _MAX_BINS:
        shape = (base,) * len(names)
        bins = np.ravel_multi_index(tuple(table.T), shape)
        # bincount sums weights as floats: exact, since they stay below 2**53.
        sums = np.bincount(bins, weights=weights, minlength=1).astype(np.int64)
        used = np.flatnonzero(sums)
        patterns = np.stack(np.unravel_index(used, shape), axis=1).astype(np.int64)
        return Histogram(names, patterns, sums[used])
    patterns, inverse = np.unique(table, axis=0, return_inverse=True)
    sums = np.bincount(inverse.reshape(-1), weights=weights).astype(np.int64)
    return Histogram(names, patterns[sums > 0], sums[sums > 0])


def agreeing_pairs(counts: Ints) -> tuple[Ints, Ints]:
    """(S, M), each of shape (N,): ordered pairs of votes that agree, and all ordered pairs.

    S = sum_j x_j (x_j - 1) and M = n (n - 1); item agreement is P = S / M wherever M > 0.
    ``counts`` is a checked table of shape (N, K).
    """
    n = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1), n * (n - 1)
