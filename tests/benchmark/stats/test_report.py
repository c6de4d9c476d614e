import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.stats.agreement import agreement
from benchmark.stats.report import criterion_report
from tests.benchmark.stats.reference import BINARY_VARIABLE_N, FLEISS_1971, names, tables

BEYOND_AGREEMENT = {"conger", "fleiss_variants", "bootstrap"}
COEFFICIENTS = ("percent_agreement", "fleiss", "randolph", "ac1", "alpha", "conger")

# Each example costs milliseconds, not microseconds: fewer of them.
few = settings(deadline=None, max_examples=40)


def report(rows, **options):
    options = {"replicates": 100} | options
    return criterion_report(rows, categories=names(len(rows[0])), **options)


def figures(value):
    """All published figures in a report, wherever they stand."""
    if isinstance(value, dict):
        if "value" in value:
            yield value
        for inner in value.values():
            yield from figures(inner)


@pytest.mark.parametrize("engine", ["statsmodels", "own"])
@pytest.mark.parametrize("rows", [FLEISS_1971, BINARY_VARIABLE_N])
def test_the_report_contains_that_of_agreement_unchanged(rows, engine):
    found = report(rows, engine=engine)
    plain = agreement(rows, categories=names(len(rows[0])), engine=engine).as_json()
    assert {key: found[key] for key in plain} == plain
    assert set(found) - set(plain) >= BEYOND_AGREEMENT


def test_two_categories():
    found = report(BINARY_VARIABLE_N)
    assert "by_category" not in found
    assert "tie_readings" not in found
    assert found["fleiss_variants"]["fleiss_pooled"]["value"] == pytest.approx(0.3490030956)
    assert found["conger"] == {"value": None, "reason": "no_rater_ids"}
    assert found["bootstrap"]["replicates"] == 100
    assert set(found["bootstrap"]["alpha"]) == {"se", "ci", "dropped"}


def test_a_tie_adds_its_readings():
    found = report([[9, 0, 0], [4, 4, 1], [1, 7, 1], [0, 5, 4]])
    assert set(found["by_category"]) == {"A", "B", "tie"}
    assert set(found["tie_readings"]) == {"nominal", "linear", "ab_only"}
    assert found["tie_readings"]["nominal"]["fleiss"]["value"] == pytest.approx(
        found["fleiss"]["value"]
    )
    assert found["tie_readings"]["linear"]["fleiss"]["variant"] == "fleiss_linear"


def test_other_categories_have_no_reading_of_ties():
    found = report(FLEISS_1971)
    assert len(found["by_category"]) == 5
    assert "tie_readings" not in found


def test_conger_comes_with_the_totals_of_raters():
    found = report([[2, 0], [1, 1], [0, 2]], by_rater=[[2, 1], [1, 2]])
    # P_o 2/3, P_e 2 (2/3) (1/3) = 4/9.
    assert found["conger"]["value"] == pytest.approx(2 / 5)


def test_the_seed_is_that_of_the_bootstrap():
    one, two = report(FLEISS_1971, seed="one"), report(FLEISS_1971, seed="two")
    assert one["bootstrap"]["seed"] == "one"
    assert one["bootstrap"]["fleiss"] != two["bootstrap"]["fleiss"]
    assert {**one, "bootstrap": None} == {**two, "bootstrap": None}


@few
@given(tables(max_n=3), st.booleans())
def test_every_table_gives_json_without_nan(rows, with_raters):
    by_rater = [np.sum(rows, axis=0).tolist()] if with_raters else None
    found = report(rows, by_rater=by_rater, engine="own", replicates=20)
    decoded = json.loads(json.dumps(found, allow_nan=False))
    for figure in figures(decoded):
        assert (figure["value"] is None) == ("reason" in figure)
    for name in COEFFICIENTS:
        assert name in decoded


@few
@given(tables(), st.randoms())
def test_neither_item_order_nor_grouping_leave_a_trace(rows, random):
    distinct = [list(row) for row in {tuple(row) for row in rows}]
    grouped = report(
        distinct, multiplicity=[rows.count(row) for row in distinct], engine="own", replicates=20
    )
    assert report(random.sample(rows, len(rows)), engine="own", replicates=20) == grouped
