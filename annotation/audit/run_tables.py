"""Every table of a run, by the name under which it is downloaded."""

from __future__ import annotations

from collections.abc import Callable

from django.http import QueryDict

from annotation.audit import (
    overview_tables,
    pairs_contexts,
    quality_contexts,
    raters_contexts,
    sensitivity_tables,
    tier_tables,
)
from annotation.audit.overview_tables import Figures
from annotation.audit.tier_tables import TierFigures
from annotation.domain.tables import Table
from annotation.models import Membership
from benchmark.models import Run

TableOf = Callable[[Membership, Run, QueryDict], Table]


def _overview(make: Callable[[Figures], Table]) -> TableOf:
    return lambda membership, run, query: make(Figures.of_run(membership, run))


def _tiers(make: Callable[[TierFigures], Table]) -> TableOf:
    return lambda membership, run, query: make(TierFigures(found=Figures.of_run(membership, run)))


TABLES: dict[str, TableOf] = {
    "agreement": _overview(overview_tables.agreement_table),
    "agreement-intervals": _overview(overview_tables.intervals_table),
    "agreement-variants": _overview(overview_tables.variants_table),
    "agreement-by-answer": _overview(overview_tables.categories_table),
    "agreement-ties": _overview(overview_tables.ties_table),
    "votes-per-pair": _overview(overview_tables.votes_per_pair_table),
    "splits": _overview(overview_tables.splits_table),
    "statuses": _overview(overview_tables.statuses_table),
    "verdict-tiers": _overview(overview_tables.verdict_tiers_table),
    "left-out": _overview(overview_tables.left_out_table),
    "tiers": _tiers(tier_tables.tiers_table),
    "tier-posterior": _tiers(tier_tables.posterior_table),
    "split-half": _tiers(tier_tables.split_half_table),
    "held-out": _tiers(tier_tables.held_out_table),
    "tier-bands": _tiers(sensitivity_tables.bands_table),
    "tier-chances": _tiers(sensitivity_tables.chances_table),
    "tier-rules": _tiers(sensitivity_tables.rules_table),
    "tier-raters": _tiers(sensitivity_tables.raters_table),
    "tier-moves": _tiers(sensitivity_tables.moves_table),
    **quality_contexts.TABLES,
    **raters_contexts.TABLES,
    **pairs_contexts.TABLES,
}
