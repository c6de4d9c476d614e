import json

import numpy as np
import pytest
from hypothesis import given, settings

from benchmark.stats.agreement import agreement
from benchmark.stats.bootstrap import bootstrap, two_way_bootstrap
from benchmark.stats.values import Caution, Reason
from benchmark.stats.votes import Votes
from tests.benchmark.stats.reference import BINARY_VARIABLE_N, FLEISS_1971, names, tables

ITEM_WISE = ("percent_agreement", "fleiss", "randolph", "ac1", "alpha")
TWO_WAY = ITEM_WISE[:4]

# Each example costs milliseconds, not microseconds: fewer of them.
few = settings(deadline=None, max_examples=40)


def over_items(rows, *, replicates=200, seed="seed", **options):
    return bootstrap(
        rows, categories=names(len(rows[0])), replicates=replicates, seed=seed, **options
    )


def resampled(rows, *, replicates, generator):
    """Plain bootstrap: whole rows drawn anew, every coefficient computed from the drawn table."""
    table = np.array(rows)
    found = [
        agreement(
            table[generator.integers(0, len(table), len(table))],
            categories=names(table.shape[1]),
            engine="own",
        )
        for _ in range(replicates)
    ]
    return {name: [getattr(one, name).value for one in found] for name in ITEM_WISE}


@pytest.mark.parametrize("rows", [FLEISS_1971, BINARY_VARIABLE_N])
def test_patterns_drawn_are_rows_drawn(rows):
    """Standard error, percentiles and share of undefined replicates, within what chance allows."""
    plain = resampled(rows, replicates=1_000, generator=np.random.default_rng(11))
    found = over_items(rows, replicates=20_000)
    for name, interval in found.intervals.items():
        kept = np.array([value for value in plain[name] if value is not None])
        assert interval.se == pytest.approx(kept.std(), rel=0.1)
        assert interval.ci == pytest.approx(
            np.percentile(kept, (2.5, 97.5)), abs=0.25 * interval.se
        )
        assert abs(interval.dropped / 20_000 - (1 - len(kept) / 1_000)) < 0.02


def test_dropped_replicates_are_counted():
    """A draw misses the only item with a B with probability (2/3)^3: then there is no kappa."""
    found = over_items([[9, 0], [9, 0], [5, 4]], replicates=20_000).intervals
    for name in ("fleiss", "alpha"):
        assert found[name].dropped / 20_000 == pytest.approx(8 / 27, abs=0.02)
    assert found["ac1"].dropped == found["randolph"].dropped == 0


def test_replicates_without_a_pair_of_votes_have_no_agreement():
    """A draw misses the only item with two votes with probability (2/3)^3."""
    found = over_items([[1, 1], [1, 0], [0, 1]], replicates=20_000).intervals
    for interval in found.values():
        assert interval.dropped / 20_000 == pytest.approx(8 / 27, abs=0.02)


def test_a_seed_gives_the_same_replicates():
    assert over_items(FLEISS_1971) == over_items(FLEISS_1971)
    assert over_items(FLEISS_1971, seed="other") != over_items(FLEISS_1971)


@few
@given(tables())
def test_neither_order_nor_grouping_of_items_leave_a_trace(rows):
    distinct = [list(row) for row in {tuple(row) for row in rows}]
    grouped = over_items(distinct, multiplicity=[rows.count(row) for row in distinct])
    assert over_items(rows[::-1]).as_json() == grouped.as_json()


@few
@given(tables(max_n=3))
def test_every_table_gives_json_without_nan(rows):
    found = over_items(rows)
    decoded = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert (decoded["replicates"], decoded["seed"]) == (200, "seed")
    report = agreement(rows, categories=names(len(rows[0])), engine="own")
    for name in ITEM_WISE:
        assert (decoded[name]["se"] is None) == ("reason" in decoded[name])
        if getattr(report, name).reason is not None:
            assert decoded[name]["reason"] == getattr(report, name).reason
        if decoded[name]["ci"] is not None:
            low, high = decoded[name]["ci"]
            assert low <= high


@pytest.mark.parametrize(
    ("rows", "fleiss", "ac1"),
    [
        ([[0, 0]], Reason.NO_ITEM_WITH_TWO_VOTES, Reason.NO_ITEM_WITH_TWO_VOTES),
        ([[8, 1]], Reason.SINGLE_ITEM, Reason.SINGLE_ITEM),
        ([[9, 0]] * 3, Reason.SINGLE_CATEGORY, None),
    ],
)
def test_undefined_intervals(rows, fleiss, ac1):
    found = over_items(rows).intervals
    assert (found["fleiss"].reason, found["ac1"].reason) == (fleiss, ac1)
    assert (found["fleiss"].se, found["fleiss"].ci) == (None, None)


def test_identical_items_have_no_variance_and_say_so():
    rows = [[8, 1]] * 10
    report = agreement(rows, categories=names(2), engine="own")
    for name, interval in over_items(rows).intervals.items():
        assert (interval.se, interval.warning) == (0, Caution.DEGENERATE_VARIANCE)
        # Every replicate is the sample itself.
        assert interval.ci == pytest.approx([getattr(report, name).value] * 2, abs=1e-12)


def test_many_patterns_are_drawn_in_blocks():
    """More numbers than fit one block: as many replicates, and the spread that the formula has."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 60, size=(1_500, 3)).tolist()
    found = over_items(rows, replicates=1_000)
    gwet = agreement(rows, categories=names(3), engine="own").randolph
    assert found.intervals["randolph"].se == pytest.approx(gwet.se, rel=0.1)


@pytest.mark.parametrize("replicates", [-1, 0, 1])
def test_a_standard_error_needs_two_replicates(replicates):
    with pytest.raises(ValueError, match="at least two replicates"):
        over_items(FLEISS_1971, replicates=replicates)


# --- Items and raters ---


def complete(table):
    """Votes of raters (columns) who all judged all items (rows)."""
    n_items, n_raters = table.shape
    item, rater = np.indices(table.shape)
    return Votes.of(
        item.reshape(-1),
        rater.reshape(-1),
        table.reshape(-1),
        n_items=n_items,
        n_raters=n_raters,
        categories=("A", "B"),
    )


def test_two_way_replicates_against_plain_loops():
    """Items and raters drawn anew; a pair of votes counts unless one rater gave both."""
    table = (np.random.default_rng(5).random((12, 6)) < 0.6).astype(np.int64)
    table[:, 5] = 0
    generator = np.random.default_rng(6)
    kappas = []
    for _ in range(1_500):
        items = generator.integers(0, 12, 12)
        raters = generator.integers(0, 6, 6)
        apart = raters[:, None] != raters
        drawn = table[items][:, raters]
        same = (drawn[:, :, None] == drawn[:, None, :]) & apart
        if not apart.any() or len(np.unique(drawn)) == 1:
            continue
        p = drawn.mean()
        chance = p * p + (1 - p) * (1 - p)
        kappas.append((same.sum() / (12 * apart.sum()) - chance) / (1 - chance))
    found = two_way_bootstrap(complete(table), seed="seed", replicates=8_000).intervals["fleiss"]
    assert found.se == pytest.approx(np.std(kappas), rel=0.08)
    assert found.ci == pytest.approx(np.percentile(kappas, (2.5, 97.5)), abs=0.2 * found.se)


def test_raters_who_differ_widen_the_interval():
    rng = np.random.default_rng(8)
    truth = rng.random((200, 1)) < 0.5
    careful = np.array([True] * 5 + [False] * 4)
    votes = complete(np.where(careful, truth, rng.random((200, 9)) < 0.5).astype(np.int64))
    items = bootstrap(votes.counts(), categories=("A", "B"), seed="seed", replicates=500)
    both = two_way_bootstrap(votes, seed="seed", replicates=500)
    assert both.intervals["fleiss"].se > 2 * items.intervals["fleiss"].se
    assert both == two_way_bootstrap(votes, seed="seed", replicates=500)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((0, 0), dtype=np.int64), Reason.NO_ITEM_WITH_TWO_VOTES),
        (np.array([[0], [1]]), Reason.NO_ITEM_WITH_TWO_VOTES),
        (np.array([[0, 1, 1]]), Reason.SINGLE_ITEM),
        (np.zeros((3, 3), dtype=np.int64), Reason.SINGLE_CATEGORY),
    ],
)
def test_undefined_two_way_intervals(table, reason):
    found = two_way_bootstrap(complete(table), seed="", replicates=50)
    assert tuple(found.intervals) == TWO_WAY
    assert found.intervals["fleiss"].reason is reason
    json.dumps(found.as_json(), allow_nan=False)
