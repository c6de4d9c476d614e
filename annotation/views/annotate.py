"""The annotator's pages. Each view reads the request, makes one call, answers."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access
from annotation.contexts import finished_view, notice_view, task_view
from annotation.domain.rendering import language_of, to_html
from annotation.domain.rubric import read_answer
from annotation.htmx import HtmxHttpRequest, page
from annotation.models import Assignment
from annotation.selectors.campaigns import newest_guideline, rater_progress
from annotation.selectors.pairs import criteria_of, pair_for_task
from annotation.services import seats


@require_GET
def guidelines(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    membership = access.membership_or_404(request, slug)
    guideline = newest_guideline(membership.campaign)
    body = guideline.body if guideline else ""
    return render(
        request,
        "annotate/guidelines.html",
        {
            "membership": membership,
            "campaign": membership.campaign,
            "guideline": guideline,
            "html": to_html(body, breaks=False),
            "lang": language_of(body),
        },
    )


@require_GET
def task(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """The rater's current pair, or why there is none."""
    membership = access.annotator_or_404(request, slug)
    seat = seats.claim_seat(membership=membership)
    progress = rater_progress(membership)
    context: dict[str, object] = {
        "campaign": membership.campaign,
        "progress": progress,
        "notice": notice_view(request.GET.get("notice", "")),
    }
    if isinstance(seat, seats.NothingLeft):
        context["finished"] = finished_view(seat, membership.campaign, progress)
    else:
        context["task"] = task_view(
            seat=seat,
            pair=pair_for_task(seat.pair_id),
            criteria=criteria_of(membership.campaign.pair_set),
        )
    return page(request, "annotate/task.html", "task", context)


@require_http_methods(["GET", "POST"])
def submit(request: HtmxHttpRequest, seat_id: UUID) -> HttpResponse:
    """Store the answer and go on to the next pair, or show what is missing.

    A GET comes from a reload of a refused answer, or from signing in again after a session ended.
    """
    seat = access.seat_or_404(request, seat_id)
    if request.method == "GET":
        return redirect("task", slug=seat.campaign.slug)
    criteria = criteria_of(seat.campaign.pair_set)
    places = {criterion.key: request.POST.get(criterion.key, "") for criterion in criteria}
    comment = request.POST.get("comment", "")
    answer = read_answer(
        places=places,
        comment=comment,
        criteria=[criterion.key for criterion in criteria],
        shown_left=seat.shown_left,
        allows_tie=seat.campaign.pair_set.allows_tie,
    )
    if isinstance(answer, list):
        context: dict[str, object] = {
            "campaign": seat.campaign,
            "progress": rater_progress(seat.membership),
            "task": task_view(
                seat=seat,
                pair=pair_for_task(seat.pair_id),
                criteria=criteria,
                places=places,
                comment=comment,
                problems=answer,
            ),
        }
        return page(request, "annotate/task.html", "task", context, status=422)
    outcome = seats.submit(seat=seat, answer=answer)
    address = reverse("task", args=[seat.campaign.slug])
    if outcome is not seats.Outcome.ACCEPTED:
        address += "?" + urlencode({"notice": outcome.value})
    return HttpResponseRedirect(address, status=303)


@require_POST
def renew(request: HtmxHttpRequest, seat_id: UUID) -> HttpResponse:
    """A sign of life: 204 while the seat is held, 409 when it is not any more."""
    seat: Assignment = access.seat_or_404(request, seat_id)
    return HttpResponse(status=204 if seats.renew_lease(assignment=seat) else 409)
