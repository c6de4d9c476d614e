"""What the page about the quality of an aggregation's pairs is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.analysis_contexts import AnalysisView, analyses_of, analysis_view
from annotation.audit.number_words import grouped
from annotation.audit.pair_words import RunHead, run_head
from annotation.audit.quality_words import OF_PERSONAS, SEVERITIES, sentence
from annotation.domain.tables import Column, Table
from annotation.models import Membership
from benchmark.models import Analysis, Pair, Run

Text = str | Promise

# Ids that are written out with a finding; the file has all of them.
IDS_SHOWN = 10

_KINDS = {"error": "bad", "warning": "warn", "notice": ""}
_HEADINGS: dict[str, Text] = {
    "error": _("Errors: labels or blinding are broken"),
    "warning": _("Warnings: figures may suffer"),
    "notice": _("Notices: good to know"),
}


@dataclass(frozen=True, slots=True)
class IdView:
    """An id that a finding names; without an address where it is a persona's or unknown."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class FindingView:
    sentence: str
    ids: Sequence[IdView]
    more: int  # further ids


@dataclass(frozen=True, slots=True)
class SeverityView:
    key: str
    heading: Text
    findings: Sequence[FindingView]


@dataclass(frozen=True, slots=True)
class QualityView:
    """``severities`` is empty where nothing was found, and while the report is not there."""

    head: RunHead
    analysis: AnalysisView
    is_there: bool
    reading: str
    severities: Sequence[SeverityView]
    table: Table | None


def quality_view(membership: Membership, run: Run, *, now: datetime) -> QualityView:
    """A fixed number of queries: of all findings together the ids that are shown are looked up."""
    found = analyses_of(run, Analysis.Subject.QUALITY)
    analysis = analysis_view(
        membership, run, "quality", found=found, wanted=[Analysis.Subject.QUALITY], now=now
    )
    report = found.get(Analysis.Subject.QUALITY)
    findings = report["findings"] if report else []
    addresses = _addresses(membership, run, findings)
    return QualityView(
        head=run_head(membership, run, "quality"),
        analysis=analysis,
        is_there=report is not None,
        reading=_reading(report) if report else "",
        severities=[
            SeverityView(
                severity,
                heading,
                [_finding(each, addresses) for each in findings if each["severity"] == severity],
            )
            for severity, heading in _HEADINGS.items()
            if any(each["severity"] == severity for each in findings)
        ],
        table=_table(report) if report else None,
    )


def _addresses(
    membership: Membership, run: Run, findings: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    shown = {
        pair_id
        for each in findings
        if each["kind"] not in OF_PERSONAS
        for pair_id in each["ids"][:IDS_SHOWN]
    }
    pairs = Pair.objects.filter(pair_set=run.pair_set_id, pair_id__in=shown)
    return {
        pair_id: reverse("run_pair", args=[membership.campaign.slug, run.pk, pk])
        for pk, pair_id in pairs.order_by("id").values_list("pk", "pair_id")
    }


def _finding(finding: Mapping[str, Any], addresses: Mapping[str, str]) -> FindingView:
    ids = finding["ids"]
    of_pairs = finding["kind"] not in OF_PERSONAS
    return FindingView(
        sentence=sentence(finding),
        ids=[IdView(each, addresses.get(each, "") if of_pairs else "") for each in ids[:IDS_SHOWN]],
        more=max(len(ids) - IDS_SHOWN, 0),
    )


def _reading(report: Mapping[str, Any]) -> str:
    counts = dict.fromkeys(SEVERITIES, 0)
    for finding in report["findings"]:
        counts[finding["severity"]] += 1
    numbers = grouped(pairs=report["pairs"], **counts)
    looked_at = (
        ngettext(
            "%(pairs)s pair and the profiles of its personas were looked at.",
            "%(pairs)s pairs and the profiles of their personas were looked at.",
            report["pairs"],
        )
        % numbers
    )
    if not report["findings"]:
        nothing = gettext("Nothing was found that should be mended.")
        return f"{looked_at} {nothing}"
    counted = gettext("Errors: %(error)s, warnings: %(warning)s, notices: %(notice)s.") % numbers
    return f"{counted} {looked_at}"


def _table(report: Mapping[str, Any]) -> Table:
    """Every finding with all its ids."""
    return Table(
        name="quality",
        title=_("Findings"),
        columns=(
            Column(key="finding", title=_("Finding")),
            Column(key="severity", title=_("Severity")),
            Column(key="kind", title=_("Kind")),
            Column(key="count", title=_("Count"), kind="int"),
            Column(key="ids", title=_("Ids"), kind="tags"),
        ),
        rows=[
            {
                "finding": sentence(each),
                "severity": SEVERITIES.get(each["severity"], each["severity"]),
                "kind": each["kind"],
                "count": each["count"],
                "ids": each["ids"],
            }
            for each in report["findings"]
        ],
        empty=_("Nothing was found."),
    )


def quality_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """The findings as a file; without rows while the pairs have not been checked."""
    report = analyses_of(run, Analysis.Subject.QUALITY).get(Analysis.Subject.QUALITY)
    return _table(report or {"findings": []})


TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {"quality": quality_table}
