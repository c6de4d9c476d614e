"""Moves between two runs in words: from what to what, and because of what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.audit.pair_words import STATES
from annotation.templatetags.figures import criterion_name, rule_words
from benchmark.selectors.comparison import Moves
from benchmark.stats.codes import Bools
from benchmark.stats.comparison import ABSENT, Factor, Outcome, outcome

Text = str | Promise

_FACTORS: dict[Factor, Text] = {
    "votes": _("the votes"),
    "adjudication": _("the adjudication"),
    "policy": _("the policy"),
}
# Pairs that only one of the runs has.
CAME, WENT = "came", "went"
_PRESENCE: dict[str, Text] = {
    CAME: _("the pair is new in the set"),
    WENT: _("the later run has not the pair"),
}

FIELDS: dict[str, Text] = {
    "name": _("Policy"),
    "version": _("Version"),
    "decide": _("Who decides"),
    "criterion": _("Criterion"),
    "combine": _("Tiers by"),
    "minimum": _("Fewest votes"),
    "easy_above": _("Easy above k ="),
    "medium_from": _("Medium from k ="),
    "chance": _("Agreement by chance"),
    "tie_rule": _("Ties"),
}


@dataclass(frozen=True, slots=True)
class Move:
    """One of the moves, as pages and files word it; None where that run has not the pair."""

    before: Outcome | None
    after: Outcome | None
    cause: str  # empty where nothing changed
    adjudged: bool  # whether what was adjudicated differs

    @property
    def states(self) -> tuple[str, str]:
        return _state(self.before), _state(self.after)


def _state(found: Outcome | None) -> str:
    return ABSENT if found is None else found.state


def told_moves(found: Moves) -> list[Move]:
    """The moves with their outcomes and causes, in their order."""
    told = []
    for before, after, row in zip(
        found.before.tolist(), found.after.tolist(), found.compared.tolist(), strict=True
    ):
        old = outcome(found.first.verdicts, before) if before >= 0 else None
        new = outcome(found.second.verdicts, after) if after >= 0 else None
        if row < 0:
            cause, adjudged = (CAME if old is None else WENT), False
        else:
            cause = "|".join("+".join(factors) for factors in found.comparison.causes(row))
            adjudged = bool(
                found.first.patterns.adjudged[before] != found.second.patterns.adjudged[after]
            )
        told.append(Move(before=old, after=new, cause=cause, adjudged=adjudged))
    return told


def cause_words(cause: str) -> str:
    """A cause as in `Move.cause`."""
    if cause in _PRESENCE:
        return str(_PRESENCE[cause])
    alternatives = []
    for part in cause.split("|"):
        names = [str(words) for factor, words in _FACTORS.items() if factor in part.split("+")]
        together = pgettext("between two causes", " and ").join(names)
        if len(names) > 1:
            together = gettext("%(causes)s, only together") % {"causes": together}
        alternatives.append(together)
    joined = pgettext("between two causes", " or ").join(alternatives)
    if len(alternatives) > 1:
        return gettext("%(causes)s: each would have been enough") % {"causes": joined}
    return joined


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which changes are listed; empty means any."""

    before: str = ""
    after: str = ""
    cause: str = ""

    @classmethod
    def of(cls, query: QueryDict, told: Sequence[Move]) -> Wanted:
        """From the names ``from``, ``to`` and ``cause``."""
        before, after = query.get("from", ""), query.get("to", "")
        cause = query.get("cause", "")
        return cls(
            before=before if before in STATES else "",
            after=after if after in STATES else "",
            cause=cause if any(move.cause == cause for move in told) else "",
        )

    @property
    def query(self) -> dict[str, str]:
        named = {"from": self.before, "to": self.after, "cause": self.cause}
        return {name: value for name, value in named.items() if value}

    @property
    def words(self) -> str:
        parts = []
        if self.before or self.after:
            parts.append(
                gettext("from “%(before)s” to “%(after)s”")
                % {
                    "before": STATES.get(self.before, pgettext("filter", "any")),
                    "after": STATES.get(self.after, pgettext("filter", "any")),
                }
            )
        if self.cause:
            parts.append(gettext("because of %(cause)s") % {"cause": cause_words(self.cause)})
        return ", ".join(parts)

    def moves(self, found: Moves, told: Sequence[Move]) -> Bools:
        """The changes that are meant, (M,)."""
        meant = [
            (not self.before or move.states[0] == self.before)
            and (not self.after or move.states[1] == self.after)
            and (not self.cause or move.cause == self.cause)
            for move in told
        ]
        return found.changed() & np.array(meant, dtype=np.bool_)


def policy_cells(policy: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a policy's JSON in words."""
    bands = policy.get("bands", {})
    cells: dict[str, Any] = {name: policy.get(name) for name in FIELDS}
    for name in ("decide", "combine", "tie_rule"):
        cells[name] = rule_words(cells[name] or "")
    cells["criterion"] = criterion_name(cells["criterion"] or "")
    for name in ("easy_above", "medium_from", "chance"):
        cells[name] = "/".join(str(part) for part in bands.get(name, ()))
    return {name: str(cell) for name, cell in cells.items()}
