"""What texts give away: names of personas, of sources and models, and telling phrases."""

from __future__ import annotations

import pytest

from benchmark.quality import Kind, Severity
from benchmark.quality.leaks import scan
from benchmark.quality.sheet import read

from .sets import essay, found, kinds, one, pair, persona, prior, report

LEAKS = {
    *(Kind.NAME_IN_QUERY, Kind.NAME_IN_ONE_RESPONSE, Kind.SOURCE_IN_RESPONSE),
    *(Kind.MODEL_IN_RESPONSE, Kind.TELLTALE_PHRASE),
}


def test_the_name_of_a_persona() -> None:
    result = report(
        persona("ada", {"Name": "Ada"}),
        pair(1, prior("easy", "A"), response_a=f"Dear ＡＤＡ, {essay(1)}"),
        pair(2, prior("easy", "B"), response_a=f"Ada! {essay(2)}", response_b=f"Ada? {essay(3)}"),
        pair(3, prior("hard", "B"), query="What would Ada do?"),
        pair(4, prior("hard", "B"), response_a=f"In Canada {essay(4)}"),
    )
    finding = one(result, Kind.NAME_IN_ONE_RESPONSE)
    assert (finding.count, finding.ids, finding.severity) == (1, ("p001",), Severity.WARNING)
    query = one(result, Kind.NAME_IN_QUERY)
    assert (query.count, query.ids, query.severity) == (1, ("p003",), Severity.NOTICE)
    names = result.measures["names"]
    assert names["all"]["rows"] == 4
    assert [names["easy"][side]["count"] for side in ("query", "chosen", "rejected")] == [0, 2, 1]
    assert [names["hard"][side]["count"] for side in ("query", "chosen", "rejected")] == [1, 0, 0]
    assert names["all"]["chosen"]["value"] == 0.5


@pytest.mark.parametrize("body", [{"Age": 3}, "Ada likes tea.", {"Name": " "}, {"Name": 7}])
def test_a_persona_without_a_name_is_named_nowhere(body: object) -> None:
    result = report(persona("ada", body), pair(1, prior("easy", "A"), query="What would Ada do?"))
    assert not found(result, Kind.NAME_IN_QUERY)


def test_a_name_that_is_the_id_counts() -> None:
    result = report(persona("小明", {"name": "小明"}), pair(1, persona_id="小明", query="小明？"))
    assert one(result, Kind.NAME_IN_QUERY).count == 1


def test_sources_are_looked_for_as_names_and_not_as_words() -> None:
    result = report(
        pair(1, source_a="GPT-4o", response_a=f"I am gpt-4o. {essay(1)}"),
        pair(2, source_a="GPT-4o", response_b=f"As GPT-4o says, {essay(2)}"),  # the other's source
        pair(3, source_a="full", source_b="none", response_a=f"None is full. {essay(3)}"),
        pair(4, source_a="claude", response_a=f"Claude here. {essay(4)}"),
        pair(5, source_a="GPT-4o", response_a=f"GPT-4 is another. {essay(5)}"),
    )
    finding = one(result, Kind.SOURCE_IN_RESPONSE)
    assert finding.severity is Severity.ERROR
    assert finding.ids == ("p001", "p002", "p004")
    assert finding.numbers["which"] == "gpt-4o 2, claude 1"
    assert finding.details[1] == {"text": "gpt-4o", "count": 2, "ids": ["p001", "p002"]}


def test_models_and_telling_phrases() -> None:
    result = report(
        pair(1, response_a=f"Ask ChatGPT. {essay(1)}"),
        pair(2, response_b=f"As an AI, I cannot. {essay(2)}"),
        pair(3, response_b=f"作为一个AI，我不能。{essay(3)}"),
        pair(4, response_a=f"The persona likes tea. {essay(4)}"),
        pair(5, response_a=f"A personal note on algae and as an aid. {essay(5)}"),
        pair(6, response_a=f"Based on your  profile: {essay(6)}"),
    )
    model = one(result, Kind.MODEL_IN_RESPONSE)
    assert (model.severity, model.ids) == (Severity.NOTICE, ("p001",))
    phrase = one(result, Kind.TELLTALE_PHRASE)
    assert (phrase.severity, phrase.count) == (Severity.WARNING, 4)
    assert phrase.ids == ("p002", "p003", "p004", "p006")
    assert {detail["text"] for detail in phrase.details} == {
        *("as an ai", "作为一个ai", "persona", "based on your profile"),
    }


def test_texts_without_any_of_it() -> None:
    assert not LEAKS & kinds(report(pair(1), pair(2, query="Where is Adalbert?")))


def test_a_pair_counts_once_however_often_it_stands() -> None:
    text = f"As an AI, {essay(1)}"
    twice = [pair(1, prior(tier, "A"), response_a=text) for tier in ("easy", "hard")]
    assert one(report(*twice), Kind.TELLTALE_PHRASE).count == 1


def test_overlap_with_the_profile() -> None:
    result = report(
        persona("ada", {"Likes": ["abcd", "xy"], "Name": "Q"}),
        pair(1, prior("easy", "A"), response_a="abc! y x", response_b="xy zz abcd"),
        pair(2, prior("easy", "B"), response_a="none", response_b="bc"),
        pair(3, prior("hard", "B"), response_a="ab bc", response_b="bc cd"),
        pair(4, prior("hard", "B"), persona_id="unknown"),
    )
    wins = result.measures["overlap_wins"]
    # of the pairs ab, bc, cd, xy: 2 against 4, 0 against 1, 2 against 2; keys do not count
    assert (wins["all"]["rows"], wins["all"]["larger"], wins["all"]["equal"]) == (3, 1, 1)
    assert wins["easy"]["chosen"]["mean"] == 1.5
    assert wins["easy"]["rejected"]["mean"] == 2.0
    assert wins["hard"]["value"] == 0.0


def test_what_comes_in_between_the_readings_is_passed_over() -> None:
    sheet = read(lambda: iter([persona(), pair(1)]))
    found = scan(
        lambda: iter([persona(), pair(1), pair(2, query="Ada?", source_a="", source_b="")]),
        sheet,
        wanted=(),
    )
    assert [item.pair_id for item in found.named_in] == ["p001"]
