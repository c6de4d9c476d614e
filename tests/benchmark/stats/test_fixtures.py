"""The shared fixtures and public sets beyond `agreement`: variants, levels, raters, resampling.

What concerns the report of `agreement` itself is in test_agreement_files.py.
"""

import csv

import irrCAC.datasets
import numpy as np
import pytest
from scipy.stats import t as student

from benchmark.stats.agreement import agreement
from benchmark.stats.alpha import alpha
from benchmark.stats.bootstrap import two_way_bootstrap
from benchmark.stats.by_rater import conger, conger_of_votes
from benchmark.stats.report import criterion_report
from benchmark.stats.values import Reason
from benchmark.stats.variants import fleiss_variants, kappa_by_category
from benchmark.stats.votes import Votes
from tests.benchmark.stats.reference import AGREEMENT_DATA, load, names, needs_shared_data
from tests.benchmark.stats.test_agreement_files import TABLES
from tests.benchmark.stats.test_oracles import votes_of

pytestmark = needs_shared_data

SETS = ["rte", "temporal", "face_sentiment"]


def exact(number: float) -> object:
    return pytest.approx(number, abs=1e-9, rel=0)


@pytest.mark.parametrize("name", TABLES)
def test_variants_of_the_count_tables(name):
    table = load("fixtures.json")["count_tables"][name]
    counts = table["counts"]
    found = fleiss_variants(counts, categories=names(len(counts[0])))
    for variant, key in (("fleiss_gwet", "kappa_item"), ("fleiss_pooled", "kappa_pooled")):
        if table[key] is None:
            assert found[variant].reason is Reason.SINGLE_CATEGORY
        else:
            assert found[variant].value == exact(table[key])


@pytest.mark.parametrize("name", TABLES)
def test_kappa_by_category_of_the_count_tables(name):
    table = load("fixtures.json")["count_tables"][name]
    counts = table["counts"]
    found = kappa_by_category(counts, categories=names(len(counts[0])))
    if "kappa_j" in table:
        assert [value.value for value in found.values()] == exact(table["kappa_j"])
    elif table["kappa_item"] is None:
        assert {value.reason for value in found.values()} == {Reason.CATEGORY_UNUSED_OR_UNIVERSAL}
    else:  # unequal numbers of votes, for which the file has no values of its own
        shares = agreement(counts, categories=names(len(counts[0]))).shares
        spread = [shares[name].value * (1 - shares[name].value) for name in found]
        whole = np.average([value.value for value in found.values()], weights=spread)
        assert whole == exact(table["kappa_item"])


@pytest.mark.parametrize("name", ["kalpha_12x4", "kalpha_15x3"])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorff_tables(name, level):
    fixture = load("fixtures.json")["krippendorff"][name]
    domain = fixture["domain"]
    counts = [
        [column.count(value) for value in domain]
        for column in map(list, zip(*fixture["data"], strict=True))
    ]
    found = alpha(
        counts,
        categories=[str(value) for value in domain],
        level=level,
        values=domain if level in ("interval", "ratio") else None,
    )
    assert found.value == exact(fixture[level])


def test_conger_of_gwets_four_raters():
    """It depends on which rater is missing where, hence the ratings that irrCAC comes with."""
    expected = load("fixtures.json")["gwet_raw_4raters"]
    votes, _ = votes_of(irrCAC.datasets.raw_4raters())
    found = conger_of_votes(votes)
    assert (found.value, found.se) == (exact(expected["conger"]), exact(expected["conger_se"]))
    randolph = agreement(votes.counts(), categories=votes.categories).randolph
    p_value = 2 * student.sf(randolph.value / randolph.se, votes.n_items - 1)
    assert p_value == exact(expected["bp_p_two_sided"])


def public_votes(name: str) -> Votes:
    categories = load("expected.json")["sets"][name]["categories"]
    with (AGREEMENT_DATA / f"{name}_label.csv").open(newline="") as lines:
        rows = [
            (int(row["item"]), int(row["worker"]), categories.index(int(row["label"])))
            for row in csv.DictReader(lines)
        ]
    item, rater, choice = np.array(rows).T
    items, item = np.unique(item, return_inverse=True)
    raters, rater = np.unique(rater, return_inverse=True)
    return Votes.of(
        item,
        rater,
        choice,
        n_items=len(items),
        n_raters=len(raters),
        categories=[str(category) for category in categories],
    )


@pytest.mark.parametrize("name", SETS)
def test_conger_of_public_sets(name):
    expected, votes = load("expected.json")["sets"][name], public_votes(name)
    assert votes.n_raters == expected["raters"]
    of_counts = conger(
        votes.counts(), categories=votes.categories, by_rater=votes.counts_by_rater()
    )
    assert of_counts.value == exact(expected["conger"])
    of_votes = conger_of_votes(votes)
    assert of_votes.value == exact(expected["conger"])
    assert of_votes.ci[0] < expected["conger"] < of_votes.ci[1]


@pytest.mark.parametrize("name", SETS)
def test_report_of_public_sets(name):
    expected, votes = load("expected.json")["sets"][name], public_votes(name)
    found = criterion_report(
        votes.counts(),
        categories=votes.categories,
        by_rater=votes.counts_by_rater(),
        seed=name,
        replicates=2_000,
    )
    assert found["percent_agreement"]["value"] == exact(expected["P_o"])
    assert found["alpha"]["value"] == exact(expected["alpha_nominal"])
    assert found["conger"]["value"] == exact(expected["conger"])
    assert found["fleiss_variants"]["fleiss_pooled"]["value"] == exact(expected["fleiss_pooled"])
    for key, coefficient in (("fleiss", "fleiss_gwet"), ("randolph", "randolph"), ("ac1", "ac1")):
        published = expected[coefficient]
        assert found[key]["value"] == exact(published["value"])
        assert found[key]["se"] == exact(published["se"])
        assert found[key]["ci"] == exact(published["ci95"])
        # The linearization lies within 10 % of a bootstrap over items.
        assert found["bootstrap"][key]["se"] == pytest.approx(published["se"], rel=0.1)
        assert found["bootstrap"][key]["dropped"] == 0


@pytest.mark.parametrize(
    ("name", "factor"), [("rte", 8), ("temporal", 14), ("face_sentiment", 1.8)]
)
def test_other_raters_would_matter_more_than_other_items(name, factor):
    votes = public_votes(name)
    both = two_way_bootstrap(votes, seed=name, replicates=400).intervals["fleiss"]
    items = load("expected.json")["sets"][name]["fleiss_gwet"]["se"]
    assert both.se / items == pytest.approx(factor, rel=0.2)
