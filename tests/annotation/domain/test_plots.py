"""The geometry of charts."""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from annotation.domain.plots.scales import WIDTH, domain_of, fitted, scale, text_width

NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(math.nan), st.just(math.inf))


def every_float(drawn: object) -> list[float]:
    """All lengths and numbers of a chart."""
    if isinstance(drawn, float):
        return [drawn]
    if isinstance(drawn, tuple):
        return [number for part in drawn for number in every_float(part)]
    if is_dataclass(drawn):
        return [
            number for part in fields(drawn) for number in every_float(getattr(drawn, part.name))
        ]
    return []


def test_places_are_in_proportion_and_what_is_outside_stands_at_the_edge() -> None:
    along = scale(0, 10, start=100, end=200)
    assert [along(number) for number in (0, 2.5, 10, -5, 99)] == [100, 125, 200, 100, 200]


def test_a_domain_is_never_empty() -> None:
    assert scale(0.5, 0.5, start=0, end=10)(0.5) == 5
    assert scale(0, 0, start=0, end=10)(0) == 5
    assert domain_of([]) == (0.0, 1.0)
    assert domain_of([None, math.nan]) == (0.0, 1.0)


def test_a_reference_is_inside_the_domain_without_a_margin() -> None:
    low, high = domain_of([0.2, 0.6], holding=[0.0])
    assert low == 0.0
    assert high == pytest.approx(0.63)


@given(low=st.floats(-1e5, 1e5), width=st.floats(1e-3, 1e5), wanted=st.integers(2, 8))
def test_ticks_are_evenly_spaced_and_inside(low: float, width: float, wanted: int) -> None:
    along = scale(low, low + width, start=0, end=100)
    values = [tick.value for tick in along.ticks(wanted)]
    assert 1 <= len(values) <= wanted + 1
    slack = 1e-6 * max(abs(low), width)
    assert all(low - slack <= value <= low + width + slack for value in values)
    steps = [after - before for before, after in pairwise(values)]
    assert all(step == pytest.approx(steps[0], rel=1e-3, abs=slack) for step in steps)


def test_ticks_are_round() -> None:
    assert [tick.value for tick in scale(-0.12, 0.87, start=0, end=1).ticks()] == [
        *(0.0, 0.25, 0.5, 0.75),
    ]


def test_a_chinese_character_is_as_wide_as_its_height() -> None:
    assert text_width("困难", font=10) == 20
    assert text_width("hard", font=10) == pytest.approx(22)


@given(text=st.text(max_size=60), width=st.floats(20, 200))
def test_a_cut_text_has_room_and_keeps_the_whole(text: str, width: float) -> None:
    label = fitted(text, width=width)
    assert text_width(label.text) <= width + 0.001
    assert label.full == text or label.text == text
    assert (label.whole == "") == (label.text == text)


def test_bars_are_as_long_as_their_values() -> None:
    chart = bars([BarRow(label=str(n), value=n) for n in (100, 50, 0)], label="n")
    long, half, none = chart.bars
    assert half.width == pytest.approx(long.width / 2, abs=0.1)
    assert none.width == 0
    assert {bar.x for bar in chart.bars} == {chart.zero}


def test_negative_bars_run_the_other_way_and_end_at_zero() -> None:
    chart = bars([BarRow(label="a", value=0.2), BarRow(label="b", value=-0.1)], label="x")
    up, down = chart.bars
    assert up.x == chart.zero
    assert down.x + down.width == pytest.approx(chart.zero)
    assert down.width == pytest.approx(up.width / 2, abs=0.1)
    assert down.is_negative
    assert down.text_x < down.x


def test_a_bar_without_a_value_has_no_length() -> None:
    (bar,) = bars([BarRow(label="a", value=None)], label="x").bars
    assert bar.value is None
    assert bar.width == 0


def test_standing_bars_end_at_one_line_and_the_highest_fills_the_room() -> None:
    chart = histogram([BarRow(label=f"{n}", value=n) for n in (9, 3, 0)], label="x", axis="votes")
    high, low, none = chart.bars
    assert {bar.y + bar.height for bar in chart.bars} == {chart.zero}
    assert low.height == pytest.approx(high.height / 3, abs=0.1)
    assert none.height == 0
    middles = [bar.text_x for bar in chart.bars]
    assert middles[0] == pytest.approx(WIDTH - middles[2])


def test_labels_of_many_bins_are_thinned_and_kept_for_pointing_at() -> None:
    chart = histogram([BarRow(label=str(n), value=1) for n in range(100)], label="x")
    shown = [bar for bar in chart.bars if bar.label.text]
    assert 5 < len(shown) < 30
    assert [bar.label.full for bar in chart.bars] == [str(n) for n in range(100)]
    assert not chart.bars[0].number_fits
    assert histogram([BarRow(label="9-0", value=1)] * 10, label="x").bars[0].number_fits


def test_a_forest_plot_holds_every_interval_and_the_reference() -> None:
    rows = [
        ForestRow(label="a", value=0.5, low=0.4, high=0.6, expected=0.9, n=30),
        ForestRow(label="b", value=0.3, low=-0.2, high=0.8, href="/b", flagged=True),
    ]
    chart = forest(rows, reference=0.0, label="kappa")
    first, second = chart.marks
    assert chart.reference is not None
    assert second.start is not None
    assert second.start < chart.reference < (second.at or 0) < (first.at or 0)
    places = [first.start, first.at, first.end, first.expected_at, second.start, second.end]
    assert all(chart.left <= (place or -1) <= chart.right for place in places)
    assert len(set(places)) == 6
    assert chart.has_links


def test_a_given_domain_is_kept_and_intervals_end_at_its_edge() -> None:
    row = ForestRow(label="a", value=0.5, low=-3, high=0.6)
    chart = forest([row], reference=None, domain=(0, 1), label="x")
    (mark,) = chart.marks
    assert mark.start == chart.left
    assert mark.at == pytest.approx((chart.left + chart.right) / 2, abs=0.1)
    assert chart.reference is None


def test_half_an_interval_is_none_and_without_a_value_there_is_none() -> None:
    rows = [
        ForestRow(label="a", value=0.5, low=0.4),
        ForestRow(label="b", value=None, low=0.1, high=0.2),
    ]
    for mark in forest(rows, reference=None, label="x").marks:
        assert mark.start is None
        assert mark.end is None


def test_rows_of_a_long_forest_plot_are_low_and_all_are_there() -> None:
    rows = [ForestRow(label=f"rater-{n}", value=n / 300) for n in range(300)]
    chart = forest(rows, reference=0.5, label="x")
    steps = {round(b.y - a.y, 1) for a, b in pairwise(chart.marks)}
    assert steps == {14.0}
    assert chart.is_long
    assert chart.marks[-1].y < chart.bottom
    assert not forest(rows[:9], reference=0.5, label="x").is_long


def test_a_heat_map_is_symmetric_and_empty_on_the_diagonal() -> None:
    cells = {
        (0, 1): HeatCell(value=0.0, n=5),
        (2, 0): HeatCell(value=1.0, n=6),
        (1, 1): HeatCell(value=1.0, n=9),
        (1, 7): HeatCell(value=1.0, n=9),
    }
    chart = heat(["a", "b", "c"], cells, low=0, high=1, label="x")
    assert {(s.first, s.second, s.bin) for s in chart.squares} == {
        *{("a", "b", 0), ("b", "a", 0), ("a", "c", 6), ("c", "a", 6)},
    }
    a_b = next(s for s in chart.squares if (s.first, s.second) == ("a", "b"))
    b_a = next(s for s in chart.squares if (s.first, s.second) == ("b", "a"))
    assert (a_b.x - chart.left, a_b.y - chart.top) == (b_a.y - chart.top, b_a.x - chart.left)


@pytest.mark.parametrize(
    ("value", "bin_"), [(-9.0, 0), (0.0, 0), (0.5, 3), (1.0, 6), (9.0, 6), (None, None)]
)
def test_strengths_are_held_to_the_ends_of_their_range(value: float | None, bin_: int) -> None:
    chart = heat(["a", "b"], {(0, 1): HeatCell(value=value, n=1)}, low=0, high=1, label="x")
    assert [square.bin for square in chart.squares] == [bin_, bin_]
    assert chart.has_unknown == (value is None)


def test_sixty_raters_have_labels_and_one_more_has_none() -> None:
    cells = {(0, 1): HeatCell(value=0.5, n=1)}
    labelled = heat([f"r{n}" for n in range(60)], cells, low=0, high=1, label="x")
    assert len(labelled.labels) == 60
    assert labelled.is_wide
    assert labelled.cell >= 12
    dense = heat([f"r{n}" for n in range(61)], cells, low=0, high=1, label="x")
    assert dense.is_dense
    assert not dense.is_wide
    assert [(layer.bin, layer.path) for layer in dense.layers] == [(3, "M1 0h1M0 1h1")]


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 60), st.integers(0, 60)),
        st.sampled_from([None, 0.0, 0.4, 0.9]),
        max_size=40,
    )
)
def test_a_dense_map_covers_each_square_once(found: dict[tuple[int, int], float | None]) -> None:
    cells = {place: HeatCell(value=value, n=1) for place, value in found.items()}
    covered: list[tuple[int, int]] = []
    for layer in heat(["r"] * 61, cells, low=0, high=1, label="x").layers:
        for column, row, length in re.findall(r"M(\d+) (\d+)h(\d+)", layer.path):
            covered += [(int(row), int(column) + step) for step in range(int(length))]
    expected = {(a, b) for a, b in found if a != b} | {(b, a) for a, b in found if a != b}
    assert len(covered) == len(set(covered))
    assert set(covered) == expected


def test_parts_of_a_stack_fill_the_row_in_their_order() -> None:
    row = StackRow(label="all", parts={"hard": 1, "easy": 2, "medium": 1, "other": 9}, n=4)
    chart = stacked([row], label="x")
    (stack,) = chart.stacks
    assert [part.kind for part in stack.parts] == ["easy", "medium", "hard"]
    assert [part.share for part in stack.parts] == [0.5, 0.25, 0.25]
    assert stack.parts[0].x == chart.left
    assert stack.parts[-1].x + stack.parts[-1].width == pytest.approx(chart.right)
    for before, after in pairwise(stack.parts):
        assert before.x + before.width == pytest.approx(after.x)


def test_a_thin_part_has_no_words_and_an_empty_row_no_parts() -> None:
    chart = stacked(
        [
            StackRow(label="a", parts={"easy": 99, "hard": 1}),
            StackRow(label="b", parts={"easy": 0, "hard": math.nan}),
        ],
        label="x",
    )
    assert [part.fits for part in chart.stacks[0].parts] == [True, False]
    assert chart.stacks[1].parts == ()
    assert [head.kind for head in chart.heads] == ["easy", "hard"]


def test_a_line_breaks_where_a_value_is_missing() -> None:
    values = [0.1, 0.2, None, 0.4]
    points = [
        LinePoint(x_label=str(n), value=v, low=v and v - 0.1, high=v and v + 0.1)
        for n, v in enumerate(values)
    ]
    chart = lines([LineSeries(name="k", points=points)], label="x", domain=(0, 1), reference=0.5)
    (line,) = chart.lines
    assert len(line.paths) == 2
    assert len(line.bands) == 1
    assert len(line.dots) == 3
    # The point that stands alone has its interval as a line, the others in the band.
    assert [dot.start is None for dot in line.dots] == [True, True, False]
    assert line.dots[0].y > line.dots[1].y > line.dots[2].y
    assert chart.reference == pytest.approx((chart.top + chart.bottom) / 2)


def test_series_share_their_axis_and_their_names_keep_apart() -> None:
    def series(name: str, *labels: str) -> LineSeries:
        return LineSeries(name=name, points=[LinePoint(x_label=x, value=0.5) for x in labels])

    chart = lines(
        [series("a", "1", "2"), series("b", "2", "3"), series("c", "3")], label="x", domain=(0, 1)
    )
    xs = {dot.x_label: dot.x for line in chart.lines for dot in line.dots}
    assert xs["1"] < xs["2"] < xs["3"]
    assert chart.lines[0].dots[1].x == chart.lines[1].dots[0].x
    heights = sorted(line.name_y for line in chart.lines)
    assert all(after - before >= 12 for before, after in pairwise(heights))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_names_of_lines_that_end_at_an_edge_stay_inside(value: float) -> None:
    points = [LinePoint(x_label="1", value=value)]
    chart = lines([LineSeries(name=n, points=points) for n in "abc"], label="x", domain=(0, 1))
    heights = sorted(line.name_y for line in chart.lines)
    assert all(after - before >= 12 for before, after in pairwise(heights))
    assert chart.top <= heights[0]
    assert heights[-1] <= chart.bottom


def test_labels_along_an_axis_do_not_cover_each_other() -> None:
    points = [LinePoint(x_label=f"2026-01-{n:02d}", value=n) for n in range(1, 32)]
    chart = lines([LineSeries(name="k", points=points)], label="x")
    width = text_width("2026-01-01")
    for before, after in pairwise(chart.x_labels):
        assert after.x - before.x >= width
    assert chart.x_labels[0].x - width / 2 >= 0
    assert chart.x_labels[-1].x + width / 2 <= WIDTH + 0.1


def test_votes_stand_by_choice_with_their_counts() -> None:
    votes = [DotRow(choice=c, label=f"r{n}") for n, c in enumerate(["B", "skip", "A", "tie", "A"])]
    chart = dots(votes)
    assert [(dot.choice, dot.label) for dot in chart.dots] == [
        *[("A", "r2"), ("A", "r4"), ("B", "r0"), ("tie", "r3"), ("skip", "r1")],
    ]
    assert chart.counts == (("A", 2), ("B", 1), ("tie", 1), ("skip", 1))
    xs = [dot.x for dot in chart.dots]
    assert xs == sorted(set(xs))
    assert xs[-1] < chart.width


def test_an_interval_is_drawn_only_as_a_whole() -> None:
    mark = interval(0.5, 0.25, 3, domain=(0, 1), reference=0)
    assert mark.at == pytest.approx((mark.left + mark.right) / 2)
    assert mark.end == mark.right
    assert mark.reference == mark.left
    assert interval(0.5, 0.25, None, domain=(0, 1)).start is None
    missing = interval(None, 0.1, 0.2, domain=(0, 1))
    assert (missing.at, missing.start, missing.end) == (None, None, None)


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=12),
    st.one_of(st.none(), st.floats(-10, 10)),
)
def test_nothing_is_drawn_at_a_place_that_is_no_number(
    rows: list[tuple[float | None, float | None, float | None]], reference: float | None
) -> None:
    charts = [
        bars([BarRow(label="x", value=value) for value, _, _ in rows], label="x"),
        histogram([BarRow(label="x", value=value) for value, _, _ in rows], label="x"),
        forest(
            [ForestRow(label="x", value=v, low=a, high=b, expected=b) for v, a, b in rows],
            reference=reference,
            label="x",
        ),
        heat(
            ["x"] * len(rows),
            {(0, n): HeatCell(value=v, n=1) for n, (v, _, _) in enumerate(rows)},
            low=0,
            high=1,
            label="x",
        ),
        stacked([StackRow(label="x", parts={"easy": v or 0}) for v, _, _ in rows], label="x"),
        lines(
            [
                LineSeries(
                    name="x",
                    points=[
                        LinePoint(x_label=n, value=v, low=a, high=b)
                        for n, (v, a, b) in enumerate(rows)
                    ],
                )
            ],
            label="x",
            reference=reference,
        ),
        *(interval(v, a, b, domain=(0, 1), reference=reference) for v, a, b in rows),
    ]
    for chart in charts:
        assert all(math.isfinite(number) for number in every_float(chart))
        assert "nan" not in repr(chart)
