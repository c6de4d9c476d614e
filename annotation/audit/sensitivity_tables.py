"""What the tiers of an aggregation would be by other rules and with fewer raters, as tables."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.pair_words import STATES
from annotation.audit.policy_words import edge_words
from annotation.audit.tier_tables import LABELS, TierFigures
from annotation.domain.tables import Column, Kind, Table
from benchmark.stats.tiers import TIER_MINIMUM

Text = str | Promise

RULES: dict[str, Text] = {
    "helpfulness_only": _("helpfulness alone"),
    "personalization_only": _("personalization alone"),
    "both_helpfulness": _("both agree, tier by helpfulness"),
    "both_personalization": _("both agree, tier by personalization"),
    "both_min": _("both agree, tier by the lower k"),
    "both_mean": _("both agree, tier by the mean k"),
}


def _mix_columns(kind: Kind = "int") -> tuple[Column, ...]:
    titles = {tier: STATES[tier] for tier in LABELS} | {"none": _("no tier")}
    return tuple(Column(key=tier, title=title, kind=kind) for tier, title in titles.items())


_MOVED = Column(
    key="moved",
    title=_("Pairs that change"),
    kind="int",
    help=_("Pairs that get another tier than in this run, or gain or lose one."),
)
_OWN = Column(key="own", title=_("This run"), kind="flag")


def bands_table(one: TierFigures) -> Table:
    return Table(
        name="tier-bands",
        title=_("Tiers under other bands"),
        columns=(
            Column(key="easy_above", title=_("Easy above")),
            Column(key="medium_from", title=_("Medium from")),
            *_mix_columns(),
            _MOVED,
            _OWN,
        ),
        rows=[
            {
                "easy_above": edge_words(row["easy_above"]),
                "medium_from": edge_words(row["medium_from"]),
                **row["tiers"],
                "moved": row["moved"],
                "own": row["is_own"],
            }
            for row in one.bands
        ],
        note=_("Edges in k, moved by 0.1 and 0.2 each way; everything else as in this run."),
    )


def chances_table(one: TierFigures) -> Table:
    return Table(
        name="tier-chances",
        title=_("Tiers under other agreement by chance"),
        columns=(
            Column(key="chance", title=_("Chance")),
            *_mix_columns(),
            _MOVED,
            _OWN,
        ),
        rows=[
            {
                "chance": edge_words(row["chance"]),
                **row["tiers"],
                "moved": row["moved"],
                "own": row["is_own"],
            }
            for row in one.chances
        ],
        note=_(
            "As if chance were taken from a share of A of .5, .6, .7, .75 and .8: with a chance"
            " that follows the votes, a lean to one side moves or removes whole tiers."
        ),
    )


def rules_table(one: TierFigures) -> Table:
    return Table(
        name="tier-rules",
        title=_("Verdicts under other rules"),
        columns=(
            Column(key="rule", title=_("Who decides, and the tier")),
            *_mix_columns(),
            Column(key="decided", title=_("Decided"), kind="int"),
            Column(
                key="other_winner",
                title=_("Other response"),
                kind="int",
                help=_("Pairs decided in both cases, but for different responses."),
            ),
            _MOVED,
        ),
        rows=[
            {
                "rule": RULES.get(row["rule"], row["rule"]),
                **row["tiers"],
                "decided": row["decided"],
                "other_winner": row["other_winner"],
                "moved": row["moved"],
            }
            for row in one.rules
        ],
        note=_("Bands, smallest number of votes and ties as in this run."),
    )


def raters_table(one: TierFigures) -> Table:
    return Table(
        name="tier-raters",
        title=_("Verdicts with fewer raters"),
        columns=(
            Column(key="raters", title=_("Raters a pair"), kind="int"),
            *_mix_columns("real"),
            Column(
                key="majority_kept",
                title=_("Same response"),
                kind="value_share",
                help=_("Of the pairs decided by all raters: those decided for the same response."),
            ),
            Column(
                key="tier_kept",
                title=_("Same tier"),
                kind="value_share",
                help=_("Of the pairs with a tier by all raters: those in the same tier."),
            ),
        ),
        rows=[
            {
                "raters": row["raters"],
                **row["tiers"],
                "majority_kept": row["majority_kept"],
                "tier_kept": row["tier_kept"],
            }
            for row in one.panels
        ],
        note=_panel_note(one.panels),
        empty=_("There are too few votes to draw from."),
    )


def _panel_note(panels: list[dict[str, Any]]) -> str:
    note = gettext(
        "Expected numbers, if so many of each pair's raters had been drawn at random. Fewer than"
        " seven votes give no tier; the policy's smallest number of votes is lowered with them."
    )
    if any(row["assumes"] for row in panels):
        note += " " + gettext("The votes on both criteria are drawn apart from each other.")
    return note


def moves_table(one: TierFigures) -> Table:
    return Table(
        name="tier-moves",
        title=_("Where the pairs of a tier go with fewer raters"),
        columns=(
            Column(key="tier", title=_("Called by all")),
            Column(key="raters", title=_("Raters a pair"), kind="int"),
            *_mix_columns("real"),
        ),
        rows=[
            {"tier": STATES[tier], "raters": row["raters"], **mix}
            for row in one.panels
            if row["raters"] >= TIER_MINIMUM
            for tier, mix in row["moves"].items()
        ],
        note=_panel_note(one.panels),
        empty=_("It takes seven votes to have a tier."),
    )
