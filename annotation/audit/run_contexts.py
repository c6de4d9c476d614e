"""What the overview of an aggregation is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.agreement_words import reading
from annotation.audit.analysis_contexts import AnalysisView, analysis_view
from annotation.audit.nav import NavItem
from annotation.audit.number_words import grouped
from annotation.audit.overview_tables import (
    SHORT,
    Figures,
    agreement_table,
    categories_table,
    intervals_table,
    left_out_table,
    splits_table,
    statuses_table,
    ties_table,
    variants_table,
    verdict_tiers_table,
    votes_per_pair_table,
)
from annotation.audit.pair_words import RunHead, run_head, split_words
from annotation.audit.policy_words import PolicyWords, policy_words
from annotation.contexts import OptionView
from annotation.domain.plots import (
    BarChart,
    BarRow,
    ForestPlot,
    ForestRow,
    IntervalMark,
    StackedBars,
    StackRow,
    forest,
    histogram,
    interval,
    stacked,
)
from annotation.domain.tables import Table
from annotation.lead_contexts import JobView, job_view
from annotation.models import Campaign, Membership
from annotation.templatetags.figures import coefficient, criterion_name, share_of
from benchmark.models import Analysis, Run, Status
from benchmark.stats.codes import STATUSES

Text = str | Promise


@dataclass(frozen=True, slots=True)
class CriterionFigures:
    """The agreement on one criterion: Fleiss' kappa first, the others drawn beside it."""

    key: str
    name: Text
    value: str
    mark: IntervalMark
    reading: Sequence[Text]
    forest: ForestPlot
    splits: BarChart
    splits_title: str
    splits_measure: str


@dataclass(frozen=True, slots=True)
class OverviewView:
    """``head`` and ``analysis`` are None, and ``live`` is not, for the votes as they are now."""

    campaign: Campaign
    may_lead: bool
    is_simulated: bool
    head: RunHead | None
    analysis: AnalysisView | None
    live: LiveView | None
    run: Run | None
    policy: PolicyWords
    findings: Sequence[str]
    next_steps: Sequence[tuple[Text, str]]
    criteria: Sequence[CriterionFigures]
    agreement: Table
    details: Sequence[Table]
    votes: BarChart | None
    votes_table: Table
    splits: Table
    statuses: Table
    tiers: Table
    tier_chart: StackedBars
    left_out: Table


@dataclass(frozen=True, slots=True)
class LiveView:
    """``newest`` is the newest finished run, ``is_counted`` whether it saw these very counts."""

    at: datetime
    policies: Sequence[OptionView]
    chosen: str  # the policy as name@version
    newest: Run | None
    is_counted: bool
    nav: Sequence[NavItem]
    error: Text = ""


@dataclass(frozen=True, slots=True)
class JobRunView:
    """A run of which there is nothing to show but how it went."""

    head: RunHead
    title: str
    job: JobView
    of: Run | None


def job_run_view(membership: Membership, run: Run, *, now: datetime) -> JobRunView:
    return JobRunView(
        head=run_head(membership, run, "overview"),
        title=gettext("Run %(n)s: %(kind)s") % {"n": run.pk, "kind": run.get_kind_display()},
        job=job_view(run, now=now),
        of=run.of,
    )


def run_overview(membership: Membership, run: Run, *, now: datetime) -> OverviewView:
    """Of a finished aggregation; no query but for the head and the state of its analysis."""
    found = Figures.of_run(membership, run)
    head = run_head(membership, run, "overview")
    return overview_view(
        membership,
        found,
        head=head,
        is_simulated=head.is_simulated,
        analysis=analysis_view(
            membership,
            run,
            "overview",
            found=dict.fromkeys(run.analyses.values_list("subject", flat=True)),
            wanted=Analysis.Subject.values,
            now=now,
        ),
        run=run,
        next_steps=_next_steps(found, membership.campaign.slug, run),
    )


def overview_view(
    membership: Membership,
    found: Figures,
    *,
    is_simulated: bool,
    head: RunHead | None = None,
    analysis: AnalysisView | None = None,
    live: LiveView | None = None,
    run: Run | None = None,
    next_steps: Sequence[tuple[Text, str]] = (),
) -> OverviewView:
    """The parts that a run and the votes of this moment have in common; no query."""
    result = found.result
    details = [
        intervals_table(found),
        variants_table(found),
        categories_table(found),
        ties_table(found),
    ]
    return OverviewView(
        campaign=membership.campaign,
        may_lead=membership.may_lead,
        is_simulated=is_simulated,
        head=head,
        analysis=analysis,
        live=live,
        run=run,
        policy=policy_words(found.policy.as_json()),
        findings=_findings(found),
        next_steps=next_steps,
        criteria=[_criterion(found, key) for key in found.reports],
        agreement=agreement_table(found),
        details=[table for table in details if table.rows],
        votes=_votes_chart(found),
        votes_table=votes_per_pair_table(found),
        splits=splits_table(found),
        statuses=statuses_table(found),
        tiers=verdict_tiers_table(found),
        tier_chart=stacked(
            [
                StackRow(
                    label=gettext("decided"),
                    parts=result["tiers"],
                    n=result["statuses"]["decided"],
                )
            ],
            label=gettext("Decided pairs by tier"),
        ),
        left_out=left_out_table(found),
    )


def _findings(found: Figures) -> list[str]:
    """The verdicts, then the agreement, one sentence each."""
    result = found.result
    statuses, tiers, pairs = result["statuses"], result["tiers"], result["pairs"]
    if not pairs:
        return [gettext("There are no pairs yet, so there is nothing to say.")]
    decided = statuses["decided"]
    sentences = [
        ngettext(
            "%(decided)s of %(pairs)s pair is decided (%(share)s): %(easy)s easy, %(medium)s"
            " medium, %(hard)s hard.",
            "%(decided)s of %(pairs)s pairs are decided (%(share)s): %(easy)s easy, %(medium)s"
            " medium, %(hard)s hard.",
            pairs,
        )
        % grouped(**tiers, decided=decided, pairs=pairs, share=share_of(decided, pairs))
    ]
    if tiers["none"]:
        sentences.append(
            ngettext(
                "%(n)s of them has too few votes for a tier.",
                "%(n)s of them have too few votes for a tier.",
                tiers["none"],
            )
            % grouped(n=tiers["none"])
        )
    others = [
        f"{Status(status).label} {number_format(statuses[status])}"
        for status in STATUSES[1:]
        if statuses.get(status)
    ]
    if others:
        sentences.append(
            gettext("The others: %(others)s.")
            % {"others": pgettext("between the items of a list", ", ").join(others)}
        )
    for key, report in found.reports.items():
        fleiss = report["fleiss"]
        if fleiss["value"] is not None:
            sentences.append(
                gettext("%(criterion)s: Fleiss' kappa %(value)s.")
                % {"criterion": criterion_name(key), "value": coefficient(fleiss)}
            )
    return sentences


def _next_steps(found: Figures, slug: str, run: Run) -> list[tuple[Text, str]]:
    """What to look at next, with its address."""
    statuses = found.result["statuses"]
    steps: list[tuple[Text, str]] = []
    open_pairs = statuses["conflict"] + statuses["tied"]
    if open_pairs:
        steps.append(
            (
                ngettext(
                    "%(n)s pair that its votes leave open",
                    "%(n)s pairs that their votes leave open",
                    open_pairs,
                )
                % grouped(n=open_pairs),
                reverse("adjudication", args=[slug]),
            )
        )
    args = [slug, run.pk]
    return [
        *steps,
        (_("How sure the tiers are"), reverse("run_tiers", args=args)),
        (_("Who of the raters stands out"), reverse("run_raters", args=args)),
        (_("Where agreement is lower"), reverse("run_breakdowns", args=args)),
        (_("Whether a side or length is favored"), reverse("run_biases", args=args)),
    ]


def _criterion(found: Figures, key: str) -> CriterionFigures:
    report = found.reports[key]
    name = criterion_name(key)
    fleiss = report["fleiss"]
    low, high = fleiss.get("ci") or (None, None)
    chart, title, measure = _splits_chart(found, key)
    return CriterionFigures(
        key=key,
        name=name,
        value=coefficient(fleiss),
        mark=interval(fleiss["value"], low, high, domain=(-0.25, 1.0), reference=0.0),
        reading=reading(report),
        forest=forest(
            [
                _forest_row(words, report, measure)
                for measure, words in SHORT.items()
                if measure in report
            ],
            reference=0.0,
            label=gettext("Coefficients of agreement on %(criterion)s with 95%% intervals")
            % {"criterion": name},
        ),
        splits=chart,
        splits_title=title,
        splits_measure=measure,
    )


def _forest_row(words: Text, report: Mapping[str, Any], measure: str) -> ForestRow:
    """With the interval by resampling where there is none by formula."""
    value = report[measure]
    drawn = report.get("bootstrap", {}).get(measure, {})
    low, high = value.get("ci") or drawn.get("ci") or (None, None)
    return ForestRow(label=words, value=value["value"], low=low, high=high)


def _splits_chart(found: Figures, key: str) -> tuple[BarChart, str, str]:
    """Votes for A and B of the pairs that have the usual number of them, its title and measure."""
    counts, pairs = found.patterns.counts[key], found.patterns.pairs
    name = criterion_name(key)
    by_n: dict[int, int] = {}
    for n, number in zip((counts[:, 0] + counts[:, 1]).tolist(), pairs.tolist(), strict=True):
        by_n[n] = by_n.get(n, 0) + number
    by_n.pop(0, None)
    usual = max(by_n, key=lambda n: (by_n[n], n), default=0)
    by_a = [0] * (usual + 1)
    for a, b, number in zip(
        counts[:, 0].tolist(), counts[:, 1].tolist(), pairs.tolist(), strict=True
    ):
        if usual and a + b == usual:
            by_a[a] += number
    label = gettext("%(criterion)s: pairs by votes for A and B") % {"criterion": name}
    rows = [
        BarRow(
            label=split_words(a, usual - a),
            value=by_a[a],
            href=found.to_pairs(**{f"split-{key}": f"{max(a, usual - a)}-{min(a, usual - a)}"})
            if by_a[a]
            else "",
        )
        for a in range(usual, -1, -1)
    ]
    if not usual:
        return histogram([], label=label), gettext("No votes for A or B yet"), ""
    unanimous = by_a[0] + by_a[-1]
    title = gettext("%(criterion)s: %(share)s of the pairs are unanimous") % {
        "criterion": name,
        "share": share_of(unanimous, by_n[usual]),
    }
    measure = ngettext(
        "The %(pairs)s pair with %(n)s votes for A or B, by votes for each (A–B)",
        "The %(pairs)s pairs with %(n)s votes for A or B, by votes for each (A–B)",
        by_n[usual],
    ) % grouped(pairs=by_n[usual], n=usual)
    return histogram(rows, label=label, axis=_("votes for A – for B")), title, measure


def _votes_chart(found: Figures) -> BarChart | None:
    """Pairs by number of votes on the first criterion on which these differ, if there is any."""
    for key, report in found.reports.items():
        numbers = {int(n): pairs for n, pairs in report["raters_per_item"]["histogram"].items()}
        if len(numbers) < 2:
            continue
        return histogram(
            [
                BarRow(label=str(n), value=numbers.get(n, 0))
                for n in range(min(numbers), max(numbers) + 1)
            ],
            label=gettext("%(criterion)s: pairs by number of votes")
            % {"criterion": criterion_name(key)},
            axis=_("votes a pair"),
        )
    return None
