"""What the page about biases is given: sides, lengths, sources, answers that repeat each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.analysis_contexts import (
    AnalysisView,
    analyses_of,
    analysis_view,
    share_domain,
)
from annotation.audit.pair_words import RunHead
from annotation.audit.rater_words import q_words
from annotation.domain.plots import ForestPlot, ForestRow, forest
from annotation.domain.tables import Column, Row, Table
from annotation.models import Membership
from annotation.templatetags.figures import criterion_name, share
from benchmark.models import Analysis, Run
from benchmark.stats.proportions import proportion

Text = str | Promise

_SUBJECTS = (Analysis.Subject.BIASES, Analysis.Subject.RATERS)
_Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FigureView:
    """A finding, its charts, each with a label to tell it from the others, and its table."""

    finding: str
    charts: list[ForestPlot]
    table: Table


@dataclass(frozen=True, slots=True)
class BiasesView:
    analysis: AnalysisView
    position: FigureView | None
    length: FigureView | None
    sources: FigureView | None
    identical: FigureView | None

    @property
    def head(self) -> RunHead:
        return self.analysis.head


def biases_view(membership: Membership, run: Run, query: QueryDict, *, now: datetime) -> BiasesView:
    """Few queries, and none that looks at votes."""
    found = analyses_of(run, *_SUBJECTS)
    analysis = analysis_view(membership, run, "biases", found=found, wanted=_SUBJECTS, now=now)
    biases = found.get(Analysis.Subject.BIASES)
    raters = found.get(Analysis.Subject.RATERS)
    slug = membership.campaign.slug
    return BiasesView(
        analysis=analysis,
        position=_position(biases, raters, slug, run) if biases else None,
        length=_length(biases) if biases else None,
        sources=_sources(biases, slug, run) if biases else None,
        identical=_identical(raters, slug, run) if raters else None,
    )


def _forest_row(label: Any, value: _Value, **options: Any) -> ForestRow:
    low, high = value.get("ci") or (None, None)
    return ForestRow(label=label, value=value["value"], low=low, high=high, **options)


def _reading(value: _Value, *, above: str, below: str, neither: str) -> str:
    """Which of three sentences a share against one half calls for."""
    if value["value"] is None:
        return gettext("There are no votes that could tell")
    interval = value.get("ci")
    if interval and interval[0] > 0.5:
        return above
    return below if interval and interval[1] < 0.5 else neither


def _strongest(values: Sequence[_Value]) -> _Value:
    """The share furthest from one half; one that is not defined where none is."""
    known = [value for value in values if value["value"] is not None]
    if not known:
        return {"value": None}
    return max(known, key=lambda value: abs(value["value"] - 0.5))


def _in_words(value: _Value) -> str:
    return str(share({"value": value["value"]}))


def _position(
    biases: dict[str, Any], raters: dict[str, Any] | None, slug: str, run: Run
) -> FigureView:
    parts = {key: one["position"] for key, one in biases["criteria"].items()}
    strongest = _strongest([part["share"] for part in parts.values()])
    words = {"share": _in_words(strongest)}
    return FigureView(
        finding=_reading(
            strongest,
            above=gettext("The left response is chosen in %(share)s, above chance") % words,
            below=gettext("The left response is chosen in %(share)s, below chance") % words,
            neither=gettext("No liking for a side shows: the left response is chosen in %(share)s")
            % words,
        ),
        charts=[
            forest(
                [
                    _forest_row(criterion_name(key), part["share"], n=part["known"])
                    for key, part in parts.items()
                ],
                reference=0.5,
                label=gettext("Choices of the left response by criterion"),
                unit="share",
            ),
            *_sides_by_rater(raters, slug, run),
        ],
        table=_position_table(biases),
    )


def _sides_by_rater(raters: dict[str, Any] | None, slug: str, run: Run) -> list[ForestPlot]:
    """A row a rater on the first criterion, the highest share first; nothing without raters."""
    if not raters or not raters["raters"] or not raters["criteria"]:
        return []
    key = raters["criteria"][0]
    rows = [(row, row["criteria"][key]["side"]) for row in raters["raters"]]
    rows.sort(key=lambda row: (-(row[1]["share"]["value"] or 0), row[0]["pseudonym"]))
    return [
        forest(
            [
                _forest_row(
                    row["pseudonym"],
                    one["share"],
                    n=one["asked"],
                    href=reverse("run_rater", args=[slug, run.pk, row["id"]]),
                    flagged=f"{key}:side" in row["flags"],
                )
                for row, one in rows
            ],
            reference=0.5,
            label=gettext("Choices of the left response by rater, %(criterion)s")
            % {"criterion": criterion_name(key)},
            unit="share",
        )
    ]


def _position_table(biases: dict[str, Any]) -> Table:
    rows: list[Row] = [
        {
            "criterion": str(criterion_name(key)),
            "share": one["position"]["share"],
            "z": one["position"]["deviation"]["z"],
            "left_is_a": one["position"]["left_is"]["A"],
            "left_is_b": one["position"]["left_is"]["B"],
            "known": one["position"]["known"],
            "unknown": one["position"]["unknown"],
        }
        for key, one in biases["criteria"].items()
    ]
    return Table(
        name="position-bias",
        title=_("Choices of the left response"),
        columns=(
            Column(key="criterion", title=_("Criterion")),
            Column(key="share", title=_("Left"), kind="value_share"),
            Column(
                key="z",
                title="z",
                kind="real",
                help=_("Distance from one half in standard errors of fair coins."),
            ),
            Column(key="left_is_a", title=_("When A is left"), kind="value_share"),
            Column(key="left_is_b", title=_("When B is left"), kind="value_share"),
            Column(key="known", title=_("Votes"), kind="int"),
            Column(
                key="unknown",
                title=_("Order not known"),
                kind="int",
                help=_("Votes made elsewhere that came without the order shown."),
            ),
        ),
        rows=rows,
        note=_(
            "Ties and skips choose no side. That A and B differ when they stand left is about the"
            " responses; a liking for the left raises both."
        ),
    )


def _length(biases: dict[str, Any]) -> FigureView:
    parts = {key: one["length"] for key, one in biases["criteria"].items()}
    strongest = _strongest([part["overall"]["by_votes"] for part in parts.values()])
    words = {"share": _in_words(strongest)}
    lengths = [
        one["by_votes"] for part in parts.values() for one in (part["overall"], *part["bins"])
    ]
    return FigureView(
        finding=_reading(
            strongest,
            above=gettext("The longer response gets more votes: %(share)s") % words,
            below=gettext("The shorter response gets more votes: the longer %(share)s") % words,
            neither=gettext("Length does not tell the winner: the longer gets %(share)s") % words,
        ),
        charts=[
            forest(
                [
                    _forest_row(words, one["by_votes"], n=one["pairs"])
                    for words, one in _by_ratio(part)
                    if one["pairs"]
                ],
                reference=0.5,
                domain=share_domain(lengths, holding=0.5),
                label=gettext("Votes for the longer response by ratio of lengths, %(criterion)s")
                % {"criterion": criterion_name(key)},
                unit="share",
            )
            for key, part in parts.items()
        ],
        table=_length_table(biases),
    )


def _by_ratio(part: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """All pairs, then those of each range of ratios, with their names."""
    return [(gettext("all"), part["overall"]), *((_ratio(one), one) for one in part["bins"])]


def _ratio(one: dict[str, Any]) -> str:
    if one["high"] is None:
        return gettext("%(low)s× and more") % {"low": f"{one['low']:g}"}
    return f"{one['low']:g}\N{EN DASH}{one['high']:g}×"


def _length_table(biases: dict[str, Any]) -> Table:
    rows: list[Row] = []
    for key, criterion in biases["criteria"].items():
        for ratio, one in _by_ratio(criterion["length"]):
            rows.append(
                {
                    "criterion": str(criterion_name(key)),
                    "ratio": ratio,
                    "pairs": one["pairs"],
                    "votes": one["votes"],
                    "by_votes": one["by_votes"],
                    "decided": one["decided"],
                    "by_majorities": one["by_majorities"],
                    "_header": "ratio",
                }
            )
    return Table(
        name="length-bias",
        title=_("How often the longer response wins"),
        columns=(
            Column(key="ratio", title=_("Longer by")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(key="votes", title=_("Votes"), kind="int"),
            Column(key="by_votes", title=_("Of the votes"), kind="value_share"),
            Column(key="decided", title=_("Majorities"), kind="int"),
            Column(key="by_majorities", title=_("Of the majorities"), kind="value_share"),
        ),
        rows=rows,
        note=_(
            "Lengths are characters; pairs of equal length are left out. The interval of the votes"
            " rests on the spread between pairs, since votes on one pair are not independent."
        ),
    )


def _sources(biases: dict[str, Any], slug: str, run: Run) -> FigureView | None:
    table = _sources_table(biases, slug, run)
    if not table.rows:
        return None
    rows: list[Any] = list(table.rows)
    known = [row for row in rows if row["votes_share"]["value"] is not None]
    top = max(known, key=lambda row: abs(row["votes_share"]["value"] - 0.5), default=None)
    if top is None:
        finding = gettext("There are no votes that could tell")
    else:
        value = top["votes_share"]["value"]
        first, second = (
            (top["first"], top["second"]) if value >= 0.5 else (top["second"], top["first"])
        )
        finding = gettext(
            "Furthest apart: %(first)s gets %(share)s of votes against %(second)s"
        ) % {
            "first": first,
            "second": second,
            "share": _in_words({"value": max(value, 1 - value)}),
        }
    return FigureView(
        finding=finding,
        charts=[
            forest(
                [
                    _forest_row(
                        f"{one['first']} · {one['second']}",
                        one["votes"],
                        n=one["pairs"],
                        href=_pairs_of(one, slug, run),
                    )
                    for one in criterion["sources"]
                ],
                reference=0.5,
                label=gettext("Votes for the source named first, %(criterion)s")
                % {"criterion": criterion_name(key)},
                unit="share",
            )
            for key, criterion in biases["criteria"].items()
        ],
        table=table,
    )


def _pairs_of(one: dict[str, Any], slug: str, run: Run) -> str:
    """The list of pairs in which two sources met."""
    sources = urlencode({"sources": f"{one['first']} · {one['second']}"})
    return f"{reverse('run_pairs', args=[slug, run.pk])}?{sources}"


def _sources_table(biases: dict[str, Any], slug: str, run: Run) -> Table:
    rows: list[Row] = [
        {
            "first": one["first"],
            "first_href": _pairs_of(one, slug, run),
            "second": one["second"],
            "criterion": str(criterion_name(key)),
            "pairs": one["pairs"],
            "votes_share": one["votes"],
            "majorities_share": one["majorities"],
        }
        for key, criterion in biases["criteria"].items()
        for one in criterion["sources"]
    ]
    return Table(
        name="source-wins",
        title=_("Which source wins"),
        columns=(
            Column(key="first", title=_("Source")),
            Column(key="second", title=_("Against")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="pairs", title=_("Pairs"), kind="int"),
            Column(key="votes_share", title=_("Of the votes"), kind="value_share"),
            Column(key="majorities_share", title=_("Of the majorities"), kind="value_share"),
        ),
        rows=rows,
        note=_(
            "Raters never see the source. A source may win because it is better: this is what the"
            " votes say of it, and no bias by itself."
        ),
        empty=_("No pair names two different sources."),
    )


def _identical(raters: dict[str, Any], slug: str, run: Run) -> FigureView | None:
    table = _identical_table(raters, slug, run)
    if not table.rows:
        return None
    rows: list[Any] = list(table.rows)
    total = proportion(
        sum(row["same"] for row in rows), sum(row["asked"] for row in rows)
    ).as_json()
    names = " · ".join(str(criterion_name(key)) for key in raters["criteria"][:2])
    return FigureView(
        finding=gettext("Both criteria get the same answer in %(share)s of judgements")
        % {"share": _in_words(total)},
        charts=[
            forest(
                [
                    _forest_row(
                        row["rater"],
                        row["share"],
                        expected=row["others"]["value"],
                        n=row["asked"],
                        href=row["rater_href"],
                        flagged=bool(row["_kind"]),
                    )
                    for row in rows
                ],
                reference=total["value"],  # type: ignore[arg-type]
                label=gettext("Same answer on both criteria by rater: %(criteria)s")
                % {"criteria": names},
                unit="share",
            )
        ],
        table=table,
    )


def _identical_table(raters: dict[str, Any], slug: str, run: Run) -> Table:
    """The highest share first."""
    found = [row for row in raters["raters"] if row["identical"] and row["identical"]["asked"]]
    found.sort(key=lambda row: (-row["identical"]["share"]["value"], row["pseudonym"]))
    rows: list[Row] = [
        {
            "rater": row["pseudonym"],
            "rater_href": reverse("run_rater", args=[slug, run.pk, row["id"]]),
            "same": row["identical"]["same"],
            "asked": row["identical"]["asked"],
            "share": row["identical"]["share"],
            "others": row["identical"]["others"],
            "z": row["identical"]["deviation"]["z"],
            "q": q_words(row["identical"]["q"]),
            "_kind": "warn" if "identical" in row["flags"] else "",
        }
        for row in found
    ]
    return Table(
        name="identical-answers",
        title=_("The same answer on both criteria"),
        columns=(
            Column(key="rater", title=_("Rater")),
            Column(key="asked", title=_("Judged"), kind="int"),
            Column(key="same", title=_("Same"), kind="int"),
            Column(key="share", title=_("Share"), kind="value_share"),
            Column(key="others", title=_("Others"), kind="value_share"),
            Column(key="z", title="z", kind="real"),
            Column(key="q", title="q"),
        ),
        rows=rows,
        note=_(
            "Ties that both criteria got count as the same, skips not at all. Each rater is held"
            " against all the others together."
        ),
        empty=_("Nobody answered two criteria."),
    )


def _biases_of(run: Run) -> dict[str, Any]:
    found = analyses_of(run, Analysis.Subject.BIASES)
    empty: dict[str, Any] = {"criteria": {}}
    return found.get(Analysis.Subject.BIASES, empty)  # type: ignore[no-any-return]


def _identical_file(membership: Membership, run: Run, query: QueryDict) -> Table:
    raters = analyses_of(run, Analysis.Subject.RATERS).get(Analysis.Subject.RATERS)
    return _identical_table(raters or {"raters": []}, membership.campaign.slug, run)


TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {
    "position-bias": lambda membership, run, query: _position_table(_biases_of(run)),
    "length-bias": lambda membership, run, query: _length_table(_biases_of(run)),
    "source-wins": lambda membership, run, query: _sources_table(
        _biases_of(run), membership.campaign.slug, run
    ),
    "identical-answers": _identical_file,
}
