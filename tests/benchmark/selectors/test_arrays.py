"""Whole columns out of PostgreSQL's binary COPY."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.selectors.arrays import whole_columns

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rows", [0, 1, 2, 4_095, 4_096, 4_097, 30_000])
def test_every_row_arrives(rows: int) -> None:
    found = whole_columns(
        "SELECT n::bigint, (-n)::bigint, (n * 1000000007)::bigint"
        " FROM generate_series(1, %s::bigint) AS n ORDER BY 1",
        [rows],
        columns=3,
    )
    n = np.arange(1, rows + 1)
    assert found.shape == (rows, 3)
    assert (found == np.column_stack([n, -n, n * 1_000_000_007])).all()


@pytest.mark.parametrize(
    ("sql", "columns"),
    [("SELECT 1::bigint", 2), ("SELECT 1::int, 2::int", 2), ("SELECT null::bigint, 2::bigint", 2)],
)
def test_what_is_no_table_of_whole_numbers_is_refused(sql: str, columns: int) -> None:
    with pytest.raises((TypeError, ValueError)):
        whole_columns(sql, [], columns=columns)
