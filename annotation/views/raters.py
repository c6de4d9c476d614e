"""Raters, exclusions, breakdowns and biases."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.audit.bias_contexts import biases_view
from annotation.audit.breakdown_contexts import breakdowns_view
from annotation.audit.exclusion_contexts import exclusion_view, newest_run, pair_of, rater_of
from annotation.audit.rater_contexts import rater_or_404, rater_view
from annotation.audit.raters_contexts import raters_view
from annotation.forms import ExclusionForm
from annotation.htmx import HtmxHttpRequest, page
from annotation.models import Membership
from annotation.services import exclusions
from annotation.services.standing import CannotChange
from benchmark.models import Exclusion, Pair, Rater, Run


def _finished(request: HtmxHttpRequest, slug: str, run_id: int) -> tuple[Membership, Run]:
    """A finished aggregation, for those who may see figures."""
    membership = access.watcher_or_404(request, slug)
    run = access.run_or_404(membership, run_id)
    if run.kind != Run.Kind.AGGREGATION or run.state != Run.State.DONE:
        raise Http404
    # One object, whose criteria are looked up once.
    run.pair_set = membership.campaign.pair_set
    return membership, run


@require_GET
def raters(request: HtmxHttpRequest, slug: str, run_id: int) -> HttpResponse:
    """How the raters compare, and who stands out."""
    membership, run = _finished(request, slug, run_id)
    view = raters_view(membership, run, request.GET, now=timezone.now())
    return page(request, "raters/raters.html", "live", {"view": view})


@require_GET
def rater(request: HtmxHttpRequest, slug: str, run_id: int, rater_id: int) -> HttpResponse:
    """One rater's figures and judgements."""
    membership, run = _finished(request, slug, run_id)
    found = rater_or_404(run, rater_id)
    view = rater_view(membership, run, found, request.GET, now=timezone.now())
    return page(request, "raters/rater.html", "live", {"view": view})


@require_GET
def breakdowns(request: HtmxHttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Agreement and tiers by groups of pairs."""
    membership, run = _finished(request, slug, run_id)
    view = breakdowns_view(membership, run, request.GET, now=timezone.now())
    return page(request, "raters/breakdowns.html", "live", {"view": view})


@require_GET
def biases(request: HtmxHttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Whether a side, length or a source wins."""
    membership, run = _finished(request, slug, run_id)
    view = biases_view(membership, run, request.GET, now=timezone.now())
    return page(request, "raters/biases.html", "live", {"view": view})


@require_http_methods(["GET", "POST"])
def exclude_rater(request: HtmxHttpRequest, slug: str, rater_id: int) -> HttpResponse:
    """What excluding the rater would change; a post does it."""
    membership = access.lead_or_404(request, slug)
    return _exclusion(request, membership, rater_of(membership.campaign, rater_id))


@require_http_methods(["GET", "POST"])
def exclude_judgement(
    request: HtmxHttpRequest, slug: str, rater_id: int, pair_id: int
) -> HttpResponse:
    """What leaving out one judgement would change; a post does it."""
    membership = access.lead_or_404(request, slug)
    campaign = membership.campaign
    return _exclusion(request, membership, rater_of(campaign, rater_id), pair_of(campaign, pair_id))


def _exclusion(
    request: HtmxHttpRequest, membership: Membership, rater: Rater, pair: Pair | None = None
) -> HttpResponse:
    form = ExclusionForm(request.POST if request.method == "POST" else None)
    error, status = "", 200
    if form.is_bound and not form.is_valid():
        status = 422
    elif form.is_bound:
        asked: dict[str, Any] = {
            "campaign": membership.campaign,
            "rater": rater,
            "actor": membership.user,
            "reason": form.cleaned_data["reason"],
        }
        try:
            if pair is None:
                exclusions.exclude_rater(**asked, now=timezone.now())
            else:
                exclusions.exclude_judgement(**asked, pair=pair)
            return _done(membership, rater, pair, "excluded")
        except exclusions.AlreadyExcluded:
            error = "already"
        except exclusions.NothingToExclude:
            error = "not_judged"
        except CannotChange as problem:
            error = problem.code
        status = 409
    view = exclusion_view(
        membership.campaign, rater, pair, notice=request.GET.get("notice", ""), error=error
    )
    context = {"view": view, "form": form}
    return page(request, "raters/exclusion.html", "live", context, status=status)


def _done(membership: Membership, rater: Rater, pair: Pair | None, notice: str) -> HttpResponse:
    slug = membership.campaign.slug
    address = (
        reverse("exclude_rater", args=[slug, rater.pk])
        if pair is None
        else reverse("exclude_judgement", args=[slug, rater.pk, pair.pk])
    )
    # A browser would keep the fragment that the form was sent to, and the notice is at the top.
    return redirect(f"{address}?notice={notice}#main")


@require_http_methods(["GET", "POST"])
def lift_exclusion(request: HtmxHttpRequest, slug: str, exclusion_id: int) -> HttpResponse:
    """Votes count again; a GET leads back to the raters."""
    membership = access.lead_or_404(request, slug)
    campaign = membership.campaign
    if request.method == "GET":
        run = newest_run(campaign)
        return redirect("run_raters", slug, run.pk) if run else redirect("people", slug=slug)
    found = Exclusion.objects.filter(rater__pair_set=campaign.pair_set).select_related(
        "rater", "pair"
    )
    exclusion = get_object_or_404(found, pk=exclusion_id)
    changed = exclusions.lift_exclusion(
        campaign=campaign, exclusion=exclusion, actor=membership.user, now=timezone.now()
    )
    return _done(membership, exclusion.rater, exclusion.pair, "lifted" if changed else "nothing")
