"""The shared fixtures and the three public data sets."""

import csv
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmark.stats.agreement import agreement, item_agreement
from benchmark.stats.counts import count_votes
from benchmark.stats.majority import majorities
from benchmark.stats.values import Value
from tests.benchmark.stats.reference import AGREEMENT_DATA, load, names, needs_shared_data

pytestmark = needs_shared_data

TABLES = [
    "fleiss1971",
    "wikipedia_10x5",
    "fleiss1971_first15",
    "binary_variable_n",
    "all_agree_one_category",
    "all_agree_two_categories",
    "all_8_1_same_direction",
    "all_8_1_balanced",
    "a_tie_b",
]


def check(value: Value, expected: float | None, se: float | None = None) -> None:
    assert value.value == (None if expected is None else pytest.approx(expected, abs=1e-9, rel=0))
    if se is not None:
        assert value.se == pytest.approx(se, abs=1e-9, rel=0)


def test_every_table_of_the_fixtures_is_tested():
    assert sorted(TABLES) == sorted(load("fixtures.json")["count_tables"])


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("engine", ["statsmodels", "own"])
def test_count_tables(name, engine):
    table = load("fixtures.json")["count_tables"][name]
    counts = table["counts"]
    found = agreement(counts, categories=names(len(counts[0])), engine=engine)
    check(found.percent_agreement, table["Po"])
    check(found.fleiss, table["kappa_item"], table.get("se_gwet_fleiss"))
    check(found.randolph, table["randolph"], table.get("se_gwet_randolph"))
    check(found.ac1, table["ac1"], table.get("se_gwet_ac1"))
    check(found.alpha, table["alpha"])
    if "p_j" in table:
        shares = [share.value for share in found.shares.values()]
        assert shares == pytest.approx(table["p_j"], abs=1e-9)
    p_i = [item_agreement(row).value for row in counts if sum(row) >= 2]
    assert p_i == pytest.approx(table["P_i"], abs=1e-9)


@pytest.mark.parametrize("name", ["kalpha_12x4", "kalpha_15x3"])
def test_krippendorff_tables(name):
    fixture = load("fixtures.json")["krippendorff"][name]
    counts = [
        [column.count(value) for value in fixture["domain"]]
        for column in map(list, zip(*fixture["data"], strict=True))
    ]
    found = agreement(counts, categories=[str(value) for value in fixture["domain"]])
    check(found.alpha, fixture["nominal"])


def test_gwet_four_raters():
    fixtures = load("fixtures.json")
    data, expected = fixtures["krippendorff"]["kalpha_12x4"]["data"], fixtures["gwet_raw_4raters"]
    counts = [[column.count(value) for value in range(1, 6)] for column in zip(*data, strict=True)]
    found = agreement(counts, categories=names(5))
    check(found.percent_agreement, expected["pa"])
    check(found.fleiss, expected["fleiss"], expected["fleiss_se"])
    check(found.ac1, expected["ac1"], expected["ac1_se"])
    check(found.randolph, expected["bp"], expected["bp_se"])
    check(found.alpha, expected["alpha"])


def public_set(name: str) -> tuple[dict[str, Any], list[str], NDArray[np.int64], list[int]]:
    """Expected values, category names, count table and the items' codes in row order."""
    expected = load("expected.json")["sets"][name]
    labels = [str(category) for category in expected["categories"]]
    with (AGREEMENT_DATA / f"{name}_label.csv").open(newline="") as lines:
        votes = [(int(r["item"]), r["label"], int(r["worker"])) for r in csv.DictReader(lines)]
    codes, rows = np.unique([vote[0] for vote in votes], return_inverse=True)
    counts = count_votes(
        rows,
        [vote[1] for vote in votes],
        n_items=len(codes),
        categories=labels,
        raters=[vote[2] for vote in votes],
    )
    return expected, labels, counts, codes.tolist()


@pytest.mark.parametrize("name", ["rte", "temporal", "face_sentiment"])
def test_agreement_of_public_sets(name):
    expected, labels, counts, _ = public_set(name)
    found = agreement(counts, categories=labels)
    assert (found.items, found.votes) == (expected["items"], expected["votes"])
    assert found.raters_per_item.as_json()["histogram"] == expected["votes_per_item_histogram"]
    assert found.kappa_engine == ("own" if name == "face_sentiment" else "statsmodels")
    check(found.percent_agreement, expected["P_o"])
    check(found.alpha, expected["alpha_nominal"])
    for key, value in (
        ("fleiss_gwet", found.fleiss),
        ("randolph", found.randolph),
        ("ac1", found.ac1),
    ):
        check(value, expected[key]["value"], expected[key]["se"])
        assert value.ci == pytest.approx(expected[key]["ci95"], abs=1e-9)
    pooled = [share.value for share in found.pooled_shares.values()]
    assert pooled == pytest.approx(expected["category_share_pooled"], abs=1e-9)
    shares = [share.value for share in found.shares.values()]
    assert shares == pytest.approx(expected["category_share_item_mean"], abs=1e-9)


@pytest.mark.parametrize("name", ["rte", "temporal"])
def test_histogram_and_majority_of_public_sets(name):
    expected, labels, counts, codes = public_set(name)
    first, items = np.unique(counts[:, 0], return_counts=True)
    split = dict(zip(map(str, first.tolist()), items.tolist(), strict=True))
    assert split == expected["histogram_of_votes_for_first_category"]

    with (AGREEMENT_DATA / f"{name}_truth.csv").open(newline="") as lines:
        gold = {int(row["item"]): labels.index(row["truth"]) + 1 for row in csv.DictReader(lines)}
    truth = np.array([gold[code] for code in codes])
    found = majorities(counts[:, 0], counts[:, 1], ties=np.zeros(len(codes), dtype=int))
    majority = expected["majority"]
    assert int((found.winner > 0).sum()) == majority["decided"]
    assert int((found.winner == 0).sum()) == majority["ties"]
    assert int((found.winner == truth).sum()) == majority["correct_decided"]
