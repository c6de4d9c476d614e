"""What would change if votes were left out, or counted again: worked out before it is done.

All pairs are known by their patterns (one grouped query); only the pairs that the votes are on are
looked at one by one, and decided twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.db import connection

from benchmark.models import Exclusion, Pair, PairSet, Rater
from benchmark.selectors.arrays import whole_columns
from benchmark.selectors.tallies import MOVES, live_patterns
from benchmark.stats import codes
from benchmark.stats.agreement import agreement
from benchmark.stats.codes import Bools, Ints
from benchmark.stats.overview import verdict_counts
from benchmark.stats.patterns import COLUMNS, Patterns, patterns_of
from benchmark.stats.policy import Policy
from benchmark.stats.values import Value
from benchmark.stats.verdicts import Tally, Verdicts, decide

# Pairs that are named one by one.
EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a pair comes to. ``state`` is its tier, "none" for decided without one, or its status;
    ``chosen`` is A, B or empty."""

    state: str
    chosen: str
    is_provisional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPair:
    id: int
    pair_id: str
    before: Outcome
    after: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A set of pairs as a policy decides them; ``agreement`` has percent agreement and Fleiss'
    kappa by criterion."""

    statuses: Mapping[str, int]
    tiers: Mapping[str, int]
    provisional: int
    agreement: Mapping[str, tuple[Value, Value]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Of ``judgements`` on as many pairs, with ``votes`` by criterion, skips aside.

    ``changed`` pairs differ in status, chosen response or tier; ``moves`` counts all pairs touched
    by state before and after. ``below_minimum`` pairs come to too few votes, and ``provisional``
    ones to a provisional tier, that had not been so. ``examples`` are the first changed pairs by
    pair id.
    """

    policy: Policy
    is_lifting: bool
    judgements: int
    votes: Mapping[str, int]
    changed: int
    new_status: int
    new_chosen: int
    new_tier: int
    below_minimum: int
    provisional: int
    moves: Mapping[tuple[str, str], int]
    before: Figures
    after: Figures
    examples: list[ChangedPair]


def exclusion_effect(
    *,
    rater: Rater,
    pair: Pair | None = None,
    policy: Policy,
    lifted: Exclusion | None = None,
) -> Effect:
    """The effect of leaving out the rater's votes, all of them or those on ``pair``, as it is now.

    With ``lifted``, an exclusion of these votes that is in force: the effect of having them back.
    What another exclusion leaves out stays out either way. A fixed number of queries.
    """
    pair_set = rater.pair_set
    patterns = live_patterns(pair_set)
    touched = _touched(rater, pair, lifted)
    pairs = touched[:, 0]
    before, adjudged = _counted(pair_set, pairs)
    sign = -1 if lifted is None else 1
    after = {}
    for place, (key, counts) in enumerate(before.items()):
        given = np.zeros_like(counts)
        given[np.arange(len(pairs)), touched[:, 1 + place] - 1] = 1
        # A vote that came since the tallies were read is no count below zero.
        after[key] = np.maximum(counts + sign * given, 0)
    was = decide(policy, _tallies(before), adjudged=adjudged)
    becomes = decide(policy, _tallies(after), adjudged=adjudged)
    new_status = was.status != becomes.status
    new_chosen = was.chosen != becomes.chosen
    new_tier = was.tier != becomes.tier
    changed = new_status | new_chosen | new_tier
    categories = pair_set.categories
    return Effect(
        policy=policy,
        is_lifting=lifted is not None,
        judgements=len(pairs),
        votes={
            key: int((touched[:, 1 + place] < COLUMNS).sum()) for place, key in enumerate(before)
        },
        changed=int(changed.sum()),
        new_status=int(new_status.sum()),
        new_chosen=int(new_chosen.sum()),
        new_tier=int(new_tier.sum()),
        below_minimum=int((new_status & (becomes.status == codes.INSUFFICIENT)).sum()),
        provisional=int((becomes.provisional & ~was.provisional).sum()),
        moves=Counter(zip(_states(was), _states(becomes), strict=True)),
        before=_figures(patterns, policy=policy, categories=categories),
        after=_figures(
            _moved(patterns, before, after, adjudged), policy=policy, categories=categories
        ),
        examples=_examples(pairs, changed, was, becomes),
    )


def _touched(rater: Rater, pair: Pair | None, lifted: Exclusion | None) -> Ints:
    """Rows of pair id and, for each criterion, the vote: 1 A, 2 B, 3 tie, 4 skip."""
    criteria = rater.pair_set.criteria_in_order
    choices = ", ".join(
        "coalesce(max(array_position(ARRAY['A', 'B', 'tie', 'skip'], vote.choice::text))"
        f" FILTER (WHERE vote.criterion_id = {criterion.pk}), {COLUMNS})::bigint"
        for criterion in criteria
    )
    return whole_columns(
        f"""
        SELECT judgement.pair_id, {choices}
        FROM benchmark_judgement judgement
        JOIN benchmark_vote vote ON vote.judgement_id = judgement.id
        WHERE judgement.rater_id = %(rater)s AND judgement.superseded_by_id IS NULL
          AND (%(pair)s::bigint IS NULL OR judgement.pair_id = %(pair)s)
          AND NOT EXISTS (
            SELECT FROM benchmark_exclusion exclusion
            WHERE exclusion.rater_id = judgement.rater_id AND exclusion.lifted_at IS NULL
              AND (exclusion.pair_id IS NULL OR exclusion.pair_id = judgement.pair_id)
              AND exclusion.id <> %(lifted)s)
        GROUP BY judgement.id ORDER BY judgement.pair_id
        """,
        {
            "rater": rater.pk,
            "pair": pair.pk if pair else None,
            "lifted": lifted.pk if lifted else 0,
        },
        columns=1 + len(criteria),
    )


def _counted(pair_set: PairSet, pairs: Ints) -> tuple[dict[str, Ints], Ints]:
    """Counted votes (N, 4) of these pairs by criterion, and what was adjudicated, as codes (N,)."""
    found = whole_columns(
        "SELECT criterion_id, pair_id, sum(a)::bigint, sum(b)::bigint, sum(tie)::bigint,"
        f" sum(skip)::bigint FROM ({MOVES}) moves WHERE pair_id = ANY(%(pairs)s::bigint[])"
        " GROUP BY 1, 2",
        {"set": pair_set.pk, "pairs": pairs.tolist()},
        columns=6,
    )
    counts = {}
    for criterion in pair_set.criteria_in_order:
        rows = found[found[:, 0] == criterion.pk]
        counts[criterion.key] = np.zeros((len(pairs), COLUMNS), dtype=np.int64)
        counts[criterion.key][np.searchsorted(pairs, rows[:, 1])] = rows[:, 2:]
    said = whole_columns(
        "SELECT pair_id, array_position(ARRAY['A', 'B', 'withdrawn'], decision::text)::bigint"
        " FROM benchmark_adjudication"
        " WHERE revoked_at IS NULL AND pair_id = ANY(%s::bigint[])",
        [pairs.tolist()],
        columns=2,
    )
    adjudged = np.zeros(len(pairs), dtype=np.int64)
    adjudged[np.searchsorted(pairs, said[:, 0])] = said[:, 1]
    return counts, adjudged


def _moved(
    patterns: Patterns,
    before: Mapping[str, Ints],
    after: Mapping[str, Ints],
    adjudged: Ints,
) -> Patterns:
    """The patterns when pairs have other counts than before."""
    parts = [(patterns, 1)]
    for counts, sign in ((before, -1), (after, 1)):
        found, _rows = patterns_of(counts, adjudged=adjudged)
        parts.append((found, sign))
    table = np.concatenate(
        [
            np.column_stack([*part.counts.values(), part.adjudged, sign * part.pairs])
            for part, sign in parts
        ]
    )
    rows, places = np.unique(table[:, :-1], axis=0, return_inverse=True)
    pairs = np.zeros(len(rows), dtype=np.int64)
    np.add.at(pairs, places.reshape(-1), table[:, -1])
    # Fewer than none are left where a vote came between the queries.
    kept = pairs > 0
    return Patterns.of_table(list(patterns.counts), np.column_stack([rows[kept], pairs[kept]]))


def _figures(patterns: Patterns, *, policy: Policy, categories: tuple[str, ...]) -> Figures:
    counts = verdict_counts(
        patterns, decide(policy, patterns.tallies(), adjudged=patterns.adjudged)
    )
    statuses, tiers, provisional = counts["statuses"], counts["tiers"], counts["provisional"]
    assert isinstance(statuses, dict)
    assert isinstance(tiers, dict)
    assert isinstance(provisional, int)
    found = {}
    for key, table in patterns.counts.items():
        # The pages' engine: the same to rounding, without the import of statsmodels.
        report = agreement(
            table[:, : len(categories)],
            categories=categories,
            multiplicity=patterns.pairs,
            engine="own",
        )
        found[key] = (report.percent_agreement, report.fleiss)
    return Figures(statuses=statuses, tiers=tiers, provisional=provisional, agreement=found)


def _tallies(counts: Mapping[str, Ints]) -> dict[str, Tally]:
    return {key: Tally(*table.T) for key, table in counts.items()}


def _states(verdicts: Verdicts) -> list[str]:
    return [
        codes.TIERS[tier] or "none" if status == codes.DECIDED else codes.STATUSES[status]
        for status, tier in zip(verdicts.status.tolist(), verdicts.tier.tolist(), strict=True)
    ]


def _examples(pairs: Ints, changed: Bools, was: Verdicts, becomes: Verdicts) -> list[ChangedPair]:
    place = {pair: row for row, pair in enumerate(pairs.tolist()) if changed[row]}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, pair_id FROM benchmark_pair WHERE id = ANY(%s)"
            " ORDER BY pair_id, id LIMIT %s",
            [list(place), EXAMPLES],
        )
        names = cursor.fetchall()
    states = _states(was), _states(becomes)

    def outcome(verdicts: Verdicts, words: list[str], row: int) -> Outcome:
        return Outcome(
            state=words[row],
            chosen=codes.WINNERS[verdicts.chosen[row]] or "",
            is_provisional=bool(verdicts.provisional[row]),
        )

    return [
        ChangedPair(
            id=pk,
            pair_id=pair_id,
            before=outcome(was, states[0], place[pk]),
            after=outcome(becomes, states[1], place[pk]),
        )
        for pk, pair_id in names
    ]
