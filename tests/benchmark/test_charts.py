"""Charts: the bars are the numbers, and the drawing may stand in a page under the strict policy."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from benchmark.charts import TIER_COLOURS, release_figures, split_chart, tier_chart, to_svg

RESULT: dict[str, Any] = {
    "pairs": 1_500,
    "tiers": {"none": 7, "easy": 1_234, "medium": 0, "hard": 56},
    "splits": {
        "helpfulness": [[9, 0, 1_234], [8, 1, 200], [5, 4, 66]],
        "personalization": [[9, 0, 1_500]],
    },
}
NOTHING: dict[str, Any] = {
    "pairs": 0,
    "tiers": dict.fromkeys(("none", "easy", "medium", "hard"), 0),
    "splits": {"helpfulness": [], "personalization": []},
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
    assert list(figures) == ["tiers", "vote-splits-helpfulness", "vote-splits-personalization"]
    for svg in figures.values():
        for element in ElementTree.fromstring(svg).iter():  # noqa: S314 - our own
            assert element.tag.split("}")[-1] not in ("style", "script", "foreignObject", "image")
            names = {name.split("}")[-1] for name in element.attrib}
            assert not {name for name in names if name == "style" or name.startswith("on")}
        assert not re.search(r"(href|src|url)\s*[=(]\s*[\"']?(?!#)\w+:", svg)


def test_the_numbers_and_colours_are_in_the_drawing() -> None:
    svg = to_svg(tier_chart(RESULT))
    for text in ("1,234", "56", "Cases by tier", "easy", "medium", "hard"):
        assert f">{text}</text>" in svg
    for tier in ("easy", "hard"):
        assert TIER_COLOURS[tier] in svg


def test_the_same_numbers_give_the_same_bytes() -> None:
    assert release_figures(RESULT) == release_figures(RESULT)
