from fractions import Fraction as F

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark.stats.agreement import agreement
from benchmark.stats.values import Reason
from benchmark.stats.variants import VARIANTS, fleiss_variants, kappa_by_category
from tests.benchmark.stats.reference import (
    BINARY_VARIABLE_N,
    FLEISS_1971,
    names,
    tables,
    untimed,
)


def variants(rows, **options):
    return fleiss_variants(rows, categories=names(len(rows[0])), **options)


def by_category(rows, **options):
    return kappa_by_category(rows, categories=names(len(rows[0])), **options)


def plain(rows: list[list[int]], variant: str) -> F | None:
    """The variant as its definition says, in fractions and item by item."""
    voted = [row for row in rows if sum(row)]
    paired = [row for row in voted if sum(row) >= 2]
    if not paired:
        return None
    counted = paired if variant == "fleiss_nweighted" else voted
    k = len(rows[0])
    if variant == "fleiss_gwet":
        shares = [sum(F(row[j], sum(row)) for row in counted) / len(counted) for j in range(k)]
    else:
        shares = [F(sum(row[j] for row in counted), sum(map(sum, counted))) for j in range(k)]
    weight = {
        "fleiss_nweighted": lambda n: n,
        "fleiss_pairs": lambda n: n * (n - 1),
    }.get(variant, lambda n: 1)
    weights = [weight(sum(row)) for row in paired]
    agreeing = [F(sum(x * (x - 1) for x in row), sum(row) * (sum(row) - 1)) for row in paired]
    observed = sum(w * p for w, p in zip(weights, agreeing, strict=True)) / sum(weights)
    chance = sum(share**2 for share in shares)
    return None if chance == 1 else (observed - chance) / (1 - chance)


def test_published_values_of_the_variants():
    found = variants(BINARY_VARIABLE_N)
    assert {name: value.value for name, value in found.items()} == {
        "fleiss_gwet": pytest.approx(0.3035363935, abs=1e-10),
        "fleiss_pooled": pytest.approx(0.3490030956, abs=1e-10),
        "fleiss_nweighted": pytest.approx(0.3354583333, abs=1e-10),
        "fleiss_pairs": pytest.approx(0.3472369618, abs=1e-10),
    }
    assert tuple(found) == VARIANTS
    assert [value.variant for value in found.values()] == list(VARIANTS)


def test_only_the_default_has_a_standard_error():
    found = variants(BINARY_VARIABLE_N)
    assert found["fleiss_gwet"].se == pytest.approx(0.1880781075, abs=1e-10)
    assert {found[name].se_reason for name in VARIANTS[1:]} == {Reason.NO_SE_FOR_VARIANT}


@untimed
@given(tables(), st.sampled_from(VARIANTS))
def test_every_variant_against_its_definition(rows, variant):
    found, expected = variants(rows)[variant], plain(rows, variant)
    assert (found.value is None) == (expected is None)
    if expected is not None:
        assert found.value == pytest.approx(float(expected), abs=1e-9)
    else:
        assert found.reason in (Reason.NO_ITEM_WITH_TWO_VOTES, Reason.SINGLE_CATEGORY)


@untimed
@given(tables(fixed_n=7))
def test_equal_numbers_of_votes_leave_one_kappa(rows):
    found = [value.value for value in variants(rows).values()]
    assert found == [pytest.approx(found[0], abs=1e-12)] * 4


@untimed
@given(tables())
def test_alpha_is_the_n_weighted_variant_with_a_small_sample_term(rows):
    found = variants(rows)["fleiss_nweighted"]
    alpha = agreement(rows, categories=names(len(rows[0])), engine="own").alpha
    assert found.reason is alpha.reason
    assume(found.value is not None)
    votes = sum(sum(row) for row in rows if sum(row) >= 2)
    assert alpha.value == pytest.approx(1 - (1 - found.value) * (1 - 1 / votes), abs=1e-12)


def test_the_variants_differ_in_what_a_lone_dissenting_vote_leaves_undefined():
    found = variants([[9, 0], [9, 0], [0, 1]])
    assert found["fleiss_nweighted"].reason is Reason.SINGLE_CATEGORY
    assert [found[name].value for name in ("fleiss_gwet", "fleiss_pooled", "fleiss_pairs")] == [
        1
    ] * 3


@pytest.mark.parametrize("rows", [[[0, 0]], [[1, 0], [0, 1]]])
def test_no_item_with_two_votes(rows):
    for found in (variants(rows), by_category(rows)):
        assert {value.reason for value in found.values()} == {Reason.NO_ITEM_WITH_TWO_VOTES}


def test_kappa_by_category_of_fleiss_1971():
    found = [value.value for value in by_category(FLEISS_1971).values()]
    expected = [0.2447552448, 0.2447552448, 0.52, 0.4711272727, 0.5661178068]
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_category_that_nobody_or_everybody_chose_has_no_kappa():
    found = by_category([[5, 4, 0], [7, 2, 0]])
    assert found["tie"].reason is Reason.CATEGORY_UNUSED_OR_UNIVERSAL
    assert found["A"].value == pytest.approx(found["B"].value, abs=1e-12)
    found = by_category([[9, 0, 0], [4, 0, 0]])
    assert {value.reason for value in found.values()} == {Reason.CATEGORY_UNUSED_OR_UNIVERSAL}


@untimed
@given(tables())
def test_the_whole_is_the_weighted_mean_of_the_categories(rows):
    report = agreement(rows, categories=names(len(rows[0])), engine="own")
    found = by_category(rows)
    if len(rows[0]) == 2 and report.fleiss.value is not None:
        assert found["A"].value == pytest.approx(report.fleiss.value, abs=1e-12)
        assert found["A"].se == pytest.approx(report.fleiss.se, abs=1e-12)
    assume(report.fleiss.value is not None)
    spread = {name: share.value * (1 - share.value) for name, share in report.shares.items()}
    used = [name for name, value in found.items() if value.value is not None]
    whole = sum(spread[name] * found[name].value for name in used)
    assert whole / sum(spread[name] for name in used) == pytest.approx(
        report.fleiss.value, abs=1e-9
    )


@untimed
@given(tables(k=3, fixed_n=9))
def test_kappa_by_category_against_the_formula_for_a_fixed_number(rows):
    found, n, items = by_category(rows), 9, len(rows)
    for column, name in enumerate(names(3)):
        share = F(sum(row[column] for row in rows), n * items)
        if share in (0, 1):
            assert found[name].value is None
            continue
        apart = sum(row[column] * (n - row[column]) for row in rows)
        expected = 1 - apart / (items * n * (n - 1) * share * (1 - share))
        assert found[name].value == pytest.approx(float(expected), abs=1e-9)
