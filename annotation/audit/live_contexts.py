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
from benchmark.selectors.tallies import live_patterns
from benchmark.services.policies import policies_of
from benchmark.stats.overview import verdict_counts, vote_splits
from benchmark.stats.patterns import Patterns
from benchmark.stats.policy import Policy
from benchmark.stats.report import criterion_report
from benchmark.stats.verdicts import decide

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
    categories = pair_set.categories
    verdicts = decide(policy, patterns.tallies(), adjudged=patterns.adjudged)
    reports = {}
    for key, counts in patterns.counts.items():
        reports[key] = criterion_report(
            counts[:, : len(categories)],
            categories=categories,
            multiplicity=patterns.pairs,
            seed=key,
            replicates=LIVE_REPLICATES,
            engine="own",
        )
        del reports[key]["conger"]
    exclusions = Exclusion.objects.in_force().filter(rater__pair_set=pair_set)
    marks = list(exclusions.values_list("rater_id", "pair_id"))
    raters = {rater for rater, pair in marks if pair is None}
    return {
        "pairs": patterns.total,
        "judgements": max(
            (int(patterns.pairs @ counts.sum(axis=1)) for counts in patterns.counts.values()),
            default=0,
        ),
        **verdict_counts(patterns, verdicts),
        "splits": {
            key: vote_splits(counts, pairs=patterns.pairs)
            for key, counts in patterns.counts.items()
        },
        "agreement": reports,
        "left_out": {
            "raters": len(raters),
            "judgements": sum(pair is not None and rater not in raters for rater, pair in marks),
        },
    }
