"""Flags: raised by raters on what they are shown, resolved by leads."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from annotation.domain import rubric
from annotation.domain.rubric import AnswerProblem
from annotation.models import Assignment, Event, Flag, User

# A field's name (target, kind or comment) and a code, as for answers.
FlagProblem = AnswerProblem

# What a rater points at; responses by place.
TARGETS = (Flag.Target.PERSONA.value, Flag.Target.QUERY.value, rubric.FIRST, rubric.SECOND)


def raise_flag(*, seat: Assignment, target: str, kind: str, comment: str) -> Flag | FlagProblem:
    """Tell the lead, or say what is wrong with the form.

    The same again while the first is unresolved keeps one flag, with the newest comment.
    """
    if target not in TARGETS:
        return FlagProblem("target", "unknown_choice" if target else "missing")
    if kind not in Flag.Kind.values:
        return FlagProblem("kind", "unknown_choice" if kind else "missing")
    cleaned = rubric.clean_comment(comment)
    if isinstance(cleaned, AnswerProblem):
        return cleaned
    if kind == Flag.Kind.OTHER and not cleaned:
        return FlagProblem("comment", "needs_comment")
    if target in (rubric.FIRST, rubric.SECOND):
        target = rubric.side_of(target, shown_left=seat.shown_left)
    with transaction.atomic():
        flag, is_new = Flag.objects.get_or_create(
            assignment=seat,
            target=target,
            kind=kind,
            resolved_at=None,
            defaults={"campaign": seat.campaign, "comment": cleaned},
        )
        changes = bool(cleaned) and cleaned != flag.comment
        if changes:
            flag.comment = cleaned
            flag.save(update_fields=["comment"])
        if is_new or changes:
            _log(flag, seat.membership.user, "flag:raised")
    return flag


def resolve_flag(*, flag: Flag, actor: User, now: datetime) -> None:
    """The lead has dealt with it. Again changes nothing."""
    with transaction.atomic():
        resolved = Flag.objects.filter(pk=flag.pk, resolved_at=None).update(
            resolved_at=now, resolved_by=actor
        )
        if resolved:
            _log(flag, actor, "flag:resolved")
    flag.refresh_from_db(fields=["resolved_at", "resolved_by"])


def _log(flag: Flag, actor: User, action: str) -> None:
    Event.objects.create(
        campaign=flag.campaign,
        actor=actor,
        action=action,
        data={"flag": flag.pk, "target": flag.target, "kind": flag.kind},
    )
