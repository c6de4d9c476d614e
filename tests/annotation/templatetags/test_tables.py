"""Tables and charts as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.translation import override

from annotation.domain.plots import (
    BarRow,
    DotRow,
    ForestRow,
    HeatCell,
    LinePoint,
    LineSeries,
    StackRow,
    bars,
    dots,
    forest,
    heat,
    histogram,
    interval,
    lines,
    stacked,
)
from annotation.domain.tables import Column, Kind, Pager, Table, Tag
from annotation.templatetags import tables
from benchmark.stats.values import Reason, Value

DEFINED = Value(value=0.43, se=0.02, ci=(0.39, 0.47)).as_json()
EVIL = "<script>alert(1)</script>\"' onload=x"
DASH = "\N{EM DASH}"

EVIL_CHARTS: list[tuple[str, Any]] = [
    ("bars", bars([BarRow(label=EVIL, value=1, note=EVIL, href=f"/{EVIL}")], label=EVIL)),
    ("histogram", histogram([BarRow(label=EVIL, value=1, note=EVIL)], label=EVIL, axis=EVIL)),
    ("forest", forest([ForestRow(label=EVIL, value=1, href=EVIL)], reference=0, label=EVIL)),
    ("heat", heat([EVIL, EVIL], {(0, 1): HeatCell(value=1, n=1)}, low=0, high=1, label=EVIL)),
    ("stacked", stacked([StackRow(label=EVIL, parts={EVIL: 1})], label=EVIL, order=[EVIL])),
    (
        "lines",
        lines([LineSeries(name=EVIL, points=[LinePoint(x_label=EVIL, value=1)])] * 2, label=EVIL),
    ),
    ("dots", dots([DotRow(choice=EVIL, label=EVIL)], label=EVIL)),
    ("interval", interval(0.5, 0.4, 0.6, domain=(0, 1), label=EVIL)),
]
CHARTS: list[tuple[str, Any]] = [
    ("bars", bars([BarRow(label="a", value=1.5), BarRow(label="b", value=None)], label="x")),
    ("histogram", histogram([BarRow(label="9-0", value=1234)], label="x")),
    (
        "forest",
        forest(
            [
                ForestRow(label="a", value=0.43, low=0.39, high=0.47),
                ForestRow(label="b", value=None),
            ],
            reference=0,
            label="x",
        ),
    ),
    ("heat", heat("abc", {(0, 1): HeatCell(value=None, n=0)}, low=0, high=1, label="x")),
    ("stacked", stacked([StackRow(label="a", parts={"easy": 2, "hard": 1}, n=3)], label="x")),
    (
        "lines",
        lines(
            [LineSeries(name="k", points=[LinePoint(x_label="1", value=0.5, low=0.4, high=0.6)])],
            label="x",
        ),
    ),
    ("dots", dots([DotRow(choice="A", label="r1"), DotRow(choice="tie", label="r2")])),
    ("interval", interval(0.5, 0.4, 0.6, domain=(0, 1))),
]
EMPTY_CHARTS: list[tuple[str, Any]] = [
    ("bars", bars([], label="x")),
    ("histogram", histogram([], label="x")),
    ("forest", forest([], reference=None, label="x")),
    ("heat", heat([], {}, low=0, high=1, label="x")),
    ("stacked", stacked([], label="x")),
    ("lines", lines([], label="x")),
]


class Elements(HTMLParser):
    """Every element with its attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.found if name == tag)


def chart(name: str, drawn: Any) -> str:
    return render_to_string(f"charts/{name}.html", {"chart": drawn})


def data_table(table: Table, **context: Any) -> str:
    return render_to_string("components/data_table.html", {"table": table, **context})


def one_cell(kind: Kind, found: object) -> tables.Cell:
    column = Column(key="k", title="K", kind=kind)
    (cell,) = tables.cells(Table(name="t", title="T", columns=(column,)), {"k": found})
    return cell


@pytest.mark.parametrize(
    ("kind", "found", "words"),
    [
        ("text", "hard", "hard"),
        ("text", None, DASH),
        ("text", "", DASH),
        ("int", 8298, "8,298"),
        ("int", 0, "0"),
        ("real", -0.256, "\N{MINUS SIGN}0.26"),
        ("share", 0.7125, "71.2%"),
        ("value", DEFINED, "0.43 [0.39, 0.47]"),
        ("value_share", DEFINED, "43.0% [39.0%, 47.0%]"),
        ("value", None, DASH),
        ("seconds", 72, "1 min 12 s"),
        ("seconds", None, DASH),
        ("flag", True, "yes"),
        ("flag", False, "no"),
    ],
)
def test_a_cell_is_worded_by_its_kind(kind: Kind, found: object, words: str) -> None:
    cell = one_cell(kind, found)
    assert str(cell.words) == words
    assert cell.is_plain


def test_a_missing_value_says_why() -> None:
    html = data_table(
        Table(
            name="t",
            title="T",
            columns=(Column(key="k", title="K", kind="value"),),
            rows=[{"k": Value.undefined(Reason.NO_VOTES).as_json()}],
        )
    )
    assert re.search(rf"{DASH}\s*<span class=\"small\">there are no votes</span>", html)


def test_a_table_can_be_found_scrolled_and_read_without_its_looks() -> None:
    table = Table(
        name="raters",
        title="Raters",
        columns=(
            Column(key="n", title="n", kind="int", help="How many."),
            Column(key="rater", title="Rater", sortable=True),
            Column(key="at", title="Last", kind="moment"),
            Column(key="tags", title="Marks", kind="tags"),
        ),
        rows=[
            {
                "n": 1,
                "rater": "r1",
                "rater_href": "/r1",
                "at": datetime(2026, 7, 1, tzinfo=UTC),
                "tags": [Tag(words="fast", kind="warn"), "new"],
                "_header": "rater",
                "_kind": "warn",
            }
        ],
        note="n = 1",
    )
    html = data_table(table, sort="-rater", base="tier=easy&sort=-rater&page=3")
    page = Elements(html)
    (region,) = [found for found in page.all("div") if found.get("role") == "region"]
    assert region["tabindex"] == "0"
    assert region["aria-labelledby"] == "raters-title"
    assert any(found.get("id") == "raters-title" for found in page.all("h3"))
    heads = list(page.all("th"))
    assert [head["scope"] for head in heads] == ["col", "col", "col", "col", "row"]
    assert [head.get("aria-sort") for head in heads][1] == "descending"
    addresses = [found["href"] for found in page.all("a")]
    assert addresses == ["?tier=easy&sort=rater#raters", "/r1"]
    assert 'class="tag tag-warn"' in html
    assert "(to look at)" in page.text
    assert "How many." in page.text
    assert 'datetime="2026-07-01T00:00:00+00:00"' in html


@pytest.mark.parametrize(
    ("sort", "base", "query"),
    [
        ("", "", "?sort=k"),
        ("k", "", "?sort=-k"),
        ("-k", None, "?sort=k"),
        ("n", "?sort=n&after=9&q=a%26b", "?q=a%26b&sort=k"),
        ("n", QueryDict("x=1&x=2&page=4"), "?x=1&x=2&sort=k"),
        ("n", {"x": 1, "before": 2}, "?x=1&sort=k"),
    ],
)
def test_sorting_keeps_the_other_parameters_and_begins_anew(
    sort: str, base: Any, query: str
) -> None:
    assert tables.sort_query(Column(key="k", title="K"), sort, base) == query


def test_the_query_of_a_page_is_not_changed_by_its_links() -> None:
    base = QueryDict("sort=n&page=4")
    tables.sort_query(Column(key="k", title="K"), "n", base)
    assert base.urlencode() == "sort=n&page=4"


def test_downloads_stand_beside_a_table_that_has_rows() -> None:
    table = Table(name="splits", title="S", columns=(Column(key="a", title="A"),), rows=[{"a": 1}])
    context = {"downloads": True, "slug": "pilot", "run": 7}
    addresses = [found["href"] for found in Elements(data_table(table, **context)).all("a")]
    assert len(addresses) == 2
    for address, ending in zip(addresses, ("csv", "json"), strict=True):
        assert address is not None
        assert "/pilot/" in address
        assert "/7/" in address
        assert "splits" in address
        assert ending in address
    assert "href" not in data_table(table)


def test_an_empty_table_says_why_and_offers_nothing_to_download() -> None:
    empty = Table(name="t", title="T", columns=(Column(key="a", title="A"),), empty="Nobody voted.")
    html = data_table(empty, downloads=True, slug="pilot", run=7)
    assert "Nobody voted." in html
    assert "<table" not in html
    assert "href" not in html


def test_what_people_wrote_stays_text_in_a_table() -> None:
    table = Table(
        name="t",
        title=EVIL,
        columns=(Column(key="a", title=EVIL, sortable=True, help=EVIL),),
        rows=[{"a": EVIL, "a_href": f"/{EVIL}", "_kind": EVIL}],
        note=EVIL,
    )
    page = Elements(data_table(table, sort=EVIL, base=EVIL))
    assert not list(page.all("script"))
    assert all("onload" not in attributes for _, attributes in page.found)
    assert not [found for found in page.all("tr") if "class" in found]


@pytest.mark.parametrize(("name", "drawn"), EVIL_CHARTS)
def test_what_people_wrote_stays_text_in_a_chart(name: str, drawn: Any) -> None:
    page = Elements(chart(name, drawn))
    assert not list(page.all("script"))
    assert all("onload" not in attributes for _, attributes in page.found)
    (svg,) = page.all("svg")
    assert "<script>" in (svg["aria-label"] or "")


@pytest.mark.parametrize(("name", "drawn"), [*CHARTS, *EMPTY_CHARTS])
@pytest.mark.parametrize("language", ["en", "zh-hans", "de"])
def test_lengths_are_plain_numbers_and_nothing_is_styled_inline(
    name: str, drawn: Any, language: str
) -> None:
    with override(language):
        page = Elements(chart(name, drawn))
    lengths = ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height")
    for tag, attributes in page.found:
        assert tag not in {"style", "script"}
        assert "style" not in attributes
        for key in lengths:
            if key in attributes:
                assert re.fullmatch(r"-?\d+(\.\d+)?", attributes[key] or ""), (tag, key)
        for key in ("d", "viewbox", "transform"):
            words = re.findall(r"[a-z]{3,}", (attributes.get(key) or "").lower())
            assert set(words) <= {"translate", "scale"}
            assert "," not in (attributes.get(key) or "")


@pytest.mark.parametrize(("name", "drawn"), CHARTS)
def test_a_chart_is_an_image_with_a_name(name: str, drawn: Any) -> None:
    (svg,) = Elements(chart(name, drawn)).all("svg")
    if name == "interval":
        assert svg["aria-hidden"] == "true"
    else:
        assert svg["role"] == "img"
        assert svg["aria-label"]


def test_links_in_a_chart_are_not_hidden_inside_an_image() -> None:
    drawn = bars([BarRow(label="a", value=1, href="/a")], label="x")
    page = Elements(chart("bars", drawn))
    assert next(page.all("svg"))["role"] == "group"
    assert next(page.all("a"))["href"] == "/a"


@pytest.mark.parametrize(("name", "drawn"), EMPTY_CHARTS)
def test_where_there_is_nothing_to_draw_it_is_said(name: str, drawn: Any) -> None:
    html = chart(name, drawn)
    assert "<svg" not in html
    assert "There is nothing to draw." in html


def test_the_title_of_a_mark_has_interval_expectation_and_n() -> None:
    row = ForestRow(label="r1", value=0.43, low=0.39, high=0.47, expected=0.4, n=1200)
    html = chart("forest", forest([row], reference=0, label="x"))
    assert "r1: 0.43 [0.39, 0.47]; expected 0.40; n = 1,200</title>" in html


def test_a_missing_mark_is_a_dash() -> None:
    drawn = forest([ForestRow(label="r1", value=None)], reference=0, label="x")
    html = chart("forest", drawn)
    assert f">{DASH}</text>" in html
    assert "<circle" not in html


def test_votes_are_told_by_shape_and_in_words() -> None:
    votes = [DotRow(choice=choice, label=choice) for choice in ("A", "B", "tie", "skip")]
    html = chart("dots", dots(votes, label="Helpfulness"))
    assert 'aria-label="Helpfulness: A 1, B 1, tie 1, skip 1"' in html
    shapes = re.findall(r'class="vote-\w+"\s+(?:r|d)="([^"]+)"', html)
    assert len(set(shapes)) == 4


@pytest.mark.parametrize("share_known", [1.0, 0.8])
def test_three_hundred_raters_make_a_page_that_loads(share_known: float) -> None:
    # Neighbours that never share a strength are the worst case for runs.
    cells = {
        (row, column): HeatCell(value=(row * 31 + column * 17) % 100 / 100, n=20)
        for row in range(300)
        for column in range(row)
        if (row * 7 + column * 13) % 100 < 100 * share_known
    }
    names = [f"rater-{n}" for n in range(300)]
    html = chart("heat", heat(names, cells, low=0, high=1, label="x"))
    assert html.count("<path") <= 8
    assert len(html) < 1_000_000
    rows = [ForestRow(label=name, value=0.4, low=0.3, high=0.5, n=9) for name in names]
    assert len(chart("forest", forest(rows, reference=0, label="x"))) < 400_000


@pytest.mark.parametrize(
    ("number", "unit", "words"),
    [
        (0.5, "share", "50%"),
        (0.125, "share", "12.5%"),
        (-0.2, "coefficient", "\N{MINUS SIGN}0.2"),
        (12000, "count", "12,000"),
        (60, "seconds", "1 min 0 s"),
    ],
)
def test_an_axis_has_no_digits_that_say_nothing(number: float, unit: Any, words: str) -> None:
    assert tables.tick_words(number, unit) == words


def test_a_pager_has_only_the_links_that_lead_somewhere() -> None:
    def links(pager: Pager) -> list[str | None]:
        html = render_to_string("components/pager.html", {"pager": pager})
        return [found["rel"] for found in Elements(html).all("a")]

    assert links(Pager(next="?after=1")) == ["next"]
    assert links(Pager(previous="?before=1", next="?after=1", words="2 of 3")) == ["prev", "next"]
    assert links(Pager(words="3 pairs")) == []


def test_the_part_of_the_audit_one_is_in_is_marked() -> None:
    nav = [("overview", "Overview", "/o", False), ("tiers", "Tiers", "/t", True)]
    page = Elements(render_to_string("components/audit_nav.html", {"nav": nav}))
    assert [found.get("aria-current") for found in page.all("a")] == [None, "page"]
