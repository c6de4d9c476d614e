"""Tables about a run's raters, for its page and for files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from annotation.audit.analysis_contexts import analyses_of, plain_share
from annotation.audit.rater_words import flag_tags, q_words
from annotation.domain.tables import Column, Row, Table, Tag
from annotation.models import Campaign, Membership
from annotation.selectors.checks import CheckScore, gold_rows
from benchmark.models import Analysis, Exclusion, Run
from benchmark.stats.proportions import proportion

# Two raters with fewer pairs in common agree or not by chance.
SHARED_ENOUGH = 5
# Rows on the page of tables that grow beyond reading; the files have all.
ROWS_SHOWN = 20

# What the rows of `rater_rows` can be sorted by.
SORTS = (
    *("rater", "judgements", "agreement", "z", "side", "longer", "identical", "seconds"),
    *("gold", "repeats"),
)


def rater_rows(campaign: Campaign, run: Run, report: dict[str, Any], criterion: str) -> list[Row]:
    """A row a rater; what is asked on one criterion is that of ``criterion``."""
    checks = {row.pseudonym: row for row in gold_rows(campaign)}
    excluded = set(
        Exclusion.objects.in_force()
        .filter(rater__pair_set=run.pair_set_id, pair=None)
        .values_list("rater_id", flat=True)
    )
    rows: list[Row] = []
    for row in report["raters"]:
        one = row["criteria"][criterion]
        agreement = one["agreement"]
        check = checks.get(row["pseudonym"])
        standing = []
        if row["id"] in excluded:
            standing.append(Tag(words=_("excluded since"), kind="bad"))
        if row["simulated"]:
            standing.append(Tag(words=_("simulated"), kind="simulated"))
        rows.append(
            {
                "id": row["id"],
                "rater": row["pseudonym"],
                "rater_href": reverse("run_rater", args=[campaign.slug, run.pk, row["id"]]),
                "criterion": criterion,
                "judgements": row["judgements"],
                "skips": row["skips"],
                "votes": one["votes"],
                "agreement": agreement["pair_agreement"],
                "expected": agreement["expected"],
                "majority": agreement["majority_agreement"],
                "z": agreement["deviation"]["z"],
                "q": one["q"]["agreement"],
                "side": one["side"]["share"],
                "side_q": one["q"]["side"],
                "longer": one["longer"]["share"],
                "longer_expected": one["longer"]["expected"],
                "longer_q": one["q"]["longer"],
                "identical": (row["identical"] or {}).get("share"),
                "identical_q": (row["identical"] or {}).get("q"),
                "seconds": row["speed"]["median_seconds"],
                "unread": row["speed"]["unread"],
                "pace": row["speed"]["pace"]["z"],
                "gold": score_value(check.gold if check else None),
                "repeats": score_value(check.repeats if check else None),
                "flags": flag_tags(row, criterion),
                "standing": standing,
                "_kind": "warn" if flag_tags(row, criterion) else "",
            }
        )
    return rows


def score_value(found: CheckScore | None) -> dict[str, Any] | None:
    """A score on checks as a share with Wilson's interval; None where nothing was asked."""
    if found is None or not found.score.asked:
        return None
    return proportion(found.score.right, found.score.asked).as_json()


def number(row: Row, key: str) -> float | None:
    cell: Any = row.get(key)
    return cell.get("value") if isinstance(cell, Mapping) else cell


def sorted_rows(rows: list[Row], sort: str) -> list[Row]:
    """What is not known stands last, either way; equals by pseudonym."""
    key, down = sort.removeprefix("-"), sort.startswith("-")
    rows = sorted(rows, key=lambda row: str(row["rater"]))
    if key == "rater":
        return rows[::-1] if down else rows
    known = [row for row in rows if number(row, key) is not None]
    rest = [row for row in rows if number(row, key) is None]
    return sorted(known, key=lambda row: number(row, key) or 0.0, reverse=down) + rest


_COLUMNS = (
    Column(key="rater", title=_("Rater"), sortable=True),
    Column(key="flags", title=_("Stands out"), kind="tags"),
    Column(key="judgements", title=_("Judged"), kind="int", sortable=True),
    Column(
        key="agreement",
        title=_("Agrees with others"),
        kind="value_share",
        help=_(
            "Mean share of the other raters of the same pairs who gave the same vote; a rater's own"
            " votes never count."
        ),
        sortable=True,
    ),
    Column(
        key="expected",
        title=_("Expected"),
        kind="value_share",
        help=_("The same among the others on these pairs: hard pairs lower both."),
    ),
    Column(
        key="z",
        title="z",
        kind="real",
        help=_(
            "Distance between the two in standard errors, from permuting who gave which vote on a"
            " pair; below zero the rater agrees less."
        ),
        sortable=True,
    ),
    Column(
        key="q",
        title="q",
        help=_("The p-value of z, corrected for the number of raters tested."),
    ),
    Column(
        key="side",
        title=_("Left"),
        kind="value_share",
        help=_("Share of choices for the response that stood left; half by chance."),
        sortable=True,
    ),
    Column(
        key="longer",
        title=_("Longer"),
        kind="value_share",
        help=_("Share of choices for the longer response."),
        sortable=True,
    ),
    Column(
        key="identical",
        title=_("Same on both"),
        kind="value_share",
        help=_("Share of pairs with the same answer on both criteria."),
        sortable=True,
    ),
    Column(
        key="seconds",
        title=_("Median time"),
        kind="seconds",
        help=_("Active time a pair, where it is known."),
        sortable=True,
    ),
    Column(
        key="gold",
        title=_("Gold right"),
        kind="value_share",
        help=_("Answers as expected on pairs whose answer is known."),
        sortable=True,
    ),
    Column(
        key="repeats",
        title=_("Repeats the same"),
        kind="value_share",
        help=_("The same answer when a pair was shown again."),
        sortable=True,
    ),
    Column(key="standing", title=_("Standing"), kind="tags"),
)
# Columns that a campaign may have no use for, and those too narrow for an interval.
_OPTIONAL = ("identical", "gold", "repeats")
_NARROW = ("expected", "side", "longer", *_OPTIONAL)


def page_table(rows: list[Row], search: str) -> Table:
    """What `rater_rows` gave, as far as there is room for it."""
    unused = {key for key in _OPTIONAL if not any(row[key] for row in rows)}
    return Table(
        name="raters",
        title=_("Figures by rater"),
        columns=tuple(column for column in _COLUMNS if column.key not in unused),
        rows=[
            {
                **row,
                **{key: plain_share(cell(row, key)) for key in _NARROW},
                "q": q_words(number(row, "q")),
            }
            for row in rows
        ],
        note=_(
            "A mark is a reason to look at the rater's pairs, not a finding about the person."
            " Intervals are on the rater's own page and in the file."
        ),
        empty=_("No rater is called like this.") if search else _("No rater has a counted vote."),
    )


def cell(row: Row, key: str) -> dict[str, Any] | None:
    cell: Any = row.get(key)
    return cell if isinstance(cell, dict) else None


def pairs_table(
    pairs: dict[str, Any],
    criteria: list[str],
    campaign: Campaign,
    run: Run,
    *,
    is_page: bool = False,
) -> Table:
    """Those who agree least first; on the page only some with enough in common."""
    names, raters = pairs["pseudonyms"], pairs["raters"]
    found = [(key, *row) for key in criteria for row in pairs["criteria"].get(key, [])]
    found.sort(key=lambda row: (row[0], row[4] / row[3], -row[3], row[1], row[2]))
    shown = [row for row in found if row[3] >= SHARED_ENOUGH][:ROWS_SHOWN] if is_page else found
    rows: list[Row] = []
    for key, one, other, shared, agreeing in shown:
        value = proportion(agreeing, shared).as_json()
        rows.append(
            {
                "criterion": key,
                "first": names[one],
                "first_href": reverse("run_rater", args=[campaign.slug, run.pk, raters[one]]),
                "second": names[other],
                "second_href": reverse("run_rater", args=[campaign.slug, run.pk, raters[other]]),
                "shared": shared,
                "share": plain_share(value) if is_page else value,
            }
        )
    more = len(found) - len(rows)
    return Table(
        name="rater-pairs",
        title=_("Two raters each, those who agree least first"),
        columns=(
            *(() if is_page else (Column(key="criterion", title=_("Criterion")),)),
            Column(key="first", title=_("Rater")),
            Column(key="second", title=_("Other rater")),
            Column(key="shared", title=_("Common pairs"), kind="int"),
            Column(key="share", title=_("Same vote"), kind="value_share"),
        ),
        rows=rows,
        note=_more(more) if more else "",
        empty=_("No two raters have enough pairs in common."),
    )


def _more(rows: int) -> str:
    return ngettext("%(n)s more is in the file.", "%(n)s more are in the file.", rows) % {"n": rows}


_LABEL_NOTE = _(
    "Dawid and Skene (1979): each rater has error rates of their own, fitted together with the"
    " truth. A second opinion and no verdict; below 20 votes a rater it is guesswork."
)


def label_table(
    report: dict[str, Any],
    label_model: dict[str, Any],
    criteria: list[str],
    *,
    limit: int | None = None,
) -> Table:
    """The least accurate first; ``limit`` is for the page, the file has all."""
    rows: list[Row] = []
    for key in criteria:
        fit = label_model["criteria"].get(key, {}).get("fit")
        for row, fitted in zip(report["raters"], (fit or {}).get("raters", []), strict=False):
            rows.append(
                {
                    "criterion": key,
                    "rater": row["pseudonym"],
                    "votes": fitted["votes"],
                    "accuracy": fitted["accuracy"],
                    "majority": row["criteria"][key]["agreement"]["majority_agreement"],
                }
            )
    rows.sort(key=lambda row: (str(row["criterion"]), number(row, "accuracy") or 0, row["rater"]))
    more = max(len(rows) - limit, 0) if limit is not None else 0
    head = (Column(key="criterion", title=_("Criterion")),) if len(criteria) > 1 else ()
    return Table(
        name="label-model",
        title=_("The model's accuracy beside the majority"),
        columns=(
            *head,
            Column(key="rater", title=_("Rater")),
            Column(key="votes", title=_("Votes"), kind="int"),
            Column(
                key="accuracy",
                title=_("Model's accuracy"),
                kind="share",
                help=_("Chance that the rater votes for what the model takes for the truth."),
            ),
            Column(
                key="majority",
                title=_("With the majority of others"),
                kind="value_share",
                help=_("A tie of the others counts one half."),
            ),
        ),
        rows=rows[:limit],
        note=f"{_LABEL_NOTE} {_more(more)}" if more else _LABEL_NOTE,
        empty=_("There are no votes."),
    )


def exclusions_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """What the run left out, and what is left out since."""
    campaign = membership.campaign
    of_run = set(run.exclusions.values_list("pk", flat=True))
    found = Exclusion.objects.filter(rater__pair_set=run.pair_set_id).select_related("rater")
    shown = [row for row in found.order_by("-id") if row.pk in of_run or row.lifted_at is None]
    names = dict(
        run.pair_set.pairs.filter(pk__in=[row.pair_id for row in shown]).values_list(
            "pk", "pair_id"
        )
    )
    return Table(
        name="exclusions",
        title=_("Votes that are left out"),
        columns=(
            Column(key="rater", title=_("Rater")),
            Column(key="pair", title=_("Of pair")),
            Column(key="reason", title=_("Reason")),
            Column(key="by", title=_("By")),
            Column(key="since", title=_("Since"), kind="moment"),
            Column(key="lifted", title=_("Lifted"), kind="moment"),
            Column(key="in_run", title=_("In this run"), kind="flag"),
        ),
        rows=[
            {
                "rater": row.rater.pseudonym,
                "rater_href": reverse("run_rater", args=[campaign.slug, run.pk, row.rater_id]),
                "pair": names.get(row.pair_id, "") if row.pair_id else str(_ALL),
                "pair_href": reverse("run_pair", args=[campaign.slug, run.pk, row.pair_id])
                if row.pair_id
                else "",
                "reason": row.reason,
                "by": row.by,
                "since": row.created_at,
                "lifted": row.lifted_at,
                "in_run": row.pk in of_run,
            }
            for row in shown
        ],
        note=_("Nothing is deleted: lifting an exclusion brings the votes back."),
        empty=_("Nobody's votes are left out."),
    )


_ALL = pgettext_lazy("exclusion", "all pairs")


def raters_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """A row a rater and criterion, with every interval: for a file."""
    found = analyses_of(run, Analysis.Subject.RATERS)
    report: dict[str, Any] = found.get(Analysis.Subject.RATERS, {"criteria": []})
    shares = {
        "agreement": _("Agrees with others"),
        "expected": _("Expected"),
        "majority": _("With the majority of others"),
        "side": _("Left"),
        "longer": _("Longer"),
        "longer_expected": _("Longer, others"),
        "identical": _("Same on both"),
        "unread": _("Faster than reading"),
        "gold": _("Gold right"),
        "repeats": _("Repeats the same"),
    }
    numbers = {
        "z": "z",
        "q": "q",
        "side_q": _("Left, q"),
        "longer_q": _("Longer, q"),
        "identical_q": _("Same on both, q"),
        "pace": _("Pace, z"),
    }
    return Table(
        name="raters",
        title=_("Figures by rater"),
        columns=(
            Column(key="rater", title=_("Rater")),
            Column(key="criterion", title=_("Criterion")),
            Column(key="judgements", title=_("Judged"), kind="int"),
            Column(key="skips", title=_("Skips"), kind="int"),
            Column(key="votes", title=_("Votes"), kind="int"),
            *(Column(key=key, title=title, kind="value_share") for key, title in shares.items()),
            *(Column(key=key, title=title, kind="real") for key, title in numbers.items()),
            Column(key="seconds", title=_("Median time"), kind="seconds"),
            Column(key="flags", title=_("Stands out"), kind="tags"),
            Column(key="standing", title=_("Standing"), kind="tags"),
        ),
        rows=[
            row
            for key in report["criteria"]
            for row in rater_rows(membership.campaign, run, report, key)
        ],
    )


def rater_pairs_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    pairs = analyses_of(run, Analysis.Subject.RATER_PAIRS).get(Analysis.Subject.RATER_PAIRS)
    pairs = pairs or {"raters": [], "pseudonyms": [], "criteria": {}}
    return pairs_table(pairs, list(pairs["criteria"]), membership.campaign, run)


def label_model_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    found = analyses_of(run, Analysis.Subject.RATERS, Analysis.Subject.LABEL_MODEL)
    report = found.get(Analysis.Subject.RATERS, {"raters": [], "criteria": []})
    model = found.get(Analysis.Subject.LABEL_MODEL, {"criteria": {}})
    return label_table(report, model, report["criteria"])


TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {
    "raters": raters_table,
    "rater-pairs": rater_pairs_table,
    "label-model": label_model_table,
    "exclusions": exclusions_table,
}
