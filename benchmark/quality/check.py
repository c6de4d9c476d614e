"""All checks of a set, in two readings of it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.quality.duplicates import candidates, digests, near_duplicates
from benchmark.quality.findings import Finding, Kind, QualityReport, Severity, worst_first
from benchmark.quality.leaks import leaks, scan
from benchmark.quality.measures import measures, shortcuts
from benchmark.quality.repeats import (
    chosen_and_rejected,
    repeated_texts,
    repeats,
    shared_between_tiers,
)
from benchmark.quality.sheet import Records, Sheet, read

PRIOR = "prior"
VOTES = "votes"


def check(records: Records, *, source: str, labels_from: str = PRIOR) -> QualityReport:
    """What is wrong with a set, and what it is made of.

    ``records`` gives the set's personas, pairs and problems, in any order, and is called twice.
    ``source`` is the set's name in the report. A label of a pair is one of its priors;
    ``labels_from`` says where they come from.
    """
    sheet = read(records)
    queries, responses = candidates(sheet.queries), candidates(sheet.responses)
    wanted = digests(sheet.queries, queries) | digests(sheet.responses, responses)
    found = scan(records, sheet, wanted=wanted)
    measured = measures(sheet, found, labels_from=labels_from)
    findings = [
        *_refused(sheet),
        *_personas(sheet),
        *repeats(sheet),
        *chosen_and_rejected(sheet),
        *shared_between_tiers(sheet),
        *repeated_texts(sheet),
        *near_duplicates(sheet, found, queries=queries, responses=responses),
        *shortcuts(measured),
        *leaks(sheet, found),
        *sheet.schema.findings(),
        *sheet.schema.one_sided(),
    ]
    return QualityReport(
        source=source,
        pairs=sheet.pairs,
        rows=len(sheet.rows),
        personas=len(sheet.schema),
        findings=worst_first(findings),
        measures=measured,
    )


def _refused(sheet: Sheet) -> Iterator[Finding]:
    if sheet.problem_count:
        problems = sorted(
            sheet.problems, key=lambda p: (p.file, p.line or 0, p.field or "", p.reason)
        )
        yield Finding(
            kind=Kind.REFUSED,
            severity=Severity.ERROR,
            count=sheet.problem_count,
            details=tuple(problem.as_json() for problem in problems),
        )
    for kind, ids in (
        (Kind.PAIR_CLASH, sheet.pair_clashes),
        (Kind.PERSONA_CLASH, sheet.persona_clashes),
    ):
        if ids:
            yield Finding(
                kind=kind, severity=Severity.ERROR, count=len(ids), ids=tuple(sorted(ids))
            )


def _personas(sheet: Sheet) -> Iterator[Finding]:
    """Personas without pairs, pairs without persona, and profiles that stand under two ids."""
    personas = len(sheet.profiles)
    used = {item.persona_id for item in sheet.items.values()}
    unknown = used - sheet.profiles.keys()
    if used and not personas:
        yield Finding(kind=Kind.NO_PERSONAS, severity=Severity.WARNING, count=len(used))
    elif unknown:
        theirs = [item for item in sheet.items.values() if item.persona_id in unknown]
        yield Finding(
            kind=Kind.UNKNOWN_PERSONA,
            severity=Severity.ERROR,
            count=len(unknown),
            numbers={"pairs": len({item.content for item in theirs})},
            ids=tuple(sorted(unknown)),
        )
    by_profile: dict[bytes, list[str]] = {}
    for persona_id, digest in sheet.profiles.items():
        by_profile.setdefault(digest, []).append(persona_id)
    same = sorted(sorted(ids) for ids in by_profile.values() if len(ids) > 1)
    for kind, severity, concerned, details in (
        (
            *(Kind.SAME_PROFILE, Severity.WARNING, sorted(p for ids in same for p in ids)),
            tuple({"ids": ids} for ids in same),
        ),
        (Kind.UNUSED_PERSONA, Severity.NOTICE, sorted(sheet.profiles.keys() - used), ()),
    ):
        if concerned:
            yield Finding(
                kind=kind,
                severity=severity,
                count=len(concerned),
                numbers={"personas": personas},
                ids=tuple(concerned),
                details=details,
            )
