"""When two texts are the same, and how alike two are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.quality.texts import (
    bigrams,
    digest,
    jaccard,
    names,
    normalised,
    profile_text,
    shared,
    shingles,
)

TEXTS = st.text(max_size=60)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "Cafe\u0301"),  # composed, combining
        ("ＡＢＣ１２３", "abc123"),  # full width
        ("two  words\n", " two words"),
        ("Straße", "STRASSE"),
        ("zero\u200bwidth", "zerowidth"),
        ("a\u200d\u0301b", "\u00e1b"),  # what stood between letter and accent is gone
        ("今天\u3000好", "今天 好"),
        ("\ufeffstart", "start"),
        ("\u202bשלום\u202c", "שלום"),  # marks of direction
    ],
)
def test_what_a_reader_does_not_see_makes_no_difference(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert digest(normalised(one)) == digest(normalised(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("cat", "car"), ("two words", "twowords"), ("吃饭", "吃面"), ("👍", "👎"), ("a", "á")],
)
def test_what_a_reader_sees_does(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)
    assert digest(normalised(one)) != digest(normalised(other))


@given(TEXTS)
def test_a_normalised_text_stays_as_it_is(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def grams(text: str, width: int) -> set[str]:
    width = min(width, len(text))
    return {text[i : i + width] for i in range(len(text) - width + 1)} if width else set()


@given(st.text("abcdef é", max_size=80), st.text("abcdef é", max_size=80))
def test_similarity_is_that_of_runs_of_five_letters(one: str, other: str) -> None:
    a, b = grams(one, 5), grams(other, 5)
    expected = Fraction(len(a & b), len(a | b) or 1)
    assert jaccard(shingles(one), shingles(other)) == float(expected)


@given(st.text("一二三四五", max_size=40), st.text("一二三四五", max_size=40))
def test_similarity_is_that_of_runs_of_three_in_chinese(one: str, other: str) -> None:
    a, b = grams(one, 3), grams(other, 3)
    assert jaccard(shingles(one), shingles(other)) == len(a & b) / len(a | b or {""})


@pytest.mark.parametrize(("text", "runs"), [("中文 ab", 3), ("中文 abc", 2), ("한국어의", 2)])
def test_half_of_the_characters_decide_how_long_a_run_is(text: str, runs: int) -> None:
    assert len(shingles(text)) == runs


@given(st.text("ab c1.é中👍", max_size=60))
def test_bigrams_are_of_letters_and_digits_within_words(text: str) -> None:
    expected = {
        text[i : i + 2] for i in range(len(text) - 1) if text[i].isalnum() and text[i + 1].isalnum()
    }
    assert len(bigrams(text)) == len(expected)
    assert shared(bigrams(text), bigrams(text)) == len(expected)
    assert shared(bigrams(text), bigrams("zz")) == 0


def test_odd_texts_have_shingles_too() -> None:
    for text in ("", "a", "👍", "👨‍👩‍👧", "שלום עולם", "é" * 100_000, "中"):
        found = shingles(normalised(text))
        assert (len(found) > 0) == bool(text)
        assert jaccard(found, found) == (1.0 if text else 0.0)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ann", "dear ann, hello", True),
        ("ann", "an annual joanna", False),
        ("ann", "joanna and ann", True),  # the second place counts
        ("ann", "请ann来", True),  # Chinese has no capitals, so a name may touch it
        ("李鹏", "亲爱的李鹏你好", True),
        ("李", "李鹏", False),  # one character is too little of a name
        ("", "anything", False),
        ("o'neil", "mr o'neil.", True),
        ("анна", "анналы", False),
    ],
)
def test_names(name: str, text: str, expected: bool) -> None:
    assert names(name, text) is expected


def test_a_profile_is_its_values() -> None:
    body = {"Name": "Ada", "List": ["tea", {"Deep": 3}], "None": None, "Yes": True}
    assert profile_text(body).split("\n") == ["Ada", "tea", "3", "True"]
    assert profile_text("A text.") == "A text."
    assert profile_text({}) == ""
