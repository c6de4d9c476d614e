"""Published tables, and the shared files with many more, for the tests of this folder."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

AGREEMENT_DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "agreement"

needs_shared_data = pytest.mark.skipif(
    not AGREEMENT_DATA.is_dir(),
    reason="the shared reference data does not lie beside this checkout",
)

# The first example of a property may import SciPy or statsmodels: time says nothing here.
untimed = settings(deadline=None)

# Fleiss (1971), table 1: 30 patients, 5 diagnoses, 6 raters.
FLEISS_1971 = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1],
    [3, 0, 0, 1, 2],
    [5, 1, 0, 0, 0],
    [0, 2, 0, 4, 0],
    [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6],
    [0, 1, 0, 5, 0],
    [0, 2, 0, 1, 3],
    [2, 0, 0, 4, 0],
    [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0],
    [4, 0, 0, 0, 2],
    [0, 2, 0, 4, 0],
    [1, 0, 5, 0, 0],
    [0, 0, 0, 0, 6],
]

# Wikipedia, "Fleiss' kappa", worked example: 10 subjects, 5 categories, 14 raters.
WIKIPEDIA_10X5 = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Twelve pairs with one to nine votes, worked in exact fractions.
BINARY_VARIABLE_N = [
    [9, 0],
    [8, 1],
    [7, 2],
    [6, 3],
    [5, 4],
    [0, 9],
    [1, 7],
    [5, 2],
    [3, 3],
    [4, 1],
    [2, 0],
    [1, 0],
]


def names(k: int) -> list[str]:
    """Category names for a table of k columns."""
    return ["A", "B", "tie", "other", "none"][:k]


def load(name: str) -> dict[str, Any]:
    """One of the shared JSON files."""
    data: dict[str, Any] = json.loads((AGREEMENT_DATA / name).read_text("utf-8"))
    return data


def tables(
    *, k: int | None = None, fixed_n: int | None = None, max_n: int = 9, min_size: int = 1
) -> st.SearchStrategy[list[list[int]]]:
    """Count tables of 2 to 4 categories (or k), with any number of votes per item or exactly n."""

    def rows(width: int) -> st.SearchStrategy[list[list[int]]]:
        if fixed_n is None:
            row = st.lists(st.integers(0, max_n), min_size=width, max_size=width)
        else:
            votes = st.lists(st.integers(0, width - 1), min_size=fixed_n, max_size=fixed_n)
            row = votes.map(lambda chosen: [chosen.count(j) for j in range(width)])
        return st.lists(row, min_size=min_size, max_size=30)

    return rows(k) if k else st.integers(2, 4).flatmap(rows)
