"""What the page of one rater in a run is given: figures, own judgements, exclusions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import Http404, QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.audit.analysis_contexts import (
    SMALL,
    AnalysisView,
    analyses_of,
    analysis_view,
    chosen_criterion,
    criterion_options,
)
from annotation.audit.pair_words import RunHead, split_words
from annotation.audit.rater_figures import RaterFigures, rater_figures
from annotation.contexts import OptionView
from annotation.domain.tables import Column, Pager, Row, Table, Tag
from annotation.models import Membership
from annotation.templatetags.figures import criterion_name
from annotation.templatetags.tables import kind_words
from benchmark.models import Analysis, Exclusion, Rater, Run
from benchmark.selectors.pair_rows import patterns_of_run
from benchmark.selectors.rater_judgements import (
    RaterJudgement,
    characters_of,
    rater_judgements,
)
from benchmark.stats.codes import Ints
from benchmark.stats.speed import FASTEST_READING

Text = str | Promise

ROWS = 50

# A majority of the others is clear when three in four of at least three hold it.
CLEAR_VOTES, CLEAR_SHARE = 3, 0.75

SHOWN: dict[str, Text] = {
    "": pgettext_lazy("filter of judgements", "all"),
    "against": _("against a clear majority of the others"),
    "fast": _("faster than anybody reads"),
    "left": _("chose the left response"),
    "right": _("chose the right response"),
    "skipped": _("skipped"),
}
_SORTS = ("pair", "seconds", "at")
_SUBJECTS = (Analysis.Subject.RATERS, Analysis.Subject.LABEL_MODEL)


@dataclass(frozen=True, slots=True)
class RaterView:
    analysis: AnalysisView
    rater: Rater
    is_small: bool  # too few judgements to say much
    figures: RaterFigures | None  # None while there is no analysis, and without a counted vote
    criterion: str
    criteria: list[OptionView]
    options: list[OptionView]  # which judgements are shown
    count: str
    sort: str
    query: QueryDict
    items: Table
    pager: Pager
    exclusion: Exclusion | None  # of all votes, in force now
    exclusions: list[Exclusion]  # all there were, newest first
    is_left_out: bool  # of the run

    @property
    def head(self) -> RunHead:
        return self.analysis.head


def rater_or_404(run: Run, rater_id: int) -> Rater:
    rater = Rater.objects.filter(pair_set=run.pair_set_id, pk=rater_id).first()
    if rater is None:
        raise Http404
    # One object, whose criteria are looked up once.
    rater.pair_set = run.pair_set
    return rater


def rater_view(
    membership: Membership, run: Run, rater: Rater, query: QueryDict, *, now: datetime
) -> RaterView:
    """A fixed number of queries; all of the rater's judgements are read, but texts of no pair."""
    found = analyses_of(run, *_SUBJECTS)
    analysis = analysis_view(membership, run, "raters", found=found, wanted=_SUBJECTS, now=now)
    criteria = [criterion.key for criterion in run.pair_set.criteria_in_order]
    judged = rater_judgements(run, rater)
    asked = _asked(run, query, criteria)
    meant = _meant(run, judged, asked)
    page = min(asked.page, max(1, -(-len(meant) // ROWS)))
    rows = meant[(page - 1) * ROWS : page * ROWS]
    exclusions = list(Exclusion.objects.filter(rater=rater).select_related("pair").order_by("-id"))
    return RaterView(
        analysis=analysis,
        rater=rater,
        is_small=len(judged) < SMALL,
        figures=rater_figures(membership.campaign, run, rater, found),
        criterion=asked.criterion,
        criteria=criterion_options(criteria, asked.criterion),
        options=[OptionView(key, words, key == asked.shown) for key, words in SHOWN.items()],
        count=ngettext("%(n)s of %(all)s judgement", "%(n)s of %(all)s judgements", len(judged))
        % {"n": len(meant), "all": len(judged)},
        sort=asked.sort,
        query=asked.query,
        items=_items(membership, run, rows, criteria, is_file=False),
        pager=_pager(asked.query, page=page, total=len(meant)),
        exclusion=next(
            (row for row in exclusions if row.pair_id is None and row.lifted_at is None), None
        ),
        exclusions=exclusions,
        is_left_out=run.exclusions.filter(rater=rater, pair=None).exists(),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a query asks for, as far as it can be understood; ``query`` says that again."""

    shown: str
    criterion: str
    sort: str
    page: int
    query: QueryDict


def _asked(run: Run, query: QueryDict, criteria: Sequence[str]) -> _Asked:
    shown = query.get("show", "")
    shown = shown if shown in SHOWN else ""
    sort = query.get("sort", "")
    sort = sort if sort.removeprefix("-") in _SORTS else "at"
    page = query.get("page", "")
    clean = QueryDict(mutable=True)
    if shown:
        clean["show"] = shown
    criterion = query.get("criterion", "")
    if criterion in criteria:
        clean["criterion"] = criterion
    if sort != "at":
        clean["sort"] = sort
    return _Asked(
        shown=shown,
        criterion=chosen_criterion(run, query, criteria),
        sort=sort,
        page=int(page) if page.isascii() and page.isdecimal() and 0 < len(page) < 8 else 1,
        query=clean,
    )


@dataclass(frozen=True, slots=True)
class _Other:
    """One judgement and criterion beside the others' votes: A, B and ties."""

    choice: str
    votes: tuple[int, int, int]

    @property
    def majority(self) -> str:
        """What most of the others chose; empty where no choice has most."""
        top = max(self.votes)
        names = [name for name, n in zip(("A", "B", "tie"), self.votes, strict=True) if n == top]
        return names[0] if top and len(names) == 1 else ""

    @property
    def agrees(self) -> bool | None:
        """Whether the rater is with the majority of the others; None where that makes no sense."""
        if self.choice == "skip" or not self.majority:
            return None
        return self.choice == self.majority

    @property
    def is_against_clear(self) -> bool:
        n = sum(self.votes)
        is_clear = n >= CLEAR_VOTES and max(self.votes) >= CLEAR_SHARE * n
        return is_clear and self.agrees is False


def _others(judgement: RaterJudgement, criterion: str, counts: dict[str, Ints]) -> _Other:
    votes = counts[criterion][judgement.pattern, :3].tolist()
    choice = judgement.choices[criterion]
    if judgement.is_counted and choice != "skip":
        votes[("A", "B", "tie").index(choice)] -= 1
    a, b, tie = votes
    return _Other(choice, (a, b, tie))


def _meant(run: Run, judged: list[RaterJudgement], asked: _Asked) -> list[RaterJudgement]:
    rows = [row for row in judged if _is_meant(row, asked)]
    if asked.shown == "against":
        counts = dict(patterns_of_run(run).counts)
        rows = [row for row in rows if _others(row, asked.criterion, counts).is_against_clear]
    elif asked.shown == "fast":
        characters = characters_of([row.pair for row in rows])
        rows = [
            row
            for row in rows
            if row.seconds and row.seconds * FASTEST_READING < characters[row.pair]
        ]
    key, down = asked.sort.removeprefix("-"), asked.sort.startswith("-")
    if key == "pair":
        return sorted(rows, key=lambda row: row.pair_id, reverse=down)
    if key == "seconds":
        known = [row for row in rows if row.seconds is not None]
        rest = [row for row in rows if row.seconds is None]
        return sorted(known, key=lambda row: row.seconds or 0.0, reverse=down) + rest
    # They come in the order of their times.
    return rows[::-1] if down else rows


def _is_meant(row: RaterJudgement, asked: _Asked) -> bool:
    choice = row.choices[asked.criterion] if asked.criterion else ""
    match asked.shown:
        case "left":
            return bool(row.shown_left) and choice == row.shown_left
        case "right":
            return bool(row.shown_left) and choice in {"A", "B"} - {row.shown_left}
        case "skipped":
            return choice == "skip"
        case "fast":
            return row.seconds is not None
        case _:
            return True


def _items(
    membership: Membership,
    run: Run,
    judged: list[RaterJudgement],
    criteria: Sequence[str],
    *,
    is_file: bool,
) -> Table:
    counts = dict(patterns_of_run(run).counts)
    slug = membership.campaign.slug
    rows: list[Row] = []
    for each in judged:
        row: dict[str, object] = {
            "pair": each.pair_id,
            "pair_href": "" if is_file else reverse("run_pair", args=[slug, run.pk, each.pair]),
            "left": each.shown_left,
            "seconds": each.seconds,
            "at": each.at,
            "counted": each.is_counted,
        }
        for key in criteria:
            other = _others(each, key, counts)
            row |= {
                f"{key}_choice": each.choices[key] if is_file else kind_words(each.choices[key]),
                f"{key}_others": split_words(*other.votes),
                f"{key}_agrees": other.agrees if is_file else _agrees_tag(other),
            }
        rows.append(row)
    columns = [Column(key="pair", title=_("Pair"), sortable=True)]
    for key in criteria:
        name = criterion_name(key)
        columns += [
            Column(key=f"{key}_choice", title=name),
            Column(
                key=f"{key}_others",
                title=_("Others"),
                help=_("Votes of the others for A–B, with ties as a third number."),
            ),
            Column(
                key=f"{key}_agrees",
                title=_("With most"),
                kind="flag" if is_file else "tags",
            ),
        ]
    columns += [
        Column(key="left", title=_("Left"), help=_("The response that stood left.")),
        Column(key="seconds", title=_("Time"), kind="seconds", sortable=True),
        Column(key="at", title=_("Submitted"), kind="moment", sortable=True),
    ]
    if is_file or any(not each.is_counted for each in judged):
        columns.append(Column(key="counted", title=_("Counted"), kind="flag"))
    return Table(
        name="rater-items",
        title=_("Own judgements"),
        columns=tuple(columns),
        rows=rows,
        note=_(
            "As they were when the run was made. A clear majority are three in four of the others,"
            " of at least three. Faster than anybody reads is above 60 characters a second."
        ),
        empty=_("No judgement is like this."),
    )


def _agrees_tag(other: _Other) -> list[Tag]:
    if other.agrees is None:
        return []
    if other.agrees:
        return [Tag(words=pgettext_lazy("with the majority", "yes"))]
    words = (
        pgettext_lazy("with the majority", "clearly not")
        if other.is_against_clear
        else pgettext_lazy("with the majority", "no")
    )
    return [Tag(words=words, kind="warn" if other.is_against_clear else "")]


def _pager(query: QueryDict, *, page: int, total: int) -> Pager:
    def address(number: int) -> str:
        placed = query.copy()
        placed["page"] = str(number)
        return f"?{placed.urlencode()}#rater-items"

    pages = -(-total // ROWS)
    return Pager(
        previous=address(page - 1) if page > 1 else "",
        next=address(page + 1) if page < pages else "",
        words=gettext("page %(page)s of %(pages)s") % {"page": page, "pages": pages}
        if pages > 1
        else "",
    )


def rater_items_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """The judgements of ``?rater=``, filtered as on the page: for a file. Raises Http404."""
    number = query.get("rater", "")
    if not (number.isascii() and number.isdecimal() and len(number) < 18):
        raise Http404
    rater = rater_or_404(run, int(number))
    criteria = [criterion.key for criterion in run.pair_set.criteria_in_order]
    meant = _meant(run, rater_judgements(run, rater), _asked(run, query, criteria))
    return _items(membership, run, meant, criteria, is_file=True)


TABLES: dict[str, Callable[[Membership, Run, QueryDict], Table]] = {
    "rater-items": rater_items_table
}
