"""What templates are given. An annotator's view has no field for source, tier or others' votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from annotation.domain import rubric
from annotation.domain.persona_card import PersonaCard, persona_card
from annotation.domain.rendering import language_of, to_html
from annotation.domain.rubric import AnswerProblem, Form
from annotation.models import Assignment, Flag
from benchmark.models import Criterion, Pair

Text = str | Promise


def site(request: HttpRequest) -> dict[str, object]:
    """For every page."""
    return {"version": settings.VERSION, "post_limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}


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
    checked: bool = False


@dataclass(frozen=True, slots=True)
class CriterionView:
    key: str
    question: str
    help: str
    options: list[OptionView]
    error: Text


@dataclass(frozen=True, slots=True)
class StageView:
    """Training or qualification. The pairs of the main round have none, whatever they are for."""

    title: Text
    text: Text
    warning: Text = ""  # what became of the try before


@dataclass(frozen=True, slots=True)
class TaskView:
    seat_id: UUID
    # 0 for a first answer, else the number of the answer that is being corrected.
    revision: int
    stage: StageView | None
    lease_seconds: int
    lease_expires_at: datetime
    persona: PersonaCard
    persona_key: str  # of the profile as HTML in the cache: who, what, and the page's language
    persona_lang: str
    query: str
    query_lang: str
    responses: list[ResponseView]
    criteria: list[CriterionView]
    confidences: list[OptionView]  # empty where the campaign does not ask
    reasons: list[OptionView]  # likewise
    allows_skip: bool
    is_skip: bool
    skip_reasons: list[OptionView]
    comment: str
    comment_limit: int
    # By field: the criteria have theirs.
    comment_error: Text
    skip_error: Text
    confidence_error: Text
    reasons_error: Text

    @property
    def is_revision(self) -> bool:
        return self.revision > 0

    @property
    def _errors(self) -> list[tuple[str, Text]]:
        fields = [
            *((criterion.key, criterion.error) for criterion in self.criteria),
            ("confidence", self.confidence_error),
            ("reasons", self.reasons_error),
            ("skip_reason", self.skip_error),
            ("comment", self.comment_error),
        ]
        return [(field, error) for field, error in fields if error]

    @property
    def first_wrong(self) -> str:
        """The field to be mended first: a criterion's key or a name; empty when all is well."""
        return self._errors[0][0] if self._errors else ""

    @property
    def first_error(self) -> Text:
        return self._errors[0][1] if self._errors else ""

    @property
    def has_errors(self) -> bool:
        return bool(self.first_wrong)


RESPONSE_LABELS: dict[str, Text] = {
    rubric.FIRST: _("Response 1"),
    rubric.SECOND: _("Response 2"),
    rubric.TIE: _("Both equally"),
}

SKIP_LABELS: dict[str, Text] = {
    "cannot_judge": _("I cannot judge this pair"),
    "both_bad": _("Both responses are equally bad"),
    "broken": _("A text is broken or missing"),
    "unsafe": _("Unsafe or offensive content"),
    "conflict": _("Conflict of interest"),
    "other": _("Another reason (say which in the comment)"),
}

REASON_LABELS: dict[str, Text] = {
    "situation": _("Situation"),
    "taste": _("Tastes"),
    "limits": _("Limits"),
    "correct": _("Correctness"),
    "complete": _("Completeness"),
    "clear": _("Clarity"),
    "tone": _("Tone"),
    "other": _("Something else"),
}

CONFIDENCE_LABELS: dict[str, Text] = {
    "1": _("A guess"),
    "2": _("Fairly sure"),
    "3": _("Certain"),
}


def task_view(
    *,
    seat: Assignment,
    pair: Pair,
    criteria: Sequence[Criterion],
    stage: StageView | None = None,
    form: Form | None = None,
    revision: int = 0,
    problems: Sequence[AnswerProblem] = (),
) -> TaskView:
    """The task as this rater sees it; ``form`` is a refused answer's, or one to be corrected."""
    campaign = seat.campaign
    form = form or Form(places={})
    texts = {"A": pair.response_a, "B": pair.response_b}
    values = [rubric.FIRST, rubric.SECOND]
    if campaign.pair_set.allows_tie:
        values.insert(1, rubric.TIE)
    errors = {problem.field: _words(problem) for problem in problems}
    card = persona_card(name=pair.persona.own_name, body=pair.persona.body)
    chinese = (get_language() or "").startswith("zh")
    return TaskView(
        seat_id=seat.pk,
        revision=revision,
        stage=stage,
        lease_seconds=campaign.lease_seconds,
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
            for place, side in (
                (place, rubric.side_of(place, shown_left=seat.shown_left))
                for place in (rubric.FIRST, rubric.SECOND)
            )
        ],
        criteria=[
            CriterionView(
                key=criterion.key,
                question=criterion.question_zh if chinese else criterion.question_en,
                help=criterion.help_zh if chinese else criterion.help_en,
                options=[
                    OptionView(
                        value, RESPONSE_LABELS[value], form.places.get(criterion.key) == value
                    )
                    for value in values
                ],
                error=errors.get(criterion.key, ""),
            )
            for criterion in criteria
        ],
        confidences=[
            OptionView(str(level), CONFIDENCE_LABELS[str(level)], form.confidence == str(level))
            for level in rubric.CONFIDENCES
        ]
        if campaign.asks_confidence
        else [],
        reasons=[
            OptionView(reason, REASON_LABELS[reason], reason in form.reasons)
            for reason in rubric.REASONS
        ]
        if campaign.asks_reasons
        else [],
        allows_skip=campaign.allows_skip and (stage is None),
        is_skip=form.is_skip,
        skip_reasons=[
            OptionView(reason, SKIP_LABELS[reason], reason == form.skip_reason)
            for reason in rubric.SKIP_REASONS
        ],
        comment=form.comment,
        comment_limit=rubric.COMMENT_LIMIT,
        comment_error=errors.get("comment", ""),
        skip_error=errors.get("skip_reason", ""),
        confidence_error=errors.get("confidence", ""),
        reasons_error=errors.get("reasons", ""),
    )


def _words(problem: AnswerProblem) -> Text:
    words: dict[str, Text] = {
        "missing": _("Choose one of the responses."),
        "unknown_choice": _("Choose one of the responses shown."),
        "too_long": _("The comment is too long: the limit is %(limit)s characters.")
        % {"limit": number_format(rubric.COMMENT_LIMIT)},
        "odd_characters": _("The comment holds characters that cannot be stored."),
        "needs_comment": _("Say in the comment why you skip this pair."),
        "not_allowed": _("Pairs of this campaign cannot be skipped: choose a response."),
    }
    if problem.field == "skip_reason" and problem.code in ("missing", "unknown_choice"):
        return _("Choose why you skip this pair.")
    if problem.field in ("confidence", "reasons"):
        return _("Choose from what is shown, or nothing.")
    return words[problem.code]


@dataclass(frozen=True, slots=True)
class FlagsView:
    """The form by which a rater flags something, and what they have flagged of this pair."""

    seat_id: UUID
    targets: list[OptionView]
    kinds: list[OptionView]
    raised: list[Text]
    comment: str = ""
    # The field to be mended (target, kind or comment), and what is wrong with it.
    wrong: str = ""
    error: Text = ""
    # One has just been sent.
    is_sent: bool = False


TARGET_LABELS: dict[str, Text] = {
    "persona": _("The profile"),
    "query": _("The question"),
    rubric.FIRST: RESPONSE_LABELS[rubric.FIRST],
    rubric.SECOND: RESPONSE_LABELS[rubric.SECOND],
}


def flags_view(
    *,
    seat: Assignment,
    flags: Sequence[Flag],
    target: str = "",
    kind: str = "",
    comment: str = "",
    problem: AnswerProblem | None = None,
    is_sent: bool = False,
) -> FlagsView:
    """``flags`` are the rater's own on this seat; the rest is a refused form's."""
    raised: list[Text] = []
    for flag in flags:
        place = flag.target
        if flag.target in (Flag.Target.A, Flag.Target.B):
            place = rubric.place_of(flag.target, shown_left=seat.shown_left)
        raised.append(
            format_lazy(
                "{target} · {kind}", target=TARGET_LABELS[place], kind=Flag.Kind(flag.kind).label
            )
        )
    return FlagsView(
        seat_id=seat.pk,
        targets=[OptionView(key, label, key == target) for key, label in TARGET_LABELS.items()],
        kinds=[OptionView(value, label, value == kind) for value, label in Flag.Kind.choices],
        raised=raised,
        comment=comment,
        wrong=problem.field if problem else "",
        error=_flag_words(problem) if problem else "",
        is_sent=is_sent,
    )


def _flag_words(problem: AnswerProblem) -> Text:
    if problem.field == "target":
        return _("Choose what your report is about.")
    if problem.field == "kind":
        return _("Choose what is wrong.")
    if problem.code == "needs_comment":
        return _("Say in your words what is wrong.")
    return _words(problem)
