"""Small sets of records, and what a check says of them."""

from __future__ import annotations

from typing import Any

from benchmark.formats import Location, PairRecord, PersonaRecord, Prior, Problem
from benchmark.quality import Finding, Kind, QualityReport, check

Record = PersonaRecord | PairRecord | Problem

WORDS = (
    *("river", "stone", "garden", "window", "market", "bridge", "candle", "forest", "harbour"),
    *("kettle", "ladder", "meadow", "needle", "orchard", "pepper", "quarry", "ribbon", "saddle"),
)


def essay(number: int, *, words: int = 40) -> str:
    """A text that shares little with that of another number."""
    state = 7919 * number + 13
    found = []
    for _ in range(words):
        state = (1_103_515_245 * state + 12_345) % 2**31
        found.append(f"{WORDS[(state >> 8) % len(WORDS)]}{(state >> 16) % 97}")
    return " ".join(found)


def persona(persona_id: str = "ada", body: Any = None) -> PersonaRecord:
    return PersonaRecord(
        persona_id, {"Name": "Ada"} if body is None else body, Location("personas.jsonl", 1)
    )


def prior(tier: str | None, label: Any, origin: str = "") -> Prior:
    return Prior(tier, label, origin or f"general/{tier}")


def pair(number: int, *priors: Prior, line: int | None = None, **changes: Any) -> PairRecord:
    """A pair with texts of its own."""
    fields: dict[str, Any] = {
        "pair_id": f"p{number:03}",
        "persona_id": "ada",
        "query": f"What about {essay(3 * number, words=4)}?",
        "query_kind": "general",
        "response_a": essay(3 * number + 1),
        "response_b": essay(3 * number + 2),
        "source_a": "full",
        "source_b": "none",
        "meta": {},
        "at": Location("pairs.jsonl", number if line is None else line),
    }
    return PairRecord(**fields | changes, priors=priors)


def report(*records: Record, **options: Any) -> QualityReport:
    """The check of a set; a persona is added unless there is one."""
    everything = list(records)
    if not any(isinstance(record, PersonaRecord) for record in everything):
        everything.insert(0, persona())
    return check(lambda: iter(everything), source="set", **options)


def found(result: QualityReport, kind: Kind) -> list[Finding]:
    return [finding for finding in result.findings if finding.kind is kind]


def one(result: QualityReport, kind: Kind) -> Finding:
    """The only finding of its kind."""
    (finding,) = found(result, kind)
    return finding


def kinds(result: QualityReport) -> set[Kind]:
    return {finding.kind for finding in result.findings}
