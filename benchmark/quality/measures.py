"""Figures of a set: lengths, what wins by length or by overlap alone, names, how much of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmark.quality.findings import Finding, Kind, Severity
from benchmark.quality.leaks import Scan
from benchmark.quality.sheet import Item, Row, Sheet
from benchmark.stats.proportions import proportion

ALL = "all"
# The label's response first: a number of an item's A and B, or None where it is unknown.
Measure = Callable[[Item], tuple[float, float] | None]


def by_tier(sheet: Sheet) -> dict[str, list[Row]]:
    """Labelled rows of each tier, and of ``all`` together first."""
    labelled = [row for row in sheet.rows if row.label is not None]
    return {ALL: labelled} | {
        tier: [row for row in labelled if row.tier == tier] for tier in sheet.tiers
    }


def larger_wins(rows: Sequence[Row], measure: Measure) -> dict[str, Any]:
    """The share of labelled rows in which the chosen response has the larger number.

    Equal numbers count against it, as rows in which the rule names nothing. Wilson's interval, over
    rows as if they were independent.
    """
    chosen: list[float] = []
    rejected: list[float] = []
    for row in rows:
        numbers = measure(row.item)
        if numbers is not None:
            a, b = numbers
            chosen.append(a if row.label == "A" else b)
            rejected.append(b if row.label == "A" else a)
    larger = sum(one > other for one, other in zip(chosen, rejected, strict=True))
    equal = sum(one == other for one, other in zip(chosen, rejected, strict=True))
    return {
        **proportion(larger, len(chosen)).as_json(),
        "rows": len(chosen),
        "larger": larger,
        "equal": equal,
        "chosen": _summary(chosen),
        "rejected": _summary(rejected),
    }


def _summary(numbers: Sequence[float]) -> dict[str, float | int | None]:
    if not numbers:
        return {"n": 0, "mean": None, "min": None, "median": None, "max": None}
    values = np.asarray(numbers, dtype=np.float64)
    return {
        "n": len(numbers),
        "mean": float(values.mean()),
        "min": float(values.min()),
        "median": float(np.median(values)),
        "max": float(values.max()),
    }


def measures(sheet: Sheet, found: Scan, *, labels_from: str | None) -> dict[str, Any]:
    """All of them; see the package for their definitions."""
    tiers = by_tier(sheet)
    rows_of = Counter(row.item.persona_id for row in sheet.rows)
    pairs_of = Counter(persona for persona, *_ in {i.content for i in sheet.items.values()})
    return {
        "labels_from": labels_from if tiers[ALL] else None,
        "rows_by_tier": dict(_ranked(Counter(row.tier for row in sheet.rows), sheet.tiers)),
        "rows_by_query_kind": dict(sorted(Counter(row.item.kind for row in sheet.rows).items())),
        "distinct": {
            "queries": len(sheet.queries),
            "responses": len(sheet.responses),
            "groups": len({item.group for item in sheet.items.values()}),
            "personas_with_pairs": len(pairs_of),
        },
        "longer_wins": {tier: larger_wins(rows, _lengths) for tier, rows in tiers.items()},
        "overlap_wins": {
            tier: larger_wins(rows, found.overlap.get) for tier, rows in tiers.items()
        },
        "names": {tier: _names(rows, found) for tier, rows in tiers.items()},
        "response_lengths": _summary(
            [length for i in sheet.items.values() for length in (i.length_a, i.length_b)]
        ),
        "pairs_per_persona": _summary(sorted(pairs_of.values())),
        "rows_per_persona": _summary(sorted(rows_of.values())),
        "demographics": sheet.schema.distributions(),
    }


def _ranked(counts: Counter[str | None], tiers: list[str]) -> Iterator[tuple[str, int]]:
    yield from ((tier, counts[tier]) for tier in tiers)
    if counts[None]:
        yield "none", counts[None]


def _lengths(item: Item) -> tuple[float, float]:
    return item.length_a, item.length_b


def _names(rows: list[Row], found: Scan) -> dict[str, Any]:
    """How often the persona is named in the query, the chosen and the rejected response."""
    named = [(row, found.named_in[row.item]) for row in rows if row.item in found.named_in]
    sides = {
        "query": sum(query for _, (query, _, _) in named),
        "chosen": sum(a if row.label == "A" else b for row, (_, a, b) in named),
        "rejected": sum(b if row.label == "A" else a for row, (_, a, b) in named),
    }
    return {"rows": len(named)} | {
        side: {"count": count, **proportion(count, len(named)).as_json()}
        for side, count in sides.items()
    }


def shortcuts(measured: Mapping[str, Any]) -> Iterator[Finding]:
    """Rules that need no reading and yet name the chosen response."""
    for kind, name in ((Kind.LONGER_WINS, "longer_wins"), (Kind.OVERLAP_WINS, "overlap_wins")):
        every = measured[name][ALL]
        if every["value"] is None:
            continue
        low, high = every["ci"]
        shares = [
            f"{tier} {100 * found['value']:.1f} %"
            for tier, found in measured[name].items()
            if tier != ALL and found["value"] is not None
        ]
        # A response that suits a persona speaks of what the persona likes: overlap is no fault.
        is_warning = kind is Kind.LONGER_WINS and _tells(every)
        yield Finding(
            kind=kind,
            severity=Severity.WARNING if is_warning else Severity.NOTICE,
            count=every["larger"],
            numbers={
                "share": 100 * every["value"],
                "rows": every["rows"],
                "low": 100 * low,
                "high": 100 * high,
                "equal": every["equal"],
                "which": ", ".join(shares) or "no tiers",
            },
        )


def _tells(found: Mapping[str, Any]) -> bool:
    """Whether one of the two directions is right more often than a coin, where numbers differ."""
    interval = proportion(found["larger"], found["rows"] - found["equal"]).ci
    return interval is not None and not interval[0] <= 0.5 <= interval[1]
