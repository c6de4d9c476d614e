"""Which rows of a table count, and what majority and tiers follow."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.label_report import (
    DROPPED,
    SKIPPED,
    UNKNOWN_LABEL,
    label_report,
    majority_counts,
    scheme_of,
    sift,
    tier_counts,
)
from benchmark.stats.majority import majority
from benchmark.stats.tiers import tier
from tests.benchmark.stats.reference import untimed


def ints(*values):
    return np.asarray(values, dtype=np.int64)


def sifted(rows, *, labels=("x", "y", "z", "skip"), categories=("x", "y"), are_votes=False):
    """The reason of each (item, rater, label) row, where labels are positions or None."""
    scheme = scheme_of(labels, used=labels, given=categories, are_votes=are_votes)
    columns = [ints(*(-1 if row[i] is None else row[i] for row in rows)) for i in range(3)]
    reasons = [DROPPED[code] for code in sift(*columns, scheme=scheme)]
    return ["" if reason is None else reason.value for reason in reasons]


@pytest.mark.parametrize(
    ("labels", "arguments", "categories", "known_from"),
    [
        (["b", "a", "Ä", "é"], {}, ("a", "b", "Ä", "é"), "labels"),
        (["10", "9"], {}, ("10", "9"), "labels"),
        ([], {}, (), "labels"),
        (["yes"], {}, ("yes",), "labels"),
        (["B"], {}, ("A", "B"), "votes"),
        (["skip", "tie"], {}, ("A", "B", "tie"), "votes"),
        (["A", "b"], {}, ("A", "b"), "labels"),
        (["A", "b"], {"are_votes": True}, ("A", "B"), "votes"),
        ([], {"are_votes": True}, ("A", "B"), "votes"),
        (["yes"], {"given": ["no", "yes", "?"]}, ("no", "yes", "?"), "option"),
        (["A", "tie"], {"given": ["A", "B"]}, ("A", "B"), "option"),
    ],
)
def test_categories(labels, arguments, categories, known_from):
    scheme = scheme_of(labels, used=labels, **arguments)
    assert (scheme.categories, scheme.known_from) == (categories, known_from)


def test_a_skip_is_missing_among_votes_only():
    votes = scheme_of(["A", "tie", "skip"], used=["A"])
    assert votes.column.tolist() == [0, 2, SKIPPED]
    other = scheme_of(["A", "C", "skip"], used=["A", "C", "skip"])
    assert other.column.tolist() == [0, 1, 2]
    chosen = scheme_of(["A", "tie", "skip"], used=["A"], given=["A", "skip"])
    assert chosen.column.tolist() == [0, UNKNOWN_LABEL, 1]


def test_only_the_labels_of_the_report_are_its_categories():
    scheme = scheme_of(["1", "2", "yes"], used=["yes", "2"])
    assert scheme.categories == ("2", "yes")
    assert scheme.column.tolist() == [UNKNOWN_LABEL, 0, 1]


@pytest.mark.parametrize("given_names", [["x"], ["x", "x"], ["x", ""]])
def test_categories_that_are_none(given_names):
    with pytest.raises(ValueError, match="two or more different"):
        scheme_of(["x"], used=["x"], given=given_names)


def test_free_text_is_no_set_of_categories():
    texts = [f"text {i}" for i in range(101)]
    with pytest.raises(ValueError, match="101 different labels"):
        scheme_of(texts, used=texts)
    assert len(scheme_of(texts, used=texts[:100]).categories) == 100


def test_cells_that_are_missing_or_unknown():
    rows = [(None, 0, 0), (0, None, 0), (0, 0, None), (0, 0, 2), (0, 0, 3), (None, None, None)]
    assert sifted(rows) == [
        *("missing_item", "missing_rater", "missing_label", "unknown_label", "unknown_label"),
        "missing_item",
    ]
    labels = ("A", "B", "tie", "skip")
    assert sifted([(0, 0, 3)], labels=labels, categories=labels[:2]) == ["skip"]


def test_the_same_label_again_counts_once_and_different_ones_not_at_all():
    rows = [(0, 0, 0), (0, 1, 1), (1, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 1, 1)]
    assert sifted(rows) == [
        *("", "contradictory", "", "repeated", "contradictory", "contradictory", "")
    ]


def test_what_is_no_category_contradicts_nothing():
    assert sifted([(0, 0, 0), (0, 0, 2), (0, 0, None)]) == ["", "unknown_label", "missing_label"]


@untimed
@given(
    st.lists(
        st.tuples(
            *(st.one_of(st.none(), st.integers(0, high)) for high in (3, 3, 3)),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_each_place_holds_one_vote_and_contradictions_none(rows):
    reasons = sifted(rows)
    whole = [row for row in rows if None not in row and row[2] in (0, 1)]
    for place in {row[:2] for row in whole}:
        given_labels = {row[2] for row in whole if row[:2] == place}
        kept = [
            row[2]
            for row, reason in zip(rows, reasons, strict=True)
            if reason == "" and row[:2] == place
        ]
        assert kept == (list(given_labels) if len(given_labels) == 1 else [])
    assert sum(reason in ("", "repeated", "contradictory") for reason in reasons) == len(whole)


def counts_of(patterns):
    return np.asarray(patterns, dtype=np.int64).reshape(len(patterns), -1)


def test_majority_is_the_label_given_most_often():
    patterns = counts_of([[3, 2, 2], [3, 3, 1], [7, 0, 0], [2, 2, 2], [0, 0, 0]])
    found = majority_counts(
        patterns, multiplicity=ints(1, 10, 100, 1000, 10_000), categories=("x", "y", "z"), minimum=7
    )
    assert found == {"decided": 101, "tied": 10, "insufficient": 11_000, "minimum": 7}
    fewer = majority_counts(
        patterns, multiplicity=ints(1, 10, 100, 1000, 10_000), categories=("x", "y", "z"), minimum=1
    )
    assert (fewer["tied"], fewer["insufficient"]) == (1010, 10_000)


@pytest.mark.parametrize("order", [("A", "B", "tie"), ("tie", "B", "A")])
def test_votes_follow_the_majority_and_tiers_of_pairs(order):
    every = [votes for votes in product(range(10), repeat=3) if sum(votes) <= 9]
    patterns = counts_of([[dict(zip("ABt", v, strict=True))[c[0]] for c in order] for v in every])
    ones = np.ones(len(every), dtype=np.int64)
    found = majority_counts(patterns, multiplicity=ones, categories=order, minimum=7)
    expected = [majority(a, b, ties=tie).status for a, b, tie in every]
    assert {k: found[k] for k in ("decided", "tied", "insufficient")} == {
        k: expected.count(k) for k in ("decided", "tied", "insufficient")
    }
    tiers = tier_counts(patterns, multiplicity=ones, categories=order)
    single = [tier(a, b) for a, b, _ in every]
    assert tiers == {
        **{name: sum(t.tier == name for t in single) for name in ("easy", "medium", "hard")},
        "provisional": sum(t.provisional for t in single),
        "none": sum(t.tier is None for t in single),
    }


def test_tiers_are_for_two_categories():
    undefined = {"value": None, "reason": "not_two_categories"}
    for categories in [("x", "y", "z"), ("x",), ("A", "B", "tied")]:
        patterns = counts_of([[9] + [0] * (len(categories) - 1)])
        found = tier_counts(patterns, multiplicity=ints(1), categories=categories)
        assert found == dict.fromkeys(("easy", "medium", "hard", "provisional", "none"), undefined)


def test_items_with_very_many_votes_have_tiers():
    found = tier_counts(
        counts_of([[5000, 1], [3000, 2000]]), multiplicity=ints(1, 1), categories=("x", "y")
    )
    assert (found["easy"], found["hard"]) == (1, 1)


def report_of(table, *, categories=("x", "y"), **arguments):
    """The report on a count table; the votes of an item come from raters 0, 1, 2, ..."""
    rows = [
        (item, rater, choice)
        for item, counts in enumerate(table)
        for rater, choice in enumerate(
            choice for choice, votes in enumerate(counts) for _ in range(votes)
        )
    ]
    columns = [ints(*(row[i] for row in rows)) for i in range(3)]
    return label_report(*columns, n_items=len(table), categories=categories, **arguments)


def test_a_report_worked_by_hand():
    found = report_of([[9, 0], [8, 1], [0, 9], [5, 4], [0, 0]])
    assert (found["items"], found["ratings"], found["raters"]) == (5, 36, 9)
    assert found["ratings_per_item"] == {
        **{"min": 0, "median": 9.0, "max": 9, "histogram": {"0": 1, "9": 4}}
    }
    observed = (1 + Fraction(56, 72) + 1 + Fraction(32, 72)) / 4
    assert found["percent_agreement"]["value"] == pytest.approx(float(observed), abs=1e-12)
    chance = Fraction(22, 36) ** 2 + Fraction(14, 36) ** 2
    assert found["fleiss"]["value"] == pytest.approx(
        float((observed - chance) / (1 - chance)), abs=1e-12
    )
    assert found["fleiss"]["variant"] == "fleiss_gwet"
    assert found["randolph"]["value"] == pytest.approx(float(2 * observed - 1), abs=1e-12)
    assert found["majority"] == {"decided": 4, "tied": 0, "insufficient": 1, "minimum": 7}
    assert found["tiers"] == {"easy": 2, "medium": 1, "hard": 1, "provisional": 0, "none": 1}
    assert found["conger"]["se"] > 0


def test_conger_with_the_raters_of_gwets_formula():
    # Two raters: Conger's kappa is Cohen's.
    rater = ints(*[0, 1] * 100)
    pairs = [(0, 0)] * 13 + [(1, 1)] * 20 + [(1, 2)] * 7 + [(2, 1)] * 4 + [(2, 2)] * 56
    choice = ints(*(one for pair in pairs for one in pair))
    found = label_report(
        np.repeat(np.arange(100), 2), rater, choice, n_items=100, categories=("a", "b", "c")
    )
    assert found["conger"]["value"] == pytest.approx(0.7964094, abs=5e-8)
    assert found["fleiss"]["value"] == pytest.approx(0.7962397, abs=5e-8)
    assert found["tiers"]["easy"]["reason"] == "not_two_categories"


@pytest.mark.parametrize(
    ("table", "categories"),
    [
        ([[9]] * 3, ("x",)),
        ([[]] * 3, ()),
        ([], ()),
        ([[9, 0]], ("x", "y")),
        ([[1, 0], [0, 1]], ("x", "y")),
        ([[0, 0, 9]] * 2, ("A", "B", "tie")),
        ([[3, 2, 1], [0, 3, 3]], ("win", "loss", "tie")),
        ([[n, 0] for n in range(1, 10)], ("x", "y")),
        ([[200, 100]] * 4, ("x", "y")),
    ],
)
def test_every_number_is_there_or_has_a_reason(table, categories):
    found = report_of(table, categories=categories)
    assert found["categories"] == list(categories)
    assert list(found["pooled_shares"]) == list(found["shares"]) == list(categories)
    for name in ("percent_agreement", "fleiss", "randolph", "ac1", "alpha", "conger"):
        figure = found[name]
        assert (figure["value"] is None) == ("reason" in figure)
    assert sum(found["majority"][k] for k in ("decided", "tied", "insufficient")) == len(table)


def test_one_known_category_leaves_what_holds_for_any_second_one():
    found = report_of([[9]] * 3, categories=("x",))
    assert found["fleiss"]["reason"] == found["alpha"]["reason"] == "single_category"
    assert found["conger"]["reason"] == "single_category"
    assert found["randolph"]["value"] == found["ac1"]["value"] == 1
    assert found["percent_agreement"]["value"] == 1
    assert found["majority"]["decided"] == 3


@untimed
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8), st.data())
def test_names_and_order_of_items_raters_and_categories_change_nothing(table, data):
    rows = [
        (item, rater, int(rater >= x))
        for item, (x, y) in enumerate(table)
        for rater in range(x + y)
    ]
    shuffled = data.draw(st.permutations(rows))
    item_names = data.draw(st.permutations(range(len(table))))
    rater_names = data.draw(st.permutations(range(100, 118)))
    first, second = (
        label_report(
            *(ints(*(row[i] for row in chosen)) for i in range(3)),
            n_items=len(table),
            categories=("x", "y"),
            engine="own",
        )
        for chosen in (
            rows,
            [
                (item_names[item], rater_names[rater], 1 - choice)
                for item, rater, choice in shuffled
            ],
        )
    )
    for name in ("fleiss", "randolph", "ac1", "alpha", "conger", "percent_agreement"):
        assert first[name].get("reason") == second[name].get("reason")
        assert first[name]["value"] == pytest.approx(second[name]["value"], abs=1e-9)
    for name in ("items", "ratings", "raters", "ratings_per_item", "majority", "tiers"):
        assert first[name] == second[name]
