"""What files hold, as plain values: personas, pairs, votes, and what is wrong with a file."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from benchmark.formats.canonical import canonical_digest
from benchmark.formats.checks import is_blank

Side = Literal["A", "B"]
Choice = Literal["A", "B", "tie", "skip"]
QueryKind = Literal["specific", "general", ""]


@dataclass(frozen=True, slots=True)
class Location:
    """Where a record stands.

    `file` begins with the last part of the path that was given. `line` is the physical line where
    the record begins, counted from 1 (in Parquet the row), or None where the file is the record.
    """

    file: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file; `line` and `field` are None where they do not apply."""

    file: str
    line: int | None
    field: str | None
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return (
            f"{place}: {self.reason}"
            if self.field is None
            else f"{place}: {self.field}: {self.reason}"
        )

    def as_json(self) -> dict[str, str | int | None]:
        return {"file": self.file, "line": self.line, "field": self.field, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Prior:
    """What was published of a pair before: its tier, the preferred response, and where it stood."""

    tier: str | None
    label: Side | None
    origin: str

    def as_row(self) -> dict[str, str | None]:
        return {"tier": self.tier, "label": self.label, "origin": self.origin}


@dataclass(frozen=True, slots=True)
class PersonaRecord:
    """A persona as it was given: a JSON object or a text."""

    persona_id: str
    body: dict[str, Any] | str
    at: Location

    @property
    def name(self) -> str:
        """The profile's `Name` (in any case), or the persona's id where it has none."""
        body = self.body if isinstance(self.body, dict) else {}
        name = next((value for key, value in body.items() if key.lower() == "name"), None)
        return name if isinstance(name, str) and not is_blank(name) else self.persona_id

    @property
    def digest(self) -> bytes:
        """SHA-256 of the body alone: equal for two ids with the same profile."""
        return canonical_digest(self.body)

    def as_row(self) -> dict[str, Any]:
        """A row of `personas/*.jsonl` of a release."""
        return {"persona_id": self.persona_id, "persona": self.body}


@dataclass(frozen=True, slots=True)
class PairRecord:
    """A persona's id, a query and two responses, with what else the file said about them."""

    pair_id: str
    persona_id: str
    query: str
    query_kind: QueryKind
    response_a: str
    response_b: str
    source_a: str
    source_b: str
    priors: tuple[Prior, ...]
    meta: dict[str, Any]
    at: Location

    @property
    def digest(self) -> bytes:
        """SHA-256 of the content. Id, priors, meta and place are not part of it."""
        return canonical_digest(
            {
                "persona_id": self.persona_id,
                "query": self.query,
                "query_kind": self.query_kind,
                "response_a": self.response_a,
                "response_b": self.response_b,
                "source_a": self.source_a,
                "source_b": self.source_b,
            }
        )

    def as_row(self) -> dict[str, Any]:
        """A row of `pairs/*.jsonl` of a release."""
        return {
            "pair_id": self.pair_id,
            "persona_id": self.persona_id,
            "query": self.query,
            "query_kind": self.query_kind,
            "response_a": self.response_a,
            "response_b": self.response_b,
            "source_a": self.source_a,
            "source_b": self.source_b,
            "priors": [prior.as_row() for prior in self.priors],
            "meta": self.meta,
        }


@dataclass(frozen=True, slots=True)
class VoteRecord:
    """One rater's choice on one pair by one criterion. `seconds` >= 0; `submitted_at` in UTC.

    `active_seconds` >= 0, `confidence` (1 to 3) and `reasons` are of the whole judgement, as
    `seconds` and `comment` are. `simulated` says that the rater is a noise model; None where the
    file does not tell.
    """

    pair_id: str
    rater: str
    criterion: str
    choice: Choice
    shown_left: Side | None
    seconds: float | None
    submitted_at: datetime | None
    reason: str
    comment: str
    at: Location
    simulated: bool | None = None
    active_seconds: float | None = None
    confidence: int | None = None
    reasons: tuple[str, ...] = ()

    def as_row(self) -> dict[str, Any]:
        """A row of `votes/*.jsonl` of a release."""
        moment = self.submitted_at
        return {
            "pair_id": self.pair_id,
            "rater": self.rater,
            "criterion": self.criterion,
            "choice": self.choice,
            "shown_left": self.shown_left,
            "seconds": self.seconds,
            "active_seconds": self.active_seconds,
            "at": None if moment is None else moment.isoformat().replace("+00:00", "Z"),
            "reason": self.reason,
            "comment": self.comment,
            "confidence": self.confidence,
            "reasons": list(self.reasons),
            "simulated": self.simulated,
        }
