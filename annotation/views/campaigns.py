"""Pages of campaign leads and researchers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.audit.policy_words import asked_for
from annotation.htmx import HtmxHttpRequest, page
from annotation.lead_contexts import CampaignView, campaign_view
from annotation.models import Membership
from annotation.selectors.campaigns import campaigns_of
from annotation.services import campaigns as campaign_services
from annotation.services import jobs
from benchmark.stats.policy import DEFAULT_POLICY, PolicyError


@require_GET
def home(request: HtmxHttpRequest) -> HttpResponse:
    """My campaigns."""
    rows = campaigns_of(access.current_user(request))
    return render(request, "home.html", {"rows": rows})


@require_GET
def campaign(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Progress, coverage, jobs and releases; htmx asks for the live part again and again."""
    membership = access.watcher_or_404(request, slug)
    return _campaign_page(request, campaign_view(membership, now=timezone.now()))


def _campaign_page(
    request: HtmxHttpRequest, view: CampaignView, *, status: int = 200
) -> HttpResponse:
    return page(request, "campaigns/campaign.html", "live", {"view": view}, status=status)


def _lead_posts(
    view: Callable[[HtmxHttpRequest, Membership], HttpResponse],
) -> Callable[[HtmxHttpRequest, str], HttpResponse]:
    """An address that changes something for a lead's post.

    A GET comes from a reload of a refused form, or from signing in again after a session ended: it
    leads back to the campaign.
    """

    @require_http_methods(["GET", "POST"])
    @wraps(view)
    def inner(request: HtmxHttpRequest, slug: str) -> HttpResponse:
        membership = access.lead_or_404(request, slug)
        if request.method == "GET":
            return redirect("campaign", slug=slug)
        return view(request, membership)

    return inner


@_lead_posts
def move(request: HtmxHttpRequest, membership: Membership) -> HttpResponse:
    """Open, pause or close the campaign."""
    try:
        campaign_services.move_campaign(
            campaign=membership.campaign,
            state=request.POST.get("state", ""),
            actor=membership.user,
        )
    except campaign_services.CannotMove:
        return _campaign_page(
            request, campaign_view(membership, now=timezone.now(), error="cannot_move"), status=409
        )
    return redirect("campaign", slug=membership.campaign.slug)


@_lead_posts
def aggregate(request: HtmxHttpRequest, membership: Membership) -> HttpResponse:
    """Count the votes and decide by the policy named, as name or name@version."""
    policy = asked_for(request.POST.get("policy", "")) or DEFAULT_POLICY.name
    try:
        jobs.start_aggregation(campaign=membership.campaign, policy=policy, actor=membership.user)
    except PolicyError:
        view = campaign_view(membership, now=timezone.now(), error="no_policy")
        return _campaign_page(request, view, status=422)
    return redirect("campaign", slug=membership.campaign.slug)


@_lead_posts
def release(request: HtmxHttpRequest, membership: Membership) -> HttpResponse:
    version = request.POST.get("version", "").strip()
    try:
        jobs.start_release(campaign=membership.campaign, version=version, actor=membership.user)
    except jobs.CannotRelease as problem:
        view = campaign_view(membership, now=timezone.now(), version=version, error=problem.code)
        return _campaign_page(request, view, status=422)
    return redirect("campaign", slug=membership.campaign.slug)


@require_GET
def download(request: HtmxHttpRequest, slug: str, version: str) -> FileResponse:
    """The release as one zip file."""
    membership = access.watcher_or_404(request, slug)
    release = access.release_or_404(membership, version)
    path = release.archive
    if not release.is_ready or not path.exists():
        raise Http404
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name)
