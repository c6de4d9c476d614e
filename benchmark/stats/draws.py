"""What verdicts would come of random votes: of fewer raters, drawn from all, or of coins?

Votes are drawn anew for each pattern of counts, and the policy is applied to every outcome with its
probability: exact expectations, without seed or replicates. Tallies do not say which rater gave
which votes, so the two criteria of a pair are drawn independently; where raters who differ on one
criterion differ on the other too, verdicts that need both are kept somewhat more often than said.
Adjudications do not count, since they answered the votes that there were; a withdrawn pair is in
nothing here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import (
    DECIDED,
    STATUSES,
    TIERS,
    WINNERS,
    WITHDRAW,
    Codes,
    Floats,
    Ints,
)
from benchmark.stats.patterns import COLUMNS, Patterns
from benchmark.stats.policy import Policy
from benchmark.stats.values import Reason, Value
from benchmark.stats.verdicts import Tally, Verdicts, decide

PANELS: Final = (3, 5, 7, 9)
NO_TIER: Final = "none"


def tier_mix(tier: Codes, weight: npt.NDArray[np.int64 | np.float64]) -> dict[str, float]:
    """The weight of each tier, and of no tier."""
    sums = np.bincount(tier.ravel(), weights=weight.ravel(), minlength=len(TIERS))
    return {name or NO_TIER: total for name, total in zip(TIERS, sums.tolist(), strict=True)}


def fewer_raters(
    policy: Policy, patterns: Patterns, *, panels: Sequence[int] = PANELS
) -> list[dict[str, object]]:
    """For each size of panel: the expected verdicts, and which of those of all raters are kept.

    A pair with fewer answers than the panel keeps all of them; panels larger than the answers on
    any pair are left out. The policy's minimum is lowered to the panel where it is above, since no
    majority would be left to compare. Raises ValueError.
    """
    everyone, tables, weight = _voted(policy, patterns)
    most = max((int(table.sum(axis=1).max(initial=0)) for table in tables), default=0)
    return [
        _panel(policy, tables, weight, everyone=everyone, size=size)
        for size in panels
        if 1 <= size <= most
    ]


def coin_flips(policy: Policy, patterns: Patterns) -> dict[str, object]:
    """Expected verdicts if each vote for A or B had been a fair coin; ties and skips stay.

    Raises ValueError.
    """
    _, tables, weight = _voted(policy, patterns)
    redrawn = _Redrawn.of(policy, [_coins(table) for table in tables])
    return redrawn.mix(weight)


def _voted(policy: Policy, patterns: Patterns) -> tuple[Verdicts, list[Ints], Ints]:
    """Verdicts by the votes alone, the deciding criteria's votes, and the pairs not withdrawn."""
    verdicts = decide(policy, patterns.tallies())
    weight = np.where(patterns.adjudged == WITHDRAW, 0, patterns.pairs)
    return verdicts, [patterns.counts[name] for name in policy.criteria], weight


def _panel(
    policy: Policy, tables: list[Ints], weight: Ints, *, everyone: Verdicts, size: int
) -> dict[str, object]:
    lowered = replace(policy, minimum=min(policy.minimum, size))
    redrawn = _Redrawn.of(lowered, [_draw(table, size=size) for table in tables])
    kept_majority = sum(
        float(
            redrawn.weights(np.where(everyone.chosen == code, weight, 0))[
                redrawn.verdicts.chosen == code
            ].sum()
        )
        for code, name in enumerate(WINNERS)
        if name is not None
    )
    moves, kept_tier = {}, 0.0
    for code, name in enumerate(TIERS):
        if name is not None:
            moves[name] = redrawn.tiers(np.where(everyone.tier == code, weight, 0))
            kept_tier += moves[name][name]
    return {
        "raters": size,
        **redrawn.mix(weight),
        "majority_kept": _share(
            kept_majority, int(weight[everyone.status == DECIDED].sum()), Reason.INSUFFICIENT
        ).as_json(),
        "tier_kept": _share(
            kept_tier, int(weight[everyone.tier > 0].sum()), Reason.NOT_ENOUGH_VOTES
        ).as_json(),
        "moves": moves,
    }


def _share(kept: float, pairs: int, reason: Reason) -> Value:
    if not pairs:
        return Value.undefined(reason)
    return Value(value=min(kept / pairs, 1.0), se_reason=Reason.NO_SE_FOR_VARIANT)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Outcomes:
    """Random votes on one criterion: what may come (S, 4), and of which of U distinct rows.

    ``chance`` (U, S); ``row`` (P,) says which of the U rows a pattern has.
    """

    votes: Ints
    chance: Floats
    row: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Redrawn:
    """Verdicts of all S1 x S2 outcomes on the deciding criteria, in that order, row by row."""

    verdicts: Verdicts
    first: _Outcomes
    second: _Outcomes | None

    @classmethod
    def of(cls, policy: Policy, outcomes: Sequence[_Outcomes]) -> "_Redrawn":
        first = outcomes[0]
        second = outcomes[1] if len(outcomes) > 1 else None
        others = 1 if second is None else len(second.votes)
        tables = [np.repeat(first.votes, others, axis=0)]
        if second is not None:
            tables.append(np.tile(second.votes, (len(first.votes), 1)))
        tallies = (Tally(*table.T) for table in tables)
        verdicts = decide(policy, dict(zip(policy.criteria, tallies, strict=True)))
        return cls(verdicts=verdicts, first=first, second=second)

    def weights(self, weight: Ints) -> Floats:
        """Expected pairs with each outcome, shape (S1 S2,), from the pairs of each pattern (P,)."""
        rows = len(self.first.chance)
        if self.second is None:
            sums = np.bincount(self.first.row, weights=weight, minlength=rows)
            return sums @ self.first.chance
        columns = len(self.second.chance)
        cells = self.first.row * columns + self.second.row
        joint = np.bincount(cells, weights=weight, minlength=rows * columns)
        spread = self.first.chance.T @ joint.reshape(rows, columns) @ self.second.chance
        return spread.ravel()

    def tiers(self, weight: Ints) -> dict[str, float]:
        """Expected pairs in each tier."""
        return tier_mix(self.verdicts.tier, self.weights(weight))

    def mix(self, weight: Ints) -> dict[str, object]:
        """Expected pairs in each tier and of each status, and what they rest on."""
        expected = self.weights(weight)
        sums = np.bincount(self.verdicts.status, weights=expected, minlength=len(STATUSES))
        return {
            "tiers": tier_mix(self.verdicts.tier, expected),
            "statuses": dict(zip(STATUSES, sums.tolist(), strict=True)),
            "assumes": [] if self.second is None else ["independent_criteria"],
        }


def _draw(table: Ints, *, size: int) -> _Outcomes:
    """``size`` of the answers of each pattern, drawn without replacement (hypergeometric)."""
    rows, row = np.unique(table, axis=0, return_inverse=True)
    n = rows.sum(axis=1)
    taken = np.minimum(n, size)
    choose = _binomials(int(n.max(initial=0)))
    votes, chances = [], []
    for m in np.unique(taken).tolist():
        here = taken == m
        limits = np.minimum(rows[here].max(axis=0), m)
        grid = np.indices(tuple(limits + 1)).reshape(rows.shape[1], -1).T
        grid = grid[grid.sum(axis=1) == m]
        chance = np.zeros((len(rows), len(grid)))
        ways = np.prod(
            [choose[rows[here, j][:, None], grid[:, j]] for j in range(rows.shape[1])], axis=0
        )
        chance[here] = ways / choose[n[here], m][:, None]
        possible = chance.any(axis=0)
        votes.append(grid[possible])
        chances.append(chance[:, possible])
    return _outcomes(votes, chances, rows=len(rows), row=row)


def _coins(table: Ints) -> _Outcomes:
    """As many votes for A or B as each pattern has, each of them a fair coin."""
    kept = np.column_stack([table[:, 0] + table[:, 1], table[:, 2:]])
    rows, row = np.unique(kept, axis=0, return_inverse=True)
    votes, chances = [], []
    for i, (n, tie, skip) in enumerate(rows.tolist()):
        chance = np.zeros((len(rows), n + 1))
        chance[i] = [math.comb(n, a) / 2**n for a in range(n + 1)]
        votes.append(np.array([[a, n - a, tie, skip] for a in range(n + 1)], dtype=np.int64))
        chances.append(chance)
    return _outcomes(votes, chances, rows=len(rows), row=row)


def _outcomes(
    votes: list[Ints], chances: list[Floats], *, rows: int, row: npt.NDArray[np.intp]
) -> _Outcomes:
    return _Outcomes(
        votes=np.concatenate([np.zeros((0, COLUMNS), dtype=np.int64), *votes]),
        chance=np.concatenate([np.zeros((rows, 0)), *chances], axis=1),
        row=row.reshape(-1).astype(np.int64),
    )


def _binomials(n: int) -> Floats:
    """C(i, j) for i, j up to n."""
    return np.array(
        [[math.comb(i, j) for j in range(n + 1)] for i in range(n + 1)], dtype=np.float64
    )
