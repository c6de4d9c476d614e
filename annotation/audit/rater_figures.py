"""The figures of one rater in a run, each beside what it is held against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.analysis_contexts import plain_share
from annotation.audit.rater_tables import score_value
from annotation.audit.rater_words import flag_words, q_words
from annotation.domain.tables import Column, Row, Table
from annotation.models import Campaign
from annotation.selectors.checks import GoldRow, gold_rows
from annotation.templatetags.figures import criterion_name, duration, share
from benchmark.models import Analysis, Rater, Run

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Tile:
    label: Text
    number: Text
    sentence: Text


@dataclass(frozen=True, slots=True)
class RaterFigures:
    flags: list[str]
    tiles: list[Tile]
    table: Table


def rater_figures(
    campaign: Campaign, run: Run, rater: Rater, found: dict[str, Any]
) -> RaterFigures | None:
    """None where the run's analyses, ``found``, say nothing of the rater."""
    report: dict[str, Any] = found.get(Analysis.Subject.RATERS) or {"raters": [], "criteria": []}
    place = next((n for n, row in enumerate(report["raters"]) if row["id"] == rater.pk), None)
    if place is None:
        return None
    row = report["raters"][place]
    model = found.get(Analysis.Subject.LABEL_MODEL) or {"criteria": {}}
    fits = {
        key: fit["raters"][place]["accuracy"]
        for key in report["criteria"]
        if (fit := model["criteria"].get(key, {}).get("fit"))
    }
    check = next((one for one in gold_rows(campaign) if one.pseudonym == rater.pseudonym), None)
    return RaterFigures(
        flags=flag_words(row),
        tiles=list(_tiles(row, check)),
        table=_table(row, report["criteria"], fits),
    )


def _tiles(row: dict[str, Any], check: GoldRow | None) -> Iterator[Tile]:
    """What is not about one criterion."""
    yield Tile(
        _("Judged"),
        number_format(row["judgements"]),
        ngettext(
            "%(n)s of these skipped altogether", "%(n)s of these skipped altogether", row["skips"]
        )
        % {"n": row["skips"]},
    )
    speed = row["speed"]
    if speed["timed"]:
        yield Tile(
            _("Median time"),
            duration(speed["median_seconds"]),
            gettext("faster than anybody reads: %(share)s of the judgements")
            % {"share": share(plain_share(speed["unread"]) or {})},
        )
    identical = row["identical"]
    if identical and identical["asked"]:
        yield Tile(
            _("Same answer on both criteria"),
            share(plain_share(identical["share"]) or {}),
            gettext("interval %(interval)s; all others together %(others)s")
            % {
                "interval": _interval(identical["share"]),
                "others": share(plain_share(identical["others"]) or {}),
            },
        )
    if check is None:
        return
    for label, found in (
        (_("Gold answers right"), check.gold),
        (_("Repeated pairs answered the same"), check.repeats),
    ):
        value = score_value(found)
        if value is not None:
            yield Tile(
                label,
                share(plain_share(value) or {}),
                gettext("%(right)s of %(asked)s criteria; interval %(interval)s")
                % {
                    "right": found.score.right,
                    "asked": found.score.asked,
                    "interval": _interval(value),
                },
            )


def _interval(value: dict[str, Any]) -> str:
    """[61.5%, 82.7%]"""
    low, high = (share({"value": end}) for end in value["ci"])
    return f"[{low}, {high}]"


def _table(row: dict[str, Any], criteria: list[str], fits: dict[str, float | None]) -> Table:
    """A row a criterion and figure."""
    rows: list[Row] = []
    for key in criteria:
        one = row["criteria"][key]
        agreement, side, longer = one["agreement"], one["side"], one["longer"]
        run = one["run"]
        figures: list[tuple[Text, Any, Any, Any, float | None, int]] = [
            (
                _("Agrees with another rater"),
                agreement["pair_agreement"],
                plain_share(agreement["expected"]),
                agreement["deviation"]["z"],
                one["q"]["agreement"],
                agreement["shared"],
            ),
            (
                _("Joins the majority of the others"),
                agreement["majority_agreement"],
                None,
                None,
                None,
                agreement["shared"],
            ),
            (
                _("Chooses the left response"),
                side["share"],
                {"value": 0.5},
                side["even"]["z"],
                one["q"]["side"],
                side["asked"],
            ),
            (
                _("Chooses the longer response"),
                longer["share"],
                plain_share(longer["expected"]),
                longer["mix"]["z"],
                one["q"]["longer"],
                longer["asked"],
            ),
        ]
        if fits.get(key) is not None:
            figures.append(
                (_("Accuracy by the label model"), {"value": fits[key]}, None, None, None, 0)
            )
        rows += [
            {
                "criterion": criterion_name(key),
                "figure": words,
                "value": value,
                "expected": expected,
                "z": z,
                "q": q_words(q),
                "n": n or one["votes"],
                "_header": "figure",
            }
            for words, value, expected, z, q, n in figures
        ]
        if run["sided"]:
            rows.append(
                {
                    "criterion": criterion_name(key),
                    "figure": gettext("Longest run on one side: %(n)s") % {"n": run["longest"]},
                    "value": {"value": run["probability"]},
                    "n": run["sided"],
                    "_header": "figure",
                }
            )
    return Table(
        name="rater-figures",
        title=_("Figures by criterion"),
        columns=(
            Column(key="figure", title=_("Figure")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="value", title=_("Share"), kind="value_share"),
            Column(
                key="expected",
                title=_("Expected"),
                kind="value_share",
                help=_(
                    "Agreement and length: the same among the others on these pairs. Left: half,"
                    " since the order is drawn for each rater."
                ),
            ),
            Column(key="z", title="z", kind="real"),
            Column(
                key="q",
                title="q",
                help=_("The p-value corrected for the number of raters tested."),
            ),
            Column(key="n", title=_("Votes"), kind="int"),
        ),
        rows=rows,
        note=_(
            "Intervals are Wilson's and take pairs for independent trials. For the longest run on"
            " one side the share is the chance that fair coins give one as long."
        ),
    )
