import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from benchmark.stats.proportions import proportion, ratio
from benchmark.stats.values import Caution, Reason
from tests.benchmark.stats.reference import untimed

ONES = np.ones


@untimed
@given(st.integers(1, 500).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))))
def test_wilson_against_statsmodels(case):
    successes, trials = case
    found = proportion(successes, trials)
    assert found.value == successes / trials
    assert found.ci == pytest.approx(proportion_confint(successes, trials, method="wilson"))
    assert 0 <= found.ci[0] <= found.value <= found.ci[1] <= 1


def test_wilson_by_hand():
    """Fifty votes with .8 agreement: the standard error doubled is .11."""
    found = proportion(40, 50)
    assert 1.96 * found.se == pytest.approx(0.11, abs=0.001)
    assert found.ci == pytest.approx((0.669629, 0.887562), abs=1e-6)
    assert found.variant == "wilson"


def test_a_share_of_none_or_all_keeps_its_width():
    none, everything = proportion(0, 9), proportion(9, 9)
    assert none.ci == (0, pytest.approx(0.299145, abs=1e-6))
    assert everything.ci == (pytest.approx(0.700855, abs=1e-6), 1)
    assert none.se == everything.se == 0


def test_no_trials():
    assert proportion(0, 0).reason is Reason.NO_VOTES
    assert proportion(0, 0, reason=Reason.NO_OVERLAP).reason is Reason.NO_OVERLAP
    for successes, trials in ((1, 0), (-1, 3), (4, 3)):
        with pytest.raises(ValueError, match="no share"):
            proportion(successes, trials)


def test_ratio_of_equal_denominators_is_a_mean():
    values = np.array([0.0, 1.0, 1.0, 0.5])
    found = ratio(values, ONES(4), multiplicity=ONES(4, dtype=np.int64))
    assert found.value == values.mean()
    assert found.se == pytest.approx(values.std(ddof=1) / 2)


def test_ratio_is_close_to_a_bootstrap_over_items():
    rng = np.random.default_rng(3)
    n = rng.integers(1, 10, 400).astype(float)
    y = rng.binomial(n.astype(int), rng.beta(1, 2, 400)).astype(float)
    found = ratio(y, n, multiplicity=ONES(400, dtype=np.int64))
    draws = rng.integers(400, size=(2000, 400))
    spread = (y[draws].sum(axis=1) / n[draws].sum(axis=1)).std()
    assert found.se == pytest.approx(spread, rel=0.1)


def test_ratio_with_multiplicity_is_the_ratio_of_the_rows():
    y, n, times = np.array([1.0, 0.0, 2.0]), np.array([2.0, 1.0, 3.0]), np.array([5, 1, 4])
    rows = ratio(np.repeat(y, times), np.repeat(n, times), multiplicity=ONES(10, dtype=np.int64))
    assert ratio(y, n, multiplicity=times).se == pytest.approx(rows.se)


def test_ratio_of_nothing_of_one_and_of_equals():
    one = np.array([1])
    assert ratio(np.array([]), np.array([]), multiplicity=one[:0]).reason is Reason.NO_VOTES
    assert ratio(ONES(1), ONES(1), multiplicity=one).se_reason is Reason.SINGLE_ITEM
    equal = ratio(np.array([0.3]), ONES(1), multiplicity=np.array([7]))
    assert (equal.se, equal.warning) == (0, Caution.DEGENERATE_VARIANCE)
    json.dumps(equal.as_json(), allow_nan=False)
