"""Labels when raters differ: the model of Dawid and Skene, a second opinion beside the majority.

Each rater has a confusion matrix, P(votes l | truth j), and votes independently given the truth. It
helps with biased raters and gains little when they are alike; below some 20 votes a rater the
matrices are guesswork. The categories are those of the votes: with canonical responses whose order
is drawn for each rater, no confusion can express a liking for a side.

Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmark.stats.codes import Bools, Floats, Ints
from benchmark.stats.votes import Votes

# Added to each cell of a rater's table of expected votes: a Dirichlet prior, which keeps a rater
# with few votes from being certain. The fit then maximizes the likelihood times that prior.
SMOOTHING: Final = 0.01
TOLERANCE: Final = 1e-8
MAX_ITERATIONS: Final = 2_000

# Posteriors closer than this are tied: far above their rounding, far below what they can tell.
TIED_WITHIN: Final = 1e-6
_TIED: Final = -1
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DawidSkene:
    """The fitted model of N items, R raters and K categories.

    ``posterior`` (N, K) probabilities of the truth, all zero for an item without votes;
    ``prevalence`` (K,); ``confusion`` (R, K, K), the truth in rows; ``rater_accuracy`` (R,) is the
    chance that the rater votes for the truth, nan without votes. ``objective`` holds the penalized
    log-likelihood of each iteration, which never falls; ``log_likelihood`` is the last without the
    penalty.
    """

    posterior: Floats
    prevalence: Floats
    confusion: Floats
    rater_accuracy: Floats
    rater_votes: Ints
    log_likelihood: float
    objective: tuple[float, ...]
    converged: bool
    smoothing: float

    @property
    def iterations(self) -> int:
        """Rounds of the algorithm."""
        return len(self.objective)

    def labels(self) -> Ints:
        """The most probable category of each item, -1 where two are tied or there is no vote."""
        leads = self.posterior >= self.posterior.max(axis=1, keepdims=True) - TIED_WITHIN
        return np.where(leads.sum(axis=1) == 1, leads.argmax(axis=1), _TIED).astype(np.int64)

    def as_json(self) -> dict[str, object]:
        """JSON form of the fit and its raters; the posteriors of the items are left to files."""
        voted = self.rater_votes > 0
        return {
            "model": "dawid_skene",
            "smoothing": self.smoothing,
            "iterations": self.iterations,
            "converged": self.converged,
            "log_likelihood": self.log_likelihood,
            "prevalence": self.prevalence.tolist(),
            "raters": [
                {
                    "votes": int(self.rater_votes[r]),
                    "accuracy": float(self.rater_accuracy[r]) if voted[r] else None,
                    "confusion": self.confusion[r].tolist() if voted[r] else None,
                }
                for r in range(len(voted))
            ],
        }


def dawid_skene(
    votes: Votes,
    *,
    smoothing: float = SMOOTHING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> DawidSkene:
    """Fit by EM from the vote shares, until no posterior moves by more than ``tolerance``.

    Deterministic. Memory O(V K). Raises ValueError for a negative smoothing or no vote, and
    ArithmeticError should the objective fall, which would be a defect of this code.
    """
    if smoothing < 0 or max_iterations < 1:
        raise ValueError("smoothing must not be negative and an iteration is needed")
    if not len(votes):
        raise ValueError("a label model needs votes")
    counts = votes.counts()
    n = counts.sum(axis=1, keepdims=True)
    posterior = counts / np.maximum(n, 1)
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iterations:
        prevalence, confusion = _maximize(votes, posterior, smoothing=smoothing)
        updated, likelihood = _expect(votes, prevalence, confusion, voted=n[:, 0] > 0)
        penalty = smoothing * float(np.log(confusion).sum()) if smoothing else 0.0
        objective.append(likelihood + penalty)
        if len(objective) > 1:
            before, after = objective[-2:]
            if after < before - _ROUNDING * max(1.0, abs(before)):
                raise ArithmeticError(f"the objective fell from {before!r} to {after!r}")
        converged = float(np.abs(updated - posterior).max()) <= tolerance
        posterior = updated
    rater_votes = np.bincount(votes.rater, minlength=votes.n_raters)
    diagonal = np.diagonal(confusion, axis1=1, axis2=2) @ prevalence
    return DawidSkene(
        posterior=posterior,
        prevalence=prevalence,
        confusion=confusion,
        rater_accuracy=np.where(rater_votes > 0, diagonal, np.nan),
        rater_votes=rater_votes,
        log_likelihood=likelihood,
        objective=tuple(objective),
        converged=converged,
        smoothing=smoothing,
    )


def _maximize(votes: Votes, posterior: Floats, *, smoothing: float) -> tuple[Floats, Floats]:
    """Prevalence (K,) and confusion (R, K, K) from the posteriors of the truth."""
    k = posterior.shape[1]
    cells = votes.rater * k + votes.choice
    expected = np.stack(
        [
            np.bincount(cells, weights=posterior[votes.item, j], minlength=votes.n_raters * k)
            for j in range(k)
        ],
        axis=1,
    )
    table = expected.reshape(votes.n_raters, k, k).transpose(0, 2, 1) + smoothing
    rows = table.sum(axis=2, keepdims=True)
    # A rater who never met a category (without smoothing) says nothing about it.
    confusion = np.where(rows > 0, table / np.where(rows > 0, rows, 1.0), 1 / k)
    mass = posterior.sum(axis=0)
    return mass / mass.sum(), confusion


def _expect(
    votes: Votes, prevalence: Floats, confusion: Floats, *, voted: Bools
) -> tuple[Floats, float]:
    """Posteriors (N, K) and the log-likelihood."""
    with np.errstate(divide="ignore"):  # a zero cell rules a category out
        log_confusion, log_prevalence = np.log(confusion), np.log(prevalence)
    joint = log_prevalence + np.stack(
        [
            np.bincount(
                votes.item,
                weights=log_confusion[votes.rater, j, votes.choice],
                minlength=votes.n_items,
            )
            for j in range(len(prevalence))
        ],
        axis=1,
    )
    top = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - top)
    total = weights.sum(axis=1, keepdims=True)
    likelihood = float((top + np.log(total))[voted].sum())
    return np.where(voted[:, None], weights / total, 0.0), likelihood
