"""How sure the tiers of an aggregation are, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.overview_tables import Figures
from annotation.audit.pair_words import STATES, split_words
from annotation.domain.tables import Column, Row, Table
from annotation.templatetags.figures import criterion_name
from benchmark.stats.codes import CRITERIA, TIERS
from benchmark.stats.draws import coin_flips, fewer_raters
from benchmark.stats.sensitivity import other_bands, other_chances, other_rules, posterior_mix
from benchmark.stats.split_half import SplitHalf, split_half
from benchmark.stats.tiers import TIER_MINIMUM, band, item_k, pair_counts, tier_posterior
from benchmark.stats.verdicts import Verdicts, decide

Text = str | Promise

LABELS = tuple(tier for tier in TIERS if tier is not None)


@dataclass(frozen=True, kw_only=True)
class TierFigures:
    """What the tables below rest on, each part worked out when it is asked for."""

    found: Figures

    @cached_property
    def verdicts(self) -> Verdicts:
        patterns = self.found.patterns
        return decide(self.found.policy, patterns.tallies(), adjudged=patterns.adjudged)

    @cached_property
    def posterior(self) -> Mapping[str, Any]:
        return posterior_mix(self.found.policy, self.found.patterns)

    @cached_property
    def coins(self) -> Mapping[str, Any]:
        return coin_flips(self.found.policy, self.found.patterns)

    @cached_property
    def bands(self) -> list[dict[str, Any]]:
        return other_bands(self.found.policy, self.found.patterns)

    @cached_property
    def chances(self) -> list[dict[str, Any]]:
        return other_chances(self.found.policy, self.found.patterns)

    @cached_property
    def rules(self) -> list[dict[str, Any]]:
        return other_rules(self.found.policy, self.found.patterns)

    @cached_property
    def panels(self) -> list[dict[str, Any]]:
        return fewer_raters(self.found.policy, self.found.patterns)

    @cached_property
    def halves(self) -> dict[str, SplitHalf]:
        patterns, bands = self.found.patterns, self.found.policy.bands
        return {
            key: split_half(counts[:, :2], multiplicity=patterns.pairs, bands=bands)
            for key, counts in patterns.counts.items()
        }

    @property
    def tier_criteria(self) -> tuple[str, ...]:
        """The criteria whose k makes the tier."""
        policy = self.found.policy
        return (policy.criterion,) if policy.combine == "criterion" else CRITERIA

    def inside(self, key: str) -> dict[str, float | None]:
        """Mean k of the pairs in each tier of one criterion, by the votes that put them there."""
        sums = dict.fromkeys(LABELS, 0.0)
        pairs = dict.fromkeys(LABELS, 0)
        for top, low, number in self.found.result["splits"][key]:
            k = item_k(top, low, bands=self.found.policy.bands).value
            if k is not None:
                tier = band(*pair_counts(top, low), bands=self.found.policy.bands)
                sums[tier] += number * k
                pairs[tier] += number
        return {tier: sums[tier] / pairs[tier] if pairs[tier] else None for tier in LABELS}


def tiers_table(one: TierFigures) -> Table:
    """The tiers, how many of their pairs are truly so, and what coins would give."""
    found, truth = one.found, one.posterior["tiers"]
    tiers = found.result["tiers"]
    tiered = sum(tiers[tier] for tier in LABELS)
    provisional = {
        tier: int(
            found.patterns.pairs[one.verdicts.provisional & (one.verdicts.tier == code)].sum()
        )
        for code, tier in enumerate(TIERS)
    }
    rows = []
    for tier in LABELS:
        row: dict[str, object] = {
            "tier": STATES[tier],
            "pairs": tiers[tier],
            "pairs_href": found.to_pairs(tier=tier) if tiers[tier] else "",
            "share": tiers[tier] / tiered if tiered else None,
            "provisional": provisional[tier],
            "provisional_href": found.to_pairs(tier=tier, provisional="1")
            if provisional[tier]
            else "",
            "coins": one.coins["tiers"][tier],
        }
        if truth is not None:
            expected = truth[tier]["expected"]
            row |= {f"truly_{name}": expected[name] for name in LABELS}
            row["right"] = expected[tier] / tiers[tier] if tiers[tier] else None
        rows.append(row)
    return Table(
        name="tiers",
        title=_("Tiers, and what is truly in them"),
        columns=(
            Column(key="tier", title=_("Called")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(key="share", title=pgettext("of the pairs", "Share"), kind="share"),
            *(
                Column(
                    key=f"truly_{name}",
                    title=gettext("Truly %(tier)s") % {"tier": STATES[name]},
                    kind="real",
                )
                for name in LABELS
            ),
            Column(
                key="right",
                title=_("Truly so"),
                kind="share",
                help=_("The expected share of the tier's pairs that belong to it."),
            ),
            Column(
                key="coins",
                title=_("By coin flips"),
                kind="real",
                help=_("Expected if every vote for A or B had been a fair coin."),
            ),
            Column(
                key="provisional",
                title=_("Provisional"),
                kind="int",
                help=_("With seven or eight votes a tier is provisional."),
            ),
        ),
        rows=rows,
        note=_truth_note(one),
    )


def _truth_note(one: TierFigures) -> Text:
    if one.posterior["tiers"] is None:
        return _(
            "For the mean of two criteria no probabilities are given: the truth of a mean is not"
            " that of its parts."
        )
    return _(
        "A pair is truly medium if the share of all possible raters who would choose its majority"
        " lies in the band; probabilities given its votes, with a uniform prior, are summed."
    )


def posterior_table(one: TierFigures) -> Table:
    """For each split of the votes that make the tier: how likely each tier is the true one."""
    bands = one.found.policy.bands
    rows = []
    for key in one.tier_criteria:
        for top, low, pairs in one.found.result["splits"].get(key, []):
            if top + low < TIER_MINIMUM:
                continue
            truth = tier_posterior(top, low, bands=bands)
            rows.append(
                {
                    "split": split_words(top, low),
                    "criterion": criterion_name(key),
                    "pairs": pairs,
                    "pairs_href": one.found.to_pairs(**{f"split-{key}": f"{top}-{low}"}),
                    "k": item_k(top, low, bands=bands).value,
                    "tier": STATES[band(*pair_counts(top, low), bands=bands)],
                    "easy": truth.easy,
                    "medium": truth.medium,
                    "hard": truth.hard,
                }
            )
    return Table(
        name="tier-posterior",
        title=_("How likely each tier is, by split of the votes"),
        columns=(
            Column(key="split", title=_("Votes")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(key="k", title="k", kind="real"),
            Column(key="tier", title=_("Called")),
            *(
                Column(
                    key=name,
                    title=gettext("Truly %(tier)s") % {"tier": STATES[name]},
                    kind="share",
                )
                for name in LABELS
            ),
        ),
        rows=rows,
        note=_(
            "Share of A among all possible raters: Beta(1 + votes for A, 1 + votes for B). Splits"
            " with fewer than seven votes have no tier."
        ),
        empty=_("No pair has the seven votes that a tier takes."),
    )


def split_half_table(one: TierFigures) -> Table:
    """Agreement of votes that had no part in sorting the pairs."""
    rows: list[Row] = []
    for key, half in one.halves.items():
        for stratum in half.strata:
            rows.append(
                {
                    "first": split_words(half.first - stratum.minority, stratum.minority),
                    "criterion": criterion_name(key),
                    "pairs": stratum.pairs,
                    "agreement": stratum.agreement.as_json(),
                }
            )
        rows.append(
            {
                "first": gettext("all"),
                "criterion": criterion_name(key),
                "pairs": half.pairs,
                "agreement": half.overall.as_json(),
            }
        )
    return Table(
        name="split-half",
        title=_("Agreement in votes that did not sort the pairs"),
        columns=(
            Column(key="first", title=_("First five votes")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="pairs", title=_("Pairs, expected"), kind="real"),
            Column(key="agreement", title=_("k of the other votes"), kind="value"),
        ),
        rows=rows,
        note=_(
            "Five votes drawn from those of a pair sort it; k is that of its other votes. Expected"
            " over all ways to draw, so there is no seed. Five votes have no medium band: these"
            " are not tiers."
        ),
        empty=_("No pair has the seven votes that this takes."),
    )


def held_out_table(one: TierFigures) -> Table:
    """Agreement inside each tier beside what other votes would show."""
    rows = []
    for key, half in one.halves.items():
        inside = one.inside(key)
        for tier in LABELS:
            split = half.tiers[tier]
            rows.append(
                {
                    "tier": STATES[tier],
                    "criterion": criterion_name(key),
                    "pairs": split.pairs,
                    "inside": inside[tier],
                    "outside": split.agreement.as_json(),
                }
            )
    return Table(
        name="held-out",
        title=_("Agreement inside a tier, and in other votes"),
        columns=(
            Column(key="tier", title=_("Tier")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(
                key="inside",
                title=_("k inside"),
                kind="real",
                help=_("By the votes that made the tier. It says nothing: it is the band again."),
            ),
            Column(
                key="outside",
                title=_("k in other votes"),
                kind="value",
                help=_("What other raters would show on these pairs, from the strata above."),
            ),
        ),
        rows=rows,
        note=_("Tiers here are those of each criterion alone."),
    )
