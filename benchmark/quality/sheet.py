"""The first reading of a set: what each row is, as ids, digests and lengths, without its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from benchmark.formats import Location, PairRecord, PersonaRecord, Problem
from benchmark.formats.checks import is_blank
from benchmark.formats.records import Side
from benchmark.quality import texts
from benchmark.quality.near import Sketches
from benchmark.quality.schema import Schema
from benchmark.quality.texts import Hashes

Record = PersonaRecord | PairRecord | Problem
# Gives the records of a set anew at each call; a set is read twice.
Records = Callable[[], Iterator[Record]]

LISTED_PROBLEMS: Final = 1_000
UNKNOWN: Final = -1
_TIERS: Final = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Item:
    """A pair as it stands in a set; texts are numbers in the sheet's ``queries``, ``responses``."""

    pair_id: str
    persona_id: str
    query: int
    a: int
    b: int
    kind: str
    length_a: int
    length_b: int
    similarity: float  # of the two responses, by their shingles

    @property
    def group(self) -> tuple[str, int]:
        return self.persona_id, self.query

    @property
    def content(self) -> tuple[str, int, int, int]:
        """Persona, query and responses, whichever is A: what makes two pairs the same."""
        return self.persona_id, self.query, min(self.a, self.b), max(self.a, self.b)


class Row(NamedTuple):
    """A pair with one label that it was given; a pair without labels is one row too."""

    item: Item
    tier: str | None
    label: Side | None
    origin: str
    at: Location

    @property
    def chosen(self) -> int:
        """The text that the label names; for rows that have one."""
        return self.item.a if self.label == "A" else self.item.b

    @property
    def rejected(self) -> int:
        return self.item.b if self.label == "A" else self.item.a

    @property
    def place(self) -> str:
        """File and line; for a stored pair, what was kept of them with the label."""
        if self.at.line is None:
            return self.origin or self.at.file
        return f"{self.at.file}:{self.at.line}"


class Texts:
    """Different texts by the order of their first appearance: 16 bytes and a signature each."""

    def __init__(self) -> None:
        self.digests: list[bytes] = []
        self.sketches = Sketches()
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.digests)

    def number(self, normalised: str) -> int:
        """The number of a text, or UNKNOWN."""
        return self._numbers.get(texts.digest(normalised), UNKNOWN)

    def add(self, normalised: str, shingles: Hashes) -> int:
        digest = texts.digest(normalised)
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self.digests)
            self.digests.append(digest)
            self.sketches.add(shingles)
        return number


@dataclass(slots=True)
class Sheet:
    """What the checks need of a set."""

    rows: list[Row] = field(default_factory=list)
    items: dict[tuple[str, str, int, int, int], Item] = field(default_factory=dict)
    queries: Texts = field(default_factory=Texts)
    responses: Texts = field(default_factory=Texts)
    schema: Schema = field(default_factory=Schema)
    # of each persona: its normalised name, "" where its profile has none; and its bigrams
    names: dict[str, str] = field(default_factory=dict)
    bigrams: dict[str, Hashes] = field(default_factory=dict)
    profiles: dict[str, bytes] = field(default_factory=dict)
    pair_clashes: set[str] = field(default_factory=set)
    persona_clashes: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0

    @property
    def pairs(self) -> int:
        """Different pairs, whatever their ids."""
        return len({item.content for item in self.items.values()})

    @property
    def tiers(self) -> list[str]:
        """The tiers that occur: easy, medium, hard, then others by name."""
        found = {row.tier for row in self.rows if row.tier is not None}
        return [tier for tier in _TIERS if tier in found] + sorted(found.difference(_TIERS))

    def item_of(self, pair: PairRecord, query: str, a: str, b: str) -> Item | None:
        """The item of a record whose texts are given normalised, when the set is read again."""
        numbers = self.queries.number(query), self.responses.number(a), self.responses.number(b)
        return self.items.get((pair.pair_id, pair.persona_id, *numbers))


def read(records: Records) -> Sheet:
    """The sheet of a set, in one pass over its records."""
    sheet = Sheet()
    contents: dict[str, bytes] = {}
    for record in records():
        if isinstance(record, Problem):
            sheet.problem_count += 1
            if len(sheet.problems) < LISTED_PROBLEMS:
                sheet.problems.append(record)
        elif isinstance(record, PersonaRecord):
            _add_persona(sheet, record)
        else:
            if contents.setdefault(record.pair_id, record.digest) != record.digest:
                sheet.pair_clashes.add(record.pair_id)
            item = _item(sheet, record)
            if record.priors:
                sheet.rows.extend(
                    Row(item, prior.tier, prior.label, prior.origin, record.at)
                    for prior in record.priors
                )
            else:
                sheet.rows.append(Row(item, None, None, "", record.at))
    return sheet


def _add_persona(sheet: Sheet, persona: PersonaRecord) -> None:
    known = sheet.profiles.get(persona.persona_id)
    if known is not None:
        if known != persona.digest:
            sheet.persona_clashes.add(persona.persona_id)
        return
    sheet.profiles[persona.persona_id] = persona.digest
    body = persona.body if isinstance(persona.body, dict) else {}
    # An id that stands in for the name is none: it may be a mere number.
    has_name = any(k.lower() == "name" and value == persona.name for k, value in body.items())
    sheet.names[persona.persona_id] = texts.normalised(persona.name) if has_name else ""
    text = texts.profile_text(persona.body)
    if not is_blank(text):
        sheet.bigrams[persona.persona_id] = texts.bigrams(texts.normalised(text))
    sheet.schema.add(persona.persona_id, persona.body)


def _item(sheet: Sheet, pair: PairRecord) -> Item:
    query_text = texts.normalised(pair.query)
    first, second = texts.normalised(pair.response_a), texts.normalised(pair.response_b)
    known = sheet.item_of(pair, query_text, first, second)
    if known is not None:
        return known
    one, other = texts.shingles(first), texts.shingles(second)
    query = sheet.queries.add(query_text, texts.shingles(query_text))
    a, b = sheet.responses.add(first, one), sheet.responses.add(second, other)
    item = Item(
        pair_id=pair.pair_id,
        persona_id=pair.persona_id,
        query=query,
        a=a,
        b=b,
        kind=pair.query_kind,
        length_a=len(pair.response_a),
        length_b=len(pair.response_b),
        similarity=texts.jaccard(one, other),
    )
    sheet.items[pair.pair_id, pair.persona_id, query, a, b] = item
    return item
