"""A whole set: the order of rows, odd texts, what an import would refuse, and the public rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats import Problem, read_pairs
from benchmark.quality import Kind, QualityReport, Severity, check
from benchmark.quality.findings import SENTENCES
from tests.conftest import shared_data

from .sets import Record, essay, found, one, pair, persona, prior, report

ODD = (
    *(
        "e\u0301te\u0301 " * 9,
        "ＦＵＬＬ　ＷＩＤＴＨ",
        "👩‍👩‍👧‍👦👍🏽",
        "\u202bשלום עולם\u202c",
        "नमस्ते दुनिया",
    ),
    *("。！？", "x" * 50_000, "\u200bhidden\u200b", "ﬁ", "𠮷野家", "İstanbul", "%s {0} {count:,}"),
)


def as_text(result: QualityReport) -> str:
    """The report as JSON, which has no NaN."""
    return json.dumps(result.as_json(), allow_nan=False, ensure_ascii=False)


def everything() -> list[Record]:
    """A set in which nearly every check finds something."""
    first = pair(1, prior("easy", "A"))
    near = f"{first.response_a} indeed"
    people: list[Record] = [
        persona(f"p{n}", {"Name": f"Person{n}", "Age": 20 + n, "Town": "Rome"}) for n in range(20)
    ]
    return [
        *people,
        persona("ada", {"Name": "Ada", "Agee": 3, "Town": ["Rome"], "Extra": {"a": 1}}),
        persona("twin", {"Name": "Person3", "Age": 23, "Town": "Rome"}),
        persona("text", "Likes tea."),
        first,
        pair(1, prior("hard", "B"), line=50),
        pair(2, prior("easy", "A"), response_a=near),
        pair(3, prior("easy", "B"), persona_id="p1", response_b=f"Person1, {near}"),
        pair(4, prior("medium", "A"), prior("easy", "A"), query="Ada, GPT-4?", source_a="GPT-4"),
        pair(5, response_a=f"As an AI {essay(5)} gpt-4", source_a="GPT-4", persona_id="text"),
        pair(6, query=first.query, response_a=first.response_b, query_kind="specific"),
        pair(7, query=first.query, persona_id="p2", query_kind="specific"),
        pair(8, prior(None, "A"), persona_id="nobody"),
        pair(9, pair_id="p008", persona_id="p3"),
        Problem("pairs.jsonl", 12, "query", "is empty"),
        Problem("pairs.jsonl", 3, None, "is no object"),
    ]


def checked(records: list[Record]) -> QualityReport:
    return check(lambda: iter(records), source="set")


@settings(max_examples=15)
@given(st.permutations(everything()))
def test_the_order_of_rows_changes_nothing(records: list[Record]) -> None:
    assert as_text(checked(records)) == as_text(checked(everything()))


def test_a_report_is_sorted_and_says_everything() -> None:
    result = checked(everything())
    severities = [finding.severity for finding in result.findings]
    assert severities == sorted(severities, key=list(Severity).index)
    assert len({finding.kind for finding in result.findings}) > 20
    for finding in result.findings:
        assert list(finding.ids) == sorted(set(finding.ids))
        assert "{" not in finding.sentence
    assert result.has(Severity.ERROR)
    assert result.has(Severity.NOTICE)
    assert result.of(Severity.ERROR)[0] == one(result, Kind.REFUSED)


def test_every_kind_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Kind)


def test_severities() -> None:
    notice = report(pair(1), pair(2, query="What would Ada do?"))
    assert [finding.severity for finding in notice.findings] == [Severity.NOTICE]
    assert notice.has(Severity.NOTICE)
    assert not notice.has(Severity.WARNING)
    assert not notice.has(Severity.ERROR)


def test_what_an_import_would_refuse() -> None:
    problems = [Problem("f", n, "query", "is empty") for n in range(1_200, 0, -1)]
    result = report(pair(1), *problems)
    finding = one(result, Kind.REFUSED)
    assert (finding.count, len(finding.details)) == (1_200, 1_000)
    assert finding.details[0] == {**problems[999].as_json()}


def test_ids_that_stand_for_two_things() -> None:
    result = report(
        persona("ada"), persona("ada"), persona("ada", {"Name": "Eve"}), persona("bob", "Bob."),
        *(pair(1), pair(1), pair(2), pair(2, response_a="other")),
    )  # fmt: skip
    assert one(result, Kind.PAIR_CLASH).ids == ("p002",)
    assert one(result, Kind.PERSONA_CLASH).ids == ("ada",)
    assert not found(result, Kind.SAME_PROFILE)


def test_personas_that_are_not_there() -> None:
    some = report(persona("ada"), pair(1), pair(2, persona_id="eve"), pair(3, persona_id="eve"))
    finding = one(some, Kind.UNKNOWN_PERSONA)
    assert (finding.severity, finding.ids, finding.numbers["pairs"]) == (
        *(Severity.ERROR, ("eve",), 2),
    )
    none = checked([pair(1)])
    assert one(none, Kind.NO_PERSONAS).severity is Severity.WARNING
    assert not found(none, Kind.UNKNOWN_PERSONA)


def test_one_profile_under_two_ids() -> None:
    result = report(persona("ada"), persona("eve"), persona("bob", {"Name": "Bob"}), pair(1))
    finding = one(result, Kind.SAME_PROFILE)
    assert (finding.ids, finding.details) == (("ada", "eve"), ({"ids": ["ada", "eve"]},))


def test_an_empty_set_and_one_without_pairs() -> None:
    assert checked([]).findings == ()
    only_personas = checked([persona("ada"), persona("bob", {"Name": "Bob"})])
    assert [finding.kind for finding in only_personas.findings] == [Kind.UNUSED_PERSONA]
    for result in (checked([]), only_personas):
        assert as_text(result)


@pytest.mark.parametrize("body", ["", "\u200b", "👍", {"Name": "李鹏", "空": ""}, {"a": [[], {}]}])
def test_odd_texts_and_personas(body: Any) -> None:
    rows = [
        pair(n, prior("easy", "A"), query=f"{text}?", response_a=text, response_b=f"{text} {n}")
        for n, text in enumerate(ODD)
    ]
    result = report(persona("ada", body), *rows)
    assert result.pairs == len(ODD)
    assert not found(result, Kind.REPEAT)
    text = as_text(result)
    assert json.loads(text)["rows"] == len(ODD)
    for finding in result.findings:
        assert finding.sentence


@pytest.fixture(scope="module")
def public() -> QualityReport:
    """The public General rows."""
    folder = shared_data("personafeedback")
    return check(lambda: read_pairs([folder], seed="any"), source="public")


def test_repeats_of_the_public_rows(public: QualityReport) -> None:
    assert (public.pairs, public.rows, public.personas) == (3_304, 3_841, 1_714)
    contradiction = one(public, Kind.CONTRADICTION)
    assert contradiction.count == len(contradiction.ids) == 167
    assert contradiction.numbers["which"] == "easy + hard 84, medium + hard 83"
    tiers = one(public, Kind.SEVERAL_TIERS)
    assert tiers.count == len(tiers.ids) == 370
    assert tiers.numbers["which"] == "easy + hard 190, medium + hard 180"
    both = one(public, Kind.CHOSEN_AND_REJECTED)
    assert (both.count, both.numbers["groups"]) == (190, 1_470)
    choice = {
        (f.numbers["tier"], f.numbers["other"]): (f.count, f.numbers["rows"])
        for f in found(public, Kind.SHARED_CHOICE)
    }
    assert choice["hard", "easy"] == (1_010, 1_010)
    for kind in (Kind.REPEAT, Kind.SAME_RESPONSES, Kind.REUSED_RESPONSE, Kind.REFUSED):
        assert not found(public, kind)


def test_lengths_and_names_in_the_public_rows(public: QualityReport) -> None:
    tiers = ("easy", "medium", "hard")
    wins = public.measures["longer_wins"]
    assert [round(100 * wins[tier]["value"], 1) for tier in tiers] == [76.4, 74.0, 72.4]
    assert [wins[tier]["rows"] for tier in tiers] == [1_510, 1_321, 1_010]
    assert [round(wins[tier]["chosen"]["mean"]) for tier in tiers] == [407, 394, 407]
    assert [round(wins[tier]["rejected"]["mean"]) for tier in tiers] == [312, 341, 341]
    assert one(public, Kind.LONGER_WINS).severity is Severity.WARNING
    named = public.measures["names"]
    for side, shares in (("query", [0, 0, 0]), ("chosen", [7, 19, 7]), ("rejected", [2, 7, 4])):
        assert [round(100 * named[tier][side]["value"]) for tier in tiers] == shares
    overlap = public.measures["overlap_wins"]
    assert [round(100 * overlap[tier]["value"]) for tier in tiers] == [87, 81, 65]


def test_near_duplicates_of_the_public_rows(public: QualityReport) -> None:
    # Each was found by comparing all pairs of texts as well.
    across = one(public, Kind.NEAR_QUERIES_ACROSS)
    within = one(public, Kind.NEAR_RESPONSES_WITHIN)
    assert (across.numbers["links"], within.numbers["links"]) == (127, 11)
    assert not found(public, Kind.NEAR_QUERIES_WITHIN)
    assert not found(public, Kind.NEAR_RESPONSES_ACROSS)


def test_personas_of_the_public_rows(public: QualityReport) -> None:
    misspelt = {f.numbers["field"]: f for f in found(public, Kind.MISSPELT_FIELD)}
    assert {name: f.count for name, f in misspelt.items()} == {
        "Personality.Extraversion_or_Introversion": 81,
        "Personality.Judging_or_Perceiving": 7,
    }
    spellings = misspelt["Personality.Extraversion_or_Introversion"].details
    assert {detail["spelling"]: len(detail["ids"]) for detail in spellings} == {
        "Extraversion_or_Intuition": 43,
        "Extraversion_or_Intraversion": 32,
        "Extraversion_or_Introverson": 4,
        "Extraversion_or_Introv[ersion]": 1,
        "Extraversion_or_Introv版本ersion": 1,
    }
    layout = one(public, Kind.OTHER_LAYOUT)
    assert (layout.count, layout.numbers["field"]) == (188, "Preference.Local_Life")
    stray = {f.numbers["field"]: f for f in found(public, Kind.STRAY_FIELD)}["the profile"]
    assert {"bias", "pattern", "Context", "Pattern"} <= {d["field"] for d in stray.details}
    optional = one(public, Kind.OPTIONAL_FIELD)
    assert (optional.numbers["field"], optional.count) == ("Bias", 53)
    drifted = one(public, Kind.TYPE_DRIFT)
    assert drifted.numbers["which"] == "an object 39, text 13, a list 1"
    assert not found(public, Kind.MISSING_FIELD)


def test_distributions_of_the_public_rows(public: QualityReport) -> None:
    values = public.measures["demographics"]
    age = values["Demographics.Age"]
    assert (age["min"], age["median"], age["max"]) == (7, 30, 78)
    assert values["Demographics.Gender"]["values"] == {"女": 972, "男": 742}
    nationality = values["Demographics.Nationality"]
    assert (nationality["distinct"], nationality["values"]["中国"]) == (45, 1_296)
    assert public.measures["distinct"]["personas_with_pairs"] == 147
    assert as_text(public)
