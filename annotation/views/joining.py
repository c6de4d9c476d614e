"""Ways into a campaign: invite links and crowd studies; and the way out of a study."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation import access, joining_contexts
from annotation.forms import AccountForm
from annotation.htmx import HtmxHttpRequest
from annotation.joining_contexts import MessageView
from annotation.models import CrowdPlace, CrowdStudy, Invite, Membership, User
from annotation.selectors import people
from annotation.services import crowd as crowd_services
from annotation.services import invites

# Of those who sign in by a link. Who may use it was settled by what the link stands for.
BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def join(request: HtmxHttpRequest, invite_id: UUID) -> HttpResponse:
    """Join by an invite, with the account one is signed in with or with a new one."""
    invite = people.invite(invite_id)
    if invite is None:
        raise Http404
    user = request.user if isinstance(request.user, User) else None
    present = people.membership_of(user, invite.campaign) if user else None
    if present is not None:
        return _message(request, joining_contexts.member_view(present))
    code = invites.problem(invite, timezone.now())
    if code is not None:
        return _refused(request, code)
    if request.method == "GET":
        return _invite_page(request, invite, AccountForm())
    if user is not None:
        # Somebody who has signed in meanwhile in another tab decides again, with this account.
        if "username" in request.POST:
            return redirect("join", invite_id=invite_id)
        try:
            return _to_campaign(invites.accept(invite=invite, user=user, now=timezone.now()))
        except invites.CannotJoin as problem:
            return _refused(request, problem.code)
    return _join_anew(request, invite)


def _join_anew(request: HtmxHttpRequest, invite: Invite) -> HttpResponse:
    form = AccountForm(request.POST)
    if not form.is_valid():
        return _invite_page(request, invite, form)
    try:
        membership = invites.join_with_new_account(
            invite=invite,
            username=form.cleaned_data["username"],
            password=form.cleaned_data["password"],
            now=timezone.now(),
        )
    except invites.NameTaken:
        form.name_is_taken()
        return _invite_page(request, invite, form)
    except invites.CannotJoin as problem:
        return _refused(request, problem.code)
    login(request, membership.user, backend=BACKEND)
    return _to_campaign(membership)


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def crowd(request: HtmxHttpRequest, study_id: UUID) -> HttpResponse:
    """Take part in a crowd study, or go on: the address says who comes."""
    study = people.study(study_id)
    if study is None:
        raise Http404
    visit = crowd_services.read_visit(study, request.GET)
    if isinstance(visit, crowd_services.VisitProblem):
        status = 403 if visit.code == "other_study" else 400
        return _message(request, joining_contexts.visit_problem_view(visit), status=status)
    now = timezone.now()
    user = request.user if isinstance(request.user, User) else None
    found = crowd_services.enter(study=study, visit=visit, now=now, user=user)
    if found is None and request.method == "POST":
        if request.POST.get("agree") != "yes":
            return _message(request, joining_contexts.declined_view())
        found = crowd_services.consent(study=study, visit=visit, now=now, user=user)
    if isinstance(found, crowd_services.Refused):
        return _message(request, joining_contexts.refused_visit_view(found), status=403)
    if found is None:
        return _consent_page(request, study)
    return _at_place(request, study, found)


def _at_place(request: HtmxHttpRequest, study: CrowdStudy, place: CrowdPlace) -> HttpResponse:
    if place.state != CrowdPlace.State.STARTED:
        return _message(request, joining_contexts.ended_view(place))
    user = place.membership.user
    is_somebody_else = request.user.is_authenticated and request.user != user
    if is_somebody_else and request.method == "GET":
        # A link alone must not take anybody out of the account that they work with.
        return _consent_page(request, study, is_known=True)
    login(request, user, backend=BACKEND)
    return redirect("task", slug=place.membership.campaign.slug)


@never_cache
@require_http_methods(["GET", "POST"])
def leave(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Stop taking part in a crowd study, after a question."""
    membership = access.annotator_or_404(request, slug)
    place = crowd_services.place_of(membership)
    if place is None:
        raise Http404
    if request.method == "POST":
        crowd_services.leave(membership=membership, now=timezone.now())
        return redirect("leave", slug=slug)
    if place.state != CrowdPlace.State.STARTED:
        return _message(request, joining_contexts.ended_view(place))
    return render(request, "joining/leave.html", {"campaign": membership.campaign})


def _to_campaign(membership: Membership) -> HttpResponse:
    page = "campaign" if membership.may_watch else "task"
    return redirect(page, slug=membership.campaign.slug)


def _invite_page(request: HtmxHttpRequest, invite: Invite, form: AccountForm) -> HttpResponse:
    context = {"view": joining_contexts.invite_view(invite), "form": form}
    status = 422 if form.errors else 200
    return render(request, "joining/join.html", context, status=status)


def _consent_page(
    request: HtmxHttpRequest, study: CrowdStudy, *, is_known: bool = False
) -> HttpResponse:
    context = {"view": joining_contexts.consent_view(study), "is_known": is_known}
    return render(request, "joining/consent.html", context)


def _refused(request: HtmxHttpRequest, code: invites.Problem) -> HttpResponse:
    return _message(request, joining_contexts.refused_invite_view(code), status=410)


def _message(request: HtmxHttpRequest, view: MessageView, *, status: int = 200) -> HttpResponse:
    return render(request, "joining/message.html", {"view": view}, status=status)
