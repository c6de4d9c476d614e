"""What analyses are made from, read once."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from benchmark.models import Run
from benchmark.selectors.pair_traits import PairTraits, pair_traits
from benchmark.selectors.run_votes import RunVotes, run_counts, run_votes
from benchmark.stats.codes import Ints
from benchmark.stats.policy import Policy
from benchmark.stats.verdicts import Tally, Verdicts, decide


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """An aggregation's N pairs, their counts (N, 4) a criterion, verdicts, traits and votes.

    ``verdicts`` are those of the votes: adjudications are left aside, since the figures are about
    the raters.
    """

    run: Run
    policy: Policy
    counts: dict[str, Ints]
    verdicts: Verdicts
    traits: PairTraits
    votes: RunVotes


def material(run: Run) -> Material:
    policy = Policy.from_json(run.policy)
    # One state of the pairs' texts and the exclusions' list; neither changes for a run anyway.
    with transaction.atomic():
        votes = run_votes(run)
        counts = run_counts(run, votes.pairs)
        traits = pair_traits(run, votes.pairs)
    return Material(
        run=run,
        policy=policy,
        counts=counts,
        verdicts=decide(policy, {key: Tally(*table.T) for key, table in counts.items()}),
        traits=traits,
        votes=votes,
    )
