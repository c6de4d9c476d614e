"""What the page about groups of pairs is given: agreement and tiers, group by group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.audit.analysis_contexts import (
    SMALL,
    AnalysisView,
    analyses_of,
    analysis_view,
    chosen_criterion,
    criterion_options,
    share_domain,
)
from annotation.audit.pair_words import STATES, RunHead
from annotation.contexts import OptionView
from annotation.domain.plots import ForestPlot, ForestRow, StackedBars, StackRow, forest, stacked
from annotation.domain.tables import Column, Row, Table, Tag
from annotation.models import Membership
from annotation.templatetags.figures import criterion_name, share
from benchmark.models import Analysis, Run

Text = str | Promise

_SUBJECTS = (Analysis.Subject.BREAKDOWNS,)

# By the keys of the analysis, in the order of the page: title, what it is by, and what it says of
# pairs for which it is not known.
DIMENSIONS: dict[str, tuple[Text, Text]] = {
    "query_kind": (
        _("Kind of question"),
        _("Specific questions were made for one persona, general ones are asked of any."),
    ),
    "source_pair": (
        _("Sources of the two responses"),
        _("What wrote the responses. Raters never see it."),
    ),
    "prior_tier": (
        _("Tier when imported"),
        _("The tier that the pairs came with, from an earlier benchmark or round."),
    ),
    "persona_size": (
        _("Length of the persona"),
        _("Characters of the profile, in four classes of about the same number of pairs."),
    ),
    "batch": (
        _("Batch"),
        _("The batch that the pairs' file names, else the day of their import (UTC)."),
    ),
    "completed": (
        _("Time of completion"),
        _("When the last counted judgement of a pair came: days, or weeks of a long campaign."),
    ),
}
_GROUPS: dict[str, Text] = {
    "": pgettext_lazy("group of pairs", "not known"),
    "others": pgettext_lazy("group of pairs", "all others"),
    "specific": pgettext_lazy("query", "specific"),
    "general": pgettext_lazy("query", "general"),
    **{tier: STATES[tier] for tier in ("easy", "medium", "hard")},
}
# Which filter of the list of pairs shows a group.
_FILTERS = {"query_kind": "kind", "source_pair": "sources"}


@dataclass(frozen=True, slots=True)
class DimensionView:
    key: str
    title: Text
    about: Text
    finding: str
    intervals: ForestPlot
    tiers: StackedBars
    table: Table


@dataclass(frozen=True, slots=True)
class BreakdownsView:
    analysis: AnalysisView
    criterion: str
    criteria: list[OptionView]
    dimensions: list[DimensionView]
    # Titles of those along which all pairs are alike.
    uniform: list[Text]

    @property
    def head(self) -> RunHead:
        return self.analysis.head


def breakdowns_view(
    membership: Membership, run: Run, query: QueryDict, *, now: datetime
) -> BreakdownsView:
    """Few queries, and none that looks at pairs."""
    found = analyses_of(run, *_SUBJECTS)
    analysis = analysis_view(membership, run, "breakdowns", found=found, wanted=_SUBJECTS, now=now)
    dimensions = _dimensions(found)
    criteria = _criteria(dimensions) or [each.key for each in run.pair_set.criteria_in_order]
    criterion = chosen_criterion(run, query, criteria)
    slug = membership.campaign.slug
    return BreakdownsView(
        analysis=analysis,
        criterion=criterion,
        criteria=criterion_options(criteria, criterion),
        dimensions=[
            _dimension(key, dimensions[key], criterion, slug, run)
            for key in DIMENSIONS
            if key in dimensions
        ],
        uniform=[
            title for key, (title, _about) in DIMENSIONS.items() if found and key not in dimensions
        ],
    )


def _dimensions(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    report = found.get(Analysis.Subject.BREAKDOWNS) or {"dimensions": []}
    return {one["key"]: one["groups"] for one in report["dimensions"]}


def _criteria(dimensions: dict[str, list[dict[str, Any]]]) -> list[str]:
    return list(next(iter(dimensions.values()))[0]["criteria"]) if dimensions else []


def _dimension(
    key: str, groups: list[dict[str, Any]], criterion: str, slug: str, run: Run
) -> DimensionView:
    title, about = DIMENSIONS[key]
    values = [group["criteria"][criterion]["percent_agreement"] for group in groups]
    overall = _overall(run, criterion)
    return DimensionView(
        key=key,
        title=title,
        about=about,
        finding=_finding(key, groups, criterion),
        intervals=forest(
            [
                ForestRow(
                    label=_label(key, group["key"]),
                    value=value["value"],
                    low=low,
                    high=high,
                    n=group["pairs"],
                    href=_pairs_address(key, group["key"], slug, run),
                )
                for group, value in zip(groups, values, strict=True)
                for low, high in [value.get("ci") or (None, None)]
            ],
            reference=overall,
            domain=share_domain(values, holding=overall),
            label=gettext("Percent agreement by group, %(criterion)s: %(dimension)s")
            % {"criterion": criterion_name(criterion), "dimension": title},
            unit="share",
        ),
        tiers=stacked(
            [
                StackRow(
                    label=_label(key, group["key"]),
                    parts=group["tiers"],
                    n=group["statuses"]["decided"],
                )
                for group in groups
            ],
            label=gettext("Decided pairs by tier: %(dimension)s") % {"dimension": title},
        ),
        table=_table(key, groups, [criterion], slug, run),
    )


def _overall(run: Run, criterion: str) -> float | None:
    report = run.result.get("agreement", {}).get(criterion, {})
    value: float | None = report.get("percent_agreement", {}).get("value")
    return value


def _label(dimension: str, group: str) -> str:
    if dimension == "persona_size" and group:
        low, _dash, high = group.partition("-")
        return f"{low.strip()}\N{EN DASH}{high}"
    return str(_GROUPS.get(group, group))


def _pairs_address(dimension: str, group: str, slug: str, run: Run) -> str:
    name = _FILTERS.get(dimension)
    if name is None or group in ("", "others"):
        return ""
    return f"{reverse('run_pairs', args=[slug, run.pk])}?{urlencode({name: group})}"


def _finding(key: str, groups: list[dict[str, Any]], criterion: str) -> str:
    """The groups furthest apart, and whether their intervals are."""
    known = [
        (group, value)
        for group in groups
        for value in [group["criteria"][criterion]["percent_agreement"]]
        if value["value"] is not None and value.get("ci") and group["pairs"] >= SMALL
    ]
    if len(known) < 2:
        return gettext("Too few pairs in these groups to tell them apart")
    (low_group, low), (high_group, high) = (
        min(known, key=lambda row: row[1]["value"]),
        max(known, key=lambda row: row[1]["value"]),
    )
    words = (
        gettext("Agreement from %(low)s (%(one)s) to %(high)s (%(other)s); the intervals overlap")
        if low["ci"][1] >= high["ci"][0]
        else gettext(
            "Agreement from %(low)s (%(one)s) to %(high)s (%(other)s); the intervals lie apart"
        )
    )
    return words % {
        "low": share({"value": low["value"]}),
        "one": _label(key, low_group["key"]),
        "high": share({"value": high["value"]}),
        "other": _label(key, high_group["key"]),
    }


def _table(
    key: str, groups: list[dict[str, Any]], criteria: list[str], slug: str, run: Run
) -> Table:
    """A row a group and criterion."""
    rows: list[Row] = []
    for criterion in criteria:
        for group in groups:
            one = group["criteria"][criterion]
            decided = group["statuses"]["decided"]
            rows.append(
                {
                    "group": _label(key, group["key"]),
                    "group_href": _pairs_address(key, group["key"], slug, run),
                    "criterion": criterion,
                    "pairs": group["pairs"],
                    "votes": one["votes"],
                    "percent_agreement": one["percent_agreement"],
                    "fleiss": one["fleiss"],
                    "randolph": one["randolph"],
                    "decided": decided,
                    **{
                        tier: number / decided if decided else None
                        for tier, number in group["tiers"].items()
                    },
                    "small": [Tag(words=_("few pairs"), kind="warn")]
                    if group["pairs"] < SMALL
                    else [],
                }
            )
    head = (Column(key="criterion", title=_("Criterion")),) if len(criteria) > 1 else ()
    has_small = any(row["small"] for row in rows)
    tiers = [name for name in ("easy", "medium", "hard", "none") if any(row[name] for row in rows)]
    return Table(
        name=f"breakdown-{key.replace('_', '-')}",
        title=DIMENSIONS[key][0],
        columns=(
            Column(key="group", title=_("Group")),
            *head,
            Column(key="pairs", title=_("Pairs"), kind="int"),
            *((Column(key="small", title=_("Mind"), kind="tags"),) if has_small else ()),
            Column(key="votes", title=_("Votes"), kind="int"),
            Column(key="percent_agreement", title=_("Agreement"), kind="value_share"),
            Column(key="fleiss", title=_("Fleiss' kappa"), kind="value"),
            Column(
                key="randolph",
                title=_("Randolph's kappa"),
                kind="value",
                help=_(
                    "Chance fixed by the number of answers: unlike Fleiss', it can be compared"
                    " between groups whose shares of A differ."
                ),
            ),
            Column(key="decided", title=_("Decided"), kind="int"),
            *(Column(key=tier, title=STATES[tier], kind="share") for tier in tiers),
        ),
        rows=rows,
        note=_(
            "Intervals rest on the spread between the pairs of a group and say little where these"
            " are few: they may then reach beyond what is possible."
        )
        if has_small
        else "",
    )


def _file(key: str, membership: Membership, run: Run, query: QueryDict) -> Table:
    dimensions = _dimensions(analyses_of(run, *_SUBJECTS))
    criteria = _criteria(dimensions) if key in dimensions else []
    return _table(key, dimensions.get(key, []), criteria, membership.campaign.slug, run)


TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {
    f"breakdown-{key.replace('_', '-')}": partial(_file, key) for key in DIMENSIONS
}
