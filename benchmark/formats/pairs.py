"""Tables of pairs and of personas in the generic layout, which releases share."""

import hashlib
import marshal
from collections.abc import Iterator
from typing import Any, cast

from benchmark.formats.canonical import canonical_digest, canonical_text
from benchmark.formats.checks import ID_LIMIT, TEXT_LIMIT, Flaw, is_blank, kind_of, text_of
from benchmark.formats.jsontext import BadJsonError, parse_json
from benchmark.formats.records import Location, PairRecord, PersonaRecord, Prior, QueryKind, Side
from benchmark.formats.rows import Layout, Row

QUERY_KINDS = ("specific", "general", "")

PAIRS = Layout(
    name="pairs",
    required=("pair_id", "persona_id", "query", "response_a", "response_b"),
    text=frozenset(
        (
            *("pair_id", "persona_id", "query", "query_kind"),
            *("response_a", "response_b", "source_a", "source_b"),
        )
    ),
    other=frozenset({"persona"}),
    keeps_unknown=True,
)
# A column named priors is what tells a release's rows, with their own meta, from anybody else's.
RELEASE_PAIRS = Layout(
    name="pairs of a release",
    required=(*PAIRS.required, "priors"),
    text=PAIRS.text,
    other=PAIRS.other | {"priors", "meta"},
    keeps_unknown=True,
)
PERSONAS = Layout(
    name="personas",
    required=("persona_id", "persona"),
    text=frozenset({"persona_id"}),
    other=frozenset({"persona"}),
)


class PairReader:
    """Turns rows into records; remembers 16 bytes of each inline persona, to give each once."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._seen_forms: set[bytes] = set()

    def generic(
        self, row: Row, at: Location, flaws: list[Flaw]
    ) -> Iterator[PersonaRecord | PairRecord]:
        return self._records(row, at, flaws, PAIRS)

    def release(
        self, row: Row, at: Location, flaws: list[Flaw]
    ) -> Iterator[PersonaRecord | PairRecord]:
        return self._records(row, at, flaws, RELEASE_PAIRS)

    def _records(
        self, row: Row, at: Location, flaws: list[Flaw], layout: Layout
    ) -> Iterator[PersonaRecord | PairRecord]:
        values = row.values
        pair_id = text_of(values, "pair_id", flaws, limit=ID_LIMIT)
        persona_id = text_of(values, "persona_id", flaws, limit=ID_LIMIT)
        query = text_of(values, "query", flaws)
        kind = text_of(values, "query_kind", flaws, required=False)
        if kind not in QUERY_KINDS:
            flaws.append(Flaw("query_kind", "must be specific, general or empty"))
        response_a, response_b = responses_of(values, "response_a", "response_b", flaws)
        source_a = text_of(values, "source_a", flaws, limit=ID_LIMIT, required=False)
        source_b = text_of(values, "source_b", flaws, limit=ID_LIMIT, required=False)
        known = layout.known
        meta = {name: value for name, value in values.items() if name not in known}
        priors: tuple[Prior, ...] = ()
        if layout is RELEASE_PAIRS:
            priors = _priors(row, flaws)
            meta = {**_own_meta(row, flaws), **meta}
        persona = values.get("persona")
        body = None
        if persona is not None and not (row.as_text and persona == ""):
            body = persona_body(persona, flaws, as_text=row.as_text)
        is_new = body is not None and not flaws and self._is_new(persona_id, body, flaws)
        if flaws:
            return
        if body is not None and is_new:
            yield PersonaRecord(persona_id, body, at)
        yield PairRecord(
            pair_id=pair_id,
            persona_id=persona_id,
            query=query,
            query_kind=cast(QueryKind, kind),
            response_a=response_a,
            response_b=response_b,
            source_a=source_a,
            source_b=source_b,
            priors=priors,
            meta=meta,
            at=at,
        )

    def _is_new(self, persona_id: str, body: dict[str, Any] | str, flaws: list[Flaw]) -> bool:
        # Most rows repeat a persona in the same form, which marshal (whose version 2 depends on the
        # value alone) tells in a third of the time that canonical JSON takes.
        form = hashlib.sha256(marshal.dumps((persona_id, body), 2)).digest()[:16]
        if form in self._seen_forms:
            return False
        check_length(body, flaws)
        if flaws:
            return False
        self._seen_forms.add(form)
        key = canonical_digest([persona_id, body])[:16]
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def persona_row(row: Row, at: Location, flaws: list[Flaw]) -> Iterator[PersonaRecord]:
    """A row of a personas file."""
    persona_id = text_of(row.values, "persona_id", flaws, limit=ID_LIMIT)
    body = persona_body(row.values.get("persona"), flaws, as_text=row.as_text)
    if body is not None:
        yield from checked_persona(PersonaRecord(persona_id, body, at), flaws)


def checked_persona(persona: PersonaRecord, flaws: list[Flaw]) -> Iterator[PersonaRecord]:
    """The persona, unless it has flaws or is too long."""
    if not flaws:
        check_length(persona.body, flaws)
    if not flaws:
        yield persona


def responses_of(
    values: dict[str, Any], first: str, second: str, flaws: list[Flaw]
) -> tuple[str, str]:
    """Two texts that must differ."""
    one = text_of(values, first, flaws)
    two = text_of(values, second, flaws)
    if one.split() == two.split() and not is_blank(one):
        same = "is identical to" if one == two else "differs in white space only from"
        flaws.append(Flaw(second, f"{same} {first}"))
    return one, two


def persona_body(
    value: Any, flaws: list[Flaw], *, as_text: bool = False
) -> dict[str, Any] | str | None:
    """A persona's object or text, or None and an entry in `flaws`.

    With `as_text`, a text that begins with a brace is read as JSON, and null members of an object
    are left out: a Parquet column gives every object the members of all.
    """
    if as_text and isinstance(value, str) and value.lstrip().startswith("{"):
        value = _embedded(value, "persona", flaws)
    elif as_text and isinstance(value, dict):
        value = _without_nulls(value)
    if isinstance(value, str):
        return text_of({"persona": value}, "persona", flaws)
    if not isinstance(value, dict):
        found = (
            "is missing" if value is None else f"must be an object or text, not {kind_of(value)}"
        )
        flaws.append(Flaw("persona", found))
        return None
    if not value:
        flaws.append(Flaw("persona", "is empty"))
    return value


def check_length(body: dict[str, Any] | str, flaws: list[Flaw]) -> None:
    """Adds a flaw for an object whose JSON is too long; texts are measured where they are read."""
    if isinstance(body, dict) and (length := len(canonical_text(body))) > TEXT_LIMIT:
        reason = f"is longer than {TEXT_LIMIT:,} characters as JSON ({length:,})"
        flaws.append(Flaw("persona", reason))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(child) for name, child in value.items() if child is not None}
    return [_without_nulls(child) for child in value] if isinstance(value, list) else value


def _embedded(text: str, field: str, flaws: list[Flaw]) -> Any:
    """The value of a cell that holds JSON; None and an entry in `flaws` where it does not."""
    try:
        value, found = parse_json(text)
    except BadJsonError as error:
        inner = f" in {error.field}" if error.field else ""
        flaws.append(Flaw(field, f"{error.reason}{inner}"))
        return None
    flaws.extend(Flaw(f"{field}.{flaw.field}", flaw.reason) for flaw in found)
    return value


def _cell(row: Row, name: str, flaws: list[Flaw]) -> Any:
    value = row.values.get(name)
    if row.as_text and isinstance(value, str):
        return _embedded(value, name, flaws) if value else None
    return value


def _own_meta(row: Row, flaws: list[Flaw]) -> dict[str, Any]:
    value = _cell(row, "meta", flaws)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    flaws.append(Flaw("meta", f"must be an object, not {kind_of(value)}"))
    return {}


def _priors(row: Row, flaws: list[Flaw]) -> tuple[Prior, ...]:
    value = _cell(row, "priors", flaws)
    if value is None:
        return ()
    if not isinstance(value, list):
        flaws.append(Flaw("priors", f"must be a list, not {kind_of(value)}"))
        return ()
    return tuple(_prior(item, f"priors[{i}]", flaws) for i, item in enumerate(value))


def _prior(value: Any, field: str, flaws: list[Flaw]) -> Prior:
    if not isinstance(value, dict):
        flaws.append(Flaw(field, f"must be an object, not {kind_of(value)}"))
        return Prior(None, None, "")
    found: list[Flaw] = []
    tier = text_of(value, "tier", found, limit=ID_LIMIT, required=False)
    label = text_of(value, "label", found, limit=ID_LIMIT, required=False)
    origin = text_of(value, "origin", found, limit=ID_LIMIT, required=False)
    if label not in ("A", "B", ""):
        found.append(Flaw("label", "must be A, B or null"))
    flaws.extend(Flaw(f"{field}.{flaw.field}", flaw.reason) for flaw in found)
    return Prior(tier or None, cast(Side, label) or None, origin)
