"""Tables of votes."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

from benchmark.formats.checks import ID_LIMIT, Flaw, kind_of, text_of
from benchmark.formats.jsontext import BadJsonError, parse_json
from benchmark.formats.records import Choice, Location, Side, VoteRecord
from benchmark.formats.rows import Layout, Row

CHOICES = ("A", "B", "tie", "skip")
CONFIDENCES = (1, 2, 3)
REASONS_LIMIT = 20
REASON_LIMIT = 40  # characters
_BOOLEANS = {"true": True, "false": False, "": None}  # in cells of a text format

VOTES = Layout(
    name="votes",
    required=("pair_id", "rater", "criterion", "choice"),
    text=frozenset(("pair_id", "rater", "criterion", "choice", "shown_left", "reason", "comment")),
    other=frozenset({"seconds", "active_seconds", "at", "confidence", "reasons", "simulated"}),
)


def vote_row(row: Row, at: Location, flaws: list[Flaw]) -> Iterator[VoteRecord]:
    """A row of a votes file. Columns that votes do not have are not looked at."""
    values = row.values
    pair_id = text_of(values, "pair_id", flaws, limit=ID_LIMIT)
    rater = text_of(values, "rater", flaws, limit=ID_LIMIT)
    criterion = text_of(values, "criterion", flaws, limit=ID_LIMIT)
    choice = text_of(values, "choice", flaws)
    if choice not in CHOICES and choice and not choice.isspace():
        flaws.append(Flaw("choice", "must be exactly A, B, tie or skip"))
    shown_left = text_of(values, "shown_left", flaws, required=False)
    if shown_left not in ("A", "B", ""):
        flaws.append(Flaw("shown_left", "must be A, B or empty"))
    seconds = _seconds(row, "seconds", flaws)
    active_seconds = _seconds(row, "active_seconds", flaws)
    moment = _moment(text_of(values, "at", flaws, required=False), flaws)
    reason = text_of(values, "reason", flaws, required=False)
    comment = text_of(values, "comment", flaws, required=False)
    confidence = _confidence(row, flaws)
    reasons = _reasons(row, flaws)
    simulated = _simulated(values.get("simulated"), flaws, as_text=row.as_text)
    if flaws:
        return
    yield VoteRecord(
        pair_id=pair_id,
        rater=rater,
        criterion=criterion,
        choice=cast(Choice, choice),
        shown_left=cast(Side, shown_left) or None,
        seconds=seconds,
        submitted_at=moment,
        reason=reason,
        comment=comment,
        at=at,
        simulated=simulated,
        active_seconds=active_seconds,
        confidence=confidence,
        reasons=reasons,
    )


def _number(row: Row, name: str, flaws: list[Flaw]) -> float | None:
    """NaN for a text that is no number and for one that is too large."""
    value = row.values.get(name)
    if value is None or (row.as_text and value == ""):
        return None
    if isinstance(value, bool) or not (
        isinstance(value, int | float) or (row.as_text and isinstance(value, str))
    ):
        flaws.append(Flaw(name, f"must be a number, not {kind_of(value)}"))
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _seconds(row: Row, name: str, flaws: list[Flaw]) -> float | None:
    seconds = _number(row, name, flaws)
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        flaws.append(Flaw(name, "must be a number of at least 0"))
        return None
    return seconds


def _confidence(row: Row, flaws: list[Flaw]) -> int | None:
    confidence = _number(row, "confidence", flaws)
    if confidence is None:
        return None
    if confidence not in CONFIDENCES:
        flaws.append(Flaw("confidence", "must be 1, 2 or 3"))
        return None
    return int(confidence)


def _reasons(row: Row, flaws: list[Flaw]) -> tuple[str, ...]:
    """A list of short texts; in a cell of a text format its JSON."""
    value = row.values.get("reasons")
    if value is None or (row.as_text and value == ""):
        return ()
    if row.as_text and isinstance(value, str):
        try:
            value, found = parse_json(value)
        except BadJsonError as error:
            flaws.append(Flaw("reasons", f"must be a list as JSON: {error.reason}"))
            return ()
        if found:
            flaws.extend(Flaw(f"reasons{flaw.field or ''}", flaw.reason) for flaw in found)
            return ()
    if not isinstance(value, list):
        flaws.append(Flaw("reasons", f"must be a list, not {kind_of(value)}"))
        return ()
    if len(value) > REASONS_LIMIT:
        flaws.append(Flaw("reasons", f"has more than {REASONS_LIMIT} items ({len(value):,})"))
        return ()
    named = {f"reasons[{index}]": reason for index, reason in enumerate(value)}
    return tuple(text_of(named, name, flaws, limit=REASON_LIMIT) for name in named)


def _simulated(value: Any, flaws: list[Flaw], *, as_text: bool) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if as_text and isinstance(value, str) and value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    flaws.append(Flaw("simulated", "must be true or false"))
    return None


def _moment(text: str, flaws: list[Flaw]) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            flaws.append(Flaw("at", "has no time zone; write for example 2026-01-31T12:00:00Z"))
            return None
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        flaws.append(Flaw("at", "must be a date and time of ISO 8601 with a zone"))
        return None
