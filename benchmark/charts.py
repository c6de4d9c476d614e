"""Charts as Vega-Lite specifications in plain dictionaries, drawn to SVG on the server.

Tiers are one hue in three strengths, never traffic lights. The title says what is shown, the
subtitle the measure and n.
"""

from __future__ import annotations

from typing import Any

import vl_convert

TIER_COLOURS = {"easy": "#8fc3c0", "medium": "#3d8f8c", "hard": "#0f4f4d"}
_ACCENT = "#3d8f8c"

Spec = dict[str, Any]


def release_figures(result: dict[str, Any]) -> dict[str, str]:
    """SVG texts by file name, for an aggregation's result; the same result gives the same bytes."""
    figures = {"tiers": to_svg(tier_chart(result))}
    for criterion, splits in result["splits"].items():
        figures[f"vote-splits-{criterion}"] = to_svg(split_chart(criterion, splits))
    return figures


def to_svg(spec: Spec) -> str:
    svg: str = vl_convert.vegalite_to_svg(spec)
    return svg


def tier_chart(result: dict[str, Any]) -> Spec:
    """Cases a tier."""
    tiers = {tier: result["tiers"][tier] for tier in TIER_COLOURS}
    cases = sum(tiers.values())
    return _bars(
        title="Cases by tier",
        subtitle=f"{cases:,} decided cases of {result['pairs']:,} pairs",
        values=[{"label": tier, "n": n} for tier, n in tiers.items()],
        order=list(tiers),
        axis="tier",
        colours=TIER_COLOURS,
    )


def split_chart(criterion: str, splits: list[list[int]]) -> Spec:
    """Pairs by how their votes for A and B divide, majority first."""
    labels = [f"{most}–{least}" for most, least, _ in splits]
    return _bars(
        title=f"How the votes divide: {criterion}",
        subtitle=f"{sum(row[2] for row in splits):,} pairs, votes for either response, ties and"
        " skips aside",
        values=[{"label": label, "n": row[2]} for label, row in zip(labels, splits, strict=True)],
        order=labels,
        axis="majority–minority",
        colours=None,
    )


def _bars(
    *,
    title: str,
    subtitle: str,
    values: list[dict[str, Any]],
    order: list[str],
    axis: str,
    colours: dict[str, str] | None,
) -> Spec:
    y = {"field": "label", "type": "nominal", "sort": order, "title": axis}
    x = {"field": "n", "type": "quantitative", "title": "pairs", "axis": {"tickMinStep": 1}}
    colour: Spec = {"value": _ACCENT}
    if colours:
        colour = {
            "field": "label",
            "type": "nominal",
            "legend": None,
            "scale": {"domain": list(colours), "range": list(colours.values())},
        }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": 420,
        "height": {"step": 26},
        "data": {"values": values},
        "encoding": {"y": y, "x": x},
        "layer": [
            {"mark": {"type": "bar"}, "encoding": {"color": colour}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": {"field": "n", "type": "quantitative", "format": ","}},
            },
        ],
        "config": {
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": {"grid": False, "labelFontSize": 12, "titleFontSize": 12},
            "title": {"fontSize": 16, "subtitleFontSize": 12},
        },
    }
