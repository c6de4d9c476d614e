import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmark.stats.agreement import agreement
from benchmark.stats.by_rater import conger, conger_of_votes, light, pairwise
from benchmark.stats.values import Caution, Reason, Value
from benchmark.stats.votes import Votes

# Each example costs milliseconds, not microseconds: fewer of them.
few = settings(deadline=None, max_examples=40)


def votes_of(rows, *, categories):
    """Votes of a table with a row for each rater and a column for each item; None is no vote."""
    cells = [
        (item, rater, categories.index(choice))
        for rater, row in enumerate(rows)
        for item, choice in enumerate(row)
        if choice is not None
    ]
    item, rater, choice = zip(*cells, strict=True) if cells else ((), (), ())
    return Votes.of(
        list(item),
        list(rater),
        list(choice),
        n_items=len(rows[0]) if rows else 0,
        n_raters=len(rows),
        categories=[str(category) for category in categories],
    )


def tables_by_rater(*, k=3, min_raters=1, complete=False):
    """Votes of up to five raters on up to eight items, most of the cells filled."""
    cell = st.integers(0, k - 1)
    cell = cell if complete else st.one_of(cell, cell, st.none())
    return st.tuples(st.integers(min_raters, 5), st.integers(1, 8)).flatmap(
        lambda shape: st.lists(
            st.lists(cell, min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        ).map(lambda rows: votes_of(rows, categories=list(range(k))))
    )


def of_counts(votes):
    return conger(votes.counts(), categories=votes.categories, by_rater=votes.counts_by_rater())


# --- Conger ---


def test_two_raters_are_cohens_kappa():
    """Cohen .7964094, from the table [[13, 0, 0], [0, 20, 7], [0, 4, 56]]."""
    cells = [(0, 0, 13), (1, 1, 20), (1, 2, 7), (2, 1, 4), (2, 2, 56)]
    first = [row for row, _, items in cells for _ in range(items)]
    second = [column for _, column, items in cells for _ in range(items)]
    votes = votes_of([first, second], categories=[0, 1, 2])
    assert of_counts(votes).value == pytest.approx(0.7964094, abs=1e-7)
    assert light(votes).value == pytest.approx(of_counts(votes).value, abs=1e-12)
    assert pairwise(votes).cohen() == pytest.approx([of_counts(votes).value], abs=1e-12)


@few
@given(tables_by_rater())
def test_conger_over_all_pairs_of_raters(votes):
    """The definition, in fractions: pairs of raters count whether or not they share an item."""
    found = of_counts(votes)
    assume(found.value is not None)
    observed = agreement(votes.counts(), categories=votes.categories, engine="own")
    totals = [row.tolist() for row in votes.counts_by_rater() if row.sum()]
    shares = [[F(x, sum(row)) for x in row] for row in totals]
    pairs = list(itertools.combinations(shares, 2))
    chance = sum(sum(a * b for a, b in zip(*pair, strict=True)) for pair in pairs) / len(pairs)
    expected = (observed.percent_agreement.value - float(chance)) / (1 - float(chance))
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.se_reason is Reason.NO_SE_FOR_VARIANT


@few
@given(tables_by_rater())
def test_conger_from_counts_and_from_votes_are_one(votes):
    of_votes = conger_of_votes(votes)
    assert of_votes.reason is of_counts(votes).reason
    assert of_votes.value == pytest.approx(of_counts(votes).value, abs=1e-12)


def plain_conger_se(votes):
    """Gwet's standard error as irrCAC writes it: an (items, raters) table for each category."""
    counts, totals = votes.counts().astype(float), votes.counts_by_rater().astype(float)
    voted, present = counts.sum(axis=1) > 0, totals.sum(axis=1) > 0
    counts, totals = counts[voted], totals[present]
    given_by = np.zeros((len(voted), len(present), counts.shape[1]))
    given_by[votes.item, votes.rater, votes.choice] = 1
    given_by = given_by[voted][:, present]
    n, raters, k = given_by.shape
    per_rater = totals.sum(axis=1)
    own = totals / per_rater[:, None]
    mean = own.mean(axis=0)
    spread = (own.T @ own - raters * np.outer(mean, mean)) / (raters - 1)
    chance = np.trace(np.outer(mean, mean) - spread / raters)
    judged = given_by.sum(axis=2)
    moved = np.zeros((n, raters))
    for j in range(k):
        each = given_by[:, :, j] - (judged - per_rater / n) * own[:, j]
        moved += each * n / per_rater * (raters * mean[j] - own[:, j])
    chance_i = moved.sum(axis=1) / (raters * (raters - 1))
    n_i = counts.sum(axis=1)
    paired = n_i >= 2
    p_i = (counts * (counts - 1)).sum(axis=1) / np.maximum(n_i * (n_i - 1), 1)
    kappa = (p_i[paired].mean() - chance) / (1 - chance)
    k_i = np.where(paired, n / paired.sum() * (p_i - chance) / (1 - chance), 0)
    k_star = k_i - 2 * (1 - kappa) * (chance_i - chance) / (1 - chance)
    return math.sqrt(((k_star - kappa) ** 2).sum() / (n * (n - 1)))


@few
@given(tables_by_rater(min_raters=2))
def test_standard_error_of_conger(votes):
    found = conger_of_votes(votes)
    assume(found.se is not None)
    assert found.se == pytest.approx(plain_conger_se(votes), abs=1e-9)
    assert (found.ci[0] + found.ci[1]) / 2 == pytest.approx(found.value, abs=1e-9)


@few
@given(tables_by_rater(min_raters=2), st.randoms())
def test_neither_raters_nor_items_nor_labels_have_an_order(votes, random):
    def shuffled(n):
        return np.array(random.sample(range(n), n), dtype=np.int64)

    other = Votes.of(
        shuffled(votes.n_items)[votes.item],
        shuffled(votes.n_raters)[votes.rater],
        shuffled(3)[votes.choice],
        n_items=votes.n_items,
        n_raters=votes.n_raters,
        categories=votes.categories,
    )
    for statistic in (conger_of_votes, light):
        one, two = statistic(votes), statistic(other)
        assert one.reason is two.reason
        assert one.value == pytest.approx(two.value, abs=1e-9)
        assert one.se == pytest.approx(two.se, abs=1e-9)


def test_raters_with_the_same_habits_are_fleiss():
    """Each of three raters says A on four of six items: chance is the same as for the pool."""
    rows = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 1], [1, 0, 0, 0, 0, 1]]
    votes = votes_of(rows, categories=[0, 1])
    fleiss = agreement(votes.counts(), categories=votes.categories, engine="own").fleiss
    assert of_counts(votes).value == pytest.approx(fleiss.value, abs=1e-12)


def test_nearly_unanimous_raters_keep_their_digits():
    """One dissenting vote among 2,000,000: chance disagreement is 1e-6, no difference of ones."""
    found = conger(
        [[2, 0], [1, 1]],
        categories=["A", "B"],
        multiplicity=[999_999, 1],
        by_rater=[[1_000_000, 0], [999_999, 1]],
    )
    assert found.value == pytest.approx(0, abs=1e-9)


def test_without_raters_there_is_no_conger():
    assert conger([[5, 4]], categories=["A", "B"], by_rater=None) == Value.undefined(
        Reason.NO_RATER_IDS
    )


@pytest.mark.parametrize(
    ("rows", "of_conger", "of_light"),
    [
        ([], Reason.NO_ITEM_WITH_TWO_VOTES, Reason.NO_ITEM_WITH_TWO_VOTES),
        ([[0, 1, 0]], Reason.NO_RATER_IDS, Reason.NO_RATER_IDS),
        ([[0, 1, 0], [None] * 3], Reason.NO_RATER_IDS, Reason.NO_RATER_IDS),
        ([[0, None], [None, 1]], Reason.NO_ITEM_WITH_TWO_VOTES, Reason.NO_RATER_OVERLAP),
        ([[0, 0], [0, 0]], Reason.SINGLE_CATEGORY, Reason.SINGLE_CATEGORY),
    ],
)
def test_undefined_cases(rows, of_conger, of_light):
    votes = votes_of(rows, categories=[0, 1])
    assert of_counts(votes) == conger_of_votes(votes) == Value.undefined(of_conger)
    assert light(votes) == Value.undefined(of_light)


def test_one_item_has_no_standard_error():
    found = conger_of_votes(votes_of([[0], [1], [1]], categories=[0, 1]))
    assert (found.se, found.se_reason) == (None, Reason.SINGLE_ITEM)


def test_perfect_agreement_has_no_variance_and_says_so():
    found = conger_of_votes(votes_of([[0, 1, 0, 1]] * 3, categories=[0, 1]))
    assert (found.value, found.se, found.warning) == (1, 0, Caution.DEGENERATE_VARIANCE)


def test_totals_of_other_votes_are_refused():
    with pytest.raises(ValueError, match="not the votes by item"):
        conger([[5, 4]], categories=["A", "B"], by_rater=[[5, 3], [1, 0]])


# --- Pairs of raters ---


@few
@given(tables_by_rater())
def test_pairs_of_raters_one_by_one(votes):
    given_by = {
        (item, rater): choice
        for item, rater, choice in zip(
            votes.item.tolist(), votes.rater.tolist(), votes.choice.tolist(), strict=True
        )
    }
    expected = []
    for first, second in itertools.combinations(range(votes.n_raters), 2):
        both = [
            (given_by[item, first], given_by[item, second])
            for item in range(votes.n_items)
            if (item, first) in given_by and (item, second) in given_by
        ]
        if both:
            agreeing = sum(a == b for a, b in both)
            chance = sum(a == b for a, _ in both for _, b in both)
            expected.append((first, second, len(both), agreeing, chance))
    found = pairwise(votes)
    rows = zip(found.first, found.second, found.shared, found.agreeing, found.chance, strict=True)
    assert list(rows) == expected
    kappas = [
        float((F(agreeing, n) - F(chance, n * n)) / (1 - F(chance, n * n)))
        for *_, n, agreeing, chance in expected
        if chance < n * n
    ]
    assert found.cohen() == pytest.approx(kappas, abs=1e-12)
    assert found.cohen_defined().sum() == len(kappas)
    if kappas:
        assert light(votes).value == pytest.approx(np.mean(kappas), abs=1e-12)


def test_pairs_with_a_single_category_each_leave_light_undefined():
    rows = [[0, 0, None, None], [0, 0, None, None], [None, None, 1, 1], [None, None, 1, 1]]
    votes = votes_of(rows, categories=[0, 1])
    assert light(votes) == Value.undefined(Reason.SINGLE_CATEGORY)
    assert of_counts(votes).value == 1


def test_nobody_has_voted():
    found = pairwise(votes_of([], categories=[0, 1]))
    assert len(found.first) == len(found.cohen()) == 0
