"""What one round trip asks of PostgreSQL, taken down from a real one, to be replayed.

Ids of different tables come from different ranges here (`spread_ids`), so a parameter's value tells
what it is, and the replay can put another rater, pair or seat in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Membership
from tests.bench.floor import Statement, Variable

_RANGE = 1_000_000


def spread_ids() -> None:
    """Let every table count from a number of its own; before the first row is made."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'")
        for place, (name,) in enumerate(sorted(cursor.fetchall()), start=1):
            cursor.execute("SELECT setval(%s, %s)", [name, place * _RANGE])


def round_trip(membership: Membership) -> list[Statement]:
    """The statements with which this rater submits the pair at hand and gets the next one."""
    # Small numbers are not only positions: begin far from them.
    Membership.objects.filter(pk=membership.pk).update(cursor=5_000)
    client = _signed_in(membership)
    seat = _seat_of(membership)
    with _taken_down() as taken:
        answer = client.post(
            f"/seats/{seat.pk}/",
            {"helpfulness": "1", "personalization": "2", "comment": ""},
            headers={"HX-Request": "true"},
        )
        assert answer.status_code == 200, answer.status_code
    following = _seat_of(membership)
    assert following.pk != seat.pk
    names: dict[Any, str] = {
        client.session.session_key: "session",
        membership.user_id: "user",
        membership.pk: "membership",
        membership.rater_id: "rater",
        seat.pk: "seat",
        seat.pair_id: "pair",
        seat.pair.seats.position: "position",
        following.pk: "next_seat",
        following.pair_id: "next_pair",
    }
    return [
        Statement(sql, _with_names(parameters, names), _gives(sql)) for sql, parameters in taken
    ]


def variables(membership: Membership) -> dict[str, Any]:
    """What the replay starts with for this rater: a session and a pair at hand."""
    client = _signed_in(membership)
    seat = _seat_of(membership)
    return {
        "session": client.session.session_key,
        "user": membership.user_id,
        "membership": membership.pk,
        "rater": membership.rater_id,
        "seat": seat.pk,
        "pair": seat.pair_id,
    }


def _signed_in(membership: Membership) -> Client:
    """A browser on the task page."""
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(membership.user)
    answer = client.get(f"/campaigns/{membership.campaign.slug}/task/")
    assert answer.status_code == 200, answer.status_code
    return client


def _seat_of(membership: Membership) -> Assignment:
    return Assignment.objects.get(membership=membership, state=Assignment.State.OPEN)


@contextmanager
def _taken_down() -> Iterator[list[tuple[str, Any]]]:
    """Statements with their parameters, and where transactions begin and end."""
    calls: list[tuple[str, Any]] = []
    taken: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        assert not many, "executemany is not replayed"
        calls.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note), CaptureQueriesContext(connection) as log:
        yield taken
    rest = iter(calls)
    for query in log.captured_queries:
        is_end = query["sql"] in ("BEGIN", "COMMIT")
        taken.append((query["sql"], None) if is_end else next(rest))
    assert next(rest, None) is None


def _with_names(value: Any, names: dict[Any, str]) -> Any:
    """The parameters with a variable in place of every value that has a name."""
    if isinstance(value, dict):
        return {key: _with_names(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_names(item, names) for item in value]
    if isinstance(value, bool):  # True == 1
        return value
    return Variable(names[value]) if value in names else value


def _gives(sql: str) -> tuple[str, ...]:
    """The variables that the statement's row gives values to, column by column."""
    if "FOR NO KEY UPDATE OF seats" in sql:
        return ("next_pair", "pair_id")
    return ("position", "slot", "standing") if sql.startswith("SELECT cursor,") else ()
