"""Second opinions: irrCAC, krippendorff and statsmodels on published and on random tables.

irrCAC must be told the categories (with recent pandas it takes a missing vote for one), fails for
one item or one category, rounds unless told how far, and clips intervals at 1.
"""

import irrCAC.datasets
import irrCAC.table
import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from irrCAC.raw import CAC
from statsmodels.stats.inter_rater import fleiss_kappa

from benchmark.stats.agreement import agreement
from benchmark.stats.alpha import alpha
from benchmark.stats.by_rater import conger_of_votes
from benchmark.stats.values import Reason
from benchmark.stats.votes import Votes
from benchmark.stats.weighted import weighted
from tests.benchmark.stats.reference import names, tables, untimed

pytestmark = pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0")

# Fleiss, AC1, alpha, Conger and Brennan-Prediger, as irrCAC for R prints them.
PUBLISHED = {
    "raw_4raters": (0.7611692754, 0.7754440681, 0.7434210526, 0.7628174413, 0.7727272727),
    "raw_5observers": (0.4576216868, 0.4966220549, 0.4805302403, 0.4692742786, 0.4874074074),
    "raw_g1g2": (0.6572452838, 0.6846038187, 0.6318057188, 0.6585889937, 0.6794871795),
    "raw_gender": (0.1288888889, 0.2080808081, 0.1434074074, 0.1657207719, 0.1833333333),
}


def votes_of(ratings: pd.DataFrame) -> tuple[Votes, list[object]]:
    """Votes of a table with a row for each item and a column for each rater, and its categories."""
    cells = ratings.to_numpy(dtype=object)
    item, rater = np.nonzero(pd.notna(cells))
    chosen = cells[item, rater].tolist()
    categories = sorted(set(chosen))
    votes = Votes.of(
        item,
        rater,
        [categories.index(choice) for choice in chosen],
        n_items=cells.shape[0],
        n_raters=cells.shape[1],
        categories=[str(category) for category in categories],
    )
    return votes, categories


def own(votes: Votes) -> dict[str, object]:
    """Our figures under the names irrCAC's methods have."""
    report = agreement(votes.counts(), categories=votes.categories, engine="own")
    return {
        "fleiss": report.fleiss,
        "gwet": report.ac1,
        "krippendorff": report.alpha,
        "conger": conger_of_votes(votes),
        "bp": report.randolph,
    }


def same_as(value, estimate: dict[str, object]) -> None:
    assert value.value == pytest.approx(estimate["coefficient_value"], abs=1e-9)
    if value.se is not None:
        assert value.se == pytest.approx(estimate["se"], abs=1e-9)
        low, high = value.ci
        assert (low, min(high, 1)) == pytest.approx(estimate["confidence_interval"], abs=1e-9)


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_published_tables_and_irrcac(name):
    ratings = getattr(irrCAC.datasets, name)()
    votes, categories = votes_of(ratings)
    found = own(votes)
    values = [found[method].value for method in ("fleiss", "gwet", "krippendorff", "conger", "bp")]
    assert values == pytest.approx(PUBLISHED[name], abs=1e-9)
    oracle = CAC(ratings, categories=categories, digits=12)
    for method, value in found.items():
        same_as(value, getattr(oracle, method)()["est"])


def random_ratings(seed: int) -> pd.DataFrame:
    """40 items, 5 raters with habits of their own, three categories, a quarter of cells empty."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=(40, 1), p=[0.6, 0.1, 0.3])
    guess = rng.choice(3, size=(40, 5), p=rng.dirichlet(np.ones(3)))
    chosen = np.where(rng.random((40, 5)) < rng.random(5), truth, guess).astype(float)
    chosen[rng.random((40, 5)) < 0.25] = np.nan
    return pd.DataFrame(chosen).dropna(how="all").dropna(axis=1, how="all")


@pytest.mark.parametrize("seed", range(4))
def test_random_ratings_and_irrcac(seed):
    ratings = random_ratings(seed)
    votes, categories = votes_of(ratings)
    assert len(categories) == 3
    oracle = CAC(ratings, categories=categories, digits=12)
    for method, value in own(votes).items():
        same_as(value, getattr(oracle, method)()["est"])


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
@pytest.mark.parametrize("seed", range(2))
def test_weighted_coefficients_and_irrcac(seed, weights):
    ratings = random_ratings(seed)
    votes, categories = votes_of(ratings)
    found = weighted(votes.counts(), categories=votes.categories, weights=weights)
    oracle = CAC(ratings, categories=categories, weights=weights, digits=12)
    same_as(found["fleiss"], oracle.fleiss()["est"])
    same_as(found["ac2"], oracle.gwet()["est"])
    same_as(found["brennan_prediger"], oracle.bp()["est"])
    assert found["percent_agreement"].value == pytest.approx(oracle.bp()["est"]["pa"], abs=1e-9)


def test_a_table_of_two_raters_and_irrcac():
    """Items by the category of the first (row) and of the second rater (column)."""
    crossed = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    first, second = np.repeat(np.argwhere(crossed + 1), crossed.reshape(-1), axis=0).T
    item = np.arange(100)
    votes = Votes.of(
        np.concatenate((item, item)),
        np.repeat([0, 1], 100),
        np.concatenate((first, second)),
        n_items=100,
        n_raters=2,
        categories=names(3),
    )
    found = own(votes)
    published = {
        "conger": 0.7964094,
        "fleiss": 0.7962397,
        "gwet": 0.8493305,
        "bp": 0.835,
        "krippendorff": 0.7972585,
    }
    for method, expected in published.items():
        assert found[method].value == pytest.approx(expected, abs=1e-7)
    oracle = irrCAC.table.CAC(pd.DataFrame(crossed), digits=12)
    for method, name in (("conger", "cohen"), ("fleiss", "scott"), ("gwet", "gwet"), ("bp", "bp")):
        estimate = getattr(oracle, name)()["est"]
        assert found[method].value == pytest.approx(estimate["coefficient_value"], abs=1e-9)
        # For tables of two raters it divides by N where everything else divides by N - 1.
        assert found[method].se * np.sqrt(99 / 100) == pytest.approx(estimate["se"], abs=1e-9)


@untimed
@given(tables(), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_at_every_level_and_krippendorff(rows, level):
    domain = [1, 2, 4, 5][: len(rows[0])]
    found = alpha(
        rows,
        categories=names(len(domain)),
        level=level,
        values=domain if level in ("interval", "ratio") else None,
    )
    assume(found.value is not None)
    expected = krippendorff.alpha(
        value_counts=np.array(rows), value_domain=domain, level_of_measurement=level
    )
    assert found.value == pytest.approx(expected, abs=1e-9)


def test_three_raters_who_never_agree_have_kappa_minus_one_half():
    """statsmodels#7657: counts of 1, 1, 1 are total disagreement, whatever they look like."""
    rows = [[1, 1, 1]] * 4
    assert fleiss_kappa(rows) == pytest.approx(-1 / 2)
    assert agreement(rows, categories=names(3)).fleiss.value == pytest.approx(-1 / 2)


def test_where_statsmodels_has_nan_there_is_a_reason():
    rows = [[9, 0]] * 3
    with np.errstate(invalid="ignore"):
        assert np.isnan(fleiss_kappa(rows))
    found = agreement(rows, categories=names(2)).fleiss
    assert (found.value, found.reason) == (None, Reason.SINGLE_CATEGORY)
