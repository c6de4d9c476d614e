"""The same pair, query or response in several places."""

from __future__ import annotations

import pytest

from benchmark.quality import Kind, Severity

from .sets import essay, found, kinds, one, pair, persona, prior, report

REPEATS = {Kind.CONTRADICTION, Kind.SEVERAL_TIERS, Kind.REPEAT}


def test_a_sound_set_has_none() -> None:
    rows = [pair(n, prior("easy" if n % 2 else "hard", "AB"[n % 3 > 0])) for n in range(12)]
    assert kinds(report(*rows)) <= {Kind.LONGER_WINS, Kind.OVERLAP_WINS}


def test_a_pair_that_is_labelled_both_ways() -> None:
    result = report(
        pair(1, prior("easy", "A"), line=4), pair(1, prior("hard", "B"), line=9), pair(2)
    )
    finding = one(result, Kind.CONTRADICTION)
    assert finding.severity is Severity.ERROR
    assert (finding.count, finding.ids) == (1, ("p001",))
    assert finding.sentence == "Pairs that are labelled both ways: 1 of 2 (easy + hard 1)."
    assert finding.details == (
        {"ids": ["p001"], "tiers": "easy + hard", "places": ["pairs.jsonl:4", "pairs.jsonl:9"]},
    )
    assert (result.pairs, result.rows) == (2, 3)
    assert REPEATS & kinds(result) == {Kind.CONTRADICTION}
    assert one(result, Kind.CHOSEN_AND_REJECTED).count == 1


def test_the_side_on_which_a_response_stands_is_no_label() -> None:
    first = pair(1, prior("easy", "A"))
    other = pair(
        *(1, prior("easy", "B")),
        pair_id="swapped",
        response_a=first.response_b,
        response_b=first.response_a,
    )
    result = report(first, other)
    assert REPEATS & kinds(result) == {Kind.REPEAT}
    assert one(result, Kind.REPEAT).ids == ("p001", "swapped")
    assert result.pairs == 1


def test_labels_of_one_record_are_rows_of_their_own() -> None:
    result = report(pair(1, prior("easy", "A"), prior("medium", "A")), pair(2, prior("hard", "A")))
    finding = one(result, Kind.SEVERAL_TIERS)
    assert (finding.count, finding.severity) == (1, Severity.ERROR)
    assert finding.numbers["which"] == "easy + medium 1"
    assert result.rows == 3


def test_repeats_are_found_across_spellings_and_not_across_personas() -> None:
    first = pair(1, query="Where to?")
    again = pair(2, query="where  TO？", response_a=first.response_a, response_b=first.response_b)
    elsewhere = pair(3, persona_id="bob", query="Where to?", response_a=first.response_a)
    result = report(
        persona("ada"), persona("bob", {"Name": "Bob", "Age": 3}), first, again, elsewhere
    )
    finding = one(result, Kind.REPEAT)
    assert (finding.severity, finding.ids) == (Severity.WARNING, ("p001", "p002"))
    reused = one(result, Kind.REUSED_RESPONSE)
    assert (reused.count, reused.ids) == (1, ("p001", "p002", "p003"))


def test_a_response_that_wins_here_and_loses_there() -> None:
    middle = essay(50)
    first = pair(1, prior("easy", "A"), query="Q?", response_b=middle)
    second = pair(2, prior("hard", "A"), query="Q?", response_a=middle)
    result = report(first, second, pair(3, prior("easy", "A"), query="Q?"), pair(4, query="R?"))
    finding = one(result, Kind.CHOSEN_AND_REJECTED)
    assert (finding.count, finding.numbers["groups"]) == (1, 2)
    assert finding.ids == ("p001", "p002")
    apart = report(first, pair(2, prior("hard", "A"), query="Other?", response_a=middle))
    assert not found(apart, Kind.CHOSEN_AND_REJECTED)


def test_what_one_tier_gives_away_of_another() -> None:
    best = essay(70)
    rows = [
        pair(1, prior("easy", "A"), query="Q?", response_a=best),
        pair(2, prior("hard", "B"), query="Q?", response_b=best),
        pair(3, prior("easy", "A")),
        pair(4, prior("medium", "A"), query="Q?"),
    ]
    result = report(*rows)
    finding = one(result, Kind.SHARED_CHOICE)
    assert finding.ids == ("p002",)
    assert finding.numbers == {
        **{"tier": "hard", "other": "easy", "rows": 1, "other_count": 1, "other_rows": 2},
    }
    assert {(f.numbers["tier"], f.numbers["other"]) for f in found(result, Kind.SHARED_QUERY)} == {
        ("medium", "easy"),
        ("hard", "easy"),
        ("medium", "hard"),
    }
    assert not found(report(*rows[1:]), Kind.SHARED_CHOICE)


def test_responses_that_only_look_different_to_a_machine() -> None:
    result = report(pair(1, response_a="Ｔea or coffee", response_b="tea OR  coffee"), pair(2))
    finding = one(result, Kind.SAME_RESPONSES)
    assert (finding.severity, finding.ids) == (Severity.ERROR, ("p001",))
    assert not found(result, Kind.ALIKE_RESPONSES)
    assert not found(result, Kind.REUSED_RESPONSE)


@pytest.mark.parametrize(
    ("kind", "severity"),
    [("general", Severity.NOTICE), ("", Severity.NOTICE), ("specific", Severity.WARNING)],
)
def test_queries_that_several_personas_ask(kind: str, severity: Severity) -> None:
    people = [persona("ada"), persona("bob", {"Name": "Bob"})]
    rows = [
        pair(n, query="The same?", query_kind=kind, persona_id=who)
        for n, who in enumerate(["ada", "bob", "ada"])
    ]
    finding = one(report(*people, *rows, pair(9, query_kind=kind)), Kind.COMMON_QUERY)
    assert (finding.severity, finding.count, finding.numbers["texts"]) == (severity, 1, 2)
    assert finding.details[0]["personas"] == ["ada", "bob"]
    assert not found(report(*people, rows[0], rows[2]), Kind.COMMON_QUERY)
