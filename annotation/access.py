"""Load an object for the current user, or 404: the only place that asks "may they?".

Strangers get 404, so that they cannot tell what exists; members who lack the right get 403.
"""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from annotation.models import Assignment, Membership, User
from benchmark.models import Release, Run


def current_user(request: HttpRequest) -> User:
    user = request.user
    if not isinstance(user, User):
        raise PermissionDenied
    return user


def membership_or_404(request: HttpRequest, slug: str) -> Membership:
    """The user's place in the campaign."""
    membership = (
        Membership.objects.filter(user=current_user(request), campaign__pair_set__slug=slug)
        .select_related("campaign__pair_set", "rater", "crowd_place__study", "user")
        .first()
    )
    if membership is None:
        raise Http404
    return membership


def annotator_or_404(request: HttpRequest, slug: str) -> Membership:
    membership = membership_or_404(request, slug)
    if membership.role != Membership.Role.ANNOTATOR:
        raise PermissionDenied
    return membership


def watcher_or_404(request: HttpRequest, slug: str) -> Membership:
    """Someone who may see figures: a lead or a researcher."""
    membership = membership_or_404(request, slug)
    if not membership.may_watch:
        raise PermissionDenied
    return membership


def lead_or_404(request: HttpRequest, slug: str) -> Membership:
    membership = membership_or_404(request, slug)
    if not membership.may_lead:
        raise PermissionDenied
    return membership


def seat_or_404(request: HttpRequest, seat_id: UUID) -> Assignment:
    """A seat of the user's own; to everybody else it does not exist."""
    user = current_user(request)
    seat = (
        Assignment.objects.filter(pk=seat_id, membership__user=user)
        .select_related(
            "campaign__pair_set",
            "check_item",
            "membership__rater",
            "membership__crowd_place__study",
        )
        .first()
    )
    if seat is None:
        raise Http404
    # One object each, and not two that may differ.
    seat.membership.campaign = seat.campaign
    seat.membership.user = user
    return seat


def run_or_404(membership: Membership, run_id: int) -> Run:
    run = Run.objects.filter(pk=run_id, pair_set=membership.campaign.pair_set).first()
    if run is None:
        raise Http404
    return run


def release_or_404(membership: Membership, version: str) -> Release:
    release = (
        Release.objects.filter(version=version, pair_set=membership.campaign.pair_set)
        .select_related("pair_set", "aggregation", "job")
        .first()
    )
    if release is None:
        raise Http404
    return release
