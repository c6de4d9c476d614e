"""Charts: the bars are the numbers, and the drawing may stand in a page under the strict policy."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from benchmark.charts import (
    TIER_COLOURS,
    agreement_chart,
    release_figures,
    split_chart,
    tier_chart,
    to_svg,
)

RESULT: dict[str, Any] = {
    "pairs": 1_500,
    "tiers": {"none": 7, "easy": 1_234, "medium": 0, "hard": 56},
    "splits": {
        "helpfulness": [[9, 0, 1_234], [8, 1, 200], [5, 4, 66]],
        "personalization": [[9, 0, 1_500]],
    },
    "agreement": {
        "helpfulness": {
            "percent_agreement": {"value": 0.912345, "se": 0.01, "ci": [0.89, 0.93]},
            "fleiss": {"value": None, "reason": "single_category"},
            "conger": {"value": 0.25, "se": None, "ci": None, "se_reason": "no_se_for_variant"},
            **{
                name: {"value": 0.5, "se": 0.1, "ci": [0.3, 0.7]}
                for name in ("alpha", "randolph", "ac1")
            },
        }
    },
}
NOTHING: dict[str, Any] = {
    "pairs": 0,
    "tiers": dict.fromkeys(("none", "easy", "medium", "hard"), 0),
    "splits": {"helpfulness": [], "personalization": []},
    "agreement": {},
}


def bars(spec: dict[str, Any]) -> list[tuple[str, int]]:
    return [(value["label"], value["n"]) for value in spec["data"]["values"]]


def test_tiers_are_bars_in_order_with_n() -> None:
    spec = tier_chart(RESULT)
    assert bars(spec) == [("easy", 1_234), ("medium", 0), ("hard", 56)]
    assert spec["encoding"]["y"]["sort"] == ["easy", "medium", "hard"]
    assert spec["title"]["subtitle"] == "1,290 decided cases of 1,500 pairs"


def test_splits_are_bars_the_clearest_first() -> None:
    spec = split_chart("helpfulness", RESULT["splits"]["helpfulness"])
    assert bars(spec) == [("9–0", 1_234), ("8–1", 200), ("5–4", 66)]
    assert spec["encoding"]["y"]["sort"] == ["9–0", "8–1", "5–4"]
    assert spec["title"]["subtitle"].startswith("1,500 pairs, ")


@pytest.mark.parametrize("result", [RESULT, NOTHING], ids=["figures", "nothing"])
def test_figures_need_no_style_and_no_script(result: dict[str, Any]) -> None:
    figures = release_figures(result)
    assert list(figures) == [
        "tiers",
        "agreement",
        "vote-splits-helpfulness",
        "vote-splits-personalization",
    ]
    for svg in figures.values():
        for element in ElementTree.fromstring(svg).iter():  # noqa: S314 - our own
            assert element.tag.split("}")[-1] not in ("style", "script", "foreignObject", "image")
            names = {name.split("}")[-1] for name in element.attrib}
            assert not {name for name in names if name == "style" or name.startswith("on")}
        assert not re.search(r"(href|src|url)\s*[=(]\s*[\"']?(?!#)\w+:", svg)


def test_coefficients_are_drawn_with_their_intervals_and_undefined_ones_are_not() -> None:
    rows = agreement_chart(RESULT)["data"]["values"]
    assert [(row["measure"], row["low"], row["value"], row["high"]) for row in rows] == [
        ("observed", 0.89, 0.912345, 0.93),
        ("Conger", 0.25, 0.25, 0.25),
        *((name, 0.3, 0.5, 0.7) for name in ("alpha", "Randolph", "AC1")),
    ]
    assert ">0.91</text>" in to_svg(agreement_chart(RESULT))


def test_the_numbers_and_colours_are_in_the_drawing() -> None:
    svg = to_svg(tier_chart(RESULT))
    for text in ("1,234", "56", "Cases by tier", "easy", "medium", "hard"):
        assert f">{text}</text>" in svg
    for tier in ("easy", "hard"):
        assert TIER_COLOURS[tier] in svg


def test_the_same_numbers_give_the_same_bytes() -> None:
    assert release_figures(RESULT) == release_figures(RESULT)
