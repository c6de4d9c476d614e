"""Votes drawn from a stated noise model, for trying the platform out. Not people.

Each pair has a true preference d on each criterion, in logits, positive for response A:

    d = w * (q(source_a) - q(source_b)) + u + e,   u ~ Normal(0, 1.2), e ~ Normal(0, 0.5)

with q = 1, 0.5 and 0 for answers written with the full persona, with a masked one and with none,
w = 3 for personalization and 1.5 for helpfulness; u is the pair's own and the same for both
criteria, e is drawn for each. A rater r with sensitivity s_r ~ Uniform(0.6, 1.6) votes
for A with probability 0.04 * 1/2 + 0.96 / (1 + exp(-s_r d)): one answer in 25 is a coin flip. Times
are log-normal around 35 seconds. The order shown does not matter to these raters.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from annotation.domain.blinding import shown_left

QUALITY = {"full": 1.0, "masked": 0.5, "none": 0.0}
LAPSE = 0.04
WEIGHTS = {"helpfulness": 1.5, "personalization": 3.0}


@dataclass(frozen=True, slots=True)
class SimulatedPair:
    pair_id: str
    source_a: str
    source_b: str


def simulated_votes(
    *,
    pairs: Sequence[SimulatedPair],
    raters: Sequence[str],
    seed: str,
    start: datetime,
) -> Iterator[dict[str, Any]]:
    """Rows of a votes file (design, files in): every rater judges every pair on both criteria."""
    draw = random.Random(f"simulation\x1f{seed}")  # noqa: S311 - reproducible, not secret
    preferences: dict[tuple[str, str], float] = {}
    for pair in pairs:
        difference = QUALITY.get(pair.source_a, 0.0) - QUALITY.get(pair.source_b, 0.0)
        own = draw.gauss(0, 1.2)
        for criterion, weight in WEIGHTS.items():
            preferences[pair.pair_id, criterion] = weight * difference + own + draw.gauss(0, 0.5)
    for rater in raters:
        sensitivity = draw.uniform(0.6, 1.6)
        at = start + timedelta(minutes=draw.uniform(0, 600))
        order = list(pairs)
        draw.shuffle(order)
        for pair in order:
            seconds = round(draw.lognormvariate(math.log(35), 0.5), 1)
            at += timedelta(seconds=seconds + 2)
            left = shown_left(seed=seed, pair_id=pair.pair_id, rater=rater)
            for criterion in WEIGHTS:
                logit = sensitivity * preferences[pair.pair_id, criterion]
                chance = LAPSE / 2 + (1 - LAPSE) / (1 + math.exp(-logit))
                yield {
                    "pair_id": pair.pair_id,
                    "rater": rater,
                    "criterion": criterion,
                    "choice": "A" if draw.random() < chance else "B",
                    "shown_left": left,
                    "seconds": seconds,
                    "at": at.isoformat(timespec="seconds"),
                }
