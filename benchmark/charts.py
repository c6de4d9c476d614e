"""Charts as Vega-Lite specifications in plain dictionaries, drawn to SVG on the server.

Tiers are one hue in three strengths, never traffic lights. The title says what is shown, the
subtitle the measure and n.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TIER_COLOURS = {"easy": "#8fc3c0", "medium": "#3d8f8c", "hard": "#0f4f4d"}
_ACCENT = "#3d8f8c"

Spec = dict[str, Any]

_CONFIG: Spec = {
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"grid": False, "labelFontSize": 12, "titleFontSize": 12},
    "title": {"fontSize": 16, "subtitleFontSize": 12},
}
# Drawing takes about one; a machine that is busy may need more.
DRAWING_SECONDS = 120


def release_figures(result: dict[str, Any]) -> dict[str, str]:
    """SVG texts by file name, for an aggregation's result; the same result gives the same bytes."""
    figures = {"tiers": tier_chart(result), "agreement": agreement_chart(result)}
    for criterion, splits in result["splits"].items():
        figures[f"vote-splits-{criterion}"] = split_chart(criterion, splits)
    return draw(figures)


def draw(figures: Mapping[str, Spec]) -> dict[str, str]:
    """SVG texts by name; CalledProcessError for a specification that cannot be drawn.

    In a process of its own, since the engine takes 110 MB and never gives them back.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.charts"],
        input=json.dumps(figures).encode(),
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parent.parent,
        check=True,
        timeout=DRAWING_SECONDS,
    )
    svgs: dict[str, str] = json.loads(done.stdout)
    return svgs


def to_svg(spec: Spec) -> str:
    return draw({"one": spec})["one"]


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


_COEFFICIENTS = {
    "percent_agreement": "observed",
    "fleiss": "Fleiss",
    "conger": "Conger",
    "alpha": "alpha",
    "randolph": "Randolph",
    "ac1": "AC1",
}


def agreement_chart(result: dict[str, Any]) -> Spec:
    """Coefficients with their intervals, criterion by criterion; undefined ones have no mark."""
    rows = []
    for criterion, report in result["agreement"].items():
        for name, words in _COEFFICIENTS.items():
            found = report[name]
            if found["value"] is None:
                continue
            low, high = found.get("ci") or (found["value"], found["value"])
            rows.append(
                {
                    "criterion": criterion,
                    "measure": words,
                    "value": found["value"],
                    "low": low,
                    "high": high,
                    "text": f"{found['value']:.2f}",
                }
            )
    y = {"field": "measure", "type": "nominal", "sort": list(_COEFFICIENTS.values()), "title": None}
    x = {
        "field": "value",
        "type": "quantitative",
        "title": "agreement; 0 is chance, but for observed",
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {
            "text": "Agreement of the raters",
            "subtitle": "with 95% intervals where there are any (Gwet's; these raters)",
            "anchor": "start",
        },
        "data": {"values": rows},
        "facet": {"row": {"field": "criterion", "type": "nominal", "title": None}},
        "spec": {
            "width": 420,
            "height": {"step": 24},
            "layer": [
                {
                    "mark": {"type": "rule", "color": _ACCENT, "strokeWidth": 2},
                    "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 70, "color": _ACCENT},
                    "encoding": {"y": y, "x": x},
                },
                {
                    "mark": {"type": "text", "dy": -10, "fontSize": 11},
                    "encoding": {"y": y, "x": x, "text": {"field": "text"}},
                },
            ],
        },
        "config": _CONFIG,
    }


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
        "config": _CONFIG,
    }


def _main() -> None:
    """Draw what `draw` sends."""
    import vl_convert

    figures = json.load(sys.stdin)
    svgs = {name: vl_convert.vegalite_to_svg(spec) for name, spec in figures.items()}
    json.dump(svgs, sys.stdout)


if __name__ == "__main__":
    _main()
