"""What templates are given. An annotator's view has no field for source, tier or others' votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.domain import rubric
from annotation.domain.persona_card import PersonaCard, persona_card
from annotation.domain.rendering import language_of, to_html
from annotation.domain.rubric import AnswerProblem
from annotation.models import Assignment, Campaign
from annotation.selectors.campaigns import RaterProgress
from annotation.services.seats import NothingLeft, Outcome
from benchmark.models import Criterion, Pair

Text = str | Promise


def site(request: HttpRequest) -> dict[str, object]:
    """For every page."""
    return {"version": settings.VERSION}


@dataclass(frozen=True, slots=True)
class ResponseView:
    """A response by place: "1" stands left, or first on a phone."""

    place: str
    label: Text
    html: str
    lang: str


@dataclass(frozen=True, slots=True)
class OptionView:
    value: str
    label: Text
    checked: bool


@dataclass(frozen=True, slots=True)
class CriterionView:
    key: str
    question: str
    help: str
    options: list[OptionView]
    error: Text


@dataclass(frozen=True, slots=True)
class TaskView:
    seat_id: UUID
    lease_seconds: int
    lease_expires_at: datetime
    persona: PersonaCard
    persona_key: str  # of the profile as HTML in the cache: who, what, and the page's language
    persona_lang: str
    query: str
    query_lang: str
    responses: list[ResponseView]
    criteria: list[CriterionView]
    comment: str
    comment_limit: int
    comment_error: Text

    @property
    def first_wrong(self) -> str:
        """The field to be mended first: a criterion's key, "comment", or empty when all is well."""
        wrong = [criterion.key for criterion in self.criteria if criterion.error]
        if self.comment_error:
            wrong.append("comment")
        return wrong[0] if wrong else ""

    @property
    def has_errors(self) -> bool:
        return bool(self.first_wrong)


RESPONSE_LABELS: dict[str, Text] = {
    rubric.FIRST: _("Response 1"),
    rubric.SECOND: _("Response 2"),
    rubric.TIE: _("Both equally"),
}


def task_view(
    *,
    seat: Assignment,
    pair: Pair,
    criteria: Sequence[Criterion],
    places: Mapping[str, str] | None = None,
    comment: str = "",
    problems: Sequence[AnswerProblem] = (),
) -> TaskView:
    """The task as this rater sees it; ``places`` and ``comment`` are a refused answer's."""
    places = places or {}
    texts = {"A": pair.response_a, "B": pair.response_b}
    other = "B" if seat.shown_left == "A" else "A"
    values = [rubric.FIRST, rubric.SECOND]
    if seat.campaign.pair_set.allows_tie:
        values.insert(1, rubric.TIE)
    errors = {problem.field: _words(problem) for problem in problems}
    card = persona_card(name=pair.persona.name, body=pair.persona.body)
    chinese = (get_language() or "").startswith("zh")
    return TaskView(
        seat_id=seat.pk,
        lease_seconds=seat.campaign.lease_seconds,
        lease_expires_at=seat.lease_expires_at,
        persona=card,
        persona_key=f"{pair.persona.pk}.{pair.persona.digest.hex()}.{get_language()}",
        persona_lang=language_of(card.all_text),
        query=pair.query,
        query_lang=language_of(pair.query),
        responses=[
            ResponseView(
                place=place,
                label=RESPONSE_LABELS[place],
                html=to_html(texts[side]),
                lang=language_of(texts[side]),
            )
            for place, side in ((rubric.FIRST, seat.shown_left), (rubric.SECOND, other))
        ],
        criteria=[
            CriterionView(
                key=criterion.key,
                question=criterion.question_zh if chinese else criterion.question_en,
                help=criterion.help_zh if chinese else criterion.help_en,
                options=[
                    OptionView(value, RESPONSE_LABELS[value], places.get(criterion.key) == value)
                    for value in values
                ],
                error=errors.get(criterion.key, ""),
            )
            for criterion in criteria
        ],
        comment=comment,
        comment_limit=rubric.COMMENT_LIMIT,
        comment_error=errors.get("comment", ""),
    )


def _words(problem: AnswerProblem) -> Text:
    words: dict[str, Text] = {
        "missing": _("Choose one of the responses."),
        "unknown_choice": _("Choose one of the responses shown."),
        "too_long": _("The comment is too long: the limit is %(limit)s characters.")
        % {"limit": number_format(rubric.COMMENT_LIMIT)},
        "odd_characters": _("The comment holds characters that cannot be stored."),
    }
    return words[problem.code]


@dataclass(frozen=True, slots=True)
class NoticeView:
    """What became of the last answer, when that is not simply "saved"."""

    kind: str  # ok or warn
    text: Text


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
                " counted. All earlier ones are."
            ),
        ),
    }.get(code)


@dataclass(frozen=True, slots=True)
class FinishedView:
    """Why there is nothing to judge now, and what to do."""

    title: Text
    text: Text
    retry_at: datetime | None = None


def finished_view(
    nothing: NothingLeft, campaign: Campaign, progress: RaterProgress
) -> FinishedView:
    if nothing.reason == NothingLeft.NOT_OPEN:
        state = campaign.state
        if state == Campaign.State.PAUSED:
            return FinishedView(
                _("This campaign is paused"),
                _("Your answers are saved. The campaign lead will open it again."),
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
