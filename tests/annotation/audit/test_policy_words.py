"""Rules in words."""

from __future__ import annotations

from fractions import Fraction

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from annotation.audit.policy_forms import RulesForm
from annotation.audit.policy_words import asked_for, edge_words, plain_edge, policy_words
from benchmark.stats.policy import PERSONAFEEDBACK_V1, POLICIES, Policy
from benchmark.stats.tiers import Bands


@pytest.mark.parametrize(
    ("edge", "words"),
    [
        ((3, 5), "0.6"),
        ((0, 1), "0"),
        ((1, 1), "1"),
        ((-1, 5), "−0.2"),
        ((2, 3), "2/3"),
        ((11, 20), "0.55"),
        ((1, 1_000), "0.001"),
        ((-7, 999), "−7/999"),
    ],
)
def test_edges_are_never_rounded(edge: tuple[int, int], words: str) -> None:
    assert edge_words(edge) == words
    assert Fraction(plain_edge(edge)) == Fraction(*edge)


@given(
    numerators=st.tuples(*[st.integers(-1_000, 1_000)] * 2),
    denominators=st.tuples(*[st.integers(1, 1_000)] * 3),
    chance=st.integers(0, 999),
)
def test_a_form_gives_back_the_policy_that_it_began_with(
    numerators: tuple[int, int], denominators: tuple[int, int, int], chance: int
) -> None:
    low, high = sorted(
        max(min(Fraction(n, d), Fraction(1)), Fraction(-1))
        for n, d in zip(numerators, denominators, strict=False)
    )
    least = Fraction(chance % denominators[2], denominators[2])
    policy = Policy(
        name="unsaved",
        version=1,
        decide="both_agree",
        combine="min",
        bands=Bands(
            easy_above=(high.numerator, high.denominator),
            medium_from=(low.numerator, low.denominator),
            chance=(least.numerator, least.denominator),
        ),
    )
    form = RulesForm(RulesForm.initial_of(policy))
    assert form.is_valid(), form.errors
    assert form.policy() == policy


def test_every_built_in_policy_has_words_in_both_languages() -> None:
    for language in ("en", "zh-hans"):
        with translation.override(language):
            for policy in POLICIES.values():
                words = policy_words(policy.as_json())
                assert words.label == f"{policy.name}@1"
                assert all(str(each).strip() for each in words.sentences)


def test_the_words_hold_the_numbers() -> None:
    words = policy_words(PERSONAFEEDBACK_V1.as_json())
    assert words.decides.endswith("with at least 7 votes on each")
    assert "easy above 0.6, medium from 0.4 to 0.6, hard below 0.4" in words.tiers
    assert words.chance == "k takes 0.5 as agreement by chance"


def test_what_is_asked_for_can_be_looked_up() -> None:
    assert asked_for(" wide@2\0\n") == "wide@2"
    assert len(asked_for("x" * 5_000)) == 100
