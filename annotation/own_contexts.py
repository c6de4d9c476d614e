"""What a rater's own pages are given: their own work, by the places that they saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, ngettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.contexts import RESPONSE_LABELS, SKIP_LABELS, TARGET_LABELS, Text
from annotation.domain import pace, rubric
from annotation.domain.rendering import language_of
from annotation.domain.scoring import Score
from annotation.models import Campaign, Flag, Membership
from annotation.selectors import own_work
from annotation.selectors.campaigns import RaterProgress, rater_progress
from annotation.selectors.checks import CheckFigures, CheckScore, check_figures
from annotation.selectors.own_work import OwnAnswer, OwnTraining, Place, Show
from benchmark.models import Criterion

DAYS = 14
FLAGS = 20
ROWS = 50

NO_NUMBER: dict[str, Text] = {
    pace.NO_ANSWERS: _("There are no answers yet."),
    pace.NO_TIMES: _("It is not known how long the answers took."),
}


@dataclass(frozen=True, slots=True)
class TileView:
    label: Text
    number: str
    sentence: Text
    done: int = 0
    total: int = 0  # with a bar when there is any


@dataclass(frozen=True, slots=True)
class DayView:
    date: date
    n: int
    active: str


@dataclass(frozen=True, slots=True)
class BinView:
    label: str
    n: int


@dataclass(frozen=True, slots=True)
class CountView:
    label: Text
    n: int


@dataclass(frozen=True, slots=True)
class FlagView:
    at: datetime
    target: Text
    kind: Text
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScoreView:
    """Answers that were as expected, of those asked for; ``result`` in words, maybe empty."""

    label: Text
    score: Score | None  # None while it is going on
    result: Text = ""
    kind: str = ""  # of the result's tag


@dataclass(frozen=True, slots=True)
class TrainingView:
    """A training pair that was answered, with the way to its explanation."""

    query: str
    lang: str
    is_right: bool
    address: str


@dataclass(frozen=True, slots=True)
class OwnView:
    campaign: Campaign
    standing: Text  # empty for a rater in good standing
    may_judge: bool
    may_leave: bool
    tiles: list[TileView]
    days: list[DayView]
    days_in_all: int
    zone: str
    time_is_active: bool
    time_n: int
    bins: list[BinView]
    skips: list[CountView]
    skipped: int
    flags: list[FlagView]
    flags_raised: int
    flags_resolved: int
    scores: list[ScoreView]
    training: list[TrainingView]
    acknowledged: int
    newest_guidelines: int

    @property
    def busiest_day(self) -> int:
        return max((day.n for day in self.days), default=0)

    @property
    def fullest_bin(self) -> int:
        return max((found.n for found in self.bins), default=0)


def own_view(membership: Membership, *, now: datetime) -> OwnView:
    """Of the rater and nobody else. Days begin in the reader's zone."""
    campaign = membership.campaign
    zone = timezone.get_current_timezone()
    today = now.astimezone(zone).date()
    times = own_work.own_times(membership)
    timed = [row.timed for row in times]
    days = pace.by_day(timed, zone=zone, days=len(timed))
    taken = pace.time_per_pair(timed)
    skips = Counter(row.skip_reason for row in times if row.skip_reason is not None)
    flags = own_work.own_flags(membership, limit=FLAGS)
    progress = rater_progress(membership)
    figures = check_figures(membership)
    gold = None
    if campaign.shows_gold_accuracy:
        gold = own_work.settled_gold(membership, before=_last_midnight(now))
    return OwnView(
        campaign=campaign,
        standing="" if membership.is_active else STANDINGS[membership.standing],
        may_judge=campaign.is_open and membership.is_active and progress.done < progress.pairs,
        may_leave=membership.is_active and getattr(membership, "crowd_place", None) is not None,
        tiles=_tiles(progress, timed, taken, days, today=today, goes_on=membership.is_active),
        days=[DayView(day.date, day.n, span_words(day.active_seconds)) for day in days[:DAYS]],
        days_in_all=len(days),
        zone=timezone.get_current_timezone_name(),
        time_is_active=taken.is_active,
        time_n=taken.n,
        bins=[BinView(_bin_words(found), found.n) for found in taken.bins],
        skips=[
            CountView(SKIP_LABELS.get(reason, _("Without a reason")), n)
            for reason, n in sorted(skips.items(), key=lambda item: (-item[1], item[0]))
        ],
        skipped=skips.total(),
        flags=[_flag_view(flag) for flag in flags.newest],
        flags_raised=flags.raised,
        flags_resolved=flags.resolved,
        scores=_scores(membership, figures, gold),
        training=[_training_view(row) for row in own_work.own_training(membership)],
        acknowledged=membership.acknowledged_version,
        newest_guidelines=campaign.guideline_version,
    )


STANDINGS: dict[str, Text] = {
    Membership.Standing.PAUSED: _("Your judging is paused; the campaign lead has been told."),
    Membership.Standing.EXCLUDED: _("Your part in this campaign has ended."),
    Membership.Standing.LEFT: _("You have stopped taking part."),
}


def span_words(seconds: float | None) -> str:
    """2 h 10 min; below an hour in minutes, below a minute in seconds. Empty for None."""
    if seconds is None:
        return ""
    if seconds < 59.5:
        return gettext("%(seconds)s s") % {"seconds": round(seconds)}
    hours, minutes = divmod(round(seconds / 60), 60)
    if not hours:
        return gettext("%(minutes)s min") % {"minutes": minutes}
    return gettext("%(hours)s h %(minutes)s min") % {
        "hours": number_format(hours),
        "minutes": minutes,
    }


def _tiles(
    progress: RaterProgress,
    timed: Sequence[pace.Timed],
    taken: pace.TimePerPair,
    days: Sequence[pace.Day],
    *,
    today: date,
    goes_on: bool,
) -> list[TileView]:
    speed = pace.pace_of(timed)
    left = progress.pairs - progress.done
    done_today = next((day.n for day in days if day.date == today), 0)
    return [
        TileView(
            label=pgettext_lazy("pairs", "Judged"),
            number=number_format(progress.done),
            sentence=_("of %(pairs)s pairs") % {"pairs": number_format(progress.pairs)},
            done=progress.done,
            total=progress.pairs,
        ),
        TileView(
            label=_("At most to go"),
            number=number_format(left) if goes_on else "\N{EM DASH}",
            sentence=_left_words(left, speed) if goes_on else "",
        ),
        TileView(
            label=_("Today"),
            number=number_format(done_today),
            sentence=_("judged since midnight (%(zone)s)")
            % {"zone": timezone.get_current_timezone_name()},
        ),
        TileView(
            label=_("Pairs an hour"),
            number="\N{EM DASH}" if speed.per_hour is None else _round_words(speed.per_hour),
            sentence=NO_NUMBER[speed.reason]
            if speed.per_hour is None
            else ngettext_lazy(
                "of active time, over %(n)s answer", "of active time, over %(n)s answers", speed.n
            )
            % {"n": number_format(speed.n)},
        ),
        TileView(
            label=_("Time for a pair"),
            number="\N{EM DASH}" if taken.median is None else _exact_words(taken.median),
            sentence=_time_words(taken),
        ),
    ]


def _left_words(left: int, speed: pace.Pace) -> Text:
    if not left:
        return _("You have judged every pair.")
    needed = speed.seconds_for(left)
    if needed is None:
        return _("How long they take is known after the first answers.")
    return _("about %(time)s at your pace; fewer if others fill pairs first") % {
        "time": span_words(needed)
    }


def _time_words(taken: pace.TimePerPair) -> Text:
    if taken.median is None:
        return NO_NUMBER[taken.reason]
    if taken.is_active:
        return _("of active time; half of your answers took less (median of %(n)s)") % {
            "n": number_format(taken.n)
        }
    return _("from opening to submitting; half took less (median of %(n)s)") % {
        "n": number_format(taken.n)
    }


def _round_words(number: float) -> str:
    return number_format(round(number, 1), 1) if number < 10 else number_format(round(number))


def _exact_words(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return gettext("%(seconds)s s") % {"seconds": rest}
    return gettext("%(minutes)s min %(seconds)s s") % {
        "minutes": number_format(minutes),
        "seconds": rest,
    }


def _bin_words(found: pace.Bin) -> str:
    if found.high is None:
        return gettext("%(low)s or longer") % {"low": span_words(found.low)}
    if not found.low:
        return gettext("under %(high)s") % {"high": span_words(found.high)}
    return gettext("%(low)s to %(high)s") % {
        "low": span_words(found.low),
        "high": span_words(found.high),
    }


def _flag_view(flag: Flag) -> FlagView:
    target = flag.target
    if target in (Flag.Target.A, Flag.Target.B):
        target = rubric.place_of(target, shown_left=flag.assignment.shown_left)
    return FlagView(
        at=flag.created_at,
        target=TARGET_LABELS[target],
        kind=Flag.Kind(flag.kind).label,
        resolved_at=flag.resolved_at,
    )


def _training_view(row: OwnTraining) -> TrainingView:
    query = _shortened(row.query)
    return TrainingView(
        query=query,
        lang=language_of(query),
        is_right=row.score.right == row.score.asked,
        address=reverse("submit", args=[row.seat_id]),
    )


def _scores(
    membership: Membership, figures: CheckFigures, gold: CheckScore | None
) -> list[ScoreView]:
    scores: list[ScoreView] = []
    if figures.training.items:
        scores.append(ScoreView(_("Training"), figures.training.score))
    for attempt, found in sorted(figures.qualification.items()):
        label = _("Qualification, try %(number)s") % {"number": attempt}
        scores.append(_try_view(membership, label, attempt, found.score))
    if gold is not None and gold.items >= membership.campaign.gold_minimum:
        until = _("Pairs with a known answer, up to yesterday (%(zone)s)") % {
            "zone": timezone.get_default_timezone_name()
        }
        scores.append(ScoreView(until, gold.score))
    return scores


def _last_midnight(now: datetime) -> datetime:
    """In the server's zone: a reader who could move it would find out which pairs are gold."""
    here = now.astimezone(timezone.get_default_timezone())
    return here.replace(hour=0, minute=0, second=0, microsecond=0)


def _try_view(membership: Membership, label: Text, attempt: int, score: Score) -> ScoreView:
    is_last = attempt >= membership.qualification_try
    if is_last and membership.ready_at is not None:
        return ScoreView(label, score, _("passed"), "ok")
    failed = membership.standing_reason == Membership.StandingReason.QUALIFICATION
    if is_last and not (failed and not membership.is_active):
        return ScoreView(label, None, _("going on"))
    return ScoreView(label, score, _("not passed"), "warn")


# --- History


@dataclass(frozen=True, slots=True)
class AnswerView:
    question: str
    answer: Text


@dataclass(frozen=True, slots=True)
class HistoryRow:
    at: datetime
    query: str
    lang: str
    answers: list[AnswerView]  # empty for a skipped pair
    skipped: Text  # why, in words; empty for one that was not skipped
    has_comment: bool
    changes: int
    change_address: str  # empty when it cannot be changed


@dataclass(frozen=True, slots=True)
class FilterView:
    label: Text
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class HistoryView:
    campaign: Campaign
    may_judge: bool
    filters: list[FilterView]
    is_filtered: bool
    rows: list[HistoryRow]
    newest_address: str  # empty on the first page
    older_address: str  # empty on the last page


FILTERS: dict[Show, Text] = {
    "all": _("All answers"),
    "skipped": pgettext_lazy("answers", "Skipped"),
    "comment": _("With a comment"),
    "changed": pgettext_lazy("answers", "Changed"),
}


def history_view(
    membership: Membership, criteria: Sequence[Criterion], *, show: str = "", before: str = ""
) -> HistoryView:
    """A page of the history; what ``show`` and ``before`` do not say rightly is not looked at."""
    campaign = membership.campaign
    shown: Show = next((key for key in FILTERS if key == show), "all")
    place = _read_place(before)
    found = own_work.own_answers(membership, show=shown, before=place, limit=ROWS + 1)
    rows, has_more = found[:ROWS], len(found) > ROWS
    questions = _questions(criteria)
    may_change = campaign.is_open and membership.is_active
    return HistoryView(
        campaign=campaign,
        may_judge=may_change,
        filters=[
            FilterView(label, _address(campaign, key), key == shown)
            for key, label in FILTERS.items()
        ],
        is_filtered=shown != "all",
        rows=[_history_row(row, questions, may_change=may_change) for row in rows],
        newest_address=_address(campaign, shown) if place else "",
        older_address=_address(campaign, shown, before=rows[-1]) if has_more else "",
    )


def _history_row(row: OwnAnswer, questions: Mapping[str, str], *, may_change: bool) -> HistoryRow:
    query = _shortened(row.query)
    skipped: Text = ""
    if row.skip_reason is not None:
        skipped = SKIP_LABELS.get(row.skip_reason, _("Without a reason"))
    return HistoryRow(
        at=row.at,
        query=query,
        lang=language_of(query),
        answers=[
            AnswerView(
                question,
                RESPONSE_LABELS[rubric.place_of(row.choices[key], shown_left=row.shown_left)],
            )
            for key, question in questions.items()
            if row.choices.get(key, rubric.SKIP) != rubric.SKIP
        ],
        skipped=skipped,
        has_comment=row.has_comment,
        changes=row.revision - 1,
        change_address=reverse("submit", args=[row.seat_id]) if may_change else "",
    )


def _shortened(query: str) -> str:
    """The beginning of a query, which the selectors cut one character later."""
    if len(query) > own_work.QUERY_CHARACTERS:
        return query[:-1].rstrip() + "…"
    return query


# Shorter than the questions; a campaign's own criteria keep theirs.
_SHORT: dict[str, Text] = {
    "helpfulness": _("More helpful"),
    "personalization": _("Fits the person better"),
}


def _questions(criteria: Sequence[Criterion]) -> dict[str, str]:
    chinese = (get_language() or "").startswith("zh")
    return {
        criterion.key: str(
            _SHORT.get(criterion.key, criterion.question_zh if chinese else criterion.question_en)
        )
        for criterion in criteria
    }


def _address(campaign: Campaign, show: Show, *, before: OwnAnswer | None = None) -> str:
    query: dict[str, str] = {} if show == "all" else {"show": show}
    if before:
        query["before"] = f"{before.at.isoformat()}_{before.seat_id}"
    address = reverse("history", args=[campaign.slug])
    return f"{address}?{urlencode(query)}" if query else address


def _read_place(text: str) -> Place | None:
    moment, _separator, seat = text.partition("_")
    try:
        at = datetime.fromisoformat(moment)
        return Place(at, UUID(seat)) if at.tzinfo is not None else None
    except ValueError:
        return None
