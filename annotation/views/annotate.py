"""The annotator's pages. Each view reads the request, makes one call, answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation import access
from annotation.contexts import StageView, flags_view, task_view
from annotation.domain.rendering import language_of, to_html
from annotation.domain.rubric import Form, Rules, form_of, read_answer
from annotation.domain.timing import FIELDS, read_timing
from annotation.htmx import HtmxHttpRequest, page
from annotation.models import Assignment, Membership
from annotation.selectors.campaigns import newest_guideline, rater_progress
from annotation.selectors.pairs import pair_for_task
from annotation.selectors.seats import flags_of, stage_of
from annotation.services import answers, crowd, flags, seats, steps
from annotation.services.answers import Outcome
from annotation.step_contexts import (
    FLAGGED,
    explained_view,
    finished_view,
    must_read_view,
    notice_view,
    stage_view,
    undo_view,
)
from benchmark.models import Criterion


@require_http_methods(["GET", "POST"])
def guidelines(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """What raters are told; a post says that a version has been read."""
    membership = access.membership_or_404(request, slug)
    if request.method == "POST":
        known = steps.acknowledge(
            membership=membership, version=_number(request.POST.get("version", ""))
        )
        to_task = known and membership.role == Membership.Role.ANNOTATOR
        return redirect("task" if to_task else "guidelines", slug=slug)
    guideline = newest_guideline(membership.campaign)
    body = guideline.body if guideline else ""
    return page(
        request,
        "annotate/guidelines.html",
        "guidelines",
        {
            "membership": membership,
            "campaign": membership.campaign,
            "guideline": guideline,
            "is_acknowledged": guideline is not None
            and membership.acknowledged_version >= guideline.version,
            "html": to_html(body, breaks=False),
            "lang": language_of(body),
        },
    )


@require_http_methods(["GET"])
def task(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """The rater's current pair, or why there is none."""
    membership = access.annotator_or_404(request, slug)
    step = steps.next_step(membership=membership, now=timezone.now())
    if isinstance(step, steps.MustRead) and not request.htmx:
        return redirect("guidelines", slug=slug)
    return _step_page(request, membership, step, notice=request.GET.get("notice", ""))


@require_http_methods(["GET", "POST"])
def submit(request: HtmxHttpRequest, seat_id: UUID) -> HttpResponse:
    """Store the answer and go on to the next pair, or show what is missing.

    A GET shows an answer that was given: to correct it, or the explanation of a training pair.
    """
    seat = access.seat_or_404(request, seat_id)
    if request.method == "GET":
        return _asked_page(request, seat)
    criteria = seat.campaign.pair_set.criteria_in_order
    form = _form(request.POST, criteria)
    revision = _number(request.POST.get("revision", ""))
    answer = read_answer(form, rules=_rules(seat, criteria), shown_left=seat.shown_left)
    is_replay = request.headers.get("X-Replay") == "1"
    if isinstance(answer, list):
        if is_replay:
            return HttpResponse(status=422)
        view = task_view(
            seat=seat,
            pair=pair_for_task(seat.pair_id),
            criteria=criteria,
            stage=_stage(seat),
            form=form,
            revision=revision,
            problems=answer,
        )
        return _task_page(request, seat, {"task": view}, status=422)
    now = timezone.now()
    timing = read_timing(
        {field: request.POST.get(field, "") for field in FIELDS},
        since=seat.submitted_at or seat.claimed_at if revision else seat.claimed_at,
        now=now,
        is_correction=revision > 0,
    )
    if revision:
        outcome = answers.revise(seat=seat, answer=answer, timing=timing, revision=revision)
    else:
        outcome = answers.submit(seat=seat, answer=answer, timing=timing, now=now)
    is_told = outcome is not Outcome.ACCEPTED and not (
        outcome is Outcome.ALREADY_SUBMITTED and answers.stands(seat, answer)
    )
    response = _after(request, seat, outcome, is_replay=is_replay, is_told=is_told)
    response["X-Outcome"] = outcome.value
    return response


@require_POST
def renew(request: HtmxHttpRequest, seat_id: UUID) -> HttpResponse:
    """A sign of life: 204 while the seat is held, 409 when it is not any more."""
    seat: Assignment = access.seat_or_404(request, seat_id)
    return HttpResponse(status=204 if seats.renew_lease(assignment=seat) else 409)


@require_POST
def ahead(request: HtmxHttpRequest, seat_id: UUID) -> HttpResponse:
    """The pair that comes after this seat's, to be shown when it is answered; 204 without any."""
    seat = access.seat_or_404(request, seat_id)
    following = steps.next_ahead(seat=seat, now=timezone.now())
    if following is None:
        return HttpResponse(status=204)
    return _seat_page(request, following, {"is_ahead": True})


@require_http_methods(["GET", "POST"])
def flag(request: HtmxHttpRequest, seat_id: UUID) -> HttpResponse:
    """Tell the lead that something is wrong with the pair of this seat."""
    seat = access.seat_or_404(request, seat_id)
    if request.method == "GET":
        return redirect("task", slug=seat.campaign.slug)
    target, kind, comment = (request.POST.get(name, "") for name in ("target", "kind", "comment"))
    raised = flags.raise_flag(seat=seat, target=target, kind=kind, comment=comment)
    if isinstance(raised, flags.FlagProblem):
        view = flags_view(
            seat=seat,
            flags=flags_of(seat),
            target=target,
            kind=kind,
            comment=comment,
            problem=raised,
        )
        if request.htmx:
            return page(request, "annotate/flags.html", "flags", {"flags": view}, status=422)
        return _asked_page(request, seat, {"flags": view}, status=422)
    if request.htmx:
        view = flags_view(seat=seat, flags=flags_of(seat), is_sent=True)
        return page(request, "annotate/flags.html", "flags", {"flags": view})
    address = reverse("task", args=[seat.campaign.slug])
    return HttpResponseRedirect(f"{address}?{urlencode({'notice': FLAGGED})}", status=303)


def _after(
    request: HtmxHttpRequest, seat: Assignment, outcome: Outcome, *, is_replay: bool, is_told: bool
) -> HttpResponse:
    """The answer to an answer. ``is_told``: the rater has to know what became of it."""
    if is_replay:
        return HttpResponse(status=204)
    is_training = seat.purpose == Assignment.Purpose.TRAINING and outcome.is_stored
    notice = outcome.value if is_told else ""
    if not request.htmx:
        if is_training:
            return HttpResponseRedirect(reverse("submit", args=[seat.pk]), status=303)
        address = reverse("task", args=[seat.campaign.slug])
        if notice:
            address += "?" + urlencode({"notice": notice})
        return HttpResponseRedirect(address, status=303)
    if is_training:
        return _explanation_page(request, seat)
    step = steps.next_step(membership=seat.membership, now=timezone.now())
    shown = request.headers.get("X-Ahead")
    if isinstance(step, Assignment) and str(step.pk) == shown and not notice:
        response = _bar(request, seat.membership)
        response["X-Ahead"] = shown
        return response
    saved_at = timezone.now() if outcome is Outcome.REVISED else None
    return _step_page(request, seat.membership, step, notice=notice, saved_at=saved_at)


def _step_page(
    request: HtmxHttpRequest,
    membership: Membership,
    step: steps.Step,
    *,
    notice: str,
    saved_at: datetime | None = None,
) -> HttpResponse:
    """``saved_at``: of what was stored just now, where that is no new answer."""
    shown: dict[str, object] = {"notice": notice_view(notice), "saved_at": saved_at}
    if isinstance(step, Assignment):
        return _seat_page(request, step, shown)
    if isinstance(step, steps.MustRead):
        finished = must_read_view(membership)
    else:
        is_done = step.reason == seats.NothingLeft.QUOTA_DONE
        completion = crowd.completion(membership) if is_done else None
        finished = finished_view(step, membership, completion=completion)
    return _page(request, membership, shown | {"finished": finished})


def _seat_page(
    request: HtmxHttpRequest, seat: Assignment, extra: dict[str, object], *, status: int = 200
) -> HttpResponse:
    view = task_view(
        seat=seat,
        pair=pair_for_task(seat.pair_id),
        criteria=seat.campaign.pair_set.criteria_in_order,
        stage=_stage(seat),
    )
    return _task_page(request, seat, {"task": view} | extra, status=status)


def _asked_page(
    request: HtmxHttpRequest,
    seat: Assignment,
    extra: dict[str, object] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """A seat that was asked for by its address: what can be done about it now."""
    if seat.state == Assignment.State.OPEN and extra is not None:
        return _seat_page(request, seat, extra, status=status)
    if seat.state == Assignment.State.SUBMITTED:
        if seat.purpose == Assignment.Purpose.TRAINING:
            return _explanation_page(request, seat)
        is_open = seat.campaign.is_open and seat.membership.is_active
        stored = answers.stored_answer(seat) if is_open and seat.is_main_round else None
        if stored is not None:
            answer, revision = stored
            view = task_view(
                seat=seat,
                pair=pair_for_task(seat.pair_id),
                criteria=seat.campaign.pair_set.criteria_in_order,
                form=form_of(answer, shown_left=seat.shown_left),
                revision=revision,
            )
            return _task_page(request, seat, {"task": view} | (extra or {}), status=status)
    if not request.htmx:
        return redirect("task", slug=seat.campaign.slug)
    step = steps.next_step(membership=seat.membership, now=timezone.now())
    return _step_page(request, seat.membership, step, notice="")


def _explanation_page(request: HtmxHttpRequest, seat: Assignment) -> HttpResponse:
    stored = answers.stored_answer(seat)
    # It is a submitted training seat.
    assert stored is not None
    assert seat.check_item is not None
    criteria = seat.campaign.pair_set.criteria_in_order
    answer, _ = stored
    view = task_view(
        seat=seat,
        pair=pair_for_task(seat.pair_id),
        criteria=criteria,
        stage=_stage(seat),
        form=form_of(answer, shown_left=seat.shown_left),
    )
    explained = explained_view(seat=seat, item=seat.check_item, answer=answer, criteria=criteria)
    return _page(request, seat.membership, {"task": view, "explained": explained})


def _task_page(
    request: HtmxHttpRequest, seat: Assignment, extra: dict[str, object], *, status: int = 200
) -> HttpResponse:
    shown = {"flags": flags_view(seat=seat, flags=flags_of(seat))} | extra
    return _page(request, seat.membership, shown, status=status)


def _page(
    request: HtmxHttpRequest,
    membership: Membership,
    extra: dict[str, object],
    *,
    status: int = 200,
) -> HttpResponse:
    context = _about_the_work(membership, is_ahead="is_ahead" in extra) | extra
    return page(request, "annotate/task.html", "task", context, status=status)


def _bar(request: HtmxHttpRequest, membership: Membership) -> HttpResponse:
    """For the pair that is on screen already: what is new is that the one before is stored."""
    return page(request, "annotate/task.html", "bar", _about_the_work(membership))


def _about_the_work(membership: Membership, *, is_ahead: bool = False) -> dict[str, object]:
    """``is_ahead``: as it will be when the pair before is answered."""
    progress = rater_progress(membership)
    undo = undo_view(membership, progress, now=timezone.now())
    if is_ahead:
        progress, undo = replace(progress, done=progress.done + 1), None
    return {
        "campaign": membership.campaign,
        "membership": membership,
        "progress": progress,
        "undo": undo,
    }


def _stage(seat: Assignment) -> StageView | None:
    if seat.is_main_round:
        return None
    return stage_view(seat, stage_of(seat))


def _rules(seat: Assignment, criteria: list[Criterion]) -> Rules:
    campaign = seat.campaign
    return Rules(
        criteria=[criterion.key for criterion in criteria],
        allows_tie=campaign.pair_set.allows_tie,
        allows_skip=campaign.allows_skip and seat.is_main_round,
        asks_confidence=campaign.asks_confidence,
        asks_reasons=campaign.asks_reasons,
    )


def _form(data: QueryDict, criteria: list[Criterion]) -> Form:
    return Form(
        places={criterion.key: data.get(criterion.key, "") for criterion in criteria},
        comment=data.get("comment", ""),
        is_skip=data.get("action") == "skip",
        skip_reason=data.get("skip_reason", ""),
        confidence=data.get("confidence", ""),
        reasons=data.getlist("reasons"),
    )


def _number(text: str) -> int:
    """0 for what is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
