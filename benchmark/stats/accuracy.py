"""Labels against gold labels, with ties shown and never broken."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.stats.counts import whole_numbers
from benchmark.stats.proportions import proportion
from benchmark.stats.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Three readings, because a tie is neither right nor wrong.

    ``fair``: a tie among m labels scores 1/m if the truth is one of them. ``decided_only`` leaves
    ties out, ``ties_wrong`` counts them as errors. Items with no score at all are ``unscored`` and
    in none of the three.
    """

    items: int
    unscored: int
    ties: int
    correct_decided: int
    truth_among_tied: int
    fair: Value
    decided_only: Value
    ties_wrong: Value

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "items": self.items,
            "unscored": self.unscored,
            "decided": self.items - self.ties,
            "ties": self.ties,
            "correct_decided": self.correct_decided,
            "truth_among_tied": self.truth_among_tied,
            "fair": self.fair.as_json(),
            "decided_only": self.decided_only.as_json(),
            "ties_wrong": self.ties_wrong.as_json(),
        }


def accuracy(scores: npt.ArrayLike, *, truth: npt.ArrayLike, tolerance: float = 0.0) -> Accuracy:
    """Accuracy of the category with the highest score, shape (N, K): votes, or probabilities.

    ``truth`` (N,) holds columns. Scores within ``tolerance`` of the highest are tied with it: 0
    suits whole numbers. Raises ValueError for a malformed table.
    """
    table = np.asarray(scores)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"scores need a column for each of two or more categories: {table.shape}")
    gold = whole_numbers(truth, name="gold labels", maximum=table.shape[1] - 1)
    if len(gold) != len(table):
        raise ValueError(f"{len(gold)} gold labels for {len(table)} items")
    scored = (table > 0).any(axis=1)
    table, gold = table[scored], gold[scored]
    leads = table >= table.max(axis=1, keepdims=True) - tolerance
    tied = leads.sum(axis=1)
    hit = leads[np.arange(len(gold)), gold]
    items, ties = len(gold), int((tied > 1).sum())
    correct = int(hit[tied == 1].sum())
    return Accuracy(
        items=items,
        unscored=int((~scored).sum()),
        ties=ties,
        correct_decided=correct,
        truth_among_tied=int(hit[tied > 1].sum()),
        fair=proportion(min(float((hit / tied).sum()), float(items)), items),
        decided_only=proportion(correct, items - ties),
        ties_wrong=proportion(correct, items),
    )
