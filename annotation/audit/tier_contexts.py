"""What the page about an aggregation's tiers is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.number_words import grouped
from annotation.audit.overview_tables import Figures
from annotation.audit.pair_words import RunHead, run_head, split_words
from annotation.audit.policy_words import PolicyWords, edge_words, policy_words
from annotation.audit.sensitivity_tables import (
    bands_table,
    chances_table,
    moves_table,
    raters_table,
    rules_table,
)
from annotation.audit.tier_tables import (
    LABELS,
    TierFigures,
    held_out_table,
    posterior_table,
    split_half_table,
    tiers_table,
)
from annotation.domain.plots import (
    ForestPlot,
    ForestRow,
    LineChart,
    LinePoint,
    LineSeries,
    StackedBars,
    StackRow,
    forest,
    lines,
    stacked,
)
from annotation.domain.tables import Table
from annotation.models import Membership
from annotation.templatetags.figures import coefficient, criterion_name, share, share_of
from benchmark.models import Run
from benchmark.stats.sensitivity import STEP
from benchmark.stats.split_half import SplitHalf
from benchmark.stats.tiers import TIER_MINIMUM

Text = str | Promise

# Names of rules that there is room for beside a chart.
_RULES: dict[str, Text] = {
    "helpfulness_only": _("helpfulness"),
    "personalization_only": _("personalization"),
    "both_helpfulness": _("both, helpfulness"),
    "both_personalization": _("both, personalization"),
    "both_min": _("both, lower k"),
    "both_mean": _("both, mean k"),
}


@dataclass(frozen=True, slots=True)
class TierFigure:
    """A finding, what is shown, and the same as a table."""

    finding: str
    measure: str
    chart: Any
    table: Table


@dataclass(frozen=True, slots=True)
class TiersView:
    """Figures are None where no pair has a tier."""

    head: RunHead
    policy: PolicyWords
    findings: Sequence[str]
    tiers: Table
    mix: StackedBars
    posterior: Table
    halves: Sequence[tuple[str, ForestPlot]]
    split_half: Table
    held_out: Table
    held_out_finding: str
    bands: TierFigure
    rules: TierFigure
    chances: Table
    panels: TierFigure
    moves: Table


def tiers_view(membership: Membership, run: Run) -> TiersView:
    """No query but for the head."""
    one = TierFigures(found=Figures.of_run(membership, run))
    return TiersView(
        head=run_head(membership, run, "tiers"),
        policy=policy_words(one.found.policy.as_json()),
        findings=_findings(one),
        tiers=tiers_table(one),
        mix=_mix_chart(one),
        posterior=posterior_table(one),
        halves=[
            (
                _half_finding(key, half),
                forest(
                    _half_rows(half),
                    reference=0.0,
                    label=gettext("%(criterion)s: k of the other votes, by the first five")
                    % {"criterion": criterion_name(key)},
                ),
            )
            for key, half in one.halves.items()
            if half.pairs
        ],
        split_half=split_half_table(one),
        held_out=held_out_table(one),
        held_out_finding=_held_out_finding(one),
        bands=_bands_figure(one),
        rules=_rules_figure(one),
        chances=chances_table(one),
        panels=_panels_figure(one),
        moves=moves_table(one),
    )


def _findings(one: TierFigures) -> list[str]:
    result = one.found.result
    tiers = result["tiers"]
    tiered = sum(tiers[tier] for tier in LABELS)
    if not tiered:
        return [
            gettext("No pair has a tier: it takes a decision and %(n)s votes for A or B.")
            % {"n": TIER_MINIMUM}
        ]
    sentences = [
        ngettext(
            "%(n)s pair has a tier: %(easy)s easy, %(medium)s medium, %(hard)s hard.",
            "%(n)s pairs have a tier: %(easy)s easy, %(medium)s medium, %(hard)s hard.",
            tiered,
        )
        % grouped(**tiers, n=tiered)
    ]
    truth = one.posterior["tiers"]
    if truth is not None and tiers["medium"]:
        expected = truth["medium"]["expected"]
        sentences.append(
            ngettext(
                "Of the %(n)s called medium about %(medium)s is truly medium (%(share)s); about"
                " %(easy)s truly easy, %(hard)s truly hard.",
                "Of the %(n)s called medium about %(medium)s are truly medium (%(share)s); about"
                " %(easy)s truly easy, %(hard)s truly hard.",
                tiers["medium"],
            )
            % grouped(
                n=tiers["medium"],
                easy=round(expected["easy"]),
                medium=round(expected["medium"]),
                hard=round(expected["hard"]),
                share=share_of(expected["medium"], tiers["medium"]),
            )
        )
        sentences.append(gettext("So the mix of tiers says more than the tier of a single pair."))
    coins = one.coins["tiers"]
    sentences.append(
        gettext("Coin flips alone would have made about %(easy)s easy and %(medium)s medium pairs.")
        % grouped(easy=round(coins["easy"]), medium=round(coins["medium"]))
    )
    if result["provisional"]:
        sentences.append(
            ngettext(
                "The tier of %(n)s pair is provisional: it has seven or eight votes.",
                "The tiers of %(n)s pairs are provisional: they have seven or eight votes.",
                result["provisional"],
            )
            % grouped(n=result["provisional"])
        )
    return sentences


def _mix_chart(one: TierFigures) -> StackedBars:
    tiers = one.found.result["tiers"]
    rows = [_mix_row(_("called"), tiers, is_whole=True)]
    if one.posterior["expected"] is not None:
        rows.append(_mix_row(_("truly"), one.posterior["expected"]))
    rows.append(_mix_row(_("coin flips"), one.coins["tiers"]))
    return stacked(
        rows,
        order=LABELS,
        label=gettext("Mix of tiers as called, as expected in truth, and by coin flips"),
    )


def _mix_row(label: Text, tiers: Mapping[str, float], *, is_whole: bool = False) -> StackRow:
    parts: dict[str, float] = {tier: tiers[tier] for tier in LABELS}
    return StackRow(label=label, parts=parts, n=int(sum(parts.values())) if is_whole else None)


def _half_rows(half: SplitHalf) -> list[ForestRow]:
    rows = [
        (split_words(half.first - stratum.minority, stratum.minority), stratum.agreement)
        for stratum in half.strata
    ]
    return [
        ForestRow(
            label=label,
            value=agreement.value,
            low=agreement.ci[0] if agreement.ci else None,
            high=agreement.ci[1] if agreement.ci else None,
        )
        for label, agreement in [*rows, (gettext("all"), half.overall)]
    ]


def _half_finding(key: str, half: SplitHalf) -> str:
    clearest, closest = half.strata[0].agreement, half.strata[-1].agreement
    if clearest.value is None or closest.value is None:
        return str(criterion_name(key))
    return gettext(
        "%(criterion)s: where five votes agree, the others have k = %(clear)s; where they are"
        " split closest, %(close)s"
    ) % {
        "criterion": criterion_name(key),
        "clear": coefficient({"value": clearest.value}),
        "close": coefficient({"value": closest.value}),
    }


def _held_out_finding(one: TierFigures) -> str:
    key = one.tier_criteria[-1]
    half, inside = one.halves[key], one.inside(key)
    outside = half.tiers["easy"].agreement.value
    if outside is None or inside["easy"] is None:
        return gettext("Agreement inside a tier is the band again")
    return gettext(
        "%(criterion)s: k inside easy is %(inside)s by construction, and %(outside)s in other votes"
    ) % {
        "criterion": criterion_name(key),
        "inside": coefficient({"value": inside["easy"]}),
        "outside": coefficient({"value": outside}),
    }


def _bands_figure(one: TierFigures) -> TierFigure:
    bands = one.found.policy.bands
    total = one.found.result["pairs"]
    near = [row for row in one.bands if _is_near(row, bands.easy_above, bands.medium_from)]
    most = max((row["moved"] for row in near), default=0)
    return TierFigure(
        finding=gettext(
            "Edges moved by up to 0.1 change the tier of at most %(n)s of %(pairs)s pairs"
            " (%(share)s)"
        )
        % grouped(n=most, pairs=total, share=share_of(most, total)),
        measure=gettext("Decided pairs by tier, for edges of easy and of medium"),
        chart=stacked(
            [
                StackRow(
                    label=f"{edge_words(row['easy_above'])} / {edge_words(row['medium_from'])}",
                    parts=row["tiers"],
                )
                for row in near
            ],
            order=LABELS,
            label=gettext("Mix of tiers under edges around those of the policy"),
        ),
        table=bands_table(one),
    )


def _is_near(
    row: Mapping[str, Any], easy_above: tuple[int, int], medium_from: tuple[int, int]
) -> bool:
    """Whether no edge is further than one step from the policy's."""
    return all(
        abs(Fraction(*row[name]) - Fraction(*own)) <= STEP
        for name, own in (("easy_above", easy_above), ("medium_from", medium_from))
    )


def _rules_figure(one: TierFigures) -> TierFigure:
    turned = max((row["other_winner"] for row in one.rules), default=0)
    moved = max((row["moved"] for row in one.rules), default=0)
    return TierFigure(
        finding=gettext(
            "Another rule changes the tier of up to %(moved)s pairs, and the response of up to"
            " %(turned)s"
        )
        % grouped(moved=moved, turned=turned),
        measure=gettext("Decided pairs by tier, for other rules with the same votes"),
        chart=stacked(
            [
                StackRow(
                    label=_RULES.get(row["rule"], row["rule"]),
                    parts=row["tiers"],
                    n=row["decided"],
                )
                for row in one.rules
            ],
            order=LABELS,
            label=gettext("Mix of tiers under other rules"),
        ),
        table=rules_table(one),
    )


def _panels_figure(one: TierFigures) -> TierFigure:
    return TierFigure(
        finding=_panels_finding(one.panels),
        measure=gettext("Share of verdicts that a random part of the raters would have given"),
        chart=_panels_chart(one.panels),
        table=raters_table(one),
    )


def _panels_finding(panels: Sequence[Mapping[str, Any]]) -> str:
    fewer = panels[:-1]
    if not fewer or fewer[-1]["majority_kept"]["value"] is None:
        return gettext("How much hangs on the number of raters")
    last = fewer[-1]
    words = {"n": last["raters"], "majority": share({"value": last["majority_kept"]["value"]})}
    if last["tier_kept"]["value"] is None or last["raters"] < TIER_MINIMUM:
        return (
            gettext("With %(n)s of the raters %(majority)s of the pairs keep their response")
            % words
        )
    return gettext(
        "With %(n)s of the raters %(majority)s of the pairs keep their response, and %(tier)s"
        " their tier"
    ) % {**words, "tier": share({"value": last["tier_kept"]["value"]})}


def _panels_chart(panels: Sequence[Mapping[str, Any]]) -> LineChart:
    names: dict[str, Text] = {
        "majority_kept": _("response"),
        "tier_kept": _("tier"),
    }
    return lines(
        [
            LineSeries(
                name=name,
                points=[
                    LinePoint(x_label=str(row["raters"]), value=row[key]["value"])
                    for row in panels
                    # Below seven votes nothing has a tier that could be the same.
                    if key == "majority_kept" or row["raters"] >= TIER_MINIMUM
                ],
            )
            for key, name in names.items()
        ],
        label=gettext("Share of verdicts kept, by number of raters"),
        domain=(0.0, 1.0),
        unit="share",
    )
