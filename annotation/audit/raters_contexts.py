"""What the page about a run's raters is given, and its tables as files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from annotation.audit import bias_contexts, breakdown_contexts, rater_contexts, rater_tables
from annotation.audit.analysis_contexts import (
    AnalysisView,
    analyses_of,
    analysis_view,
    chosen_criterion,
    criterion_options,
    plain_share,
)
from annotation.audit.pair_words import RunHead
from annotation.audit.rater_tables import (
    ROWS_SHOWN,
    SHARED_ENOUGH,
    SORTS,
    cell,
    exclusions_table,
    label_table,
    number,
    page_table,
    pairs_table,
    rater_rows,
    sorted_rows,
)
from annotation.audit.rater_words import flag_words
from annotation.contexts import OptionView
from annotation.domain.plots import ForestPlot, ForestRow, HeatCell, HeatMap, forest, heat
from annotation.domain.tables import Row, Table
from annotation.models import Membership
from annotation.templatetags.figures import criterion_name, share
from benchmark.models import Analysis, Run

# Raters who stand out that are named above the table, which has all.
NAMED = 12

_SUBJECTS = (
    Analysis.Subject.RATERS,
    Analysis.Subject.RATER_PAIRS,
    Analysis.Subject.LABEL_MODEL,
)


@dataclass(frozen=True, slots=True)
class NamedRater:
    """Somebody who stands out, and in what."""

    pseudonym: str
    address: str
    flags: list[str]


@dataclass(frozen=True, slots=True)
class RatersView:
    analysis: AnalysisView
    criterion: str
    criteria: list[OptionView]
    finding: str
    named: list[NamedRater]  # some who stand out, in any criterion
    forest: ForestPlot | None
    forest_finding: str
    table: Table | None
    search: str
    sort: str
    query: QueryDict  # what this page is asked for
    heat: HeatMap | None
    heat_finding: str
    pairs: Table | None
    coefficients: dict[str, Any]  # Conger's and Light's kappa of the criterion
    label_model: Table | None
    label_finding: str
    exclusions: Table

    @property
    def head(self) -> RunHead:
        return self.analysis.head


def raters_view(membership: Membership, run: Run, query: QueryDict, *, now: datetime) -> RatersView:
    """A fixed number of queries, whatever the number of raters."""
    found = analyses_of(run, *_SUBJECTS)
    analysis = analysis_view(membership, run, "raters", found=found, wanted=_SUBJECTS, now=now)
    report: dict[str, Any] = found.get(Analysis.Subject.RATERS, {})
    criteria = report.get("criteria", [])
    criterion = chosen_criterion(run, query, criteria)
    rows = rater_rows(membership.campaign, run, report, criterion) if report else []
    search = query.get("q", "").strip()
    sort = query.get("sort", "")
    sort = sort if sort.removeprefix("-") in SORTS else "z"
    shown = [row for row in rows if search.casefold() in str(row["rater"]).casefold()]
    pairs = found.get(Analysis.Subject.RATER_PAIRS)
    label_model = found.get(Analysis.Subject.LABEL_MODEL)
    has_raters = bool(report and criterion)
    return RatersView(
        analysis=analysis,
        criterion=criterion,
        criteria=criterion_options(criteria, criterion),
        finding=_finding(report) if report else "",
        named=_named(membership.campaign.slug, run, report) if report else [],
        forest=_forest(rows, criterion) if has_raters else None,
        forest_finding=_forest_finding(rows) if has_raters else "",
        table=page_table(sorted_rows(shown, sort), search) if has_raters else None,
        search=search,
        sort=sort,
        query=query,
        heat=_heat(pairs, criterion) if pairs else None,
        heat_finding=_heat_finding(pairs, criterion) if pairs else "",
        pairs=pairs_table(pairs, [criterion], membership.campaign, run, is_page=True)
        if pairs and criterion
        else None,
        coefficients=report.get("set", {}).get(criterion, {}),
        label_model=label_table(report, label_model, [criterion], limit=ROWS_SHOWN)
        if label_model and has_raters
        else None,
        label_finding=_label_finding(label_model, criterion) if label_model and criterion else "",
        exclusions=exclusions_table(membership, run, query),
    )


def _finding(report: dict[str, Any]) -> str:
    raters = len(report["raters"])
    flagged = sum(bool(row["flags"]) for row in report["raters"])
    if not raters:
        return gettext("No rater has a counted vote.")
    if not flagged:
        return ngettext(
            "The one rater does not stand out in any test.",
            "None of the %(raters)s raters stands out in any test.",
            raters,
        ) % {"raters": raters}
    return ngettext(
        "%(flagged)s of %(raters)s raters stands out in at least one test.",
        "%(flagged)s of %(raters)s raters stand out in at least one test.",
        flagged,
    ) % {"flagged": flagged, "raters": raters}


def _named(slug: str, run: Run, report: dict[str, Any]) -> list[NamedRater]:
    """Those with most flags first."""
    flagged = [row for row in report["raters"] if row["flags"]]
    flagged.sort(key=lambda row: (-len(row["flags"]), row["pseudonym"]))
    return [
        NamedRater(
            pseudonym=row["pseudonym"],
            address=reverse("run_rater", args=[slug, run.pk, row["id"]]),
            flags=flag_words(row),
        )
        for row in flagged[:NAMED]
    ]


def _forest(rows: list[Row], criterion: str) -> ForestPlot:
    """From the rater who agrees most to the one who agrees least."""
    return forest(
        [
            ForestRow(
                label=row["rater"],
                value=number(row, "agreement"),
                low=low,
                high=high,
                expected=number(row, "expected"),
                n=int(row["votes"]),  # type: ignore[call-overload]
                href=str(row["rater_href"]),
                flagged=bool(row["flags"]),
            )
            for row in sorted_rows(rows, "-agreement")
            for low, high in [(cell(row, "agreement") or {}).get("ci") or (None, None)]
        ],
        reference=None,
        label=gettext("Agreement of each rater with the others, %(criterion)s")
        % {"criterion": criterion_name(criterion)},
        unit="share",
    )


def _forest_finding(rows: list[Row]) -> str:
    known = sorted_rows([row for row in rows if number(row, "agreement") is not None], "agreement")
    if not known:
        return gettext("No two raters judged the same pair")
    if len(known) == 1:
        return gettext("%(rater)s agrees with others in %(share)s of votes") % {
            "rater": known[0]["rater"],
            "share": _percent(known[0]),
        }
    return gettext("Agreement with others runs from %(low)s (%(one)s) to %(high)s (%(other)s)") % {
        "low": _percent(known[0]),
        "one": known[0]["rater"],
        "high": _percent(known[-1]),
        "other": known[-1]["rater"],
    }


def _percent(row: Row) -> str:
    return str(share({"value": number(row, "agreement")}))


def _heat(pairs: dict[str, Any], criterion: str) -> HeatMap | None:
    """None where most raters have nobody to be compared with."""
    rows = pairs["criteria"].get(criterion, [])
    values = [row[3] / row[2] for row in rows if row[2] >= SHARED_ENOUGH]
    if len(values) < len(pairs["raters"]) or not values:
        return None
    return heat(
        pairs["pseudonyms"],
        {
            (one, other): HeatCell(
                value=agreeing / shared if shared >= SHARED_ENOUGH else None, n=shared
            )
            for one, other, shared, agreeing in rows
        },
        # The same scale for every run, unless two raters agree less than coins do.
        low=0.5 if min(values) >= 0.5 else 0.0,
        high=1.0,
        label=gettext("Share of common pairs on which two raters gave the same vote"),
        # Two decimals have room where percentages would touch each other.
        unit="coefficient",
    )


def _heat_finding(pairs: dict[str, Any], criterion: str) -> str:
    names = pairs["pseudonyms"]
    rows = [row for row in pairs["criteria"].get(criterion, []) if row[2] >= SHARED_ENOUGH]
    if not rows:
        return gettext("No two raters share %(n)s pairs or more") % {"n": SHARED_ENOUGH}
    one, other, shared, agreeing = min(rows, key=lambda row: row[3] / row[2])
    return gettext(
        "Furthest apart: %(one)s and %(other)s, the same on %(share)s of %(n)s pairs"
    ) % {
        "one": names[one],
        "other": names[other],
        "share": share({"value": agreeing / shared}),
        "n": shared,
    }


def _label_finding(label_model: dict[str, Any], criterion: str) -> str:
    found = label_model["criteria"].get(criterion, {})
    if not found.get("fit"):
        return gettext("There are no votes to fit a model to.")
    return gettext("Model and majority name the same response on %(share)s of %(n)s pairs") % {
        "share": share(plain_share(found["agrees_with_majority"]) or {}),
        "n": found["compared"],
    }


TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {
    **rater_tables.TABLES,
    **rater_contexts.TABLES,
    **breakdown_contexts.TABLES,
    **bias_contexts.TABLES,
}
