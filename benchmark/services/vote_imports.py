"""Votes made elsewhere, by the same rules as votes made here, all of them or none."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from benchmark.formats import Problem, VoteRecord, read_votes
from benchmark.models import PairSet
from benchmark.services.staging import (
    Problems,
    Progress,
    Stage,
    counted,
    execute,
    prepare,
    scalar,
    temporary,
)


@dataclass(frozen=True, slots=True)
class VoteImportReport:
    """What a file of votes holds and what came of it. With problems, nothing was written."""

    rows: int = 0
    votes: int = 0
    judgements: int = 0
    raters: int = 0
    pairs: int = 0
    repeats: int = 0
    rejected: int = 0
    new_judgements: int = 0
    dry_run: bool = False
    problems: list[Problem] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.new_judgements)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "changed": self.changed,
            "problems": [problem.as_json() for problem in self.problems],
        }


def import_votes(
    *,
    pair_set: PairSet,
    path: Path,
    is_simulated: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> VoteImportReport:
    """Read votes into the set, in one transaction.

    A judgement answers every criterion; a pair takes at most ``raters_per_pair`` of them. One that
    is stored already with the same choices is left as it is. Raters that this import adds are
    marked as simulated where the file says so, and all of them with ``is_simulated``.
    """
    with transaction.atomic():
        PairSet.objects.select_for_update(no_key=True).get(pk=pair_set.pk)
        pair_set.lock_for_writing()
        problems = Problems()
        _stage(path=path, problems=problems, progress=progress)
        _check(pair_set, problems, is_simulated=is_simulated)
        counts = {
            "rows": scalar("SELECT count(*) FROM incoming_vote"),
            "votes": scalar(
                "SELECT count(DISTINCT (pair_id, rater, criterion)) FROM incoming_vote"
            ),
            "judgements": scalar("SELECT count(DISTINCT (pair_id, rater)) FROM incoming_vote"),
            "raters": scalar("SELECT count(DISTINCT rater) FROM incoming_vote"),
            "pairs": scalar("SELECT count(DISTINCT pair_id) FROM incoming_vote"),
        }
        counts["repeats"] = counts["rows"] - counts["votes"]
        if problems:
            transaction.set_rollback(True)
            return VoteImportReport(
                **counts, rejected=problems.count, problems=problems.listed, dry_run=dry_run
            )
        new_judgements = _take_over(pair_set, is_simulated=is_simulated)
        if dry_run:
            transaction.set_rollback(True)
    return VoteImportReport(**counts, new_judgements=new_judgements, dry_run=dry_run)


def _stage(*, path: Path, problems: Problems, progress: Progress | None) -> None:
    stage = Stage(
        "incoming_vote",
        {"n": "bigint", "file": "text", "line": "bigint"}
        | dict.fromkeys(("pair_id", "rater", "criterion", "choice", "shown_left"), "text")
        | {"seconds": "double precision", "at": "timestamptz", "reason": "text", "comment": "text"}
        | {"simulated": "boolean", "active_seconds": "double precision"}
        | {"confidence": "smallint", "reasons": "text[]"},
    )
    for n, record in enumerate(counted(read_votes(path), progress)):
        if isinstance(record, VoteRecord):
            stage.add(
                (
                    *(n, record.at.file, record.at.line, record.pair_id, record.rater),
                    *(record.criterion, record.choice, record.shown_left or ""),
                    *(record.seconds, record.submitted_at, record.reason, record.comment),
                    *(record.simulated, record.active_seconds, record.confidence),
                    list(record.reasons) or None,
                )
            )
        else:
            problems.add(record)
    stage.finish("pair_id, rater")
    # One row a judgement to come.
    temporary(
        "incoming_judgement",
        """
        ON COMMIT DROP AS
        SELECT pair_id, rater, min(n) AS n, max(shown_left) AS shown_left,
               max(seconds) AS seconds, max(active_seconds) AS active_seconds, max(at) AS at,
               max(comment) AS comment, max(confidence) AS confidence,
               coalesce(max(reasons), '{}') AS reasons,
               coalesce(bool_or(simulated), false) AS simulated
        FROM incoming_vote GROUP BY pair_id, rater
        """,
    )
    prepare("incoming_judgement", "pair_id, rater")


def _check(pair_set: PairSet, problems: Problems, *, is_simulated: bool) -> None:
    problems.add_query(
        """
        SELECT vote.file, vote.line, 'pair_id',
               format('pair %%s is not in the campaign', vote.pair_id)
        FROM incoming_vote vote
        WHERE NOT EXISTS (SELECT FROM benchmark_pair pair
                          WHERE pair.pair_set_id = %s AND pair.pair_id = vote.pair_id)
        ORDER BY vote.n
        """,
        [pair_set.pk],
    )
    problems.add_query(
        """
        SELECT vote.file, vote.line, 'criterion',
               format('%%s is not a criterion of the campaign', vote.criterion)
        FROM incoming_vote vote
        WHERE NOT EXISTS (SELECT FROM benchmark_criterion criterion
                          WHERE criterion.pair_set_id = %s AND criterion.key = vote.criterion)
        ORDER BY vote.n
        """,
        [pair_set.pk],
    )
    if not pair_set.allows_tie:
        problems.add_query(
            """
            SELECT file, line, 'choice', 'the campaign does not allow ties'
            FROM incoming_vote WHERE choice = 'tie' ORDER BY n
            """
        )
    for column, same, words in (
        ("choice", "pair_id, rater, criterion", "chooses otherwise"),
        ("shown_left", "pair_id, rater", "had another order"),
        ("confidence", "pair_id, rater", "has another confidence"),
        ("reasons", "pair_id, rater", "gives other reasons"),
        ("simulated", "rater", "is marked otherwise"),
    ):
        problems.add_query(
            f"""
            SELECT later.file, later.line, '{column}',
                   format('the same rater {words} in %%s:%%s', first.file, first.line)
            FROM incoming_vote later JOIN (
                SELECT DISTINCT ON ({same}) {same}, {column}, file, line
                FROM incoming_vote WHERE {column} IS NOT NULL ORDER BY {same}, n
            ) first USING ({same})
            WHERE later.{column} <> first.{column} ORDER BY later.n
            """
        )
    problems.add_query(
        """
        SELECT DISTINCT ON (first.n, criterion.position) first.file, first.line, 'criterion',
               format('rater %%s has no vote on %%s for pair %%s', judgement.rater, criterion.key,
                      judgement.pair_id)
        FROM incoming_judgement judgement
        JOIN incoming_vote first ON first.n = judgement.n
        CROSS JOIN benchmark_criterion criterion
        WHERE criterion.pair_set_id = %s
          AND NOT EXISTS (SELECT FROM incoming_vote vote
                          WHERE vote.pair_id = judgement.pair_id AND vote.rater = judgement.rater
                            AND vote.criterion = criterion.key)
        ORDER BY first.n, criterion.position
        """,
        [pair_set.pk],
    )
    problems.add_query(
        """
        SELECT vote.file, vote.line, 'choice',
               format('rater %%s has judged pair %%s already, with %%s', vote.rater, vote.pair_id,
                      stored_vote.choice)
        FROM incoming_vote vote
        JOIN benchmark_pair pair ON pair.pair_set_id = %s AND pair.pair_id = vote.pair_id
        JOIN benchmark_rater rater
            ON rater.pair_set_id = pair.pair_set_id AND rater.pseudonym = vote.rater
        JOIN benchmark_judgement judgement
            ON judgement.pair_id = pair.id AND judgement.rater_id = rater.id
            AND judgement.superseded_by_id IS NULL
        JOIN benchmark_criterion criterion
            ON criterion.pair_set_id = pair.pair_set_id AND criterion.key = vote.criterion
        LEFT JOIN benchmark_vote stored_vote
            ON stored_vote.judgement_id = judgement.id AND stored_vote.criterion_id = criterion.id
        WHERE stored_vote.choice IS DISTINCT FROM vote.choice ORDER BY vote.n
        """,
        [pair_set.pk],
    )
    problems.add_query(
        """
        SELECT first.file, first.line, 'simulated',
               format('rater %%s is %%s in the campaign', rater.pseudonym,
                      CASE WHEN rater.is_simulated THEN 'simulated' ELSE 'a person' END)
        FROM (
            SELECT DISTINCT ON (rater) * FROM incoming_vote
            WHERE simulated IS NOT NULL ORDER BY rater, n
        ) first
        JOIN benchmark_rater rater
            ON rater.pair_set_id = %s AND rater.pseudonym = first.rater
        WHERE rater.is_simulated <> (first.simulated OR %s) ORDER BY first.n
        """,
        [pair_set.pk, is_simulated],
    )
    _mark_stored(pair_set)
    problems.add_query(
        """
        SELECT vote.file, vote.line, 'rater',
               format('pair %%s takes %%s raters: %%s is one too many', numbered.pair_id,
                      numbered.raters_per_pair, numbered.rater)
        FROM (
            SELECT judgement.*, pair.raters_per_pair,
                   (SELECT count(*) FROM benchmark_judgement stored
                    WHERE stored.pair_id = pair.id AND stored.superseded_by_id IS NULL)
                   + row_number() OVER (PARTITION BY judgement.pair_id ORDER BY judgement.n) AS seat
            FROM incoming_judgement judgement
            JOIN benchmark_pair pair ON pair.pair_set_id = %s AND pair.pair_id = judgement.pair_id
        ) numbered
        JOIN incoming_vote vote ON vote.n = numbered.n
        WHERE numbered.seat > numbered.raters_per_pair ORDER BY vote.n
        """,
        [pair_set.pk],
    )
    if not problems and not scalar("SELECT EXISTS (SELECT FROM incoming_vote)"):
        problems.add(Problem("", None, None, "no vote was found"))


def _mark_stored(pair_set: PairSet) -> None:
    """Drop the judgements to come that are stored already."""
    execute(
        """
        DELETE FROM incoming_judgement incoming
        USING benchmark_judgement judgement, benchmark_pair pair, benchmark_rater rater
        WHERE pair.pair_set_id = %s AND pair.pair_id = incoming.pair_id
          AND rater.pair_set_id = %s AND rater.pseudonym = incoming.rater
          AND judgement.pair_id = pair.id AND judgement.rater_id = rater.id
          AND judgement.superseded_by_id IS NULL
        """,
        [pair_set.pk, pair_set.pk],
    )


def _take_over(pair_set: PairSet, *, is_simulated: bool) -> int:
    execute(
        """
        INSERT INTO benchmark_rater (pair_set_id, pseudonym, is_simulated)
        SELECT %s, rater, simulated OR %s FROM (
            SELECT rater, min(n) AS n, bool_or(simulated) AS simulated
            FROM incoming_judgement GROUP BY rater
        ) one ORDER BY n
        ON CONFLICT (pair_set_id, pseudonym) DO NOTHING
        """,
        [pair_set.pk, is_simulated],
    )
    temporary(
        "new_judgement",
        """
        ON COMMIT DROP AS
        SELECT nextval(pg_get_serial_sequence('benchmark_judgement', 'id')) AS id, placed.*
        FROM (
            SELECT incoming.*, pair.id AS pair, pair.raters_per_pair, known.id AS known_rater,
                (SELECT count(*) FROM benchmark_judgement stored
                 WHERE stored.pair_id = pair.id AND stored.superseded_by_id IS NULL)
                + row_number() OVER (PARTITION BY pair.id ORDER BY incoming.n) AS seat
            FROM incoming_judgement incoming
            JOIN benchmark_pair pair ON pair.pair_set_id = %s AND pair.pair_id = incoming.pair_id
            JOIN benchmark_rater known
                ON known.pair_set_id = pair.pair_set_id AND known.pseudonym = incoming.rater
            ORDER BY incoming.n
        ) placed
        """,
        [pair_set.pk],
    )
    prepare("new_judgement", "pair_id, rater")
    new_judgements = execute(
        """
        INSERT INTO benchmark_judgement (id, pair_id, rater_id, seat, raters_per_pair, revision,
            shown_left, submitted_at, seconds, active_seconds, comment, confidence, reasons,
            created_at)
        SELECT id, pair, known_rater, seat, raters_per_pair, 1, shown_left, at, seconds,
            active_seconds, comment, confidence, reasons, now()
        FROM new_judgement ORDER BY n
        """
    )
    temporary(
        "new_vote",
        """
        ON COMMIT DROP AS
        SELECT DISTINCT ON (judgement.id, criterion.id)
            judgement.id AS judgement_id, judgement.pair AS pair_id, criterion.id AS criterion_id,
            vote.choice, vote.reason, vote.n
        FROM new_judgement judgement
        JOIN incoming_vote vote USING (pair_id, rater)
        JOIN benchmark_criterion criterion
            ON criterion.pair_set_id = %s AND criterion.key = vote.criterion
        ORDER BY judgement.id, criterion.id, vote.n
        """,
        [pair_set.pk],
    )
    execute(
        "INSERT INTO benchmark_vote (judgement_id, criterion_id, choice, reason)"
        " SELECT judgement_id, criterion_id, choice, reason FROM new_vote ORDER BY n"
    )
    execute(
        """
        INSERT INTO benchmark_tally (pair_id, criterion_id, a, b, tie, skip)
        SELECT pair_id, criterion_id, count(*) FILTER (WHERE choice = 'A'),
            count(*) FILTER (WHERE choice = 'B'), count(*) FILTER (WHERE choice = 'tie'),
            count(*) FILTER (WHERE choice = 'skip')
        FROM new_vote GROUP BY pair_id, criterion_id
        ON CONFLICT (pair_id, criterion_id) DO UPDATE SET
            a = benchmark_tally.a + excluded.a, b = benchmark_tally.b + excluded.b,
            tie = benchmark_tally.tie + excluded.tie, skip = benchmark_tally.skip + excluded.skip
        """
    )
    return new_judgements
