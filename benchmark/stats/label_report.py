"""What a table of labels says: which rows count, how far the raters agree, what the majority is.

Nothing is chosen for a rater: where one rater gave an item two different labels, none of them
counts; where an item's top labels are equally many, it has no majority.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

import numpy as np

from benchmark.stats.accuracy import Accuracy, accuracy
from benchmark.stats.agreement import Engine
from benchmark.stats.by_rater import conger_of_votes
from benchmark.stats.codes import (
    DECIDED,
    HARD,
    INSUFFICIENT,
    NONE,
    TIED,
    TIERS,
    Codes,
    Floats,
    Ints,
)
from benchmark.stats.counts import agreeing_pairs, histogram
from benchmark.stats.dawid_skene import TIED_WITHIN, dawid_skene
from benchmark.stats.majority import DEFAULT_MINIMUM, majorities
from benchmark.stats.report import criterion_report
from benchmark.stats.tiers import band_codes, gated
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes

RESPONSES: Final = ("A", "B")
TIE: Final = "tie"
SKIP: Final = "skip"

# Columns of what is none of the categories.
NO_TRUTH: Final = -1
UNKNOWN_LABEL: Final = -2
SKIPPED: Final = -3

# A table has a column for each category; free text is no set of categories.
MAX_CATEGORIES: Final = 100

# Stand in where fewer than two categories are known; no user can type them.
_STAND_INS: Final = ("\0first", "\0second")

CategoriesFrom = Literal["option", "votes", "labels"]


class Dropped(StrEnum):
    """Why a row does not count. The codes are exported: never rename one."""

    MISSING_ITEM = "missing_item"
    MISSING_RATER = "missing_rater"
    MISSING_LABEL = "missing_label"
    SKIP = "skip"
    UNKNOWN_LABEL = "unknown_label"
    REPEATED = "repeated"
    CONTRADICTORY = "contradictory"
    MISSING_CRITERION = "missing_criterion"
    UNREADABLE = "unreadable"


# Codes of the rows that `sift` looks at; 0 is a row that counts.
DROPPED: Final[tuple[Dropped | None, ...]] = (None, *Dropped)
_CODE: Final = {reason: code for code, reason in enumerate(DROPPED)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scheme:
    """The categories, where they are known from, and what each label is in these terms.

    ``column`` (L,): position of a label among the categories, `UNKNOWN_LABEL` or `SKIPPED`.
    """

    categories: tuple[str, ...]
    known_from: CategoriesFrom
    column: Ints


def scheme_of(
    labels: Sequence[str],
    *,
    used: Collection[str],
    given: Sequence[str] | None = None,
    are_votes: bool = False,
) -> Scheme:
    """What the ``labels`` (L,) of a table mean, of which ``used`` occur in this report's rows.

    ``given`` categories are taken as they are. Votes, which a table holds where its columns say so
    (``are_votes``) or where it has no labels but A, B, tie and skip, have the categories A and B,
    and tie where it occurs at all; a skip is no vote. Otherwise the categories are the labels used,
    by code point. Raises ValueError for given categories that are fewer than two, empty or not
    distinct, and for more than `MAX_CATEGORIES`.
    """
    voting = are_votes or (bool(labels) and set(labels) <= {*RESPONSES, TIE, SKIP})
    known_from: CategoriesFrom
    if given is not None:
        categories, known_from = tuple(given), "option"
        if len(categories) < 2 or len(set(categories)) < len(categories) or "" in categories:
            raise ValueError("categories must be two or more different names")
    elif voting:
        categories, known_from = (*RESPONSES, TIE) if TIE in labels else RESPONSES, "votes"
    else:
        # Python orders text by code point, whatever the machine's language.
        categories, known_from = tuple(sorted(used)), "labels"
    if len(categories) > MAX_CATEGORIES:
        raise ValueError(
            f"{len(categories):,} different labels are no set of categories;"
            f" at most {MAX_CATEGORIES} are taken"
        )
    columns = {name: column for column, name in enumerate(categories)}
    if voting:
        columns.setdefault(SKIP, SKIPPED)
    return Scheme(
        categories=categories,
        known_from=known_from,
        column=np.asarray([columns.get(name, UNKNOWN_LABEL) for name in labels], dtype=np.int64),
    )


def sift(item: Ints, rater: Ints, label: Ints, *, scheme: Scheme) -> Codes:
    """Why each of V rows does not count, as positions in `DROPPED`: 0 where it does.

    All arrays have shape (V,) and hold codes, -1 for a missing cell. Of equal labels that a rater
    gave an item more than once, the first counts; of different ones, none.
    """
    # A last entry, which -1 reaches.
    column = np.append(scheme.column, UNKNOWN_LABEL)[label]
    codes = np.select(
        [item < 0, rater < 0, label < 0, column == SKIPPED, column == UNKNOWN_LABEL],
        [
            *(_CODE[Dropped.MISSING_ITEM], _CODE[Dropped.MISSING_RATER]),
            *(_CODE[Dropped.MISSING_LABEL], _CODE[Dropped.SKIP], _CODE[Dropped.UNKNOWN_LABEL]),
        ],
        default=0,
    ).astype(np.int8)
    rows = np.flatnonzero(codes == 0)
    if not len(rows):
        return codes
    place = item[rows] * (int(rater.max()) + 1) + rater[rows]
    order = np.argsort(place, kind="stable")
    rows, place = rows[order], place[order]
    is_first = np.append(True, place[1:] != place[:-1])
    starts, group = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    given = column[rows]
    differ = np.maximum.reduceat(given, starts) != np.minimum.reduceat(given, starts)
    codes[rows[~is_first]] = _CODE[Dropped.REPEATED]
    codes[rows[differ[group]]] = _CODE[Dropped.CONTRADICTORY]
    return codes


def label_report(
    item: Ints,
    rater: Ints,
    choice: Ints,
    *,
    n_items: int,
    categories: Sequence[str],
    truth: Ints | None = None,
    minimum: int = DEFAULT_MINIMUM,
    seed: str = "",
    engine: Engine = "statsmodels",
) -> dict[str, object]:
    """Agreement, majorities and tiers of one criterion, ready for JSON.

    V ratings: ``item`` in 0..n_items-1, ``rater`` any codes, ``choice`` a column of ``categories``,
    one rating by a rater on an item. An item without a rating counts among the items. With fewer
    than two categories known, the figures are those of a second one that nobody chose. ``truth``
    (n_items,) are columns of ``categories``, `UNKNOWN_LABEL` for a true label that is none of them
    and -1 where the truth is not known.
    """
    names = tuple(categories)
    padded = (*names, *_STAND_INS[: max(0, 2 - len(names))])
    raters, rater_codes = np.unique(rater, return_inverse=True)
    votes = Votes.of(
        item, rater_codes, choice, n_items=n_items, n_raters=len(raters), categories=padded
    )
    table = histogram(votes.counts(), categories=padded)
    report = criterion_report(
        table.patterns,
        categories=padded,
        multiplicity=table.multiplicity,
        by_rater=votes.counts_by_rater(),
        seed=seed,
        engine=engine,
    )
    found = {
        "items": n_items,
        "ratings": report.pop("votes"),
        "raters": len(raters),
        "ratings_per_item": report.pop("raters_per_item"),
        **_without_stand_ins(report),
        "categories": list(names),
        # With the votes at hand, it has a standard error.
        "conger": conger_of_votes(votes).as_json(),
        "majority": majority_counts(
            table.patterns, multiplicity=table.multiplicity, categories=names, minimum=minimum
        ),
        "tiers": tier_counts(table.patterns, multiplicity=table.multiplicity, categories=names),
    }
    return found if truth is None else found | {"truth": truth_report(votes, truth)}


def truth_report(votes: Votes, truth: Ints) -> dict[str, object]:
    """Accuracy of the labels given most often, and of the model of Dawid and Skene beside it.

    ``truth`` (N,) as for `label_report`. A true label that is no category makes an item wrong
    whatever was chosen. Without a rating there is no model.
    """
    known = truth != NO_TRUTH
    columns = np.where(truth[known] == UNKNOWN_LABEL, len(votes.categories), truth[known])

    def against(scores: Floats | Ints, *, tolerance: float = 0.0) -> Accuracy:
        # A last column, which never leads.
        table = np.pad(scores[known], ((0, 0), (0, 1)))
        return accuracy(table, truth=columns, tolerance=tolerance)

    model: dict[str, object] = Value.undefined(Reason.NO_VOTES).as_json()
    if len(votes):
        fit = dawid_skene(votes)
        model = against(fit.posterior, tolerance=TIED_WITHIN).as_json() | {
            "iterations": fit.iterations,
            "converged": fit.converged,
            "smoothing": fit.smoothing,
        }
    return {
        "items": int(known.sum()),
        "unknown_label": int((truth == UNKNOWN_LABEL).sum()),
        "majority": against(votes.counts()).as_json(),
        "dawid_skene": model,
    }


def majority_counts(
    patterns: Ints, *, multiplicity: Ints, categories: tuple[str, ...], minimum: int
) -> dict[str, int]:
    """How many items have a majority, are tied, or have fewer than ``minimum`` ratings or none.

    The majority is the label given most often, however few of all ratings that is. Votes for A, B
    and tie follow `benchmark.stats.majority`, where many ties make a pair tied.
    """
    if _is_ab_tie(categories):
        a, b, ties = (patterns[:, categories.index(name)] for name in (*RESPONSES, TIE))
        status = majorities(a, b, ties=ties, minimum=minimum).status
    else:
        n, top = patterns.sum(axis=1), patterns.max(axis=1, initial=0)
        tied = (patterns == top[:, None]).sum(axis=1) > 1
        insufficient = (n < minimum) | (n == 0)
        status = np.where(insufficient, INSUFFICIENT, np.where(tied, TIED, DECIDED))
    items = np.bincount(status, weights=multiplicity, minlength=INSUFFICIENT + 1)
    return {
        "decided": int(items[DECIDED]),
        "tied": int(items[TIED]),
        "insufficient": int(items[INSUFFICIENT]),
        "minimum": minimum,
    }


def tier_counts(
    patterns: Ints, *, multiplicity: Ints, categories: tuple[str, ...]
) -> dict[str, object]:
    """Items by tier: easy, medium, hard or none, and how many of the first three are provisional.

    Tiers are for two categories. Votes for tie are left aside; other categories beside two leave
    all five counts undefined.
    """
    tiers = [name for name in TIERS if name is not None]
    if _is_ab_tie(categories):
        patterns = patterns[:, [categories.index(name) for name in RESPONSES]]
    elif len(categories) != 2:
        undefined = Value.undefined(Reason.NOT_TWO_CATEGORIES).as_json()
        return {name: dict(undefined) for name in (*tiers, "provisional", "none")}
    s, m = agreeing_pairs(patterns)
    found = gated(band_codes(s, m), votes=patterns.sum(axis=1))
    items = np.bincount(found.tier, weights=multiplicity, minlength=HARD + 1)
    return {
        **{name: int(items[TIERS.index(name)]) for name in tiers},
        "provisional": int(multiplicity[found.provisional].sum()),
        "none": int(items[NONE]),
    }


def _is_ab_tie(categories: tuple[str, ...]) -> bool:
    return len(categories) == 3 and set(categories) == {*RESPONSES, TIE}


def _without_stand_ins(report: dict[str, object]) -> dict[str, object]:
    """The report without the figures of categories that are none."""
    return {
        name: (
            {key: figure for key, figure in part.items() if key not in _STAND_INS}
            if isinstance(part, dict)
            else part
        )
        for name, part in report.items()
    }
