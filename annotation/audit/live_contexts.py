"""What the overview of the votes as they are now is given."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from annotation.audit.nav import nav
from annotation.audit.overview_tables import Figures
from annotation.audit.run_contexts import LiveView, OverviewView, overview_view
from annotation.contexts import OptionView
from annotation.models import Membership
from benchmark.models import Exclusion, PairSet, Run
from benchmark.selectors.tallies import left_out, live_patterns
from benchmark.services.policies import policies_of
from benchmark.stats.overview import overview
from benchmark.stats.patterns import Patterns
from benchmark.stats.policy import Policy

Text = str | Promise

# Enough for two digits, and fast enough for a page that counts anew each time.
LIVE_REPLICATES = 1_000


def live_overview(
    membership: Membership, policy: Policy, *, now: datetime, error: Text = ""
) -> OverviewView:
    """Of the votes as they are now; as many queries whatever the number of pairs and votes."""
    campaign = membership.campaign
    pair_set = campaign.pair_set
    patterns = live_patterns(pair_set)
    found = Figures(
        result=_live_result(pair_set, patterns, policy), patterns=patterns, policy=policy
    )
    done = Run.objects.filter(pair_set=pair_set).aggregations().done()
    newest = done.newest_first().first()
    chosen = f"{policy.name}@{policy.version}"
    return overview_view(
        membership,
        found,
        is_simulated=pair_set.is_simulated,
        live=LiveView(
            at=now,
            policies=_policy_options(pair_set, chosen=policy),
            chosen=chosen,
            newest=newest,
            is_counted=newest is not None and newest.patterns == patterns.as_json(),
            nav=nav(campaign.slug, newest, "") if newest else [],
            error=error,
        ),
    )


def _policy_options(pair_set: PairSet, *, chosen: Policy) -> list[OptionView]:
    """The policies that a lead may pick, by name@version; ``chosen`` is among them."""
    policies = policies_of(pair_set)
    if chosen not in policies:
        policies.append(chosen)
    labels = [f"{policy.name}@{policy.version}" for policy in policies]
    return [
        OptionView(label, label, policy == chosen)
        for label, policy in zip(labels, policies, strict=True)
    ]


def _live_result(pair_set: PairSet, patterns: Patterns, policy: Policy) -> dict[str, Any]:
    """As `benchmark.stats.overview.overview`, without what looks at every vote: Conger's kappa."""
    result: dict[str, Any] = overview(
        patterns,
        policy=policy,
        categories=pair_set.categories,
        replicates=LIVE_REPLICATES,
        engine="own",
    )
    for report in result["agreement"].values():
        del report["conger"]
    exclusions = Exclusion.objects.in_force().filter(rater__pair_set=pair_set)
    return result | {"left_out": left_out(exclusions)}
