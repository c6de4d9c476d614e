"""The floor of a round trip: its statements by plain psycopg, without Django, HTTP or pages."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.bench.crowd import Client


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter whose value differs from rater to rater and from pair to pair."""

    name: str


@dataclass(frozen=True, slots=True)
class Statement:
    sql: str
    parameters: Any
    gives: tuple[str, ...] = ()


class Psycopg(Client):
    """One rater's connection, replaying the round trip again and again."""

    def __init__(self, *, url: str, statements: list[Statement], variables: dict[str, Any]) -> None:
        super().__init__()
        self._url = url
        self._statements = statements
        self._values = dict(variables)

    def prepare(self) -> None:
        self._connection = psycopg.connect(self._url, autocommit=True)

    def work(self, deadline: float) -> None:
        while time.perf_counter() < deadline:
            begin = time.perf_counter()
            self._values["next_seat"] = uuid.uuid4()
            for statement in self._statements:
                cursor = self._connection.execute(statement.sql, self._fill(statement.parameters))
                row = cursor.fetchone() if cursor.description else None
                for name, value in zip(statement.gives, row or (), strict=bool(statement.gives)):
                    self._values[name] = value
            self.seen.trips += 1
            self.seen.next.append(time.perf_counter() - begin)
            for name in ("seat", "pair"):
                self._values[name] = self._values[f"next_{name}"]
        self._connection.close()

    def _fill(self, value: Any) -> Any:
        if isinstance(value, Variable):
            return self._values[value.name]
        if isinstance(value, dict):
            return {key: self._fill(item) for key, item in value.items()}
        return [self._fill(item) for item in value] if isinstance(value, list) else value
