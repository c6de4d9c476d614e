"""Checks out of a file of pairs that also says what they are for and what is known about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.domain.rendering import shows_nothing
from annotation.models import Campaign, CheckItem, Event, User
from benchmark.formats import PairRecord, PersonaRecord, Problem, read_pairs
from benchmark.formats.checks import Flaw, text_of
from benchmark.models import PairSet, Persona
from benchmark.services.pair_imports import import_pairs
from benchmark.services.staging import Problems

USE = "use"
EXPECTED = "expected_"
EXPLANATION = "explanation"

_SLUG_LENGTH = 80


@dataclass(frozen=True, slots=True)
class CheckImportReport:
    """What a file holds and what came of it. With problems, nothing was written."""

    rows: int = 0
    training: int = 0
    qualification: int = 0
    gold: int = 0
    new_checks: int = 0
    rejected: int = 0
    dry_run: bool = False
    problems: list[Problem] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return self.new_checks > 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "changed": self.changed,
            "problems": [problem.as_json() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known about a pair; compared as a whole."""

    purpose: str
    expected: Mapping[str, str]
    explanation: str

    def difference(self, other: _Known) -> str:
        """The first column that differs; empty where none does."""
        if self.purpose != other.purpose:
            return USE
        for key in sorted({*self.expected, *other.expected}):
            if self.expected.get(key) != other.expected.get(key):
                return EXPECTED + key
        return EXPLANATION if self.explanation != other.explanation else ""


def import_checks(
    *, campaign: Campaign, path: Path, dry_run: bool = False, actor: User | None = None
) -> CheckImportReport:
    """Read a file or folder into the campaign's set of checks, in one transaction.

    A pair with the same content and the same expectations is left as it is; other expectations for
    a pair that is there are refused, since answers may have been scored by them. So is a pair that
    is to be judged as well: its votes would be those of raters who have seen the answer, or whom it
    has paused. So is one that is a check under another id: training would tell the answer of a gold
    pair. Personas that the file lacks are those of the campaign.
    """
    with transaction.atomic():
        # Two imports into one campaign take turns.
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        # And so do imports of pairs: each looks at what the other has brought in.
        PairSet.objects.select_for_update(no_key=True).get(pk=locked.pk)
        checks = locked.checks or _new_set(locked)
        reader = _Reader(locked)
        reader.read(path)
        _copy_personas(reader.personas_wanted(), campaign=locked, checks=checks)
        imported = import_pairs(
            pair_set=checks, paths=[path], apart_from=locked.pair_set, distinct=True
        )
        problems = Problems(count=imported.rejected, listed=list(imported.problems))
        for problem in reader.problems:
            problems.add(problem)
        if not reader.rows and not problems:
            problems.add(Problem(path.name, None, None, "holds no pairs"))
        counts: dict[str, Any] = {"rows": reader.rows} | {
            purpose.value: reader.uses[purpose.value] for purpose in CheckItem.Purpose
        }
        if problems:
            transaction.set_rollback(True)
            return CheckImportReport(
                **counts, rejected=problems.count, problems=problems.listed, dry_run=dry_run
            )
        new = [
            (pair_id, known) for pair_id, known in reader.known.items() if reader.is_new(pair_id)
        ]
        if new and not dry_run:
            _add(new, campaign=locked, checks=checks)
            Event.objects.create(
                campaign=locked,
                actor=actor,
                action="checks:imported",
                data={"file": path.name, "new_checks": len(new)},
            )
        if dry_run:
            transaction.set_rollback(True)
        else:
            campaign.checks = checks
    return CheckImportReport(**counts, new_checks=len(new), dry_run=dry_run)


class _Reader:
    """What the rows of the file say beyond the pairs, and what is wrong with that."""

    def __init__(self, campaign: Campaign) -> None:
        self.rows = 0
        self.known: dict[str, _Known] = {}
        self.uses: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self._campaign = campaign
        self._criteria = list(
            campaign.pair_set.criteria.order_by("position", "id").values_list("key", flat=True)
        )
        self._stored = {
            item.pair.pair_id: _Known(item.purpose, item.expected, item.explanation)
            for item in CheckItem.objects.filter(campaign=campaign).select_related("pair")
        }
        self._places: dict[str, str] = {}
        self._strange_columns: set[str] = set()
        self._personas_given: set[str] = set()
        self._personas_named: set[str] = set()

    def read(self, path: Path) -> None:
        """What is wrong with the pairs themselves is for the importer of pairs to say."""
        for record in read_pairs([path], seed=self._campaign.pair_set.seed):
            if isinstance(record, PersonaRecord):
                self._personas_given.add(record.persona_id)
            elif isinstance(record, PairRecord):
                self.rows += 1
                self._personas_named.add(record.persona_id)
                self._row(record)

    def personas_wanted(self) -> set[str]:
        return self._personas_named - self._personas_given

    def is_new(self, pair_id: str) -> bool:
        return pair_id not in self._stored

    def _row(self, record: PairRecord) -> None:
        flaws: list[Flaw] = []
        known = self._known(record.meta, flaws)
        first = self.known.get(record.pair_id)
        stored = self._stored.get(record.pair_id)
        if flaws:
            pass
        elif first is not None:
            if column := known.difference(first):
                reason = f"{record.pair_id} stands with another one in"
                flaws.append(Flaw(column, f"{reason} {self._places[record.pair_id]}"))
        elif stored is not None and (column := known.difference(stored)):
            reason = f"{record.pair_id} is a check of the campaign already, with another one"
            flaws.append(Flaw(column, reason))
        else:
            self.known[record.pair_id] = known
            self.uses[known.purpose] += 1
            self._places[record.pair_id] = f"{record.at.file}:{record.at.line}"
        self.problems.extend(
            Problem(record.at.file, record.at.line, name, reason) for name, reason in flaws
        )

    def _known(self, columns: Mapping[str, Any], flaws: list[Flaw]) -> _Known:
        purpose = text_of(columns, USE, flaws)
        if purpose not in CheckItem.Purpose.values and not flaws:
            flaws.append(Flaw(USE, f"must be {_one_of(CheckItem.Purpose.values)}"))
        expected = {}
        for key in self._criteria:
            side = text_of(columns, EXPECTED + key, flaws, required=False)
            if side in ("A", "B"):
                expected[key] = side
            elif side:
                flaws.append(Flaw(EXPECTED + key, "must be A, B or empty"))
        self._refuse_other_criteria(columns, flaws)
        if not expected and not flaws:
            columns_of = [EXPECTED + key for key in self._criteria]
            flaws.append(Flaw(", ".join(columns_of), "an answer to at least one is needed"))
        needed = purpose == CheckItem.Purpose.TRAINING
        explanation = text_of(columns, EXPLANATION, flaws, required=needed)
        said = any(flaw.field == EXPLANATION for flaw in flaws)
        if needed and not said and shows_nothing(explanation):
            flaws.append(Flaw(EXPLANATION, "shows nothing once it is rendered"))
        return _Known(purpose, expected, explanation)

    def _refuse_other_criteria(self, columns: Iterable[str], flaws: list[Flaw]) -> None:
        """A column for a criterion that there is not; said once, not for every row."""
        for column in columns:
            key = column.removeprefix(EXPECTED)
            if key == column or key in self._criteria or column in self._strange_columns:
                continue
            self._strange_columns.add(column)
            reason = f"the campaign has no criterion {key}; there is {_one_of(self._criteria)}"
            flaws.append(Flaw(column, reason))


def _new_set(campaign: Campaign) -> PairSet:
    """A set of its own, so that nothing of the checks is counted or released."""
    of = campaign.pair_set
    number, suffix = 1, "-checks"
    while PairSet.objects.filter(slug=(slug := of.slug[: _SLUG_LENGTH - len(suffix)] + suffix)):
        number += 1
        suffix = f"-checks-{number}"
    checks = PairSet.objects.create(
        slug=slug, name=of.name, seed=of.seed, raters_per_pair=1, allows_tie=of.allows_tie
    )
    campaign.checks = checks
    campaign.save(update_fields=["checks"])
    return checks


def _copy_personas(persona_ids: Iterable[str], *, campaign: Campaign, checks: PairSet) -> None:
    there = checks.personas.values("persona_id")
    wanted = campaign.pair_set.personas.filter(persona_id__in=persona_ids)
    Persona.objects.bulk_create(
        Persona(
            pair_set=checks,
            persona_id=persona.persona_id,
            name=persona.name,
            profile=persona.profile,
            digest=persona.digest,
        )
        for persona in wanted.exclude(persona_id__in=there).order_by("id")
    )


def _add(known: list[tuple[str, _Known]], *, campaign: Campaign, checks: PairSet) -> None:
    """Items in the order of the file, each kind behind those there are."""
    pairs = dict(
        checks.pairs.filter(pair_id__in=[pair_id for pair_id, _ in known]).values_list(
            "pair_id", "pk"
        )
    )
    last = dict(
        CheckItem.objects.filter(campaign=campaign)
        .order_by()
        .values("purpose")
        .annotate(last=Max("position"))
        .values_list("purpose", "last")
    )
    items = []
    for pair_id, what in known:
        last[what.purpose] = position = last.get(what.purpose, 0) + 1
        items.append(
            CheckItem(
                campaign=campaign,
                pair_id=pairs[pair_id],
                purpose=what.purpose,
                position=position,
                expected=dict(what.expected),
                explanation=what.explanation,
            )
        )
    CheckItem.objects.bulk_create(items)


def _one_of(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
