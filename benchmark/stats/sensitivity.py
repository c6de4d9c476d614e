"""How much do tiers depend on the policy, on chance, and on the number of raters?

Another policy is applied with the adjudications that there are. Counts are of pairs, results are
plain dicts that go to JSON as they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from benchmark.stats.codes import CRITERIA, HELPFULNESS, PERSONALIZATION, TIERS, Codes, Floats, Ints
from benchmark.stats.draws import PANELS, coin_flips, fewer_raters, tier_mix
from benchmark.stats.patterns import Patterns
from benchmark.stats.policy import Policy
from benchmark.stats.tiers import MAX_DENOMINATOR, Bands, tier_posterior
from benchmark.stats.verdicts import Verdicts, decide

# Edges are moved by up to two steps each way; with nine votes .2 already takes in 7-2 (.222).
STEP: Final = Fraction(1, 10)
STEPS: Final = (-2, -1, 0, 1, 2)

# Chance agreement p^2 + (1 - p)^2 at shares p of .5, .6, .7, .75 and .8.
CHANCES: Final = ((1, 2), (13, 25), (29, 50), (5, 8), (17, 25))

# Rules for a pair: who decides, and where the tier comes from.
RULES: Final = (
    ("helpfulness_only", {"decide": "criterion", "criterion": HELPFULNESS}),
    ("personalization_only", {"decide": "criterion", "criterion": PERSONALIZATION}),
    ("both_helpfulness", {"decide": "both_agree", "criterion": HELPFULNESS}),
    ("both_personalization", {"decide": "both_agree", "criterion": PERSONALIZATION}),
    ("both_min", {"decide": "both_agree", "combine": "min"}),
    ("both_mean", {"decide": "both_agree", "combine": "mean"}),
)


def sensitivity(
    policy: Policy, patterns: Patterns, *, panels: Sequence[int] = PANELS
) -> dict[str, object]:
    """All of this module and of `benchmark.stats.draws` for a set of pairs. Raises ValueError."""
    return {
        "bands": other_bands(policy, patterns),
        "chance": other_chances(policy, patterns),
        "rules": other_rules(policy, patterns),
        "posterior": posterior_mix(policy, patterns),
        "fewer_raters": fewer_raters(policy, patterns, panels=panels),
        "coin_flips": coin_flips(policy, patterns),
    }


def other_bands(policy: Policy, patterns: Patterns) -> list[dict[str, object]]:
    """Tiers under bands around the policy's own, those included, and how many pairs change tier."""
    own = policy.bands
    edges = [
        (easy, medium)
        for easy in _around(own.easy_above)
        for medium in _around(own.medium_from)
        if medium <= easy
    ]
    bands = [
        replace(
            own,
            easy_above=(easy.numerator, easy.denominator),
            medium_from=(medium.numerator, medium.denominator),
        )
        for easy, medium in edges
    ]
    return _under_bands(policy, patterns, bands)


def other_chances(policy: Policy, patterns: Patterns) -> list[dict[str, object]]:
    """Tiers under other chance agreements, the policy's own first, and how many pairs change."""
    own = policy.bands
    others = [chance for chance in CHANCES if Fraction(*chance) != Fraction(*own.chance)]
    bands = [own, *(replace(own, chance=chance) for chance in others)]
    return _under_bands(policy, patterns, bands)


def other_rules(policy: Policy, patterns: Patterns) -> list[dict[str, object]]:
    """Verdicts under each of `RULES`, the policy's bands and minimum kept.

    ``same_winner`` pairs are decided for the same response as by the policy, ``other_winner`` for
    the other; ``moved`` pairs change tier, or gain or lose one. A rule that needs a criterion on
    which there are no votes is left out.
    """
    own, weight = _verdicts(policy, patterns), patterns.pairs
    found: list[dict[str, object]] = []
    for name, rule in RULES:
        base = {"combine": "criterion", "criterion": policy.criterion, **rule}
        other = replace(policy, **base)  # type: ignore[arg-type]
        if any(criterion not in patterns.counts for criterion in other.criteria):
            continue
        verdicts = _verdicts(other, patterns)
        both = (own.chosen > 0) & (verdicts.chosen > 0)
        same = own.chosen == verdicts.chosen
        found.append(
            {
                "rule": name,
                "tiers": _whole_mix(verdicts.tier, weight),
                "decided": int(weight[verdicts.chosen > 0].sum()),
                "same_winner": int(weight[both & same].sum()),
                "other_winner": int(weight[both & ~same].sum()),
                "moved": int(weight[own.tier != verdicts.tier].sum()),
            }
        )
    return found


def posterior_mix(policy: Policy, patterns: Patterns) -> dict[str, object]:
    """Of the pairs in each tier, how many are expected to be truly easy, medium and hard.

    The truth is the population's k, with the uniform prior of `tier_posterior`; for the smaller k
    of two criteria these are independent given the votes. For their mean no such numbers are given.
    """
    if policy.combine == "mean":
        return {"tiers": None, "expected": None, "combine": policy.combine}
    own, weight = _verdicts(policy, patterns), patterns.pairs
    names = (policy.criterion,) if policy.combine == "criterion" else CRITERIA
    truth = _posteriors(patterns.counts[names[0]], bands=policy.bands)
    for name in names[1:]:
        truth = _smaller(truth, _posteriors(patterns.counts[name], bands=policy.bands))
    labels = [name for name in TIERS if name is not None]
    mixes = {}
    total = np.zeros(len(labels))
    for code, label in enumerate(TIERS):
        if label is not None:
            here = np.where(own.tier == code, weight, 0)
            expected = here @ np.where(here[:, None] > 0, truth, 0.0)
            total += expected
            mixes[label] = {
                "pairs": int(here.sum()),
                "expected": dict(zip(labels, expected.tolist(), strict=True)),
            }
    return {
        "tiers": mixes,
        "expected": dict(zip(labels, total.tolist(), strict=True)),
        "combine": policy.combine,
    }


def _verdicts(policy: Policy, patterns: Patterns) -> Verdicts:
    return decide(policy, patterns.tallies(), adjudged=patterns.adjudged)


def _around(edge: tuple[int, int]) -> list[Fraction]:
    moved = (Fraction(*edge) + step * STEP for step in STEPS)
    # An edge in, say, 997ths has no exact neighbours with a denominator that bands allow.
    return [value.limit_denominator(MAX_DENOMINATOR) for value in moved if -1 <= value <= 1]


def _under_bands(
    policy: Policy, patterns: Patterns, bands: Sequence[Bands]
) -> list[dict[str, object]]:
    own, weight = _verdicts(policy, patterns).tier, patterns.pairs
    found: list[dict[str, object]] = []
    for other in bands:
        tier = _verdicts(replace(policy, bands=other), patterns).tier
        found.append(
            {
                "easy_above": list(other.easy_above),
                "medium_from": list(other.medium_from),
                "chance": list(other.chance),
                "is_own": other == policy.bands,
                "tiers": _whole_mix(tier, weight),
                "moved": int(weight[tier != own].sum()),
            }
        )
    return found


def _whole_mix(tier: Codes, weight: Ints) -> dict[str, int]:
    return {name: int(pairs) for name, pairs in tier_mix(tier, weight).items()}


def _posteriors(table: Ints, *, bands: Bands) -> Floats:
    """Probabilities of easy, medium and hard, shape (P, 3); nan below the votes of a tier."""
    splits, row = np.unique(table[:, :2], axis=0, return_inverse=True)
    found = [tier_posterior(a, b, bands=bands) for a, b in splits.tolist()]
    rows = [(one.easy, one.medium, one.hard) for one in found]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)[row.reshape(-1)]


def _smaller(first: Floats, second: Floats) -> Floats:
    """Probabilities of the band of the smaller of two independent k."""
    easy = first[:, 0] * second[:, 0]
    hard = 1 - (1 - first[:, 2]) * (1 - second[:, 2])
    return np.stack([easy, 1 - easy - hard, hard], axis=1)
