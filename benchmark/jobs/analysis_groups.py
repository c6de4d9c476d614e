"""Agreement and verdicts by groups of pairs."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from benchmark.jobs.analysis_material import Material
from benchmark.selectors.pair_traits import UNKNOWN
from benchmark.stats import codes
from benchmark.stats.agreement import agreement
from benchmark.stats.codes import Floats, Ints

# More groups than these are put together as "others", the smallest first.
GROUPS = 40
OTHERS = "others"
# Up to so many days of judging are told apart one by one; after that, weeks.
DAYS = 21
_DAY = 86_400


def breakdowns(found: Material) -> dict[str, object]:
    """For each dimension its groups, in the order of their names, unknown last."""
    kinds = dict(found.traits.kinds)
    kinds["persona_size"] = quarters(found.traits.length_persona)
    kinds["completed"] = periods(completed(found))
    return {
        "dimensions": [
            {"key": name, "groups": groups(found, values)}
            for name, values in kinds.items()
            # All in one group says nothing that the overview does not.
            if len(set(values)) > 1
        ]
    }


def groups(found: Material, values: list[str]) -> list[dict[str, object]]:
    """Figures of each group of pairs with the same value, ``values`` (N,)."""
    names, places, sizes = np.unique(
        np.array(values, dtype=object), return_inverse=True, return_counts=True
    )
    if len(names) > GROUPS:
        kept = set(names[np.argsort(-sizes, kind="stable")[: GROUPS - 1]].tolist())
        return groups(found, [value if value in kept else OTHERS for value in values])
    order = sorted(range(len(names)), key=lambda n: (names[n] in (UNKNOWN, OTHERS), names[n]))
    return [_group(found, str(names[n]), places.reshape(-1) == n) for n in order]


def _group(found: Material, name: str, rows: npt.NDArray[np.bool_]) -> dict[str, object]:
    verdicts, categories = found.verdicts, found.votes.categories
    status, tier = verdicts.status[rows], verdicts.tier[rows]
    criteria = {}
    for key, counts in found.counts.items():
        report = agreement(counts[rows, : len(categories)], categories=categories, engine="own")
        criteria[key] = {
            "votes": report.votes,
            "percent_agreement": report.percent_agreement.as_json(),
            "fleiss": report.fleiss.as_json(),
            "randolph": report.randolph.as_json(),
        }
    return {
        "key": name,
        "pairs": int(rows.sum()),
        "statuses": {each: int((status == code).sum()) for code, each in enumerate(codes.STATUSES)},
        "tiers": {
            each or "none": int(((status == codes.DECIDED) & (tier == code)).sum())
            for code, each in enumerate(codes.TIERS)
        },
        "criteria": criteria,
    }


def quarters(lengths: Ints) -> list[str]:
    """Each length as one of four equally large classes, "952-1100"; fewer where many are equal."""
    if not len(lengths):
        return []
    edges = np.unique(np.quantile(lengths, [0.25, 0.5, 0.75], method="inverted_cdf"))
    classes = np.searchsorted(edges, lengths)
    width = len(str(int(lengths.max())))
    spans = {
        int(n): f"{lengths[classes == n].min():>{width}}-{lengths[classes == n].max()}"
        for n in np.unique(classes)
    }
    return [spans[n] for n in classes.tolist()]


def completed(found: Material) -> Floats:
    """When the last counted judgement of each pair was submitted, nan where that is unknown."""
    last = np.full(len(found.votes.pairs), -np.inf)
    known = ~np.isnan(found.votes.at)
    np.maximum.at(last, found.votes.pair[known], found.votes.at[known])
    return np.where(np.isinf(last), np.nan, last)


def periods(moments: Floats) -> list[str]:
    """Days in UTC, or weeks (ISO 8601) where they would be too many; empty for nan."""
    known = moments[~np.isnan(moments)]
    by_week = len(known) > 0 and known.max() - known.min() > DAYS * _DAY
    return [UNKNOWN if np.isnan(each) else _period(each, by_week=by_week) for each in moments]


def _period(moment: float, *, by_week: bool) -> str:
    day = datetime.fromtimestamp(moment, tz=UTC)
    return day.strftime("%G-W%V") if by_week else day.strftime("%Y-%m-%d")
