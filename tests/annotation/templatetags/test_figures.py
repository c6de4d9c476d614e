"""Numbers as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.utils.timezone import override as override_zone
from django.utils.translation import override

from annotation.domain.persona_card import persona_card
from annotation.templatetags import figures, moments, personas
from benchmark.stats.majority import TIE_RULES
from benchmark.stats.policy import COMBINE_RULES, DECIDE_RULES
from benchmark.stats.values import Reason, Value

DEFINED = Value(value=0.425, se=0.02, ci=(-0.0149, 0.875)).as_json()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (DEFINED, "0.42 [\N{MINUS SIGN}0.01, 0.88]"),
        (Value(value=1.0, se_reason=Reason.SINGLE_ITEM).as_json(), "1.00"),
        (Value.undefined(Reason.SINGLE_CATEGORY).as_json(), "\N{EM DASH}"),
    ],
)
def test_a_coefficient_has_two_decimals_and_its_interval(value: dict[str, Any], shown: str) -> None:
    assert figures.coefficient(value) == shown


def test_percentages_are_rounded_and_not_cut_off() -> None:
    assert figures.share_of(25, 64) == "39.1%"
    assert figures.share_of(2, 3) == "66.7%"
    assert figures.share_of(0, 0) == "\N{EM DASH}"
    assert figures.share({"value": 0.71249, "ci": [0.7, 0.7251]}) == "71.2% [70.0%, 72.5%]"


def test_intervals_are_shown_within_what_is_possible() -> None:
    wide = {"value": 0.9, "ci": [-1.3, 2.4]}
    assert figures.coefficient(wide) == "0.90 [\N{MINUS SIGN}1.00, 1.00]"
    assert figures.share(wide) == "90.0% [0.0%, 100.0%]"


def test_numbers_in_attributes_know_no_language() -> None:
    with override("de"):
        assert figures.percent_of(1, 3) == "33.33"
        assert figures.percent_of(1, 0) == "0"


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_words(reason: Reason) -> None:
    assert reason in figures.REASONS
    assert figures.why_missing(Value.undefined(reason).as_json()) == figures.REASONS[reason]


@pytest.mark.parametrize("rule", [*DECIDE_RULES, *COMBINE_RULES, *TIE_RULES])
def test_every_rule_of_a_policy_has_words(rule: str) -> None:
    assert rule in figures.RULES


@pytest.mark.parametrize(
    ("interval", "says"),
    [
        ([0.1, 0.3], "more than chance"),
        ([-0.3, -0.1], "less than chance"),
        ([-0.1, 0.3], "Not distinguishable"),
    ],
)
def test_a_reading_follows_from_the_interval(interval: list[float], says: str) -> None:
    assert says in figures.agreement_reading({"value": sum(interval) / 2, "ci": interval})


def test_an_undefined_coefficient_has_no_reading() -> None:
    assert figures.agreement_reading({"value": None, "reason": "single_category"}) == ""


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "\N{EM DASH}"),
        (0.04, "0.0 s"),
        (9.96, "10.0 s"),
        (59.6, "1 min 0 s"),
        (72, "1 min 12 s"),
    ],
)
def test_durations(seconds: float | None, shown: str) -> None:
    assert figures.duration(seconds) == shown


def test_without_a_zone_of_the_reader_a_moment_is_in_the_servers_and_says_so() -> None:
    at = datetime(2026, 7, 2, 0, 30, 15, tzinfo=timezone(timedelta(hours=2)))
    html = moments.moment(at)
    assert 'datetime="2026-07-01T22:30:15+00:00"' in html
    assert 'title="2026-07-01 22:30:15 UTC"' in html
    assert ">July 1, 2026 22:30 UTC<" in html
    assert moments.moment(None) == ""
    assert ">22:30 UTC<" in moments.moment(at.astimezone(UTC), "time")
    assert ">July 1, 2026 UTC<" in moments.moment(at, "date")


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("Asia/Shanghai", ("July 2, 2026 06:30", "06:30", "July 2, 2026")),
        ("America/St_Johns", ("July 1, 2026 20:00", "20:00", "July 1, 2026")),
        # Its clocks are those of UTC, and it is said all the same.
        ("UTC", ("July 1, 2026 22:30 UTC", "22:30 UTC", "July 1, 2026 UTC")),
    ],
)
def test_a_moment_is_in_the_zone_of_the_reader(zone: str, words: tuple[str, ...]) -> None:
    at = datetime(2026, 7, 1, 22, 30, 15, tzinfo=UTC)
    with override_zone(zone):
        for form, shown in zip(("both", "time", "date"), words, strict=True):
            html = moments.moment(at, form)
            assert f">{shown}<" in html
            assert 'datetime="2026-07-01T22:30:15+00:00"' in html
            assert 'title="2026-07-01 22:30:15 UTC"' in html


def test_letters_of_traits_become_words_even_under_misspelt_keys() -> None:
    body = {
        "Personality": {
            "Extraversion_or_Intraversion": "I",
            "Sensing_or_Intuition": "N",
            "Thinking_or_Feeling": "undecided",
            "Values_and_Interests": ["Keeping promises"],
        },
        "Bias": "Likes short answers.",
    }
    personality, bias = persona_card(name="A", body=body).sections
    assert [str(word) for word in personas.traits(personality)] == ["Introversion", "Intuition"]
    assert [entry.key for entry in personas.named_entries(personality)] == [
        "Thinking_or_Feeling",
        "Values_and_Interests",
    ]
    assert personas.plain_texts(bias) == ["Likes short answers."]
    assert str(personas.key_words("Food_Drinks")) == "Food and drink"
    assert personas.key_words("Favourite_Colour") == "Favourite Colour"


def test_a_list_has_the_commas_of_its_own_language() -> None:
    assert personas.listed(["茶", "咖啡"], "zh-Hans") == "茶、咖啡"
    with override("zh-hans"):
        assert personas.listed(["tea", "coffee"], "en") == "tea, coffee"
        # Words of the interface stay in its language, and so does what is between them.
        assert personas.listed([personas.TRAITS["E"], personas.TRAITS["N"]]) == "外倾型、直觉型"
    assert personas.listed([personas.TRAITS["E"], personas.TRAITS["N"]]) == (
        "Extraversion, Intuition"
    )


def test_a_profile_in_brief_is_its_first_three_facts() -> None:
    facts = {"Age": "34", "Gender": "Female", "Language": ["Dutch", "English"], "Nationality": "x"}
    card = persona_card(name="A", body={"Demographics": facts})
    assert personas.brief(card) == ["34", "Female", "Dutch", "English"]
