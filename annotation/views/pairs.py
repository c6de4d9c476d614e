"""Pairs of a run, decisions on pairs that votes leave open, and comparisons of runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.audit.adjudication_contexts import desk_view, following_address, read_kind
from annotation.audit.adjudication_forms import AdjudicationForm
from annotation.audit.comparison_contexts import comparison_view
from annotation.audit.pair_contexts import pair_view
from annotation.audit.pairs_contexts import pairs_view
from annotation.htmx import HtmxHttpRequest
from annotation.models import Membership
from annotation.services import adjudications
from benchmark.models import Adjudication, Run
from benchmark.selectors.pair_history import pair_of


def _of_run(
    view: Callable[..., HttpResponse],
) -> Callable[..., HttpResponse]:
    """A page of a finished aggregation; of any other run, its own page says how it is."""

    @require_GET
    @wraps(view)
    def inner(
        request: HtmxHttpRequest, slug: str, run_id: int, **arguments: object
    ) -> HttpResponse:
        membership = access.watcher_or_404(request, slug)
        run = access.run_or_404(membership, run_id)
        if run.kind != Run.Kind.AGGREGATION or run.state != Run.State.DONE:
            return redirect("run", slug=slug, run_id=run_id)
        return view(request, membership, run, **arguments)

    return inner


@_of_run
def pairs(request: HtmxHttpRequest, membership: Membership, run: Run) -> HttpResponse:
    """The pairs with their verdicts, to be filtered and searched."""
    view = pairs_view(membership, run, request.GET)
    return render(request, "pairs/pairs.html", {"view": view})


@_of_run
def pair(request: HtmxHttpRequest, membership: Membership, run: Run, pair_id: int) -> HttpResponse:
    """One pair: its texts, every vote, and what became of them."""
    view = pair_view(membership, run, pair_id, request.GET)
    return render(request, "pairs/pair.html", {"view": view})


@_of_run
def compare(request: HtmxHttpRequest, membership: Membership, run: Run) -> HttpResponse:
    """What differs between two runs, and why."""
    view = comparison_view(membership, run, request.GET)
    return render(request, "pairs/compare.html", {"view": view})


@require_GET
def adjudication(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Pairs that wait for a decision; researchers read it."""
    membership = access.watcher_or_404(request, slug)
    context = {"view": desk_view(membership, request.GET), "form": AdjudicationForm()}
    return render(request, "pairs/adjudication.html", context)


def _lead_posts(
    view: Callable[..., HttpResponse],
) -> Callable[..., HttpResponse]:
    """An address that changes something for a lead's post; a GET leads back to the desk."""

    @require_http_methods(["GET", "POST"])
    @wraps(view)
    def inner(request: HtmxHttpRequest, slug: str, **arguments: object) -> HttpResponse:
        membership = access.lead_or_404(request, slug)
        if request.method == "GET":
            return redirect("adjudication", slug=slug)
        return view(request, membership, **arguments)

    return inner


@_lead_posts
def adjudicate(request: HtmxHttpRequest, membership: Membership, pair_id: int) -> HttpResponse:
    """Decide on a pair, then on to the next in the queue."""
    campaign = membership.campaign
    found = pair_of(campaign.pair_set, pair_id)
    if found is None:
        raise Http404
    form = AdjudicationForm(request.POST)
    kind = read_kind(request.POST.get("kind", ""))
    if not form.is_valid():
        query = QueryDict(mutable=True)
        query["kind"] = kind or ""
        context = {"view": desk_view(membership, query, pair=found), "form": form}
        return render(request, "pairs/adjudication.html", context, status=422)
    following = following_address(campaign, pair=found, kind=kind, notice="decided")
    adjudications.adjudicate(
        campaign=campaign,
        pair=found,
        actor=membership.user,
        now=timezone.now(),
        **form.cleaned_data,
    )
    return redirect(f"{following}#main")


@_lead_posts
def revoke_adjudication(
    request: HtmxHttpRequest, membership: Membership, adjudication_id: int
) -> HttpResponse:
    row = get_object_or_404(
        Adjudication, pair__pair_set=membership.campaign.pair_set, pk=adjudication_id
    )
    changed = adjudications.revoke_adjudication(
        campaign=membership.campaign,
        adjudication=row,
        actor=membership.user,
        now=timezone.now(),
    )
    notice = "undone" if changed else "unchanged"
    address = redirect("adjudication", slug=membership.campaign.slug)
    return redirect(f"{address.url}?notice={notice}#main")
