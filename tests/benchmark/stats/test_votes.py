import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.counts import count_votes
from benchmark.stats.votes import Votes
from tests.benchmark.stats.reference import untimed

NAMES = ("A", "B", "tie")


def votes(item, rater, choice, *, n_items=3, n_raters=4, categories=NAMES):
    return Votes.of(item, rater, choice, n_items=n_items, n_raters=n_raters, categories=categories)


def test_votes_are_counted_by_item_and_by_rater():
    found = votes([0, 0, 2], [1, 3, 1], [0, 2, 0])
    assert len(found) == 3
    assert found.counts().tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert found.counts_by_rater().tolist() == [[0, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_no_votes_are_tables_of_zeros():
    found = votes([], [], [])
    assert len(found) == 0
    assert found.counts().tolist() == [[0, 0, 0]] * 3
    assert votes([], [], [], n_items=0, n_raters=0).counts_by_rater().shape == (0, 3)


@pytest.mark.parametrize(
    ("item", "rater", "choice", "message"),
    [
        ([0, 3], [0, 1], [0, 0], "items must be codes below 3; found 3"),
        ([0], [4], [0], "raters must be codes below 4; found 4"),
        ([0], [0], [3], "choices must be codes below 3; found 3"),
        ([-1], [0], [0], "items must lie between 0"),
        ([0.5], [0], [0], "whole numbers"),
        ([0, 1], [0], [0, 0], "2 items, 1 raters and 2 choices"),
        ([2, 0, 2], [1, 1, 1], [0, 0, 1], "rater 1 voted more than once on item 2"),
    ],
)
def test_a_malformed_table_is_refused(item, rater, choice, message):
    with pytest.raises(ValueError, match=message):
        votes(item, rater, choice)


@untimed
@given(
    st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 3)), st.integers(0, 2)),
    st.randoms(),
)
def test_counts_are_those_of_a_long_table_in_any_order(cells, random):
    rows = [(item, rater, choice) for (item, rater), choice in cells.items()]
    random.shuffle(rows)
    item, rater, choice = zip(*rows, strict=True) if rows else ((), (), ())
    found = votes(list(item), list(rater), list(choice))
    plain = count_votes(list(item), [NAMES[code] for code in choice], n_items=3, categories=NAMES)
    assert np.array_equal(found.counts(), plain)
    assert found.counts_by_rater().sum() == len(rows)
