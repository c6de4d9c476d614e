"""A rater's own pages: what they have done, and each of their answers."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation import access
from annotation.htmx import HtmxHttpRequest
from annotation.own_contexts import history_view, own_view


@require_GET
@never_cache
def own(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """My page."""
    membership = access.annotator_or_404(request, slug)
    view = own_view(membership, now=timezone.now())
    return render(request, "own/own.html", {"view": view})


@require_GET
@never_cache
def history(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """My answers, the newest first."""
    membership = access.annotator_or_404(request, slug)
    view = history_view(
        membership,
        membership.campaign.pair_set.criteria_in_order,
        show=request.GET.get("show", ""),
        before=request.GET.get("before", ""),
    )
    return render(request, "own/history.html", {"view": view})
