"""Coefficients against printed values, libraries and identities."""

import json
import math
import subprocess
import sys
from fractions import Fraction as F

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.inter_rater import fleiss_kappa

from benchmark.stats.agreement import AgreementReport, agreement, item_agreement
from benchmark.stats.values import Caution, Reason, Value
from tests.benchmark.stats.reference import (
    BINARY_VARIABLE_N,
    FLEISS_1971,
    WIKIPEDIA_10X5,
    names,
    tables,
    untimed,
)

COEFFICIENTS = ("percent_agreement", "fleiss", "randolph", "ac1", "alpha")


def report(rows: list[list[int]], **options: object) -> AgreementReport:
    return agreement(rows, categories=names(len(rows[0])), **options)


def values(rows: list[list[int]], **options: object) -> list[float | None]:
    found = report(rows, **options)
    return [getattr(found, name).value for name in COEFFICIENTS]


def exact(number: F | float) -> object:
    return pytest.approx(float(number), abs=1e-9, rel=0)


# --- Printed values ---


def test_fleiss_1971():
    found = report(FLEISS_1971)
    assert found.percent_agreement.value == exact(F(5, 9))
    assert found.fleiss.value == exact(F(5437, 12637))
    assert found.fleiss.se == exact(0.0541989355153)
    assert found.fleiss.ci == (exact(0.3193952506), exact(0.5410937895))
    assert found.randolph.value == exact(F(4, 9))
    assert found.randolph.se == exact(0.0551228358557)
    assert found.ac1.value == exact(F(23363, 52163))
    assert found.ac1.se == exact(0.0556621416816)
    assert found.alpha.value == exact(F(5477, 12637))
    assert [share.value for share in found.shares.values()] == [
        exact(share) for share in (F(26, 180), F(26, 180), F(30, 180), F(55, 180), F(43, 180))
    ]
    assert (found.items, found.votes, found.kappa_engine) == (30, 180, "statsmodels")


def test_wikipedia_example():
    found = report(WIKIPEDIA_10X5)
    assert found.percent_agreement.value == exact(F(172, 455))
    assert found.fleiss.value == exact(F(4211, 20059))
    assert found.fleiss.se == exact(0.092371111606)
    assert found.randolph.value == exact(F(81, 364))
    assert found.randolph.se == exact(0.0928979543437)
    assert found.ac1.value == exact(F(18469, 81861))
    assert found.ac1.se == exact(0.0933240744714)
    assert found.alpha.value == exact(F(21621, 100295))


def test_first_fifteen_rows_of_fleiss():
    found = report(FLEISS_1971[:15])
    assert found.fleiss.value == exact(F(214, 517))
    assert found.fleiss.se == exact(0.0811929091959)
    assert found.randolph.value == exact(F(79, 180))
    assert found.randolph.se == exact(0.0831214236875)
    assert found.ac1.value == exact(F(971, 2183))
    assert found.ac1.se == exact(0.0841875667743)
    assert found.alpha.value == exact(F(6521, 15510))


def test_different_numbers_of_votes():
    found = report(BINARY_VARIABLE_N)
    assert found.fleiss.variant == "fleiss_gwet"
    assert found.percent_agreement.value == exact(F(213, 308))
    assert found.fleiss.value == exact(F(676100869, 2227412869))
    assert found.fleiss.se == exact(0.188078107505)
    assert found.randolph.value == exact(F(59, 154))
    assert found.randolph.se == exact(0.141557960156)
    assert found.ac1.value == exact(F(1250791931, 2802103931))
    assert found.ac1.se == exact(0.141186842273)
    assert found.alpha.value == exact(F(5497, 16000))
    assert found.alpha.se_reason is Reason.NO_SE_FOR_VARIANT
    assert found.kappa_engine == "own"
    assert (found.items, found.items_with_votes, found.items_with_two_votes) == (12, 12, 11)


@pytest.mark.parametrize(
    ("rows", "fleiss", "alpha", "randolph", "ac1"),
    [
        ([[9, 0]] * 3, None, None, 1, 1),
        ([[9, 0], [9, 0], [0, 9]], 1, 1, 1, 1),
        ([[8, 1]], F(-1, 8), 0, F(5, 9), F(47, 65)),
        ([[5, 4]], F(-1, 8), 0, F(-1, 9), F(-4, 41)),
        ([[8, 1]] * 10, F(-1, 8), F(-9, 80), F(5, 9), F(47, 65)),
        ([[8, 1]] * 5 + [[1, 8]] * 5, F(5, 9), F(227, 405), F(5, 9), F(5, 9)),
        ([[5, 4]] * 5 + [[4, 5]] * 5, F(-1, 9), F(-8, 81), F(-1, 9), F(-1, 9)),
        ([[7, 1], [3, 5]], 0.1619047619, 0.2142857143, 0.2142857143, 0.2605042017),
    ],
)
@pytest.mark.parametrize("engine", ["statsmodels", "own"])
def test_degenerate_binary_tables(rows, fleiss, alpha, randolph, ac1, engine):
    found = report(rows, engine=engine)
    for value, expected in (
        (found.fleiss, fleiss),
        (found.alpha, alpha),
        (found.randolph, randolph),
        (found.ac1, ac1),
    ):
        if expected is None:
            assert value == Value.undefined(Reason.SINGLE_CATEGORY, variant=value.variant)
        else:
            assert value.value == pytest.approx(float(expected), abs=1e-9, rel=0)


@pytest.mark.parametrize(
    "rows",
    [[[9, 0]] * 3, [[8, 1]] * 10, [[8, 1]] * 5 + [[1, 8]] * 5, [[9, 0], [9, 0], [0, 9]]],
)
def test_splits_alike_but_for_relabeling_have_no_variance_and_say_so(rows):
    found = report(rows)
    for value in (found.percent_agreement, found.fleiss, found.randolph, found.ac1):
        if value.value is not None:
            assert value.se == 0
            assert value.ci == (value.value, value.value)
            assert value.warning is Caution.DEGENERATE_VARIANCE


def test_item_agreement():
    assert item_agreement([7, 2]).value == exact(F(11, 18))
    assert item_agreement([3, 1, 1, 0]).value == exact(F(3, 10))
    assert item_agreement([9, 0]).value == 1
    for counts in ([1, 0], [0, 0]):
        assert item_agreement(counts) == Value.undefined(Reason.FEWER_THAN_TWO_VOTES)


# --- Undefined cases (no NaN, no exception) ---


@pytest.mark.parametrize("rows", [[[0, 0]], [[1, 0], [0, 1]], [[0, 0], [0, 1]]])
def test_no_item_with_two_votes(rows):
    found = report(rows)
    for name in COEFFICIENTS:
        value = getattr(found, name)
        assert (value.value, value.reason) == (None, Reason.NO_ITEM_WITH_TWO_VOTES)


def test_no_items_at_all():
    found = agreement([], categories=["A", "B"])
    assert found.fleiss.reason is Reason.NO_ITEM_WITH_TWO_VOTES
    assert found.shares["A"] == Value.undefined(Reason.NO_VOTES)
    assert found.pooled_shares["B"].reason is Reason.NO_VOTES
    assert found.raters_per_item.as_json() == {
        "min": None,
        "median": None,
        "max": None,
        "histogram": {},
    }


def test_one_item_has_values_but_no_standard_error():
    found = report([[8, 1]])
    for name in ("percent_agreement", "fleiss", "randolph", "ac1"):
        value = getattr(found, name)
        assert value.value is not None
        assert (value.se, value.ci, value.se_reason) == (None, None, Reason.SINGLE_ITEM)


def test_a_lone_dissenting_vote_leaves_alpha_undefined_but_not_fleiss():
    """Alpha leaves out an item with a single vote, Gwet's Fleiss uses it for the shares."""
    found = report([[9, 0], [9, 0], [0, 1]])
    assert found.alpha.reason is Reason.SINGLE_CATEGORY
    assert found.fleiss.value == exact(1)


@untimed
@given(tables(max_n=3, min_size=0), st.sampled_from(["statsmodels", "own"]))
def test_every_table_gives_json_without_nan(rows, engine):
    k = len(rows[0]) if rows else 2
    found = agreement(rows, categories=names(k), engine=engine)
    text = json.dumps(found.as_json(), allow_nan=False)
    decoded = json.loads(text)
    assert decoded["items"] == len(rows)
    for name in COEFFICIENTS:
        value = decoded[name]
        assert (value["value"] is None) == ("reason" in value)
        if value["value"] is not None and value["se"] is None:
            assert value["se_reason"] in {"single_item", "no_se_for_variant"}


def test_a_malformed_table_is_refused():
    with pytest.raises(ValueError, match="3 columns but the schema has 2"):
        agreement([[1, 2, 3]], categories=["A", "B"])


# --- What the report says about its data ---


def test_the_report_counts_what_went_in():
    rows = [[9, 0], [5, 4], [4, 4], [1, 0], [0, 0]]
    found = report(rows)
    assert (found.items, found.items_with_votes, found.items_with_two_votes) == (5, 4, 3)
    assert found.votes == 27
    assert found.raters_per_item.as_json() == {
        "min": 0,
        "median": 8.0,
        "max": 9,
        "histogram": {"0": 1, "1": 1, "8": 1, "9": 2},
    }
    assert found.pooled_shares["A"].value == exact(F(19, 27))
    assert found.shares["A"].value == exact((F(1) + F(5, 9) + F(1, 2) + F(1)) / 4)


@untimed
@given(tables())
def test_raters_per_item_against_numpy(rows):
    n = [sum(row) for row in rows]
    found = report(rows, engine="own").raters_per_item
    assert (found.minimum, found.median, found.maximum) == (min(n), np.median(n), max(n))
    assert found.histogram == {value: n.count(value) for value in set(n)}


def test_the_json_names_variant_interval_and_engine():
    decoded = report(FLEISS_1971).as_json()
    assert decoded["fleiss"]["variant"] == "fleiss_gwet"
    assert decoded["alpha"]["variant"] == "alpha_nominal"
    assert decoded["kappa_engine"] == "statsmodels"
    assert decoded["interval"] == {
        "method": "gwet_linearization",
        "level": 0.95,
        "scope": "this_rater_pool",
    }


def test_an_unused_tie_category_keeps_its_part_in_chance():
    two, three = report([[8, 1], [2, 7]]), report([[8, 1, 0], [2, 7, 0]])
    assert three.randolph.value == exact((three.percent_agreement.value - 1 / 3) / (2 / 3))
    assert three.ac1.value != pytest.approx(two.ac1.value)
    assert three.fleiss.value == pytest.approx(two.fleiss.value, abs=1e-12)
    assert three.alpha.value == pytest.approx(two.alpha.value, abs=1e-12)


# --- Second opinions ---


@untimed
@given(tables(fixed_n=9))
def test_both_engines_agree_with_statsmodels(rows):
    own, library = report(rows, engine="own"), report(rows)
    assert (own.kappa_engine, library.kappa_engine) == ("own", "statsmodels")
    assert own.randolph.value == pytest.approx(fleiss_kappa(rows, method="randolph"), abs=1e-12)
    assert library.randolph.value == pytest.approx(fleiss_kappa(rows, method="randolph"), abs=1e-12)
    if own.fleiss.value is None:
        assert library.fleiss == own.fleiss  # statsmodels would answer nan
    else:
        assert own.fleiss.value == pytest.approx(fleiss_kappa(rows), abs=1e-12)
        assert library.fleiss.value == pytest.approx(fleiss_kappa(rows), abs=1e-12)
        assert library.fleiss.se == own.fleiss.se
        if own.fleiss.ci is not None:
            assert library.fleiss.ci == pytest.approx(own.fleiss.ci, abs=1e-12)


@untimed
@given(tables())
def test_alpha_agrees_with_krippendorff(rows):
    found = report(rows, engine="own").alpha
    assume(found.value is not None)
    expected = krippendorff.alpha(
        value_counts=np.array(rows),
        value_domain=list(range(len(rows[0]))),
        level_of_measurement="nominal",
    )
    assert found.value == pytest.approx(expected, abs=1e-12)


def plain_gwet(rows: list[list[int]], coefficient: str) -> tuple[float, float]:
    """Value and standard error item by item, as the papers write them, without any shortcut."""
    x = np.array([row for row in rows if sum(row)], dtype=float)
    n, k = x.sum(axis=1), x.shape[1]
    paired = n >= 2
    p = (x / n[:, None]).mean(axis=0)
    p_i = np.zeros(len(x))
    p_i[paired] = (x * (x - 1)).sum(axis=1)[paired] / (n * (n - 1))[paired]
    chance = {
        "fleiss": (p**2).sum(),
        "randolph": 1 / k,
        "ac1": (p * (1 - p)).sum() / (k - 1),
    }[coefficient]
    chance_i = {
        "fleiss": (x / n[:, None] * p).sum(axis=1),
        "randolph": np.full(len(x), chance),
        "ac1": (x / n[:, None] * (1 - p)).sum(axis=1) / (k - 1),
    }[coefficient]
    kappa = (p_i[paired].mean() - chance) / (1 - chance)
    k_i = np.where(paired, len(x) / paired.sum() * (p_i - chance) / (1 - chance), 0)
    k_star = k_i - 2 * (1 - kappa) * (chance_i - chance) / (1 - chance)
    variance = ((k_star - kappa) ** 2).sum() / (len(x) * (len(x) - 1))
    return kappa, math.sqrt(variance)


@untimed
@given(tables(), st.sampled_from(["fleiss", "randolph", "ac1"]))
def test_patterns_give_what_the_items_give(rows, coefficient):
    found = getattr(report(rows, engine="own"), coefficient)
    assume(found.se is not None)
    kappa, se = plain_gwet(rows, coefficient)
    assert found.value == pytest.approx(kappa, abs=1e-9)
    assert found.se == pytest.approx(se, abs=1e-9)
    items = sum(any(row) for row in rows)
    assert found.ci[1] - found.value == pytest.approx(student.ppf(0.975, items - 1) * se, abs=1e-7)


def test_nearly_unanimous_sets_keep_their_digits():
    """One dissenting vote among nine million: 1 - P_e is 2e-7 and must not be a difference."""
    found = agreement(
        [[9, 0], [8, 1]], categories=["A", "B"], multiplicity=[999_999, 1], engine="own"
    )
    assert found.fleiss.value == pytest.approx(float(F(-1, 8_999_999)), rel=1e-6)


# --- Invariances ---


@untimed
@given(tables(), st.randoms())
def test_neither_item_order_nor_batches_leave_a_trace(rows, random):
    shuffled = random.sample(rows, len(rows))
    distinct = [list(row) for row in {tuple(row) for row in rows}]
    grouped = report(distinct, multiplicity=[rows.count(row) for row in distinct])
    assert report(rows).as_json() == report(shuffled).as_json() == grouped.as_json()


@untimed
@given(tables(), st.randoms())
def test_relabeling_changes_no_coefficient(rows, random):
    order = random.sample(range(len(rows[0])), len(rows[0]))
    relabeled = [[row[j] for j in order] for row in rows]
    first, second = report(rows, engine="own"), report(relabeled, engine="own")
    for name in COEFFICIENTS:
        one, other = getattr(first, name), getattr(second, name)
        assert (one.reason, one.warning) == (other.reason, other.warning)
        assert one.value == pytest.approx(other.value, abs=1e-11)
        assert one.se == pytest.approx(other.se, abs=1e-9)


@untimed
@given(tables())
def test_duplicating_the_data_shrinks_the_standard_error(rows):
    once, twice = report(rows, engine="own"), report(rows * 2, engine="own")
    assume(once.fleiss.se)
    n = once.items_with_votes
    expected = math.sqrt((n - 1) / (2 * n - 1))
    for name in ("fleiss", "randolph", "ac1"):
        one, two = getattr(once, name), getattr(twice, name)
        assert two.value == pytest.approx(one.value, abs=1e-12)
        assert two.se == pytest.approx(one.se * expected, rel=1e-6, abs=1e-12)


# --- Identities ---


@untimed
@given(tables(k=2, fixed_n=9))
def test_binary_identities(rows):
    found = report(rows, engine="own")
    assume(found.fleiss.value is not None)
    p = found.shares["A"].value
    q, disagreement = 1 - p, 1 - found.fleiss.value
    assert found.percent_agreement.value == pytest.approx(1 - 2 * p * q * disagreement, abs=1e-12)
    assert 1 - found.randolph.value == pytest.approx(4 * p * q * disagreement, abs=1e-12)
    assert 1 - found.ac1.value == pytest.approx(
        2 * p * q * disagreement / (p * p + q * q), abs=1e-12
    )
    assert found.ac1.value >= found.randolph.value - 1e-12
    assert found.randolph.value >= found.fleiss.value - 1e-12


@untimed
@given(tables(fixed_n=7))
def test_alpha_is_fleiss_with_a_small_sample_term(rows):
    found = report(rows, engine="own")
    assume(found.fleiss.value is not None)
    expected = 1 - (1 - found.fleiss.value) * (1 - 1 / (7 * len(rows)))
    assert found.alpha.value == pytest.approx(expected, abs=1e-12)


@untimed
@given(tables(fixed_n=9))
def test_percent_agreement_and_randolph_tell_one_story(rows):
    found = report(rows, engine="own")
    k = len(rows[0])
    back = (found.percent_agreement.value - 1 / k) / (1 - 1 / k)
    assert found.randolph.value == pytest.approx(back, abs=1e-12)
    if found.randolph.ci is not None:
        low, high = ((edge - 1 / k) / (1 - 1 / k) for edge in found.percent_agreement.ci)
        assert found.randolph.ci == pytest.approx((low, high), abs=1e-12)


def test_coin_flips_do_not_agree():
    rng = np.random.default_rng(20240501)
    a = rng.binomial(9, 0.5, size=8298)
    found = agreement(np.stack([a, 9 - a], axis=1), categories=["A", "B"])
    low, high = found.fleiss.ci
    assert low < 0 < high
    assert abs(found.fleiss.value) < 0.01


# --- Cost ---


def test_nothing_heavy_is_loaded_before_it_is_needed():
    """A web process shows stored figures and policies; pandas and SciPy are for the worker."""
    code = (
        "import sys, benchmark.stats.verdicts, benchmark.stats.report\n"
        "print([m for m in ('scipy', 'pandas', 'statsmodels', 'django') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
