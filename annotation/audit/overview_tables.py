"""The figures of an aggregation as tables: agreement, splits of the votes, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.number_words import grouped
from annotation.audit.pair_words import STATES, split_words, tier_words
from annotation.domain.tables import Column, Row, Table
from annotation.models import Membership
from annotation.templatetags.figures import VARIANTS, criterion_name
from annotation.templatetags.tables import kind_words
from benchmark.models import Run, Status
from benchmark.selectors.pair_rows import decided
from benchmark.stats.codes import STATUSES, TIERS
from benchmark.stats.patterns import Patterns
from benchmark.stats.policy import Policy
from benchmark.stats.tiers import TIER_MINIMUM, band, item_k, pair_counts

Text = str | Promise

COEFFICIENTS: dict[str, Text] = {
    "fleiss": _("Fleiss' kappa"),
    "randolph": _("Randolph's kappa"),
    "ac1": _("Gwet's AC1"),
    "alpha": _("Krippendorff's alpha"),
    "conger": _("Conger's kappa"),
}
# Where there is no room for more.
SHORT: dict[str, Text] = {
    "fleiss": "Fleiss",
    "randolph": "Randolph",
    "ac1": "AC1",
    "alpha": _("Alpha"),
    "conger": "Conger",
}
MEASURES: dict[str, Text] = {"percent_agreement": _("Percent agreement"), **COEFFICIENTS}

# The readings of ties go by the names that have a weighted form.
_WEIGHTED: dict[str, Text] = {
    "percent_agreement": MEASURES["percent_agreement"],
    "fleiss": MEASURES["fleiss"],
    "brennan_prediger": _("Brennan and Prediger's kappa"),
    "ac2": _("Gwet's AC2"),
    "alpha": MEASURES["alpha"],
}

MIX = (*(tier for tier in TIERS if tier is not None), "none")

_SAYS: dict[str, Text] = {
    "percent_agreement": _("How often two raters of the same pair give the same answer."),
    "fleiss": _("Chance: two answers drawn from all answers given."),
    "randolph": _("Chance: every answer is equally likely."),
    "ac1": _("Chance: Gwet's, steady where nearly all answers are the same."),
    "alpha": _("Chance: as Fleiss, corrected for few votes."),
    "conger": _("Chance: two raters answer independently, each with their own shares."),
}
_READINGS: dict[str, Text] = {
    "nominal": _("three answers, each as far from the others"),
    "linear": _("a tie counts as half way between A and B"),
    "ab_only": _("votes for A and B only"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """An aggregation, or the votes as they are now, which have no list of pairs to link to.

    ``result`` as `benchmark.stats.overview.overview` gives it; those of old runs lack some keys.
    """

    result: Mapping[str, Any]
    patterns: Patterns
    policy: Policy
    pairs_address: str = ""

    @classmethod
    def of_run(cls, membership: Membership, run: Run) -> Figures:
        found = decided(run)
        return cls(
            result=run.result,
            patterns=found.patterns,
            policy=found.policy,
            pairs_address=reverse("run_pairs", args=[membership.campaign.slug, run.pk]),
        )

    @property
    def reports(self) -> dict[str, Mapping[str, Any]]:
        """The agreement by criterion in the set's order, which the database does not keep."""
        return {key: self.result["agreement"][key] for key in self.patterns.counts}

    def to_pairs(self, **wanted: str) -> str:
        """The list of the pairs that are like this; empty where there is no list."""
        return f"{self.pairs_address}?{urlencode(wanted)}" if self.pairs_address else ""


def agreement_table(found: Figures) -> Table:
    """One row a criterion."""
    reports = found.reports
    shown = [key for key in MEASURES if any(key in report for report in reports.values())]
    return Table(
        name="agreement",
        title=_("Agreement of the raters"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            *(
                Column(
                    key=key,
                    title=SHORT.get(key, MEASURES[key]),
                    kind="value_share" if key == "percent_agreement" else "value",
                    help=format_lazy("{}. {}", MEASURES[key], _SAYS[key]),
                )
                for key in shown
            ),
            Column(
                key="share_a",
                title=_("Share of A"),
                kind="value_share",
                help=_("Of all votes. About one half is expected: A and B are assigned by lot."),
            ),
            Column(key="votes", title=_("Votes"), kind="int", help=_("Skips are no votes.")),
            Column(
                key="pairs",
                title=_("Pairs"),
                kind="int",
                help=_("Pairs with the two votes that agreement takes."),
            ),
        ),
        rows=[
            {
                "criterion": criterion_name(key),
                **{measure: report.get(measure) for measure in shown},
                "share_a": report["pooled_shares"]["A"],
                "votes": report["votes"],
                "pairs": report["items_with_two_votes"],
            }
            for key, report in reports.items()
        ],
        note=_(
            "Value and 95% interval. A coefficient is 0 when raters agree as often as chance would"
            " make them, and 1 when they always agree. Intervals: Gwet's linearization; they hold"
            " for this rater pool and say nothing about other raters."
        ),
    )


def intervals_table(found: Figures) -> Table:
    """Every coefficient by formula and by resampling."""
    rows: list[Row] = []
    replicates = 0
    for key, report in found.reports.items():
        drawn = report.get("bootstrap")
        if drawn is None:
            continue
        replicates = drawn["replicates"]
        for measure, title in MEASURES.items():
            if measure in drawn:
                rows.append(
                    {
                        "criterion": criterion_name(key),
                        "measure": title,
                        "formula": report[measure],
                        "bootstrap": drawn[measure] | {"value": report[measure]["value"]},
                        "dropped": drawn[measure]["dropped"],
                    }
                )
    return Table(
        name="agreement-intervals",
        title=_("Intervals by formula and by resampling"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="measure", title=_("Measure")),
            Column(key="formula", title=_("By formula"), kind="value"),
            Column(key="bootstrap", title=_("By resampling"), kind="value"),
            Column(
                key="dropped",
                title=_("Draws without a value"),
                kind="int",
                help=_("As when all votes of a draw are for the same answer. They are left out."),
            ),
        ),
        rows=rows,
        note=gettext(
            "By resampling: pairs drawn anew %(n)s times, 2.5th and 97.5th percentile. Both hold"
            " the raters fixed."
        )
        % grouped(n=replicates),
        empty=_("This run is from before intervals by resampling were kept."),
    )


def variants_table(found: Figures) -> Table:
    """What else goes by the name of Fleiss' kappa."""
    rows = [
        {"criterion": criterion_name(key), "variant": VARIANTS[name], "kappa": value}
        for key, report in found.reports.items()
        for name in VARIANTS
        for value in [report.get("fleiss_variants", {}).get(name)]
        if value is not None
    ]
    return Table(
        name="agreement-variants",
        title=_("Fleiss' kappa by other weights"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="variant", title=_("Weights")),
            Column(key="kappa", title=_("Kappa"), kind="value"),
        ),
        rows=rows,
        note=_("With equally many votes on every pair all four are the same number."),
        empty=_("This run is from before other weights were kept."),
    )


def categories_table(found: Figures) -> Table:
    """Kappa of each answer against the others; empty with two answers, where it says nothing."""
    rows = [
        {
            "criterion": criterion_name(key),
            "answer": kind_words(name),
            "share": report["shares"][name],
            "kappa": value,
        }
        for key, report in found.reports.items()
        for name in report["categories"]
        for value in [report.get("by_category", {}).get(name)]
        if value is not None
    ]
    return Table(
        name="agreement-by-answer",
        title=_("Agreement on each answer"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="answer", title=_("Answer")),
            Column(key="share", title=_("Share of the answers"), kind="value_share"),
            Column(key="kappa", title=_("Kappa against all others"), kind="value"),
        ),
        rows=rows,
        empty=_("With two answers these would all be Fleiss' kappa."),
    )


def ties_table(found: Figures) -> Table:
    """The readings of ties, where ties are allowed."""
    rows: list[Row] = [
        {"criterion": criterion_name(key), "reading": words, **report["tie_readings"][name]}
        for key, report in found.reports.items()
        for name, words in _READINGS.items()
        if name in report.get("tie_readings", {})
    ]
    return Table(
        name="agreement-ties",
        title=_("Agreement by what a tie means"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="reading", title=_("A tie is")),
            *(Column(key=key, title=title, kind="value") for key, title in _WEIGHTED.items()),
        ),
        rows=rows,
        empty=_("This campaign has no ties."),
    )


def splits_table(found: Figures) -> Table:
    """Pairs by votes for the response that got more and for the other one."""
    counts = {
        key: {(top, low): pairs for top, low, pairs in found.result["splits"][key]}
        for key in found.reports
    }
    every = sorted({split for of_key in counts.values() for split in of_key}, key=_clearest)
    total = found.result["pairs"]
    rows = []
    for top, low in every:
        row: dict[str, object] = {"split": split_words(top, low), **_placed(top, low, found.policy)}
        for key, of_key in counts.items():
            pairs = of_key.get((top, low), 0)
            row |= {f"{key}_pairs": pairs, f"{key}_share": pairs / total if total else None}
            if pairs:
                row[f"{key}_pairs_href"] = found.to_pairs(**{f"split-{key}": f"{top}-{low}"})
        rows.append(row)
    columns = [Column(key="split", title=_("Votes"))]
    for key in counts:
        columns += [
            Column(key=f"{key}_pairs", title=criterion_name(key), kind="int"),
            Column(key=f"{key}_share", title=pgettext("of the pairs", "Share"), kind="share"),
        ]
    columns += [
        Column(
            key="k",
            title="k",
            kind="real",
            help=_("Item agreement, with chance fixed by the policy. It needs seven votes."),
        ),
        Column(key="tier", title=_("Tier"), help=_("Where this criterion alone makes the tier.")),
    ]
    return Table(
        name="splits",
        title=_("How the votes split"),
        columns=tuple(columns),
        rows=rows,
        note=gettext(
            "n = %(n)s pairs, by votes for the response that got more and for the other one; the"
            " clearest split first. Ties and skips are not among these votes."
        )
        % grouped(n=total),
        empty=_("There are no pairs yet."),
    )


def _clearest(split: tuple[int, int]) -> tuple[int, int]:
    return -sum(split), -split[0]


def _placed(a: int, b: int, policy: Policy) -> dict[str, object]:
    if a + b < TIER_MINIMUM:
        return {"k": None, "tier": ""}
    return {
        "k": item_k(a, b, bands=policy.bands).value,
        "tier": tier_words(band(*pair_counts(a, b), bands=policy.bands)),
    }


def votes_per_pair_table(found: Figures) -> Table:
    """Pairs by number of votes, one column a criterion."""
    histograms = {
        key: {int(n): pairs for n, pairs in report["raters_per_item"]["histogram"].items()}
        for key, report in found.reports.items()
    }
    return Table(
        name="votes-per-pair",
        title=_("Votes a pair"),
        columns=(
            Column(key="votes", title=_("Votes"), kind="int"),
            *(Column(key=key, title=criterion_name(key), kind="int") for key in histograms),
        ),
        rows=[
            {"votes": n, **{key: of_key.get(n, 0) for key, of_key in histograms.items()}}
            for n in sorted({n for of_key in histograms.values() for n in of_key})
        ],
        note=_("Pairs by the number of their votes, skips and excluded votes left aside."),
        empty=_("There are no pairs yet."),
    )


def statuses_table(found: Figures) -> Table:
    statuses, total = found.result["statuses"], found.result["pairs"]
    return Table(
        name="statuses",
        title=_("Verdicts"),
        columns=(
            Column(key="status", title=_("Status")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(key="share", title=pgettext("of the pairs", "Share"), kind="share"),
        ),
        rows=[
            {
                "status": Status(status).label,
                "pairs": pairs,
                "pairs_href": found.to_pairs(status=status) if pairs else "",
                "share": pairs / total if total else None,
            }
            for status in STATUSES
            # Runs from before pairs could be left out do not count them.
            for pairs in [statuses.get(status, 0)]
        ],
        note=gettext("n = %(pairs)s pairs with %(judgements)s judgements.")
        % grouped(pairs=total, judgements=found.result["judgements"]),
    )


def verdict_tiers_table(found: Figures) -> Table:
    """Decided pairs by tier."""
    tiers, whole = found.result["tiers"], found.result["statuses"]["decided"]
    return Table(
        name="verdict-tiers",
        title=_("Decided pairs by tier"),
        columns=(
            Column(key="tier", title=_("Tier")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(key="share", title=pgettext("of the pairs", "Share"), kind="share"),
        ),
        rows=[
            {
                "tier": STATES[tier],
                "pairs": pairs,
                "pairs_href": found.to_pairs(tier=tier) if pairs else "",
                "share": pairs / whole if whole else None,
            }
            for tier in MIX
            for pairs in [tiers[tier]]
            if pairs or tier != "none"
        ],
    )


def left_out_table(found: Figures) -> Table:
    """What the figures do not rest on."""
    rows: list[Row] = []

    def add(what: Text, number: int, href: str = "") -> None:
        rows.append({"what": what, "number": number, "number_href": href if number else ""})

    left_out = found.result.get("left_out", {})
    add(_("raters whose votes are excluded"), left_out.get("raters", 0))
    add(_("single judgements excluded"), left_out.get("judgements", 0))
    for key, counts in found.patterns.counts.items():
        skips = int(found.patterns.pairs @ counts[:, 3])
        words = gettext("skips: %(criterion)s") % {"criterion": criterion_name(key)}
        add(words, skips, found.to_pairs(skips="1"))
    for key, report in found.reports.items():
        words = gettext("pairs with fewer than two votes: %(criterion)s") % {
            "criterion": criterion_name(key)
        }
        add(words, report["items"] - report["items_with_two_votes"])
    adjudicated = found.result.get("adjudicated", 0)
    add(_("pairs decided by adjudication"), adjudicated, found.to_pairs(adjudicated="1"))
    provisional = found.result["provisional"]
    add(_("pairs whose tier is provisional"), provisional, found.to_pairs(provisional="1"))
    return Table(
        name="left-out",
        title=_("Left out, and decided otherwise"),
        columns=(
            Column(key="what", title=pgettext("of what is left out", "What")),
            Column(key="number", title=pgettext("of what is left out", "How many"), kind="int"),
        ),
        rows=rows,
        note=_("Excluded votes stay on record: an exclusion can be lifted, and they count again."),
    )
