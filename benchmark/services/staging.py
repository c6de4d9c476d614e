"""Temporary tables that a file is streamed into, checked in, and taken over from.

Checks that need more than one row (repeats, missing personas, clashes with what is stored) are
questions to the database, so memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import connection

from benchmark.formats import Problem

CHUNK = 2_000
# Of a file that is wrong in every row, the first thousand tell enough.
LISTED_PROBLEMS = 1_000

Progress = Callable[[int], None]
T = TypeVar("T")


@dataclass(slots=True)
class Problems:
    """Everything wrong with an import: all are counted, the first ones kept."""

    count: int = 0
    listed: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        self.count += 1
        if len(self.listed) < LISTED_PROBLEMS:
            self.listed.append(problem)

    def add_query(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Add a row (file, line, field, reason) each."""
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            while rows := cursor.fetchmany(CHUNK):
                for row in rows:
                    self.add(Problem(*row))

    def __bool__(self) -> bool:
        return self.count > 0


class Stage:
    """One temporary table, filled by COPY in chunks; gone at the end of the transaction."""

    def __init__(self, table: str, columns: dict[str, str]) -> None:
        self.table = table
        self._copy = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        self._rows: list[tuple[Any, ...]] = []
        definition = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        temporary(table, f"({definition}) ON COMMIT DROP")

    def add(self, row: tuple[Any, ...]) -> None:
        self._rows.append(row)
        if len(self._rows) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        if not self._rows:
            return
        with connection.cursor() as cursor, cursor.copy(self._copy) as copy:
            for row in self._rows:
                copy.write_row(row)
        self._rows.clear()

    def finish(self, *indexed: str) -> None:
        """Write the rest and let the planner know the table."""
        self.flush()
        prepare(self.table, *indexed)


def temporary(table: str, definition: str, parameters: Sequence[Any] = ()) -> None:
    """Make a temporary table; one left by an earlier import of the same transaction goes."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS pg_temp.{table}")
        cursor.execute(f"CREATE TEMPORARY TABLE {table} {definition}", parameters)


def prepare(table: str, *indexed: str) -> None:
    """Index a filled temporary table and let the planner know its rows.

    The statistics of the lasting tables may be of another time (autovacuum has not seen what this
    transaction writes): plans are safe if what they are joined with is known and indexed.
    """
    with connection.cursor() as cursor:
        for columns in indexed:
            cursor.execute(f"CREATE INDEX ON {table} ({columns})")
        cursor.execute(f"ANALYZE {table}")


def counted(items: Iterable[T], progress: Progress | None) -> Iterator[T]:
    """Pass items on, reporting their number once a chunk."""
    number = 0
    for number, item in enumerate(items, start=1):
        if progress and number % CHUNK == 0:
            progress(number)
        yield item
    if progress:
        progress(number)


def scalar(sql: str, parameters: Sequence[Any] = ()) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
        return row[0] if row else None


def execute(sql: str, parameters: Sequence[Any] = ()) -> int:
    """Run a statement; the number of rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return int(cursor.rowcount)


def column(sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [row[0] for row in cursor.fetchall()]
