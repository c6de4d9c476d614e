"""Overview, tiers, policies, quality and downloads of runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.audit.live_contexts import live_overview
from annotation.audit.policy_contexts import Text, policies_view, start_policy
from annotation.audit.policy_forms import PolicyForm, RulesForm
from annotation.audit.policy_words import asked_for
from annotation.audit.quality_contexts import quality_view
from annotation.audit.run_contexts import job_run_view, run_overview
from annotation.audit.run_tables import TABLES
from annotation.audit.table_files import CONTENT_TYPES, table_response
from annotation.audit.tier_contexts import tiers_view
from annotation.htmx import HtmxHttpRequest, page
from annotation.models import Membership
from annotation.services.analyses import start_analysis
from annotation.services.policies import save_policy
from benchmark.models import Run
from benchmark.stats.policy import POLICIES, Policy

# Two forms on one page have fields of the same names.
SAVE_ID = "save_%s"


@require_GET
def audit(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """The votes as they are now, by a policy of choice: counted anew each time, no permalink."""
    membership = access.watcher_or_404(request, slug)
    pair_set = membership.campaign.pair_set
    policy, error = start_policy(pair_set, asked_for(request.GET.get("policy", "")))
    view = live_overview(membership, policy, now=timezone.now(), error=error)
    status = 422 if error else 200
    return page(request, "audit/overview.html", "live", {"view": view}, status=status)


@require_GET
def run(request: HtmxHttpRequest, slug: str, run_id: int) -> HttpResponse:
    """An aggregation in numbers; of anything else that runs, how it went."""
    membership = access.watcher_or_404(request, slug)
    row = access.run_or_404(membership, run_id)
    now = timezone.now()
    if not _is_counted(row):
        view = job_run_view(membership, row, now=now)
        return page(request, "campaigns/run.html", "live", {"view": view})
    overview = run_overview(membership, row, now=now)
    return page(request, "audit/overview.html", "live", {"view": overview})


def _is_counted(run: Run) -> bool:
    """Whether there are verdicts to look at."""
    return run.kind == Run.Kind.AGGREGATION and run.state == Run.State.DONE


def _of_counted_runs(
    view: Callable[[HtmxHttpRequest, Membership, Run], HttpResponse],
) -> Callable[[HtmxHttpRequest, str, int], HttpResponse]:
    """A page about a finished aggregation; of other runs there is only how they went."""

    @require_GET
    @wraps(view)
    def inner(request: HtmxHttpRequest, slug: str, run_id: int) -> HttpResponse:
        membership = access.watcher_or_404(request, slug)
        row = access.run_or_404(membership, run_id)
        if not _is_counted(row):
            return redirect("run", slug=slug, run_id=run_id)
        return view(request, membership, row)

    return inner


@_of_counted_runs
def tiers(request: HtmxHttpRequest, membership: Membership, run: Run) -> HttpResponse:
    """How sure the tiers are."""
    return render(request, "audit/tiers.html", {"view": tiers_view(membership, run)})


@_of_counted_runs
def quality(request: HtmxHttpRequest, membership: Membership, run: Run) -> HttpResponse:
    """What is wrong with the pairs themselves."""
    view = quality_view(membership, run, now=timezone.now())
    return page(request, "audit/quality.html", "live", {"view": view})


@require_GET
def table(request: HtmxHttpRequest, slug: str, run_id: int, name: str, format: str) -> HttpResponse:
    """A table of a run as a file."""
    membership = access.watcher_or_404(request, slug)
    row = access.run_or_404(membership, run_id)
    if not _is_counted(row) or name not in TABLES or format not in CONTENT_TYPES:
        raise Http404
    found = TABLES[name](membership, row, request.GET)
    return table_response(found, format=format, filename=f"{slug}-run{row.pk}-{name}")


@require_http_methods(["GET", "POST"])
def analyse(request: HtmxHttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Have every vote of a finished aggregation looked at; the run's page shows how far it is."""
    membership = access.lead_or_404(request, slug)
    row = access.run_or_404(membership, run_id)
    if request.method == "POST" and _is_counted(row):
        start_analysis(campaign=membership.campaign, run=row, actor=membership.user)
    return redirect("run", slug=slug, run_id=run_id)


@require_http_methods(["GET", "POST"])
def policies(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """The policies there are; rules to try out with a GET, and to keep with a POST."""
    membership = access.lead_or_404(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    start, error = start_policy(membership.campaign.pair_set, asked_for(given.get("from", "")))
    if request.method == "POST":
        save_form = PolicyForm(given, auto_id=SAVE_ID)
        if save_form.is_valid():
            return _saved(membership, save_form)
        form = RulesForm(given)
        return _policies_page(request, membership, form, start=start, save_form=save_form)
    if "preview" in given:
        return _policies_page(request, membership, RulesForm(given), start=start)
    form = RulesForm(initial=RulesForm.initial_of(start))
    return _policies_page(request, membership, form, start=start, error=error)


def _saved(membership: Membership, form: PolicyForm) -> HttpResponse:
    saved, is_new = save_policy(
        campaign=membership.campaign,
        actor=membership.user,
        name=form.cleaned_data["name"],
        note=form.cleaned_data["note"],
        **form.rules(),
    )
    query = urlencode({"notice": "saved" if is_new else "unchanged", "from": str(saved)})
    return redirect(f"{reverse('policies', args=[membership.campaign.slug])}?{query}#main")


def _policies_page(
    request: HtmxHttpRequest,
    membership: Membership,
    form: RulesForm,
    *,
    start: Policy,
    save_form: PolicyForm | None = None,
    error: Text = "",
) -> HttpResponse:
    """``form`` may be unbound; what it does is shown where its rules can be followed."""
    previewed = form.policy() if form.is_bound else None
    if previewed and save_form is None:
        name = "" if start.name in POLICIES else start.name
        initial = {**request.GET.dict(), "name": name, "note": ""}
        save_form = PolicyForm(initial=initial, auto_id=SAVE_ID)
    view = policies_view(
        membership,
        start=start,
        previewed=previewed,
        notice="" if error else request.GET.get("notice", ""),
        error=error,
    )
    is_wrong = error or form.errors or (save_form is not None and save_form.errors)
    context = {"view": view, "form": form, "save_form": save_form if previewed else None}
    return render(request, "audit/policies.html", context, status=422 if is_wrong else 200)
