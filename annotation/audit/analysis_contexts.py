"""Pages about what every vote of a run says: the analyses there are, and how far the rest is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.audit.pair_words import RunHead, run_head
from annotation.contexts import OptionView
from annotation.domain.plots.scales import domain_of
from annotation.lead_contexts import LONG_WAIT_SECONDS, JobView
from annotation.models import Membership
from annotation.templatetags.figures import criterion_name
from benchmark.models import Analysis, Run
from benchmark.stats.policy import Policy

Text = str | Promise

# A group or rater with fewer pairs than these is marked: its figures move a lot by chance.
SMALL = 30

TITLE = _("Looking at every vote")


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """What stands above the figures of a page, or in their place while there are none.

    ``job`` is one that is under way or has failed; ``may_start`` whether the reader may start it.
    """

    head: RunHead
    job: JobView | None
    may_start: bool
    is_missing: bool

    @property
    def is_busy(self) -> bool:
        return self.job is not None and not self.job.run.is_over


def analyses_of(run: Run, *subjects: str) -> dict[str, Any]:
    """The data of the subjects that there are, by subject; one query."""
    rows = Analysis.objects.filter(run=run, subject__in=subjects)
    return dict(rows.values_list("subject", "data"))


def analysis_view(
    membership: Membership,
    run: Run,
    current: str,
    *,
    found: dict[str, Any],
    wanted: Sequence[str],
    now: datetime,
) -> AnalysisView:
    """``current`` is the page's name in the audit; ``found`` what `analyses_of` gave of
    ``wanted``."""
    is_missing = any(subject not in found for subject in wanted)
    analysis = Run.objects.filter(of=run).for_list().first() if is_missing else None
    job = None
    if analysis is not None and analysis.state != Run.State.DONE:
        is_queued = analysis.state == Run.State.QUEUED
        waited = (now - analysis.created_at).total_seconds()
        job = JobView(
            run=analysis, title=TITLE, waits_long=is_queued and waited > LONG_WAIT_SECONDS
        )
    return AnalysisView(
        head=run_head(membership, run, current),
        job=job,
        may_start=is_missing
        and membership.may_lead
        and (analysis is None or analysis.state == Run.State.FAILED),
        is_missing=is_missing,
    )


def chosen_criterion(run: Run, query: QueryDict, criteria: Sequence[str]) -> str:
    """The one that is asked for, else the one that the policy's tiers rest on, else the first."""
    asked = query.get("criterion", "")
    if asked in criteria:
        return asked
    tier_criterion = Policy.from_json(run.policy).criterion
    return tier_criterion if tier_criterion in criteria else next(iter(criteria), "")


def criterion_options(criteria: Sequence[str], chosen: str) -> list[OptionView]:
    return [OptionView(key, criterion_name(key), key == chosen) for key in criteria]


def plain_share(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """A value without its interval, where there is no room for it; a missing one with its
    reason."""
    if value is None:
        return None
    return {name: value[name] for name in ("value", "reason") if name in value}


def share_domain(values: Iterable[dict[str, Any]], *, holding: float | None) -> tuple[float, float]:
    """From the lowest to the highest end of the intervals, as far as shares can go.

    Intervals are published as they come out, and those of few pairs leave the range of shares.
    """
    ends = [end for value in values for end in (value["value"], *(value.get("ci") or ()))]
    low, high = domain_of(ends, holding=[holding])
    return max(low, 0.0), min(high, 1.0)
