"""A lead's desk: people, ways in, flags, and how the campaign is judged."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.forms import ExclusionForm, GuidelinesForm, InviteForm, JudgingForm, StudyForm
from annotation.htmx import HtmxHttpRequest
from annotation.models import CrowdStudy, Flag, Invite, Membership
from annotation.people_contexts import Text, people_view, settings_view
from annotation.selectors.campaigns import newest_guideline
from annotation.services import crowd, flags, invites, judging_settings
from annotation.services import standing as standings


@require_GET
def people(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """What needs a decision, everybody's work, and ways in."""
    membership = access.lead_or_404(request, slug)
    return _people_page(request, membership, notice=request.GET.get("notice", ""))


def _people_page(
    request: HtmxHttpRequest,
    membership: Membership,
    *,
    invite_form: InviteForm | None = None,
    study_form: StudyForm | None = None,
    notice: str = "",
    error: str = "",
    wrong: tuple[int, str, Text] | None = None,
    status: int = 200,
) -> HttpResponse:
    view = people_view(
        membership.campaign, now=timezone.now(), notice=notice, error=error, wrong=wrong
    )
    context = {
        "view": view,
        "invite_form": invite_form or InviteForm(),
        "study_form": study_form or StudyForm(),
    }
    return render(request, "people/people.html", context, status=status)


def _lead_posts(
    view: Callable[..., HttpResponse],
) -> Callable[..., HttpResponse]:
    """An address that changes something for a lead's post; a GET leads back to the people."""

    @require_http_methods(["GET", "POST"])
    @wraps(view)
    def inner(request: HtmxHttpRequest, slug: str, **arguments: object) -> HttpResponse:
        membership = access.lead_or_404(request, slug)
        if request.method == "GET":
            return redirect("people", slug=slug)
        return view(request, membership, **arguments)

    return inner


def _done(membership: Membership, notice: str, *, page: str = "people") -> HttpResponse:
    # A browser would keep the fragment that the form was sent to, and the notice is at the top.
    return redirect(f"{reverse(page, args=[membership.campaign.slug])}?notice={notice}#main")


@_lead_posts
def invite(request: HtmxHttpRequest, membership: Membership) -> HttpResponse:
    """Make an invite link."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _people_page(request, membership, invite_form=form, status=422)
    invites.create_invite(
        campaign=membership.campaign,
        actor=membership.user,
        now=timezone.now(),
        **form.cleaned_data,
    )
    return _done(membership, "invited")


@_lead_posts
def revoke(request: HtmxHttpRequest, membership: Membership, invite_id: UUID) -> HttpResponse:
    row = get_object_or_404(Invite, campaign=membership.campaign, pk=invite_id)
    invites.revoke_invite(invite=row, actor=membership.user, now=timezone.now())
    return _done(membership, "revoked")


@_lead_posts
def study(request: HtmxHttpRequest, membership: Membership) -> HttpResponse:
    """Make a way in for participants of a crowd platform."""
    form = StudyForm(request.POST)
    if not form.is_valid():
        return _people_page(request, membership, study_form=form, status=422)
    crowd.create_study(campaign=membership.campaign, actor=membership.user, **form.cleaned_data)
    return _done(membership, "study")


@_lead_posts
def close_study(request: HtmxHttpRequest, membership: Membership, study_id: UUID) -> HttpResponse:
    row = get_object_or_404(CrowdStudy, campaign=membership.campaign, pk=study_id)
    crowd.close_study(study=row, actor=membership.user, now=timezone.now())
    return _done(membership, "closed")


@_lead_posts
def standing(request: HtmxHttpRequest, membership: Membership, member_id: int) -> HttpResponse:
    """Pause a rater, let them go on, or exclude them with a reason."""
    members = Membership.objects.filter(campaign=membership.campaign)
    rater = get_object_or_404(members.select_related("campaign", "crowd_place"), pk=member_id)
    actor, now = membership.user, timezone.now()
    action = request.POST.get("action", "")
    try:
        if action == "pause":
            standings.pause(membership=rater, actor=actor, now=now)
        elif action == "resume":
            standings.resume(membership=rater, actor=actor, now=now)
        elif action == "exclude":
            form = ExclusionForm(request.POST)
            if not form.is_valid():
                given = request.POST.get("reason", "")
                wrong = (rater.pk, given, str(form.errors["reason"][0]))
                return _people_page(request, membership, wrong=wrong, status=422)
            reason = form.cleaned_data["reason"]
            standings.exclude(membership=rater, actor=actor, reason=reason, now=now)
        else:
            return _people_page(request, membership, error="unknown_action", status=422)
    except standings.CannotChange as problem:
        return _people_page(request, membership, error=problem.code, status=409)
    return _done(membership, action)


@_lead_posts
def resolve_flag(request: HtmxHttpRequest, membership: Membership, flag_id: int) -> HttpResponse:
    flag = get_object_or_404(Flag, campaign=membership.campaign, pk=flag_id)
    flags.resolve_flag(flag=flag, actor=membership.user, now=timezone.now())
    return _done(membership, "resolved")


@require_http_methods(["GET", "POST"])
def settings(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """How the campaign is judged, and its guidelines: two forms, one of them sent at a time."""
    membership = access.lead_or_404(request, slug)
    campaign = membership.campaign
    newest = newest_guideline(campaign)
    published = newest.body if newest else ""
    is_guidelines = request.POST.get("form") == "guidelines"
    sent = request.POST if request.method == "POST" else None
    form = JudgingForm(None if is_guidelines else sent, initial=JudgingForm.initial_of(campaign))
    guidelines_form = GuidelinesForm(
        sent if is_guidelines else None,
        published=published,
        initial={"body": published, "after": newest.version if newest else 0},
    )
    if form.is_bound and form.is_valid():
        changed = judging_settings.update_settings(
            campaign=campaign, values=form.cleaned_data, actor=membership.user
        )
        notice = "settings" if changed else "unchanged"
        return _done(membership, notice, page="judging_settings")
    if guidelines_form.is_bound and guidelines_form.is_valid():
        try:
            judging_settings.publish_guidelines(
                campaign=campaign,
                body=guidelines_form.cleaned_data["body"],
                after=guidelines_form.cleaned_data["after"],
                actor=membership.user,
            )
            return _done(membership, "published", page="judging_settings")
        except judging_settings.CannotPublish:
            guidelines_form.changed_meanwhile()
    context = {
        "view": settings_view(campaign, notice=request.GET.get("notice", "")),
        "form": form,
        "guidelines_form": guidelines_form,
    }
    status = 422 if form.errors or guidelines_form.errors else 200
    return render(request, "people/settings.html", context, status=status)
