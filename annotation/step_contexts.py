"""What raters are told between pairs: what became of an answer, what comes next, or why nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.contexts import RESPONSE_LABELS, StageView, Text
from annotation.domain import rubric
from annotation.domain.rendering import language_of, to_html
from annotation.domain.rubric import Answer
from annotation.models import Assignment, Campaign, CheckItem, Membership
from annotation.selectors.campaigns import RaterProgress
from annotation.selectors.seats import Stage
from annotation.services.answers import Outcome
from annotation.services.seats import NothingLeft
from benchmark.models import Criterion


@dataclass(frozen=True, slots=True)
class NoticeView:
    """What became of the last answer, when that is not simply "saved"."""

    kind: str  # ok or warn
    text: Text
    # It is about one of the answers there.
    leads_to_history: bool = False


# Beside the outcomes of answers.
FLAGGED = "flagged"


def notice_view(code: str) -> NoticeView | None:
    """For the ``notice`` of the address that a submit leads to; unknown codes show nothing."""
    return {
        Outcome.KEPT_AFTER_EXPIRY.value: NoticeView(
            "ok",
            _("Your time for that pair had run out, but its place was free: your answer counts."),
        ),
        Outcome.ALREADY_SUBMITTED.value: NoticeView(
            "ok", _("You had answered that pair already: your first answer stands.")
        ),
        Outcome.EXPIRED.value: NoticeView(
            "warn",
            _(
                "Your time for that pair had run out and others have filled its places: your last"
                " answer was not needed and is not counted. All earlier ones are."
            ),
        ),
        Outcome.CAMPAIGN_CLOSED.value: NoticeView(
            "warn",
            _(
                "The campaign stopped taking answers before you submitted: your last answer is not"
                " counted, all earlier ones are. If the campaign goes on and the pair comes back,"
                " what you entered is there again."
            ),
        ),
        Outcome.NOT_ACTIVE.value: NoticeView(
            "warn",
            _(
                "Your judging had been stopped before you submitted: your last answer is not"
                " counted. All earlier ones are saved."
            ),
        ),
        Outcome.REVISED.value: NoticeView("ok", _("Your change is saved."), leads_to_history=True),
        FLAGGED: NoticeView("ok", _("The campaign lead has been told.")),
        Outcome.CHANGED_ELSEWHERE.value: NoticeView(
            "warn",
            _(
                "You had changed that answer already, maybe in another tab: this change is not"
                " saved. Open it in “My answers” to see what stands."
            ),
            leads_to_history=True,
        ),
    }.get(code)


@dataclass(frozen=True, slots=True)
class UndoView:
    """The way back to the last answer, for a while."""

    address: str
    seconds: int


def undo_view(membership: Membership, progress: RaterProgress, *, now: datetime) -> UndoView | None:
    campaign = membership.campaign
    if progress.saved_at is None or progress.last_seat is None:
        return None
    if not campaign.is_open or not membership.is_active:
        return None
    ends_at = progress.saved_at + timedelta(seconds=campaign.undo_seconds)
    seconds = int((ends_at - now).total_seconds())
    if seconds <= 0:
        return None
    return UndoView(address=reverse("submit", args=[progress.last_seat]), seconds=seconds)


def stage_view(seat: Assignment, stage: Stage) -> StageView | None:
    """None for the main round, where every pair looks the same."""
    number, items = stage.number, stage.items
    if seat.purpose == Assignment.Purpose.TRAINING:
        return StageView(
            title=_("Training: pair %(number)s of %(items)s") % {"number": number, "items": items},
            text=_(
                "For practice: these answers are not counted. After each one you see which answer"
                " was expected, and why."
            ),
        )
    if seat.purpose == Assignment.Purpose.QUALIFICATION:
        campaign = seat.campaign
        return StageView(
            title=_("Qualification: pair %(number)s of %(items)s")
            % {"number": number, "items": items},
            text=_(
                "Answer as you will in the campaign. To go on, %(percent)s %% of the answers have"
                " to be as expected. This is try %(try)s of %(tries)s."
            )
            % {
                "percent": campaign.qualification_pass_percent,
                "try": seat.attempt,
                "tries": campaign.qualification_tries,
            },
            warning=_(
                "The try before was not passed: %(right)s of %(asked)s answers were as expected."
                " It may help to read the guidelines again."
            )
            % {"right": stage.before.right, "asked": stage.before.asked}
            if stage.before and number == 1
            else "",
        )
    return None


@dataclass(frozen=True, slots=True)
class ExplainedCriterion:
    question: str
    yours: Text
    expected: Text
    right: bool


@dataclass(frozen=True, slots=True)
class ExplainedView:
    """A training answer beside the expected one, with the explanation as HTML."""

    title: Text
    criteria: list[ExplainedCriterion]
    html: str
    lang: str

    @property
    def all_right(self) -> bool:
        return all(criterion.right for criterion in self.criteria)


def explained_view(
    *, seat: Assignment, item: CheckItem, answer: Answer, criteria: Sequence[Criterion]
) -> ExplainedView:
    chinese = (get_language() or "").startswith("zh")
    found = [
        ExplainedCriterion(
            question=criterion.question_zh if chinese else criterion.question_en,
            yours=_label(answer.choices, criterion.key, seat.shown_left),
            expected=_label(item.expected, criterion.key, seat.shown_left),
            right=answer.choices.get(criterion.key) == item.expected[criterion.key],
        )
        for criterion in criteria
        if criterion.key in item.expected
    ]
    view = ExplainedView(
        title="", criteria=found, html=to_html(item.explanation), lang=language_of(item.explanation)
    )
    title = _("As expected") if view.all_right else _("Not as expected")
    return replace(view, title=title)


def _label(choices: Mapping[str, str], key: str, shown_left: str) -> Text:
    place = rubric.place_of(choices.get(key, rubric.SKIP), shown_left=shown_left)
    return RESPONSE_LABELS.get(place, pgettext_lazy("answer", "skipped"))


@dataclass(frozen=True, slots=True)
class FinishedView:
    """Why there is nothing to judge now, and what to do."""

    title: Text
    text: Text
    retry_at: datetime | None = None
    # The next thing to do, where there is one.
    address: str = ""
    verb: Text = ""
    # What a crowd platform wants to know of its participant.
    code: str = ""
    code_address: str = ""


def must_read_view(membership: Membership) -> FinishedView:
    address = reverse("guidelines", args=[membership.campaign.slug])
    if membership.acknowledged_version:
        return FinishedView(
            _("The guidelines have changed"),
            _("Read the new version before you go on. Your answers are saved."),
            address=address,
            verb=_("Read the guidelines"),
        )
    return FinishedView(
        _("First the guidelines"),
        _("They say how to judge. It takes a few minutes."),
        address=address,
        verb=_("Read the guidelines"),
    )


def finished_view(
    nothing: NothingLeft,
    membership: Membership,
    *,
    completion: tuple[str, str] | None = None,
) -> FinishedView:
    """``completion``: code and address for a crowd platform."""
    if completion is not None:
        code, code_address = completion
        return FinishedView(
            _("You are done: thank you"),
            _(
                "All your answers are saved. Give this code to the platform that you came from, or"
                " use the button."
            )
            if code_address
            else _(
                "All your answers are saved. Give this code to the platform that you came from."
            ),
            code=code,
            code_address=code_address,
        )
    about_the_rater = {
        NothingLeft.PAUSED: FinishedView(
            _("Your judging is paused"),
            _(
                "Some of your answers differ from what was expected, or the campaign lead wants to"
                " talk with you first. The lead has been told and will look at it. Your answers are"
                " saved."
            ),
        ),
        NothingLeft.NOT_QUALIFIED: FinishedView(
            _("The qualification was not passed"),
            _(
                "Too few answers were as expected this time. The campaign lead has been told and"
                " can give you another try."
            ),
        ),
        NothingLeft.EXCLUDED: FinishedView(
            _("Your part in this campaign has ended"),
            _("The campaign lead has ended it. If you think that is a mistake, ask the lead."),
        ),
        NothingLeft.LEFT: FinishedView(
            _("You have stopped taking part"),
            _(
                "Your answers so far are saved. Please also return your place on the platform that"
                " you came from."
            ),
        ),
        NothingLeft.TIMED_OUT: FinishedView(
            _("The time for this study has run out"),
            _(
                "Your answers so far are saved. If you think that you had time left, write to the"
                " researchers through the platform that you came from."
            ),
        ),
    }
    if nothing.reason in about_the_rater:
        return about_the_rater[nothing.reason]
    campaign = membership.campaign
    if nothing.reason == NothingLeft.NOT_OPEN:
        state = campaign.state
        if state == Campaign.State.PAUSED:
            return FinishedView(
                _("This campaign is paused"),
                _("Your answers are saved. The campaign lead will open it again."),
                address=reverse("task", args=[campaign.slug]),
                verb=_("Look again"),
            )
        if state == Campaign.State.CLOSED:
            return FinishedView(
                _("This campaign is closed"),
                _("Your answers are saved. There is nothing more to do here: thank you."),
            )
        return FinishedView(
            _("This campaign has not started"),
            _("The campaign lead has not opened it yet. Come back later."),
        )
    if nothing.reason == NothingLeft.ALL_JUDGED:
        return FinishedView(
            pgettext_lazy("rater", "You have judged every pair"),
            _("All your answers are saved. There is nothing more to do here: thank you."),
        )
    if nothing.reason == NothingLeft.ALL_TAKEN:
        return FinishedView(
            _("Nothing is free right now"),
            _(
                "Every pair that you have not judged is being judged by others at this moment."
                " If one of them does not finish, its place becomes free."
            ),
            retry_at=nothing.retry_at,
        )
    if nothing.reason == NothingLeft.ALL_FULL:
        return FinishedView(
            _("Nothing more is needed from you"),
            _(
                "Every pair that you have not judged has all the judgements it needs. Your answers"
                " are saved: thank you."
            ),
        )
    return FinishedView(
        _("This campaign has no pairs yet"),
        _("The campaign lead has not brought any pairs in. Come back later."),
    )
