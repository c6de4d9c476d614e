import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.counts import (
    MAX_COUNT,
    agreeing_pairs,
    check_categories,
    count_table,
    count_votes,
    histogram,
)
from tests.benchmark.stats.reference import BINARY_VARIABLE_N, names, tables, untimed

AB = ["A", "B"]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[9, 0, 0]], "3 columns but the schema has 2 categories: A, B"),
        ([[9]], "1 columns"),
        ([[-1, 3]], "between 0 and 1,000,000; found -1 to 3"),
        ([[MAX_COUNT + 1, 0]], "between 0"),
        ([[4.5, 4.5]], "whole numbers"),
        ([[9.0, 0.0]], "whole numbers"),
        ([[True, False]], "whole numbers"),
        ([["9", "0"]], "whole numbers"),
        ([9, 0], "2 dimension"),
        ([[], []], "0 columns"),
        (np.array([[2**63, 0]], dtype=np.uint64), "between 0"),
    ],
)
def test_malformed_tables_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        count_table(counts, categories=AB)


def test_ragged_tables_are_refused():
    with pytest.raises(ValueError, match="inhomogeneous"):
        count_table([[9, 0], [9]], categories=AB)


def test_an_empty_table_keeps_the_categories_of_the_schema():
    assert count_table([], categories=["A", "B", "tie"]).shape == (0, 3)
    assert count_table(np.zeros((0, 2), dtype=int), categories=AB).shape == (0, 2)


def test_a_table_of_small_or_unsigned_integers_becomes_int64():
    table = count_table(np.array([[200, 100]], dtype=np.uint8), categories=AB)
    assert table.dtype == np.int64
    assert (table * table).tolist() == [[40_000, 10_000]]


@pytest.mark.parametrize(
    ("categories", "message"),
    [([], "two categories"), (["A"], "two categories"), (["A", "A"], "distinct"), ("AB", "list")],
)
def test_a_schema_has_two_or_more_distinct_categories(categories, message):
    with pytest.raises(ValueError, match=message):
        check_categories(categories)


def test_votes_are_counted_by_category_with_unused_ones_kept():
    table = count_votes(
        [0, 0, 2, 0], ["B", "A", "tie", "B"], n_items=3, categories=["A", "B", "tie"]
    )
    assert table.tolist() == [[1, 2, 0], [0, 0, 0], [0, 0, 1]]
    assert count_votes([], [], n_items=2, categories=AB).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("items", "choices", "message"),
    [
        ([0, 1], ["A", "C"], "'C' is no category of the schema"),
        ([0, 1], ["A", "skip"], "'skip' is no category"),
        ([0, 5], ["A", "B"], "item 5 is outside the table of 2 items"),
        ([-1, 0], ["A", "B"], "between 0"),
        ([0], ["A", "B"], "1 items but 2 choices"),
        ([0.0, 1.0], ["A", "B"], "whole numbers"),
    ],
)
def test_malformed_votes_are_refused(items, choices, message):
    with pytest.raises(ValueError, match=message):
        count_votes(items, choices, n_items=2, categories=AB)


def test_a_second_vote_by_a_rater_on_an_item_is_refused():
    table = count_votes([0, 0, 1], [*AB, "A"], n_items=2, categories=AB, raters=[1, 2, 1])
    assert table.tolist() == [[1, 1], [1, 0]]
    with pytest.raises(ValueError, match="rater 7 voted more than once on item 1"):
        count_votes([1, 0, 1], ["A", "A", "B"], n_items=2, categories=AB, raters=[7, 7, 7])
    with pytest.raises(ValueError, match="2 items but 1 raters"):
        count_votes([0, 0], AB, n_items=1, categories=AB, raters=[1])


@untimed
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), unique=True, max_size=40),
    st.randoms(),
)
def test_the_order_of_votes_leaves_no_trace(votes, random):
    labelled = [(item, rater, names(3)[(item + rater) % 3]) for item, rater in votes]
    shuffled = random.sample(labelled, len(labelled))
    first, second = (
        count_votes(
            [vote[0] for vote in rows],
            [vote[2] for vote in rows],
            n_items=5,
            categories=names(3),
            raters=[vote[1] for vote in rows],
        )
        for rows in (labelled, shuffled)
    )
    assert first.tolist() == second.tolist()
    assert first.sum() == len(votes)


@untimed
@given(tables(min_size=0), st.randoms())
def test_a_histogram_is_the_sorted_table(rows, random):
    k = len(rows[0]) if rows else 2
    found = histogram(rows, categories=names(k))
    assert found.expand().tolist() == sorted(rows)
    assert (found.multiplicity > 0).all()
    shuffled = histogram(random.sample(rows, len(rows)), categories=names(k))
    assert shuffled.patterns.tolist() == found.patterns.tolist()
    assert shuffled.multiplicity.tolist() == found.multiplicity.tolist()


@untimed
@given(tables(k=2), st.data())
def test_grouped_rows_give_the_same_histogram(rows, data):
    weights = data.draw(
        st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)), label="weights"
    )
    repeated = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    grouped = histogram(rows, categories=AB, multiplicity=weights)
    assert grouped.expand().tolist() == sorted(repeated)


def test_wide_tables_are_sorted_instead_of_binned():
    """2,000 votes in three categories have more than a million possible patterns."""
    rows = [[2000, 0, 3], [0, 0, 5], [2000, 0, 3], [1, 999, 0]]
    found = histogram(rows, categories=names(3), multiplicity=[1, 2, 1, 0])
    assert found.patterns.tolist() == [[0, 0, 5], [2000, 0, 3]]
    assert found.multiplicity.tolist() == [2, 2]


def test_multiplicities_must_match_the_patterns():
    with pytest.raises(ValueError, match="1 patterns but 2 multiplicities"):
        histogram([[9, 0]], categories=AB, multiplicity=[1, 2])
    with pytest.raises(ValueError, match="multiplicity must lie between 0"):
        histogram([[9, 0]], categories=AB, multiplicity=[-1])


def test_agreeing_pairs_by_hand():
    s, m = agreeing_pairs(np.array(BINARY_VARIABLE_N))
    assert s.tolist() == [72, 56, 44, 36, 32, 72, 42, 22, 12, 12, 2, 0]
    assert m.tolist() == [72, 72, 72, 72, 72, 72, 56, 42, 30, 20, 2, 0]
