"""How the profiles of personas differ in their fields, and which values they hold.

The usual layout is what most profiles have: below an object that is usual itself, a key is usual
when more than half of the profiles with that object have it. What departs from it is, in this
order: a misspelling (a rare key in the place of a usual one that is spelt much like it), another
layout (rare keys in the place of usual ones), a missing field, a stray or an optional field. No
name of a field is known beforehand.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final

import numpy as np

from benchmark.formats.checks import kind_of
from benchmark.quality.findings import Finding, Kind, Severity, listed, short

Path = tuple[str, ...]

ALIKE: Final = 0.8  # difflib's ratio from which two keys are spelt much alike
# One key within the other is a shortened name and no misspelling, unless so few letters are extra.
AFFIX: Final = 2
OPTIONAL_SHARE: Final = 0.01
OPTIONAL_COUNT: Final = 5
ONE_SIDED_SHARE: Final = 0.75
ONE_SIDED_PERSONAS: Final = 20

_ELEMENT: Final = "[]"
_ROOT: Final = "the profile"
_SHORT: Final = 40  # characters of a value that may be one of few
_LARGEST: Final = 1e15  # whole numbers up to here are floats without loss
_VALUES: Final = 10_000  # different values that are counted before a field is taken for free text
_JOINER = re.compile(r"[\W_]+")


@dataclass(slots=True)
class _Field:
    """Who has a field, as what, and with which values; people by the order of their arrival."""

    holders: array[int] = field(default_factory=lambda: array("i"))
    types: dict[str, array[int]] = field(default_factory=dict)
    values: Counter[str | float] = field(default_factory=Counter)
    is_free: bool = False  # its values are too long, too large or too many to count

    def has(self, person: int, value: Any) -> None:
        if not self.holders or self.holders[-1] != person:
            self.holders.append(person)
        people = self.types.setdefault(kind_of(value), array("i"))
        if not people or people[-1] != person:
            people.append(person)
        if not self.is_free and isinstance(value, str | int | float):
            self._count(value)

    def _count(self, value: str | float) -> None:
        if isinstance(value, bool):
            value = str(value).lower()
        if isinstance(value, str):
            value = value.strip()
            self.is_free = len(value) > _SHORT
        else:
            self.is_free = abs(value) > _LARGEST
        self.values[value] += 1
        if self.is_free or len(self.values) > _VALUES:
            self.is_free = True
            self.values.clear()


class Schema:
    """The fields of profiles that are added one by one; texts count, and have no fields."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._fields: dict[Path, _Field] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, persona_id: str, body: dict[str, Any] | str) -> None:
        """Adds a profile; each id once."""
        person = len(self._ids)
        self._ids.append(persona_id)
        stack: list[tuple[Path, Any]] = [((), body)]
        while stack:
            path, value = stack.pop()
            self._fields.setdefault(path, _Field()).has(person, value)
            if isinstance(value, dict):
                stack.extend(((*path, key), child) for key, child in value.items())
            elif isinstance(value, list):
                stack.extend(((*path, _ELEMENT), child) for child in value)

    def findings(self) -> Iterator[Finding]:
        children: dict[Path, list[str]] = {}
        for path in self._fields:
            if path and path[-1] != _ELEMENT:
                children.setdefault(path[:-1], []).append(path[-1])
        usual: list[Path] = [()]
        while usual:
            path = usual.pop(0)
            if path not in self._fields:
                continue
            yield from self._drift(path)
            layout = _Layout(
                set(self._fields[path].types.get("an object", ())),
                {key: set(self._fields[*path, key].holders) for key in children.get(path, ())},
            )
            yield from self._layout_findings(path, layout)
            usual += [(*path, key) for key in sorted(layout.usual)]

    def _layout_findings(self, path: Path, layout: _Layout) -> Iterator[Finding]:
        for key, spellings in sorted(layout.misspelt.items()):
            everyone = set[int]().union(*spellings.values())
            yield self._finding(
                Kind.MISSPELT_FIELD,
                Severity.WARNING,
                everyone,
                field=_named((*path, key)),
                which=listed({spelling: len(people) for spelling, people in spellings.items()}),
                details=[
                    {"spelling": spelling, "count": len(people), "ids": self._names(people)}
                    for spelling, people in sorted(spellings.items())
                ],
            )
        if layout.others:
            names = {
                f"{' + '.join(instead)} for {' + '.join(missing)}": people
                for (missing, instead), people in layout.others.items()
            }
            yield self._finding(
                Kind.OTHER_LAYOUT,
                Severity.WARNING,
                set[int]().union(*layout.others.values()),
                field=_named(path),
                which=listed({name: len(people) for name, people in names.items()}),
                details=[
                    {
                        "missing": list(missing),
                        "instead": list(instead),
                        "count": len(people),
                        "ids": self._names(people),
                    }
                    for (missing, instead), people in sorted(layout.others.items())
                ],
            )
        for key, people in sorted(layout.missing.items()):
            yield self._finding(
                Kind.MISSING_FIELD, Severity.WARNING, people, field=_named((*path, key))
            )
        optional = {
            key: people
            for key, people in layout.strays.items()
            if len(people) >= max(OPTIONAL_COUNT, OPTIONAL_SHARE * len(layout.people))
        }
        for key, people in sorted(optional.items()):
            yield self._finding(
                Kind.OPTIONAL_FIELD, Severity.NOTICE, people, field=_named((*path, key))
            )
            yield from self._drift((*path, key))
        strays = {key: people for key, people in layout.strays.items() if key not in optional}
        if strays:
            yield self._finding(
                Kind.STRAY_FIELD,
                Severity.WARNING,
                set[int]().union(*strays.values()),
                field=_named(path),
                which=listed({key: len(people) for key, people in strays.items()}),
                details=[
                    {"field": key, "count": len(people), "ids": self._names(people)}
                    for key, people in sorted(strays.items())
                ],
            )

    def _drift(self, path: Path) -> Iterator[Finding]:
        """A field, or the elements of a list, that are of different types."""
        for place in (path, (*path, _ELEMENT)):
            types = self._fields[place].types if place in self._fields else {}
            if len(types) < 2:
                continue
            counts = {name: len(people) for name, people in types.items()}
            most = min(types, key=lambda name: (-counts[name], name))
            others = {name: set(people) for name, people in types.items() if name != most}
            yield self._finding(
                Kind.TYPE_DRIFT,
                Severity.WARNING,
                set[int]().union(*others.values()),
                field=_named(place),
                which=listed(counts),
                details=[
                    {"type": name, "count": len(people), "ids": self._names(people)}
                    for name, people in sorted(others.items())
                ],
            )

    def _finding(
        self,
        kind: Kind,
        severity: Severity,
        people: set[int],
        *,
        field: str,
        details: list[dict[str, Any]] | None = None,
        **numbers: str,
    ) -> Finding:
        return Finding(
            kind=kind,
            severity=severity,
            count=len(people),
            numbers={"personas": len(self), "field": short(field), **numbers},
            ids=tuple(self._names(people)),
            details=tuple(details or ()),
        )

    def _names(self, people: set[int]) -> list[str]:
        return sorted(self._ids[person] for person in people)

    def distributions(self) -> dict[str, Any]:
        """Fields that hold numbers or one of few short texts, by path.

        Numbers give ``{"n", "min", "q1", "median", "q3", "max"}``; texts ``{"n", "distinct",
        "values"}``, where more than a tenth of the profiles would be too many different ones.
        """
        found: dict[str, Any] = {}
        for path, each in sorted(self._fields.items()):
            if not path or each.is_free or 2 * len(each.holders) <= len(self) or not each.values:
                continue
            if all(isinstance(value, int | float) for value in each.values):
                found[_named(path)] = _quantiles(each.values)
            elif len(each.values) <= min(1 + len(each.holders) // 10, len(each.holders) // 2):
                values = Counter[str]()
                for value, count in each.values.items():
                    values[str(value)] += count
                ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
                found[_named(path)] = {
                    "n": values.total(),
                    "distinct": len(values),
                    "values": dict(ranked),
                }
        return found

    def one_sided(self) -> Iterator[Finding]:
        """Fields in which one value of several prevails."""
        for name, found in self.distributions().items():
            if "values" not in found or name.endswith(_ELEMENT):
                continue
            if found["n"] < ONE_SIDED_PERSONAS or found["distinct"] < 2:
                continue
            value, count = next(iter(found["values"].items()))
            if count >= ONE_SIDED_SHARE * found["n"]:
                numbers = {"field": short(name), "value": value, "personas": found["n"]}
                yield Finding(
                    kind=Kind.ONE_SIDED, severity=Severity.NOTICE, count=count, numbers=numbers
                )


class _Layout:
    """The keys of one object, sorted into usual ones and departures from them.

    ``people`` have the object, ``keys`` tells who has which key.
    """

    def __init__(self, people: set[int], keys: dict[str, set[int]]) -> None:
        self.people = people
        self.usual = {key for key, having in keys.items() if 2 * len(having) > len(people)}
        rare = {key: set(having) for key, having in keys.items() if key not in self.usual}
        # of each usual key, who lacks it for no reason that is known yet
        lacking = {key: people - keys[key] for key in self.usual}
        self.misspelt = self._take_misspelt(rare, lacking)
        lacks = {person for having in lacking.values() for person in having}
        # A rare key takes a usual one's place if most who have it lack a usual one.
        instead = {key for key, having in rare.items() if 2 * len(having & lacks) > len(having)}
        self.others: dict[tuple[Path, Path], set[int]] = {}
        for person in sorted(lacks & {p for key in instead for p in rare[key]}):
            signature = (
                tuple(sorted(key for key, having in lacking.items() if person in having)),
                tuple(sorted(key for key in instead if person in rare[key])),
            )
            self.others.setdefault(signature, set()).add(person)
        explained = {person for having in self.others.values() for person in having}
        self.missing = {
            key: left for key, having in lacking.items() if (left := having - explained)
        }
        self.strays = {
            key: left
            for key, having in rare.items()
            if (left := having - explained if key in instead else having)
        }

    def _take_misspelt(
        self, rare: dict[str, set[int]], lacking: dict[str, set[int]]
    ) -> dict[str, dict[str, set[int]]]:
        """Usual key to its spellings and their people, who are taken out of both arguments."""
        found: dict[str, dict[str, set[int]]] = {}
        for spelling in sorted(rare):
            near = {key: ratio for key in self.usual if (ratio := likeness(spelling, key)) >= ALIKE}
            for key in sorted(near, key=lambda key: (-near[key], key)):
                people = rare[spelling] & lacking[key]
                if people:
                    found.setdefault(key, {})[spelling] = people
                    rare[spelling] -= people
                    lacking[key] -= people
        return found


def likeness(spelling: str, key: str) -> float:
    """How much alike two keys are spelt, 0 to 1; capitals and separators make no difference."""
    one, other = (_JOINER.sub("", text).casefold() for text in (spelling, key))
    if one == other:
        return 1.0
    if abs(len(one) - len(other)) > AFFIX and (one in other or other in one):
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _named(path: Path) -> str:
    return ".".join(path).replace(f".{_ELEMENT}", _ELEMENT) or _ROOT


def _quantiles(values: Counter[str | float]) -> dict[str, Any]:
    numbers = np.repeat([float(value) for value in values], [values[value] for value in values])
    q = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]).tolist()
    names = ("min", "q1", "median", "q3", "max")
    return {"n": len(numbers), **dict(zip(names, q, strict=True))}
