"""Do the intervals hold what they promise? Beta-binomial votes with a known kappa, seeded."""

import math

import numpy as np
import pytest

from benchmark.stats.agreement import agreement
from benchmark.stats.bootstrap import bootstrap

ITEMS, RATERS, KAPPA = 200, 9, 0.5
SIMULATIONS = 1_000


def simulated(p, *, simulations, seed):
    """Votes for A, shape (simulations, ITEMS), whose intraclass correlation is KAPPA."""
    rng = np.random.default_rng(seed)
    spread = 1 / KAPPA - 1
    shares = rng.beta(p * spread, (1 - p) * spread, size=(simulations, ITEMS))
    return rng.binomial(RATERS, shares)


def table(votes_for_a):
    return np.stack([votes_for_a, RATERS - votes_for_a], axis=1)


@pytest.mark.parametrize(("p", "old"), [(0.5, 0.55), (0.8, 0.43)])
def test_the_interval_of_fleiss_covers_where_that_of_1979_fails(p, old):
    half_1979 = 1.96 * math.sqrt(2 / (ITEMS * RATERS * (RATERS - 1)))
    found = [
        agreement(table(votes), categories=["A", "B"], engine="own").fleiss
        for votes in simulated(p, simulations=SIMULATIONS, seed=20240607)
    ]
    covered = np.mean([value.ci[0] <= KAPPA <= value.ci[1] for value in found])
    covered_1979 = np.mean([abs(value.value - KAPPA) <= half_1979 for value in found])
    assert 0.93 <= covered <= 0.97
    assert covered_1979 == pytest.approx(old, abs=0.05)
    # The standard error is the spread of the estimates, neither more nor less.
    spread = np.std([value.value for value in found])
    assert np.mean([value.se for value in found]) == pytest.approx(spread, rel=0.06)


@pytest.mark.parametrize("p", [0.5, 0.8])
def test_bootstrap_and_linearization_agree(p):
    for votes in simulated(p, simulations=5, seed=99):
        report = agreement(table(votes), categories=["A", "B"], engine="own")
        found = bootstrap(table(votes), categories=["A", "B"], seed="coverage", replicates=4_000)
        for name in ("percent_agreement", "fleiss", "randolph", "ac1"):
            value, interval = getattr(report, name), found.intervals[name]
            assert interval.se == pytest.approx(value.se, rel=0.1)
            assert interval.ci == pytest.approx(value.ci, abs=0.5 * value.se)
        # Alpha has no formula of its own, but differs from Fleiss by a constant factor only.
        assert found.intervals["alpha"].se == pytest.approx(found.intervals["fleiss"].se, rel=0.01)


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_kappa_does_not_move_with_the_winner_but_the_other_coefficients_do(p):
    """Large-sample values: Fleiss KAPPA whatever p, Randolph 1 - 4 p q (1 - KAPPA)."""
    found = agreement(
        table(simulated(p, simulations=500, seed=4).reshape(-1)),
        categories=["A", "B"],
        engine="own",
    )
    q = 1 - p
    assert found.fleiss.value == pytest.approx(KAPPA, abs=0.02)
    assert found.randolph.value == pytest.approx(1 - 4 * p * q * (1 - KAPPA), abs=0.01)
    expected = 1 - 2 * p * q * (1 - KAPPA) / (p * p + q * q)
    assert found.ac1.value == pytest.approx(expected, abs=0.01)
