"""What the votes say about the raters, and whether a side or length decided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmark.jobs.analysis_material import Material
from benchmark.stats.bias import length_bias, position_bias
from benchmark.stats.by_rater import conger_of_votes, light, pairwise
from benchmark.stats.codes import A, B, Ints
from benchmark.stats.dawid_skene import dawid_skene
from benchmark.stats.discovery import FALSE_DISCOVERIES, false_discoveries
from benchmark.stats.habits import (
    IdenticalAnswers,
    identical_answers,
    length_preference,
    side_preference,
    side_runs,
)
from benchmark.stats.proportions import proportion
from benchmark.stats.raters import rater_agreement
from benchmark.stats.speed import FASTEST_READING, RUSHED_BELOW, rater_speeds
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes

Report = dict[str, object]


def raters(found: Material) -> Report:
    """Each rater's figures per criterion, with q-values over all raters of each test.

    ``criteria`` of a rater: ``agreement``, ``side``, ``longer`` and ``run`` are those of
    `benchmark.stats.raters` and `benchmark.stats.habits`; ``q`` has a q-value for ``agreement``,
    ``side`` and ``longer``. ``flags`` names the tests with q below ``method.false_discoveries``.
    """
    votes, traits = found.votes, found.traits
    by_criterion = {key: _of_criterion(found, key) for key in votes.choices}
    judgements = np.bincount(votes.rater, minlength=len(votes.raters))
    characters = traits.length_a + traits.length_b + traits.length_query
    speeds = rater_speeds(_all_judgements(found), seconds=votes.seconds, characters=characters)
    identical = _identical(found)
    same = false_discoveries([one.deviation.p for one in identical])
    fast = false_discoveries([one.pace.p for one in speeds])
    rows: list[Report] = []
    for n, rater in enumerate(votes.raters.tolist()):
        criteria = {key: reports[n] for key, reports in by_criterion.items()}
        flags = [f"{key}:{name}" for key, one in criteria.items() for name in _names(one["flags"])]
        if _stands_out(fast[n], -(speeds[n].pace.z or 0)):
            flags.append("pace")
        if identical and _stands_out(same[n], identical[n].deviation.z or 0):
            flags.append("identical")
        rows.append(
            {
                "id": rater,
                "pseudonym": votes.pseudonyms[n],
                "simulated": votes.is_simulated[n],
                "judgements": int(judgements[n]),
                "skips": _skips(found, n),
                "speed": speeds[n].as_json() | {"q": fast[n]},
                # None where there is one criterion alone.
                "identical": identical[n].as_json() | {"q": same[n]} if identical else None,
                "criteria": criteria,
                "flags": flags,
            }
        )
    return {
        "criteria": list(votes.choices),
        "raters": rows,
        "set": {
            key: {
                "conger": conger_of_votes(votes.votes(key)).as_json(),
                "light": light(votes.votes(key)).as_json(),
            }
            for key in votes.choices
        },
        "method": {
            "false_discoveries": FALSE_DISCOVERIES,
            "correction": "benjamini_hochberg",
            "rushed_below": RUSHED_BELOW,
            "fastest_reading": FASTEST_READING,
        },
    }


def _stands_out(q: float | None, above: float) -> bool:
    return q is not None and q < FALSE_DISCOVERIES and above > 0


def _names(flags: object) -> list[str]:
    assert isinstance(flags, list)
    return flags


def _of_criterion(found: Material, key: str) -> list[Report]:
    """Reports of all raters on one criterion."""
    votes = found.votes.votes(key)
    left = found.votes.left[found.votes.is_vote(key)]
    agreements = rater_agreement(votes)
    sides = side_preference(votes, left=left)
    longer = length_preference(votes, longer=longer_response(found))
    ordered, stood_left = _in_time(found, key)
    runs = side_runs(ordered, left=stood_left)
    tests: dict[str, Sequence[float | None]] = {
        "agreement": false_discoveries([one.deviation.p for one in agreements]),
        # The order is drawn for each rater, so the share of the left is held against one half.
        "side": false_discoveries([one.even.p for one in sides]),
        "longer": false_discoveries([one.mix.p for one in longer]),
    }
    reports: list[Report] = []
    for n in range(votes.n_raters):
        q = {name: values[n] for name, values in tests.items()}
        # Agreeing more than expected is nothing to look into.
        too_little = -(agreements[n].deviation.z or 0)
        flags = [
            name
            for name, value in q.items()
            if _stands_out(value, too_little if name == "agreement" else 1)
        ]
        reports.append(
            {
                "votes": agreements[n].votes,
                "agreement": agreements[n].as_json(),
                "side": sides[n].as_json(),
                "longer": longer[n].as_json(),
                "run": runs[n].as_json(),
                "q": q,
                "flags": flags,
            }
        )
    return reports


def longer_response(found: Material) -> Ints:
    """Which response of each pair is the longer one: 1 A, 2 B, 0 neither; shape (N,)."""
    a, b = found.traits.length_a, found.traits.length_b
    return np.where(a > b, A, np.where(b > a, B, 0)).astype(np.int64)


def _in_time(found: Material, key: str) -> tuple[Votes, Ints]:
    """The votes in the order in which they were given, where that is known, and what stood left."""
    rows = found.votes.is_vote(key)
    order = np.argsort(found.votes.at[rows], kind="stable")
    votes = found.votes.votes(key)
    return (
        Votes(
            item=votes.item[order],
            rater=votes.rater[order],
            choice=votes.choice[order],
            n_items=votes.n_items,
            n_raters=votes.n_raters,
            categories=votes.categories,
        ),
        found.votes.left[rows][order],
    )


def _all_judgements(found: Material) -> Votes:
    """Every judgement as if it were a vote, for what concerns its time alone."""
    return Votes(
        item=found.votes.pair,
        rater=found.votes.rater,
        choice=np.zeros_like(found.votes.pair),
        n_items=len(found.votes.pairs),
        n_raters=len(found.votes.raters),
        categories=found.votes.categories,
    )


def _identical(found: Material) -> tuple[IdenticalAnswers, ...]:
    """Equal answers on the first two criteria; nothing with one criterion alone."""
    keys = list(found.votes.choices)
    if len(keys) < 2:
        return ()
    return identical_answers(found.votes.votes(keys[0]), found.votes.votes(keys[1]))


def _skips(found: Material, rater: int) -> int:
    """Judgements of the rater that skip every criterion."""
    own = found.votes.rater == rater
    last = len(found.votes.categories)
    skipped = np.ones(int(own.sum()), dtype=np.bool_)
    for choices in found.votes.choices.values():
        skipped &= choices[own] >= last
    return int(skipped.sum())


def rater_pairs(found: Material) -> Report:
    """How every two raters with shared pairs agree: [place, place, shared, agreeing]."""
    rows = {}
    for key in found.votes.choices:
        met = pairwise(found.votes.votes(key))
        rows[key] = np.column_stack((met.first, met.second, met.shared, met.agreeing)).tolist()
    return {
        "raters": found.votes.raters.tolist(),
        "pseudonyms": found.votes.pseudonyms,
        "criteria": rows,
    }


def biases(found: Material) -> Report:
    """Whether a side, length or a source wins, per criterion."""
    characters = np.column_stack((found.traits.length_a, found.traits.length_b))
    criteria = {}
    for key, counts in found.counts.items():
        votes = found.votes.votes(key)
        winner = found.verdicts.criteria[key].winner
        criteria[key] = {
            "position": position_bias(
                votes, left=found.votes.left[found.votes.is_vote(key)]
            ).as_json(),
            "length": length_bias(
                counts[:, :2], characters=characters, winner=winner.astype(np.int64)
            ).as_json(),
            "sources": _sources(found, counts, winner.astype(np.int64)),
        }
    return {"criteria": criteria}


def _sources(found: Material, counts: Ints, winner: Ints) -> list[Report]:
    """For each two sources that met, the first one's share of votes and of majorities."""
    first = np.array(found.traits.source_a, dtype=object)
    second = np.array(found.traits.source_b, dtype=object)
    known = np.array([bool(a and b and a != b) for a, b in zip(first, second, strict=True)], bool)
    swapped = known & np.array([a > b for a, b in zip(first, second, strict=True)], bool)
    for_first = np.where(swapped, counts[:, 1], counts[:, 0])
    n = counts[:, 0] + counts[:, 1]
    won = np.where(winner == 0, 0, np.where((winner == A) ^ swapped, 1, 2))
    meetings: dict[tuple[str, str], list[int]] = {}
    for row in np.flatnonzero(known).tolist():
        meetings.setdefault(tuple(sorted((first[row], second[row]))), []).append(row)
    found_rows: list[Report] = []
    for (one, other), rows in sorted(meetings.items()):
        decided = won[rows] > 0
        found_rows.append(
            {
                "first": one,
                "second": other,
                "pairs": len(rows),
                "votes": proportion(int(for_first[rows].sum()), int(n[rows].sum())).as_json(),
                "majorities": proportion(int((won[rows] == 1).sum()), int(decided.sum())).as_json(),
            }
        )
    return found_rows


def label_model(found: Material) -> Report:
    """The model of Dawid and Skene beside the majority: never without it."""
    return {"criteria": {key: _fitted(found, key) for key in found.votes.choices}}


def _fitted(found: Material, key: str) -> Report:
    votes = found.votes.votes(key)
    if not len(votes):
        return {"fit": None, "reason": Reason.NO_VOTES.value}
    fit = dawid_skene(votes)
    winner = found.verdicts.criteria[key].winner.astype(np.int64)
    labels = fit.labels() + 1
    both = (winner > 0) & (labels > 0)
    compared = int(both.sum())
    agrees: Value = proportion(int((labels[both] == winner[both]).sum()), compared)
    return {
        "fit": fit.as_json(),
        "agrees_with_majority": agrees.as_json(),
        "compared": compared,
        "differs_on": found.votes.pairs[both & (labels != winner)][:200].tolist(),
    }
