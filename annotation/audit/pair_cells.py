"""A run's pairs as rows: cells that a pattern decides, and the columns of list and file."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.audit.pair_words import split_words
from annotation.domain.tables import Column
from annotation.templatetags.figures import criterion_name
from benchmark.selectors.pair_rows import Decided, skips
from benchmark.stats.codes import STATUSES, TIERS, WINNERS
from benchmark.stats.tiers import tier_posterior

Text = str | Promise

KINDS: dict[str, Text] = {
    "specific": pgettext_lazy("query", "specific"),
    "general": pgettext_lazy("query", "general"),
}


class PatternCells:
    """Cells of rows that a pair's pattern alone decides, worked out once a pattern."""

    def __init__(self, found: Decided) -> None:
        self._found = found
        self._skips = skips(found.patterns)
        self._k = found.verdicts.k()
        self._criterion_k = {key: one.k() for key, one in found.verdicts.criteria.items()}
        self._cells: dict[int, dict[str, object]] = {}

    def of(self, pattern: int) -> dict[str, object]:
        if pattern not in self._cells:
            self._cells[pattern] = self._make(pattern)
        return self._cells[pattern]

    def _make(self, pattern: int) -> dict[str, object]:
        found, verdicts = self._found, self._found.verdicts
        tier = TIERS[verdicts.tier[pattern]]
        cells: dict[str, object] = {
            "status": STATUSES[verdicts.status[pattern]],
            "chosen": WINNERS[verdicts.chosen[pattern]],
            "tier": tier,
            "provisional": bool(verdicts.provisional[pattern]),
            "adjudicated": bool(verdicts.is_adjudicated[pattern]),
            "margin": int(verdicts.margin[pattern]),
            "k": self._k[pattern],
            "skips": int(self._skips[pattern]),
            "tier_posterior": None,
        }
        for key, counts in found.patterns.counts.items():
            a, b, tie, skip = counts[pattern].tolist()
            cells |= {f"{key}_a": a, f"{key}_b": b, f"{key}_tie": tie, f"{key}_skip": skip}
            cells[f"{key}_split"] = split_words(a, b, tie)
            cells[f"{key}_k"] = self._criterion_k[key][pattern]
            cells[f"{key}_status"] = STATUSES[verdicts.criteria[key].status[pattern]]
            if tier and found.policy.combine == "criterion" and key == found.policy.criterion:
                posterior = tier_posterior(a, b, bands=found.policy.bands)
                cells["tier_posterior"] = getattr(posterior, tier)
        return cells


def list_columns(found: Decided) -> tuple[Column, ...]:
    return (
        Column(key="pair", title=_("Pair"), sortable=True),
        Column(key="query", title=_("Question")),
        Column(key="persona", title=_("Persona")),
        Column(key="kind", title=_("Kind")),
        *(
            Column(key=f"{key}_split", title=criterion_name(key), help=_("Votes for A–B."))
            for key in found.patterns.counts
        ),
        Column(key="status", title=_("Status"), kind="tags"),
        Column(key="chosen", title=_("Chosen")),
        Column(key="tier", title=_("Tier"), kind="tags"),
        Column(
            key="tier_posterior",
            title=_("P(tier)"),
            kind="share",
            help=_("Probability of the tier given the votes, under a uniform prior."),
        ),
        Column(
            key="margin",
            title=_("Margin"),
            kind="int",
            sortable=True,
            help=_("|A − B|, the smallest among the criteria that decide."),
        ),
        Column(
            key="k",
            title="k",
            kind="real",
            sortable=True,
            help=_("Item agreement that the tier rests on: 1 where all agree."),
        ),
        Column(key="skips", title=_("Skips"), kind="int", sortable=True),
        Column(
            key="seconds",
            title=_("Median time"),
            kind="seconds",
            help=_("Of the judgements counted: active time where it is known."),
        ),
    )


def file_columns(found: Decided) -> tuple[Column, ...]:
    texts = {
        "pair": _("Pair"),
        "persona_id": _("Persona"),
        "query": _("Question"),
        "kind": _("Kind"),
        "source_a": _("Source of A"),
        "source_b": _("Source of B"),
    }
    counts: list[Column] = []
    for key in found.patterns.counts:
        name = criterion_name(key)
        for part in ("A", "B", "tie", "skip"):
            counts.append(Column(key=f"{key}_{part.lower()}", title=f"{name}: {part}", kind="int"))
        counts.append(Column(key=f"{key}_k", title=f"{name}: k", kind="real"))
        counts.append(Column(key=f"{key}_status", title=f"{name}: status"))
    return (
        *(Column(key=key, title=title) for key, title in texts.items()),
        *counts,
        Column(key="status", title=_("Status")),
        Column(key="chosen", title=_("Chosen")),
        Column(key="tier", title=_("Tier")),
        Column(key="tier_posterior", title=_("P(tier)"), kind="share"),
        Column(key="provisional", title=_("Provisional"), kind="flag"),
        Column(key="adjudicated", title=_("Adjudicated"), kind="flag"),
        Column(key="margin", title=_("Margin"), kind="int"),
        Column(key="k", title="k", kind="real"),
        Column(key="skips", title=_("Skips"), kind="int"),
        Column(key="seconds", title=_("Median time"), kind="seconds"),
    )
