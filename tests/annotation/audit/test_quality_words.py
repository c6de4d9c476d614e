"""Findings in words."""

from __future__ import annotations

import re
from string import Formatter

from annotation.audit.quality_words import OF_PERSONAS, SENTENCES, sentence
from benchmark.quality import findings
from benchmark.quality.findings import Finding, Kind, Severity

# What is no whole number in a finding.
VALUES: dict[str, float | str] = {
    "share": 62.5,
    "low": 48.25,
    "high": 70.0,
    "threshold": 80.0,
    **dict.fromkeys(("which", "tier", "other", "field", "value", "query_kind"), "easy"),
}


def named(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in Formatter().parse(text) if name}


def test_every_kind_has_a_sentence_with_the_same_numbers() -> None:
    for kind in Kind:
        words = str(SENTENCES[kind])
        assert set(re.findall(r"%\((\w+)\)s", words)) == named(findings.SENTENCES[kind]), kind


def test_they_say_the_same_as_a_terminal() -> None:
    """In English, with numbers of every form."""
    for kind in Kind:
        numbers = {
            name: VALUES.get(name, 1_234) for name in named(findings.SENTENCES[kind]) - {"count"}
        }
        found = Finding(kind=kind, severity=Severity.NOTICE, count=5_678, numbers=numbers)
        plain = found.sentence.replace(" %", "%")
        assert sentence(found.as_json()) == plain


def test_ids_of_personas_are_told_apart() -> None:
    """By what their sentences are about."""
    about = {kind for kind in Kind if findings.SENTENCES[kind].startswith("Persona")}
    assert about == OF_PERSONAS
