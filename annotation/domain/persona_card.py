"""A persona's profile laid out for reading: facts first, then sections.

Profiles follow the PersonaFeedback schema more or less: keys are misspelt, missing or new, and some
profiles are plain text. Nothing is dropped: what is not known is shown under its own key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# What a profile of the schema consists of.
_SECTIONS = {"Demographics", "Personality", "Preference", "Bias"}
# In a profile without these: a text up to this length is a fact, a longer one a section.
FACT_LIMIT = 60


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of the profile (empty for the items of a plain list) and its texts."""

    key: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    key: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class PersonaCard:
    """`facts` are short and stand in one block; `text` is set instead for a plain-text persona."""

    name: str
    facts: tuple[Entry, ...] = ()
    sections: tuple[Section, ...] = field(default=())
    text: str = ""

    @property
    def all_text(self) -> str:
        """Everything in it, for telling the language."""
        entries = [*self.facts, *(entry for part in self.sections for entry in part.entries)]
        return " ".join([self.text, *(text for entry in entries for text in entry.texts)])


def persona_card(*, name: str, body: Mapping[str, Any] | str) -> PersonaCard:
    if isinstance(body, str):
        return PersonaCard(name=name, text=body)
    is_plain = not _SECTIONS & body.keys()
    facts: list[Entry] = []
    sections: list[Section] = []
    for key, value in body.items():
        if key.lower() == "name" and value == name:
            continue
        if key == "Demographics" and isinstance(value, Mapping):
            facts.extend(_entries(value))
        elif isinstance(value, Mapping):
            # Two levels deep, a section of a section becomes a section beside it.
            flat = {k: v for k, v in value.items() if not isinstance(v, Mapping)}
            if flat:
                sections.append(Section(key, _entries(flat)))
            sections.extend(
                Section(inner, _entries(entries))
                for inner, entries in value.items()
                if isinstance(entries, Mapping)
            )
        elif is_plain and (
            isinstance(value, int | float) or (isinstance(value, str) and len(value) <= FACT_LIMIT)
        ):
            facts.append(Entry(key, _texts(value)))
        else:
            sections.append(Section(key, (Entry("", _texts(value)),)))
    return PersonaCard(
        name=name,
        facts=tuple(fact for fact in facts if fact.texts),
        sections=tuple(section for section in sections if any(e.texts for e in section.entries)),
    )


def _entries(values: Mapping[str, Any]) -> tuple[Entry, ...]:
    return tuple(Entry(key, texts) for key, value in values.items() if (texts := _texts(value)))


def _texts(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, list):
        return tuple(text for item in value for text in _texts(item))
    if isinstance(value, Mapping):
        return tuple(
            f"{key.replace('_', ' ')}: {text}"
            for key, item in value.items()
            for text in _texts(item)
        )
    return (str(value),)
