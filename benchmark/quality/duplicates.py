"""Queries and responses that are nearly the same, within a persona and across personas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from benchmark.quality.findings import Finding, Kind, Severity
from benchmark.quality.leaks import Scan
from benchmark.quality.near import THRESHOLD, components
from benchmark.quality.sheet import Item, Sheet, Texts
from benchmark.quality.texts import jaccard

Link = tuple[int, int]


def candidates(known: Texts) -> list[Link]:
    """Pairs of texts to compare; the same whatever the order of the rows."""
    order = sorted(range(len(known)), key=known.digests.__getitem__)
    return list(known.sketches.candidates(order))


def digests(known: Texts, links: Iterable[Link]) -> set[bytes]:
    """Of the texts that links join."""
    return {known.digests[number] for link in links for number in link}


def near_duplicates(
    sheet: Sheet, found: Scan, *, queries: list[Link], responses: list[Link]
) -> Iterator[Finding]:
    """Findings from candidates whose texts the second reading has brought."""
    alike = [item for item in sheet.items.values() if THRESHOLD <= item.similarity < 1]
    if alike:
        yield Finding(
            kind=Kind.ALIKE_RESPONSES,
            severity=Severity.WARNING,
            count=len({item.content for item in alike}),
            numbers={"pairs": sheet.pairs, "threshold": 100 * THRESHOLD},
            ids=tuple(sorted({item.pair_id for item in alike})),
        )
    asked: dict[int, list[Item]] = defaultdict(list)
    given: dict[int, list[Item]] = defaultdict(list)
    for item in sheet.items.values():
        asked[item.query].append(item)
        for response in {item.a, item.b}:
            given[response].append(item)
    for known, links, items, within, across in (
        (sheet.queries, queries, asked, Kind.NEAR_QUERIES_WITHIN, Kind.NEAR_QUERIES_ACROSS),
        (
            *(sheet.responses, responses, given),
            *(Kind.NEAR_RESPONSES_WITHIN, Kind.NEAR_RESPONSES_ACROSS),
        ),
    ):
        near = _near(known, links, found)
        personas = {
            number: {item.persona_id for item in items[number]} for link in near for number in link
        }
        inside = {link for link in near if personas[link[0]] & personas[link[1]]}
        for kind, severity, chosen in (
            (within, Severity.WARNING, inside),
            (across, Severity.NOTICE, near.keys() - inside),
        ):
            if chosen:
                yield _finding(kind, severity, known, {k: near[k] for k in chosen}, items, found)


def _near(known: Texts, links: list[Link], found: Scan) -> dict[Link, float]:
    """The links that hold, with their similarity."""
    near: dict[Link, float] = {}
    for one, other in links:
        first = found.shingles.get(known.digests[one])
        second = found.shingles.get(known.digests[other])
        if first is None or second is None:
            continue
        similarity = jaccard(first, second)
        if similarity >= THRESHOLD:
            near[one, other] = similarity
    return near


def _finding(
    kind: Kind,
    severity: Severity,
    known: Texts,
    near: dict[Link, float],
    items: dict[int, list[Item]],
    found: Scan,
) -> Finding:
    groups = components(near)
    group_of = {number: place for place, group in enumerate(groups) for number in group}
    least = [1.0] * len(groups)
    links = [0] * len(groups)
    for (one, _), similarity in near.items():
        place = group_of[one]
        least[place] = min(least[place], similarity)
        links[place] += 1
    details: list[dict[str, Any]] = [
        {
            "texts": sorted(found.excerpts[known.digests[number]] for number in group),
            "ids": sorted({item.pair_id for number in group for item in items[number]}),
            "personas": sorted({item.persona_id for number in group for item in items[number]}),
            "links": links[place],
            "least_similarity": round(least[place], 4),
        }
        for place, group in enumerate(groups)
    ]
    return Finding(
        kind=kind,
        severity=severity,
        count=len(groups),
        numbers={"texts": len(group_of), "links": len(near)},
        ids=tuple(sorted({pair_id for detail in details for pair_id in detail["ids"]})),
        details=tuple(sorted(details, key=lambda detail: (detail["ids"], detail["texts"]))),
    )
