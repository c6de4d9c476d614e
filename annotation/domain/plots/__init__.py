"""Geometry of charts: numbers in, lengths out. templates/charts/ draws them.

=============  =========================  ==============================================
function       template                   shows
=============  =========================  ==============================================
bars           charts/bars.html           one number a row
histogram      charts/histogram.html      numbers along an axis, as the splits of votes
forest         charts/forest.html         values with intervals against a reference
heat           charts/heat.html           a symmetric matrix of raters
stacked        charts/stacked.html        shares of a whole, a row each, as mixes of tiers
lines          charts/lines.html          values over time or n, with intervals
dots           charts/dots.html           the votes on one pair, in a line of text
interval       charts/interval.html       one value with its interval, in a tile
=============  =========================  ==============================================

Each result goes to ``{% include "charts/<name>.html" with chart=result %}``. A label is a sentence
that says what the chart shows: it is all that is heard of it. Lazy texts are written out at once,
so charts are made in the request that shows them.
"""

from annotation.domain.plots.bar_charts import BarChart, BarRow, bars, histogram
from annotation.domain.plots.forest_plot import ForestPlot, ForestRow, forest
from annotation.domain.plots.heat_map import HeatCell, HeatMap, heat
from annotation.domain.plots.line_chart import LineChart, LinePoint, LineSeries, lines
from annotation.domain.plots.marks import DotRow, IntervalMark, VoteDots, dots, interval
from annotation.domain.plots.stacked_bars import StackedBars, StackRow, stacked

__all__ = [
    "BarChart",
    "BarRow",
    "DotRow",
    "ForestPlot",
    "ForestRow",
    "HeatCell",
    "HeatMap",
    "IntervalMark",
    "LineChart",
    "LinePoint",
    "LineSeries",
    "StackRow",
    "StackedBars",
    "VoteDots",
    "bars",
    "dots",
    "forest",
    "heat",
    "histogram",
    "interval",
    "lines",
    "stacked",
]
