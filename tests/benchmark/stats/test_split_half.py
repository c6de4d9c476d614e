import itertools
import json
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given

from benchmark.stats.split_half import split_half
from benchmark.stats.values import Caution, Reason
from tests.benchmark.stats.public_sets import public_votes
from tests.benchmark.stats.reference import needs_shared_data, tables, untimed


def by_enumeration(a: int, b: int) -> dict[int, list[F]]:
    """k of the other votes, for every choice of five of them, by the minority of the five."""
    found: dict[int, list[F]] = {0: [], 1: [], 2: []}
    votes = [1] * a + [0] * b
    for chosen in itertools.combinations(range(a + b), 5):
        first = sum(votes[i] for i in chosen)
        x, n = a - first, a + b - 5
        k = 2 * F(x * (x - 1) + (n - x) * (n - x - 1), n * (n - 1)) - 1
        found[min(first, 5 - first)].append(k)
    return found


def test_against_every_split_there_is():
    rows = [(9, 0), (8, 1), (2, 7), (6, 3), (5, 4), (4, 4), (6, 1), (5, 1)]
    found = split_half(rows)
    pairs = [F(0)] * 3
    sums = [F(0)] * 3
    for a, b in rows[:-1]:
        splits = by_enumeration(a, b)
        total = sum(map(len, splits.values()))
        for level, ks in splits.items():
            pairs[level] += F(len(ks), total)
            sums[level] += sum(ks, F(0)) / total
    assert (found.pairs, found.left_out) == (7, 1)
    for stratum, n, s in zip(found.strata, pairs, sums, strict=True):
        assert stratum.pairs == pytest.approx(float(n))
        assert stratum.agreement.value == pytest.approx(float(s / n))


@needs_shared_data
def test_random_splits_tend_to_it():
    """A hundred splits of the first nine votes of each RTE item."""
    votes, _ = public_votes("rte")
    choice = votes.choice[np.lexsort((np.arange(len(votes)), votes.item))].reshape(-1, 10)[:, :9]
    a = (choice == 0).sum(axis=1)
    exact = split_half(np.stack([a, 9 - a], axis=1))

    rng = np.random.default_rng(20240501)
    pairs, agreement = np.zeros(3), np.zeros((100, 3))
    for split in range(100):
        mixed = rng.permuted(choice, axis=1)
        first, rest = mixed[:, :5].sum(axis=1), mixed[:, 5:].sum(axis=1)
        k = 2 * (rest * (rest - 1) + (4 - rest) * (3 - rest)) / 12 - 1
        for level in range(3):
            here = np.minimum(first, 5 - first) == level
            pairs[level] += here.sum() / 100
            agreement[split, level] = k[here].mean()
    for level, stratum in enumerate(exact.strata):
        assert pairs[level] == pytest.approx(stratum.pairs, abs=3)
        error = agreement[:, level].std() / 10
        assert agreement[:, level].mean() == pytest.approx(stratum.agreement.value, abs=4 * error)
        # One split's error is that of the split and of the items; the interval is of the items.
        assert 0.01 < stratum.agreement.se < 0.05


def test_tiers_are_not_judged_by_the_votes_that_made_them():
    found = split_half([[9, 0], [8, 1], [5, 4]], multiplicity=[30, 30, 30])
    assert [split.pairs for split in found.tiers.values()] == [30, 30, 30]
    assert found.tiers["easy"].strata == (30, 0, 0)
    assert found.tiers["medium"].strata == pytest.approx((30 * 4 / 9, 30 * 5 / 9, 0))
    # A unanimous five leaves 3-1 (k = 0) of an 8-1 pair, and once in 126 splits 0-4 (k = 1) of 5-4.
    unanimous = found.strata[0]
    assert unanimous.pairs == pytest.approx(30 + 30 * 4 / 9 + 30 / 126)
    assert found.tiers["easy"].agreement.value == unanimous.agreement.value
    assert unanimous.agreement.value == pytest.approx((30 + 0 + 30 / 126) / unanimous.pairs)
    assert found.tiers["medium"].agreement.value != pytest.approx(5 / 9, abs=0.01)


@untimed
@given(tables(k=2))
def test_strata_add_up_and_labels_do_not_matter(rows):
    found = split_half(rows)
    assert sum(s.pairs for s in found.strata) == pytest.approx(found.pairs)
    swapped = split_half([[b, a] for a, b in reversed(rows)])
    for one, other in zip(found.strata, swapped.strata, strict=True):
        assert one.pairs == pytest.approx(other.pairs)
        if one.agreement.value is None:
            assert other.agreement.reason is Reason.NO_ITEM_WITH_TWO_VOTES
        else:
            assert one.agreement.value == pytest.approx(other.agreement.value)
    if found.pairs:
        # The rest of a random split agrees, on average, as the whole does.
        n = np.array([row for row in rows if sum(row) >= 7])
        whole = (n * (n - 1)).sum(axis=1) / (n.sum(axis=1) * (n.sum(axis=1) - 1))
        assert found.overall.value == pytest.approx((2 * whole - 1).mean())
    json.dumps(found.as_json(), allow_nan=False)


def test_few_votes_one_pair_and_unanimous_pairs():
    nothing = split_half([[5, 1], [0, 0]])
    assert (nothing.pairs, nothing.left_out) == (0, 2)
    assert nothing.overall.reason is Reason.NO_ITEM_WITH_TWO_VOTES
    assert split_half([[9, 0]]).strata[0].agreement.se_reason is Reason.SINGLE_ITEM
    alike = split_half([[9, 0], [0, 9]]).strata
    assert alike[0].agreement.warning is Caution.DEGENERATE_VARIANCE
    assert alike[1].agreement.reason is Reason.NO_ITEM_WITH_TWO_VOTES
    with pytest.raises(ValueError, match="must come first"):
        split_half([[9, 0]], first=0)
