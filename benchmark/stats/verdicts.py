"""Verdicts: a policy applied to tallies, for one pair or for a whole campaign at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import (
    ADJUDGED,
    CONFLICT,
    DECIDED,
    INSUFFICIENT,
    NONE,
    TIED,
    WITHDRAW,
    WITHDRAWN,
    Adjudged,
    Bools,
    Codes,
    Ints,
    Status,
    Tier,
    Winner,
)
from benchmark.stats.counts import whole_numbers
from benchmark.stats.majority import majorities, majority
from benchmark.stats.policy import Policy
from benchmark.stats.tiers import (
    TIER_FINAL,
    TIER_MINIMUM,
    Bands,
    band_codes,
    band_of,
    combine,
    gated,
    k_exact,
    pair_count_arrays,
    pair_counts,
)
from benchmark.stats.values import Reason


class Tally(NamedTuple):
    """Votes of N pairs on one criterion: four arrays of shape (N,)."""

    a: npt.ArrayLike
    b: npt.ArrayLike
    tie: npt.ArrayLike
    skip: npt.ArrayLike


class PairTally(NamedTuple):
    """Votes of one pair on one criterion."""

    a: int
    b: int
    tie: int = 0
    skip: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CriterionVerdicts:
    """One criterion of N pairs, arrays of shape (N,).

    ``n`` votes for A or B, ``margin`` |a - b|, ``winner`` and ``status`` codes; item agreement is
    P = S / M with whole numbers ``s`` and ``m`` (M = 0 below two votes), and k as in
    `benchmark.stats.tiers`.
    """

    n: Ints
    winner: Codes
    status: Codes
    margin: Ints
    s: Ints
    m: Ints
    bands: Bands

    def k(self) -> list[float | None]:
        """Item agreement of each pair, None below the seven votes that a tier needs."""
        return _k(self.s, self.m, self.n, bands=self.bands)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdicts:
    """What a policy makes of N pairs; arrays of shape (N,), codes of `benchmark.stats.codes`.

    ``chosen`` and ``tier`` are 0 unless the pair is decided; a decided pair without a tier has too
    few votes for one (`Reason.NOT_ENOUGH_VOTES`). ``is_adjudicated`` where the status is that of an
    adjudication and not of the votes. ``margin`` is the smallest |a - b| among the deciding
    criteria, whatever the status. ``n``, ``s`` and ``m`` are what the tier rests on: the fewest
    votes for A or B among its criteria, and agreement as in `CriterionVerdicts`. ``criteria`` holds
    every criterion that was tallied, deciding or not.
    """

    status: Codes
    chosen: Codes
    tier: Codes
    provisional: Bools
    is_adjudicated: Bools
    margin: Ints
    n: Ints
    s: Ints
    m: Ints
    bands: Bands
    criteria: Mapping[str, CriterionVerdicts]

    def __len__(self) -> int:
        return len(self.status)

    def k(self) -> list[float | None]:
        """The agreement that the tier rests on, None below the seven votes that a tier needs."""
        return _k(self.s, self.m, self.n, bands=self.bands)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a policy makes of one pair; fields as in `Verdicts`.

    ``k`` is exact, and None below seven votes. ``reason`` says why there is no tier: the status,
    or too few votes.
    """

    status: Status
    chosen: Winner | None
    tier: Tier | None
    provisional: bool
    is_adjudicated: bool
    margin: int
    n: int
    k: Fraction | None
    reason: Reason | None


def decide(
    policy: Policy, tallies: Mapping[str, Tally], *, adjudged: npt.ArrayLike | None = None
) -> Verdicts:
    """Verdicts of N pairs, without a loop over them.

    ``tallies`` maps each criterion to its votes, at least those that ``policy`` needs. ``adjudged``
    (N,) holds codes of `benchmark.stats.codes.ADJUDGED`: a response named there is chosen where the
    votes choose none, and a pair may be withdrawn whatever its votes say. Raises ValueError for a
    missing criterion, arrays of different lengths, counts that are negative or not whole, and more
    than 1,000 votes on a pair.
    """
    _require(policy, tallies)
    criteria = {name: _criterion(policy, name, tally) for name, tally in tallies.items()}
    lengths = {name: len(found.n) for name, found in criteria.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(f"criteria were tallied for different numbers of pairs ({listed})")

    deciding = [criteria[name] for name in policy.criteria]
    statuses = np.stack([found.status for found in deciding])
    winners = np.stack([found.winner for found in deciding])
    status = np.select(
        [
            (statuses == INSUFFICIENT).any(axis=0),
            (statuses == TIED).any(axis=0),
            (winners != winners[0]).any(axis=0),
        ],
        [INSUFFICIENT, TIED, CONFLICT],
        default=DECIDED,
    ).astype(np.int8)
    chosen = np.where(status == DECIDED, winners[0], NONE).astype(np.int8)
    is_adjudicated = np.zeros(len(status), dtype=np.bool_)
    if adjudged is not None:
        said = _adjudged(adjudged, pairs=len(status))
        withdrawn = said == WITHDRAW
        is_adjudicated = withdrawn | ((said != NONE) & (status != DECIDED))
        status = np.where(is_adjudicated, np.where(withdrawn, WITHDRAWN, DECIDED), status).astype(
            np.int8
        )
        chosen = np.where(is_adjudicated, np.where(withdrawn, NONE, said), chosen).astype(np.int8)
    decided = status == DECIDED

    s, m, n = _tier_basis(policy, criteria)
    tiers = gated(band_codes(s, m, bands=policy.bands), votes=n)
    return Verdicts(
        status=status,
        chosen=chosen,
        tier=np.where(decided, tiers.tier, NONE).astype(np.int8),
        provisional=decided & tiers.provisional,
        is_adjudicated=is_adjudicated,
        margin=reduce(np.minimum, [found.margin for found in deciding]),
        n=n,
        s=s,
        m=m,
        bands=policy.bands,
        criteria=criteria,
    )


def decide_one(
    policy: Policy, tallies: Mapping[str, PairTally], *, adjudged: Adjudged | None = None
) -> Verdict:
    """The verdict of one pair, by plain arithmetic on exact fractions.

    Written apart from `decide`, whose results the tests hold against it. Raises ValueError.
    """
    _require(policy, tallies)
    found = {
        name: majority(
            tally.a,
            tally.b,
            ties=tally.tie,
            skips=tally.skip,
            minimum=policy.minimum,
            tie_rule=policy.tie_rule,
        )
        for name, tally in tallies.items()
    }
    deciding = [found[name] for name in policy.criteria]
    statuses = {majority.status for majority in deciding}
    winners = {majority.winner for majority in deciding}
    status: Status
    if "insufficient" in statuses:
        status = "insufficient"
    elif "tied" in statuses:
        status = "tied"
    else:
        status = "decided" if len(winners) == 1 else "conflict"
    chosen = deciding[0].winner if status == "decided" else None
    is_adjudicated = adjudged == "withdrawn" or (adjudged is not None and status != "decided")
    if adjudged == "withdrawn":
        status, chosen = "withdrawn", None
    elif adjudged is not None and status != "decided":
        status, chosen = "decided", adjudged

    names = (policy.criterion,) if policy.combine == "criterion" else policy.criteria
    n = min(found[name].n for name in names)
    k: Fraction | None = None
    if n >= TIER_MINIMUM:
        ks = [
            k_exact(*pair_counts(tallies[name].a, tallies[name].b), bands=policy.bands)
            for name in names
        ]
        k = sum(ks, Fraction(0)) / len(ks) if policy.combine == "mean" else min(ks)

    tier: Tier | None = None
    reason: Reason | None = None
    if status != "decided":
        reason = Reason(status)
    elif k is None:
        reason = Reason.NOT_ENOUGH_VOTES
    else:
        tier = band_of(k, bands=policy.bands)
    return Verdict(
        status=status,
        chosen=chosen,
        tier=tier,
        provisional=tier is not None and n < TIER_FINAL,
        is_adjudicated=is_adjudicated,
        margin=min(majority.margin for majority in deciding),
        n=n,
        k=k,
        reason=reason,
    )


def _require(policy: Policy, tallies: Mapping[str, object]) -> None:
    missing = [name for name in policy.criteria if name not in tallies]
    if missing:
        raise ValueError(f"policy {policy.name} needs the votes on {' and '.join(missing)}")


def _adjudged(adjudged: npt.ArrayLike, *, pairs: int) -> Ints:
    codes = whole_numbers(adjudged, name="adjudications", maximum=len(ADJUDGED) - 1)
    if len(codes) != pairs:
        raise ValueError(f"adjudications of {len(codes)} pairs for {pairs}")
    return codes


def _criterion(policy: Policy, name: str, tally: Tally) -> CriterionVerdicts:
    try:
        found = majorities(
            tally.a,
            tally.b,
            ties=tally.tie,
            minimum=policy.minimum,
            tie_rule=policy.tie_rule,
        )
        s, m, n = pair_count_arrays(tally.a, tally.b)
        # A skip changes no verdict, but a broken counter must not pass unseen.
        if len(whole_numbers(tally.skip, name="skips")) != len(n):
            raise ValueError(f"skips of a different number of pairs than {len(n)}")
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return CriterionVerdicts(
        n=n,
        winner=found.winner,
        status=found.status,
        margin=found.margin,
        s=s,
        m=m,
        bands=policy.bands,
    )


def _tier_basis(
    policy: Policy, criteria: Mapping[str, CriterionVerdicts]
) -> tuple[Ints, Ints, Ints]:
    if policy.combine == "criterion":
        only = criteria[policy.criterion]
        return only.s, only.m, only.n
    first, second = (criteria[name] for name in policy.criteria)
    s, m = combine((first.s, first.m), (second.s, second.m), how=policy.combine)
    return s, m, np.minimum(first.n, second.n)


def _k(s: Ints, m: Ints, n: Ints, *, bands: Bands) -> list[float | None]:
    k = np.full(len(n), None, dtype=object)
    enough = n >= TIER_MINIMUM
    above, whole = bands.excess(s[enough], m[enough])
    k[enough] = above / whole
    result: list[float | None] = k.tolist()
    return result
