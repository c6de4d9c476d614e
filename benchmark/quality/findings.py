"""What a check says: findings by severity, each with its numbers, and measures of the whole set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Severity(StrEnum):
    """How bad a finding is: labels or blinding are broken, figures suffer, or good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class Kind(StrEnum):
    """What was found, in the order in which a report tells it. The codes are stored."""

    REFUSED = "refused"
    PAIR_CLASH = "pair_clash"
    PERSONA_CLASH = "persona_clash"
    UNKNOWN_PERSONA = "unknown_persona"
    NO_PERSONAS = "no_personas"
    CONTRADICTION = "contradiction"
    SEVERAL_TIERS = "several_tiers"
    REPEAT = "repeat"
    CHOSEN_AND_REJECTED = "chosen_and_rejected"
    SHARED_CHOICE = "shared_choice"
    SHARED_QUERY = "shared_query"
    SAME_RESPONSES = "same_responses"
    ALIKE_RESPONSES = "alike_responses"
    REUSED_RESPONSE = "reused_response"
    COMMON_QUERY = "common_query"
    NEAR_QUERIES_WITHIN = "near_queries_within"
    NEAR_QUERIES_ACROSS = "near_queries_across"
    NEAR_RESPONSES_WITHIN = "near_responses_within"
    NEAR_RESPONSES_ACROSS = "near_responses_across"
    LONGER_WINS = "longer_wins"
    OVERLAP_WINS = "overlap_wins"
    NAME_IN_QUERY = "name_in_query"
    NAME_IN_ONE_RESPONSE = "name_in_one_response"
    SOURCE_IN_RESPONSE = "source_in_response"
    MODEL_IN_RESPONSE = "model_in_response"
    TELLTALE_PHRASE = "telltale_phrase"
    MISSPELT_FIELD = "misspelt_field"
    OTHER_LAYOUT = "other_layout"
    MISSING_FIELD = "missing_field"
    STRAY_FIELD = "stray_field"
    OPTIONAL_FIELD = "optional_field"
    TYPE_DRIFT = "type_drift"
    SAME_PROFILE = "same_profile"
    UNUSED_PERSONA = "unused_persona"
    ONE_SIDED = "one_sided"


# Worded so that no noun follows a number: one sentence fits one and many.
SENTENCES: Final[Mapping[Kind, str]] = {
    Kind.REFUSED: "Faults for which an import would refuse the files: {count:,}.",
    Kind.PAIR_CLASH: "Pair ids that stand for different content: {count:,}.",
    Kind.PERSONA_CLASH: "Persona ids that stand for different profiles: {count:,}.",
    Kind.UNKNOWN_PERSONA: (
        "Personas that pairs name and nothing describes: {count:,} (pairs of theirs: {pairs:,})."
    ),
    Kind.NO_PERSONAS: (
        "There are no personas: profiles, names in texts and overlap could not be checked."
    ),
    Kind.CONTRADICTION: "Pairs that are labelled both ways: {count:,} of {pairs:,} ({which}).",
    Kind.SEVERAL_TIERS: (
        "Pairs that stand with the same label in several tiers: {count:,} of {pairs:,} ({which})."
    ),
    Kind.REPEAT: (
        "Pairs that stand more than once, neither contradicted nor in several tiers: {count:,}"
        " of {pairs:,}."
    ),
    Kind.CHOSEN_AND_REJECTED: (
        "Groups of one persona and query in which a response is chosen in one row and rejected in"
        " another: {count:,} of {groups:,}."
    ),
    Kind.SHARED_CHOICE: (
        "Rows in {tier} whose chosen response is chosen in {other} too, for the same persona and"
        " query: {count:,} of {rows:,} (the other way round: {other_count:,} of {other_rows:,})."
    ),
    Kind.SHARED_QUERY: (
        "Rows in {tier} whose persona and query stand in {other} too: {count:,} of {rows:,}"
        " (the other way round: {other_count:,} of {other_rows:,})."
    ),
    Kind.SAME_RESPONSES: (
        "Pairs whose responses differ in capital letters, spacing or forms of characters only:"
        " {count:,} of {pairs:,}."
    ),
    Kind.ALIKE_RESPONSES: (
        "Pairs whose responses are nearly the same: {count:,} of {pairs:,} (they share"
        " {threshold:.0f} % or more of their character runs)."
    ),
    Kind.REUSED_RESPONSE: (
        "Responses that stand under several queries or personas: {count:,} of {texts:,}."
    ),
    Kind.COMMON_QUERY: (
        "Queries ({query_kind}) that several personas ask, word for word: {count:,} of {texts:,}."
    ),
    Kind.NEAR_QUERIES_WITHIN: (
        "Groups of nearly the same queries of one persona: {count:,} (different texts in them:"
        " {texts:,})."
    ),
    Kind.NEAR_QUERIES_ACROSS: (
        "Groups of nearly the same queries of different personas: {count:,} (different texts in"
        " them: {texts:,})."
    ),
    Kind.NEAR_RESPONSES_WITHIN: (
        "Groups of nearly the same responses to one persona: {count:,} (different texts in them:"
        " {texts:,})."
    ),
    Kind.NEAR_RESPONSES_ACROSS: (
        "Groups of nearly the same responses to different personas: {count:,} (different texts in"
        " them: {texts:,})."
    ),
    Kind.LONGER_WINS: (
        "The longer response is the chosen one in {share:.1f} % of {rows:,} labelled rows (95 %"
        " interval {low:.1f} to {high:.1f}; equally long in {equal:,}; {which})."
    ),
    Kind.OVERLAP_WINS: (
        "The response that shares more character pairs with the persona is the chosen one in"
        " {share:.1f} % of {rows:,} labelled rows (95 % interval {low:.1f} to {high:.1f}; equal in"
        " {equal:,}; {which})."
    ),
    Kind.NAME_IN_QUERY: "Pairs whose query names the persona: {count:,} of {pairs:,}.",
    Kind.NAME_IN_ONE_RESPONSE: (
        "Pairs of which one response names the persona and the other does not: {count:,} of"
        " {pairs:,}."
    ),
    Kind.SOURCE_IN_RESPONSE: (
        "Pairs in which a response names one of the pair's sources: {count:,} of {pairs:,}"
        " ({which})."
    ),
    Kind.MODEL_IN_RESPONSE: (
        "Pairs in which a response names a well-known model or its maker, be it as a topic:"
        " {count:,} of {pairs:,} ({which})."
    ),
    Kind.TELLTALE_PHRASE: (
        "Pairs in which a response speaks of its own making: {count:,} of {pairs:,} ({which})."
    ),
    Kind.MISSPELT_FIELD: "Personas with a misspelt {field}: {count:,} of {personas:,} ({which}).",
    Kind.OTHER_LAYOUT: (
        "Personas with another layout in {field}: {count:,} of {personas:,} ({which})."
    ),
    Kind.MISSING_FIELD: "Personas without {field}: {count:,} of {personas:,}.",
    Kind.STRAY_FIELD: (
        "Personas with stray fields in {field}: {count:,} of {personas:,} ({which})."
    ),
    Kind.OPTIONAL_FIELD: "Personas with the rare field {field}: {count:,} of {personas:,}.",
    Kind.TYPE_DRIFT: (
        "Personas in which {field} is something else than in most: {count:,} of {personas:,}"
        " ({which})."
    ),
    Kind.SAME_PROFILE: "Personas whose profile another id has too: {count:,} of {personas:,}.",
    Kind.UNUSED_PERSONA: "Personas without a pair: {count:,} of {personas:,}.",
    Kind.ONE_SIDED: "Personas in which {field} is {value}: {count:,} of {personas:,}.",
}

_SEVERITIES: Final = tuple(Severity)
_KINDS: Final = tuple(Kind)
_NAMED: Final = 10
_NAME: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found.

    ``numbers`` fill the sentence of the kind, so that a page can word it in another language.
    ``ids`` are those of all pairs (or personas, where it is about profiles) concerned, sorted.
    ``details`` say more about each case; their form depends on the kind.
    """

    kind: Kind
    severity: Severity
    count: int
    numbers: Mapping[str, int | float | str] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    details: tuple[Mapping[str, Any], ...] = ()

    @property
    def sentence(self) -> str:
        return SENTENCES[self.kind].format(count=self.count, **self.numbers)

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "severity": self.severity.value,
            "sentence": self.sentence,
            "count": self.count,
            "numbers": dict(self.numbers),
            "ids": list(self.ids),
            "details": [dict(detail) for detail in self.details],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """Everything that was found in a set, the worst first, and its measures as JSON."""

    source: str
    pairs: int
    rows: int
    personas: int
    findings: tuple[Finding, ...]
    measures: Mapping[str, Any]

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is severity)

    def has(self, severity: Severity) -> bool:
        """Whether there is a finding of this severity or a worse one."""
        worst = _SEVERITIES[: _SEVERITIES.index(severity) + 1]
        return any(finding.severity in worst for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The same for the same set, in whatever order its rows came; without NaN."""
        return {
            "source": self.source,
            "pairs": self.pairs,
            "rows": self.rows,
            "personas": self.personas,
            "findings": [finding.as_json() for finding in self.findings],
            "measures": dict(self.measures),
        }


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By severity, then by kind; findings of one kind stay in the order in which they came."""
    return tuple(
        sorted(findings, key=lambda f: (_SEVERITIES.index(f.severity), _KINDS.index(f.kind)))
    )


def short(name: str) -> str:
    """A name out of a file, cut where it would drown the sentence around it."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def listed(counts: Mapping[str, int]) -> str:
    """Names with their counts, the most frequent first: ``easy + hard 84, hard + medium 83``."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{short(name)} {count:,}" for name, count in ranked[:_NAMED]]
    if len(ranked) > _NAMED:
        words.append(f"{len(ranked) - _NAMED:,} more")
    return ", ".join(words)
