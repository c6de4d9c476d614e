"""How do the votes of one rater compare with those of the others on the same items?

A rater's own vote never counts for the comparison. Items differ in how far anybody agrees on them,
and raters see different items, so agreement is held against what a random other rater shows on the
same items. The variance of the difference comes from permutation: given all the votes on an item,
whichever of them is the rater's is a matter of chance.
"""

from dataclasses import dataclass

import numpy as np

from benchmark.stats.codes import Bools, Floats
from benchmark.stats.discovery import Deviation
from benchmark.stats.proportions import proportion
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """One rater against the others.

    ``votes`` of the rater, of which ``shared`` are on items with another vote and ``compared`` on
    items with two or more. ``pair_agreement`` is the mean share of the item's other votes that
    agree, ``majority_agreement`` the share of votes that join the majority of the others (one half
    for joining a tie), over the shared; Wilson's interval takes the items for trials. ``expected``
    is the pair agreement among the others, over the compared, and ``deviation`` compares there.
    """

    votes: int
    shared: int
    compared: int
    pair_agreement: Value
    majority_agreement: Value
    expected: Value
    deviation: Deviation

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "votes": self.votes,
            "shared": self.shared,
            "compared": self.compared,
            "pair_agreement": self.pair_agreement.as_json(),
            "majority_agreement": self.majority_agreement.as_json(),
            "expected": self.expected.as_json(),
            "deviation": self.deviation.as_json(),
        }


def rater_agreement(votes: Votes) -> tuple[RaterAgreement, ...]:
    """Agreement of each of the ``votes.n_raters`` raters with the others. O(V K)."""
    x = votes.counts()[votes.item]
    n = x.sum(axis=1)
    own = np.take_along_axis(x, votes.choice[:, None], axis=1)[:, 0]
    shared, compared = n >= 2, n >= 3
    agreeing = (own - 1) / np.maximum(n - 1, 1)
    joined = _joined_majority(votes)
    expected, variance = _among_others(votes)
    excess = agreeing - expected[np.arange(len(votes)), votes.choice]

    totals = {
        name: sums_by_rater(votes, values, where=where)
        for name, values, where in (
            ("votes", np.ones(len(votes)), n >= 1),
            ("shared", np.ones(len(votes)), shared),
            ("compared", np.ones(len(votes)), compared),
            ("agreeing", agreeing, shared),
            ("joined", joined, shared),
            ("expected", agreeing - excess, compared),
            ("excess", excess, compared),
            ("variance", variance, compared),
        )
    }
    return tuple(
        _report(**dict(zip(totals, row, strict=True)))
        for row in zip(*(total.tolist() for total in totals.values()), strict=True)
    )


def sums_by_rater(votes: Votes, values: Floats, *, where: Bools) -> Floats:
    """Sums of ``values`` (V,) over each rater's votes that ``where`` marks, shape (n_raters,)."""
    sums: Floats = np.bincount(
        votes.rater[where], weights=values[where], minlength=votes.n_raters
    ).astype(np.float64)
    return sums


def _report(
    *,
    votes: float,
    shared: float,
    compared: float,
    agreeing: float,
    joined: float,
    expected: float,
    excess: float,
    variance: float,
) -> RaterAgreement:
    return RaterAgreement(
        votes=int(votes),
        shared=int(shared),
        compared=int(compared),
        pair_agreement=_mean(agreeing, int(shared)),
        majority_agreement=_mean(joined, int(shared)),
        expected=_mean(expected, int(compared)),
        deviation=Deviation.of_sum(
            excess, variance, compared=int(compared), none=Reason.NO_OVERLAP
        ),
    )


def _mean(total: float, trials: int) -> Value:
    # A sum of fractions can miss its bounds by rounding.
    return proportion(min(max(total, 0.0), float(trials)), trials, reason=Reason.NO_OVERLAP)


def _joined_majority(votes: Votes) -> Floats:
    """For each vote: 1 if it is the majority of the item's others, .5 if of a tie, else 0."""
    others = votes.counts()[votes.item]
    others[np.arange(len(votes)), votes.choice] -= 1
    leads = others == others.max(axis=1, keepdims=True)
    mine = np.take_along_axis(leads, votes.choice[:, None], axis=1)[:, 0]
    return np.where(mine, np.where(leads.sum(axis=1) > 1, 0.5, 1.0), 0.0)


def _among_others(votes: Votes) -> tuple[Floats, Floats]:
    """For each vote: pair agreement among the item's others, had it been for category j; variance.

    Shapes (V, K) and (V,). Of n votes x_j are for j. With the rater's among them the share of
    others who agree is (x_j - 1) / (n - 1), and the n - 1 others agree among themselves in
    (S - 2 (x_j - 1)) of (n - 1) (n - 2) ordered pairs, S = sum_j x_j (x_j - 1). The difference has
    mean zero when the rater's vote is any of the n with equal chance, and this variance. Both are 0
    below three votes.
    """
    counts = votes.counts()
    n = counts.sum(axis=1, keepdims=True)
    s = (counts * (counts - 1)).sum(axis=1, keepdims=True)
    others = np.where(n >= 3, s - 2 * (counts - 1), 0) / np.maximum((n - 1) * (n - 2), 1)
    excess = (counts - 1) / np.maximum(n - 1, 1) - others
    variance = (np.where(n >= 3, counts / np.maximum(n, 1), 0.0) * excess**2).sum(axis=1)
    return others[votes.item], variance[votes.item]
