"""What the pages of leads and researchers are given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.contexts import OptionView
from annotation.domain import lifecycle
from annotation.models import Campaign, Membership
from annotation.selectors.campaigns import MemberRow, open_leases, rater_rows
from annotation.selectors.people import attention_count
from benchmark.models import PairSet, Release, Run
from benchmark.selectors.coverage import Coverage, coverage
from benchmark.services.policies import policies_of

Text = str | Promise


@dataclass(frozen=True, slots=True)
class JobView:
    """A background job: its state in words, how far it is, what went wrong."""

    run: Run
    title: Text
    waits_long: bool  # queued for longer than a living worker would let it be


@dataclass(frozen=True, slots=True)
class CampaignView:
    campaign: Campaign
    membership: Membership
    is_simulated: bool
    coverage: Coverage
    open_leases: int
    raters: list[MemberRow]
    moves: list[tuple[str, Text]]  # states it may move to, with the button's verb
    jobs: list[JobView]  # unfinished ones, and the newest that failed
    aggregations: list[Run]  # newest first, finished ones
    policies: list[OptionView]  # by which to aggregate, as name@version
    releases: list[Release]  # newest first
    attention: int  # what waits for a lead to decide: flags, raters paused by checks
    version: str  # what the form of a new release holds
    suggested_version: str
    error: Text

    @property
    def is_busy(self) -> bool:
        return any(not job.run.is_over for job in self.jobs)

    @property
    def last_aggregation(self) -> Run | None:
        return self.aggregations[0] if self.aggregations else None


MOVE_VERBS: dict[str, Text] = {
    lifecycle.OPEN: pgettext_lazy("campaign", "Open"),
    lifecycle.PAUSED: pgettext_lazy("campaign", "Pause"),
    lifecycle.CLOSED: pgettext_lazy("campaign", "Close"),
}

ERRORS: dict[str, Text] = {
    "cannot_move": _("The campaign's state has changed meanwhile: look at it again."),
    "bad_version": _("A version has letters, digits, dots, plus and minus, as in 1.0.0."),
    "version_taken": _("This version exists already: releases never change. Choose another."),
    "no_aggregation": _("There are no verdicts yet: aggregate the votes first."),
    "no_policy": _("There is no such policy in this campaign. Choose one from the list."),
}

JOB_TITLES: dict[str, Text] = {
    Run.Kind.AGGREGATION: _("Counting votes and deciding"),
    Run.Kind.ANALYSIS: _("Looking at every vote: raters, groups, biases"),
    Run.Kind.RELEASE: _("Writing the release"),
}

# A worker that lives takes a job within a second or so.
LONG_WAIT_SECONDS = 10


def campaign_view(
    membership: Membership, *, now: datetime, version: str = "", error: str = ""
) -> CampaignView:
    campaign = membership.campaign
    raters = rater_rows(campaign)
    # A finished analysis is shown with its aggregation only.
    runs = list(
        Run.objects.filter(pair_set=campaign.pair_set)
        .exclude(kind=Run.Kind.ANALYSIS, state=Run.State.DONE)
        .for_list()
        .newest_first()[:30]
    )
    aggregations = [
        run for run in runs if run.kind == Run.Kind.AGGREGATION and run.state == Run.State.DONE
    ]
    releases = list(
        Release.objects.filter(pair_set=campaign.pair_set)
        .exclude(digest="")
        .select_related("aggregation")
        .order_by("-id")
    )
    shown = [run for run in runs if not run.is_over]
    if runs and runs[0].state == Run.State.FAILED:
        shown.append(runs[0])
    return CampaignView(
        campaign=campaign,
        membership=membership,
        is_simulated=any(row.role == "simulated" for row in raters),
        coverage=coverage(campaign.pair_set),
        open_leases=open_leases(campaign, now=now),
        raters=raters,
        moves=[
            (state, verb)
            for state, verb in MOVE_VERBS.items()
            if state in lifecycle.MOVES[campaign.state]
        ],
        jobs=[job_view(run, now=now) for run in shown],
        aggregations=aggregations,
        policies=_policies(campaign.pair_set, aggregations),
        releases=releases,
        attention=attention_count(campaign) if membership.may_lead else 0,
        version=version,
        suggested_version=f"1.{len(releases)}.0",
        error=ERRORS.get(error, ""),
    )


def job_view(run: Run, *, now: datetime) -> JobView:
    return JobView(
        run=run,
        title=JOB_TITLES[run.kind],
        waits_long=run.state == Run.State.QUEUED
        and (now - run.created_at).total_seconds() > LONG_WAIT_SECONDS,
    )


def _policies(pair_set: PairSet, aggregations: list[Run]) -> list[OptionView]:
    """Those of the set; the one that was followed last, if it is still the newest, is chosen."""
    policies = [f"{policy.name}@{policy.version}" for policy in policies_of(pair_set)]
    chosen = policies[0]
    if aggregations:
        last = aggregations[0].policy
        label = f"{last['name']}@{last['version']}"
        chosen = label if label in policies else chosen
    return [OptionView(label, label, label == chosen) for label in policies]
