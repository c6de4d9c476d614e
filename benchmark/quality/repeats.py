"""The same pair, query or response in more than one place, and what its labels say there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from benchmark.quality.findings import Finding, Kind, Severity, listed
from benchmark.quality.sheet import Item, Row, Sheet


def repeats(sheet: Sheet) -> Iterator[Finding]:
    """Pairs that stand more than once: labelled both ways, in several tiers, or merely again."""
    by_content: dict[tuple[str, int, int, int], list[Row]] = defaultdict(list)
    for row in sheet.rows:
        by_content[row.item.content].append(row)
    found: dict[Kind, list[list[Row]]] = defaultdict(list)
    for rows in by_content.values():
        chosen = {row.chosen for row in rows if row.label is not None}
        tiers = {row.tier for row in rows if row.tier is not None}
        if len(chosen) > 1:
            found[Kind.CONTRADICTION].append(rows)
        elif len(tiers) > 1:
            found[Kind.SEVERAL_TIERS].append(rows)
        elif len(rows) > 1:
            found[Kind.REPEAT].append(rows)
    order = sheet.tiers
    for kind, severity in (
        (Kind.CONTRADICTION, Severity.ERROR),
        (Kind.SEVERAL_TIERS, Severity.ERROR),
        (Kind.REPEAT, Severity.WARNING),
    ):
        if cases := found[kind]:
            numbers: dict[str, int | str] = {"pairs": sheet.pairs}
            if kind is not Kind.REPEAT:
                numbers["which"] = listed(Counter(_tiers_of(rows, order) for rows in cases))
            yield Finding(
                kind=kind,
                severity=severity,
                count=len(cases),
                numbers=numbers,
                ids=_ids(row.item for rows in cases for row in rows),
                details=_sorted(
                    {
                        "ids": list(_ids(row.item for row in rows)),
                        "tiers": _tiers_of(rows, order),
                        "places": sorted({row.place for row in rows}),
                    }
                    for rows in cases
                ),
            )


def _tiers_of(rows: list[Row], order: list[str]) -> str:
    found = {row.tier for row in rows}
    return " + ".join(tier for tier in order if tier in found) or "no tier"


def chosen_and_rejected(sheet: Sheet) -> Iterator[Finding]:
    """Groups of one persona and query in which a response wins here and loses there."""
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in sheet.rows:
        groups[row.item.group].append(row)
    cases: list[list[Row]] = []
    for rows in groups.values():
        labelled = [row for row in rows if row.label is not None]
        both = {row.chosen for row in labelled} & {row.rejected for row in labelled}
        if both:
            cases.append([r for r in labelled if both & {r.chosen, r.rejected}])
    if cases:
        yield Finding(
            kind=Kind.CHOSEN_AND_REJECTED,
            severity=Severity.WARNING,
            count=len(cases),
            numbers={"groups": len(groups)},
            ids=_ids(row.item for rows in cases for row in rows),
            details=_sorted(
                {
                    "persona": rows[0].item.persona_id,
                    "ids": list(_ids(row.item for row in rows)),
                    "places": sorted({row.place for row in rows}),
                }
                for rows in cases
            ),
        )


def shared_between_tiers(sheet: Sheet) -> Iterator[Finding]:
    """For each two tiers, rows of one that give away something of the other.

    A finding is told for the tier of which the larger share is concerned.
    """
    chosen: dict[str, set[tuple[tuple[str, int], int]]] = defaultdict(set)
    asked: dict[str, set[tuple[str, int]]] = defaultdict(set)
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in sheet.rows:
        if row.tier is None:
            continue
        rows[row.tier].append(row)
        asked[row.tier].add(row.item.group)
        if row.label is not None:
            chosen[row.tier].add((row.item.group, row.chosen))
    for first, second in combinations(sheet.tiers, 2):
        choices = {
            tier: [
                row
                for row in rows[tier]
                if row.label is not None and (row.item.group, row.chosen) in chosen[other]
            ]
            for tier, other in ((first, second), (second, first))
        }
        queries = {
            tier: [row for row in rows[tier] if row.item.group in asked[other]]
            for tier, other in ((first, second), (second, first))
        }
        totals = {tier: len(rows[tier]) for tier in (first, second)}
        for kind, severity, concerned in (
            (Kind.SHARED_CHOICE, Severity.WARNING, choices),
            (Kind.SHARED_QUERY, Severity.NOTICE, queries),
        ):
            if concerned[first]:
                yield _shared(kind, severity, concerned, totals)


def _shared(
    kind: Kind, severity: Severity, concerned: dict[str, list[Row]], totals: dict[str, int]
) -> Finding:
    tier, other = sorted(concerned, key=lambda tier: -len(concerned[tier]) / totals[tier])
    return Finding(
        kind=kind,
        severity=severity,
        count=len(concerned[tier]),
        numbers={
            "tier": tier,
            "other": other,
            "rows": totals[tier],
            "other_count": len(concerned[other]),
            "other_rows": totals[other],
        },
        ids=_ids(row.item for row in concerned[tier]),
    )


def repeated_texts(sheet: Sheet) -> Iterator[Finding]:
    """Responses that differ in nothing that counts, and texts that stand in several places."""
    same = [item for item in sheet.items.values() if item.a == item.b]
    if same:
        yield Finding(
            kind=Kind.SAME_RESPONSES,
            severity=Severity.ERROR,
            count=len(same),
            numbers={"pairs": sheet.pairs},
            ids=_ids(same),
        )
    under: dict[int, list[Item]] = defaultdict(list)
    asking: dict[tuple[str, int], list[Item]] = defaultdict(list)
    for item in sheet.items.values():
        for response in {item.a, item.b}:
            under[response].append(item)
        asking[item.kind, item.query].append(item)
    reused = [items for items in under.values() if len({item.group for item in items}) > 1]
    if reused:
        yield Finding(
            kind=Kind.REUSED_RESPONSE,
            severity=Severity.WARNING,
            count=len(reused),
            numbers={"texts": len(sheet.responses)},
            ids=_ids(item for items in reused for item in items),
            details=_texts(reused),
        )
    for kind in sorted({kind for kind, _ in asking}):
        of_kind = [items for (its_kind, _), items in asking.items() if its_kind == kind]
        common = [items for items in of_kind if len({item.persona_id for item in items}) > 1]
        if common:
            yield Finding(
                kind=Kind.COMMON_QUERY,
                # A query that was made for one persona should not suit another word for word.
                severity=Severity.WARNING if kind == "specific" else Severity.NOTICE,
                count=len(common),
                numbers={"texts": len(of_kind), "query_kind": kind or "unspecified"},
                ids=_ids(item for items in common for item in items),
                details=_texts(common),
            )


def _texts(cases: list[list[Item]]) -> tuple[dict[str, Any], ...]:
    return _sorted(
        {"ids": list(_ids(items)), "personas": sorted({item.persona_id for item in items})}
        for items in cases
    )


def _ids(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(sorted({item.pair_id for item in items}))


def _sorted(details: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple(sorted(details, key=lambda detail: (detail["ids"], str(detail))))
