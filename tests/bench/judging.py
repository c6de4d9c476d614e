"""Thirty raters over HTTP, reading or not, and what the database alone could do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil
from django.db import connection

from annotation.models import Campaign
from benchmark.services.tallies import rebuild_tallies
from tests.bench import crowd, statements, world
from tests.bench.browsing import Browser
from tests.bench.crowd import Tally
from tests.bench.figures import Figure, latencies
from tests.bench.floor import Psycopg
from tests.bench.site import Site

READING_SECONDS = 20.0
NONSTOP_SECONDS = 15.0
LATENCY_BAR_MS = 150.0


def reading(site: Site, folder: Path) -> list[Figure]:
    """One second between getting a pair and answering it."""
    made = world.campaign("reading", folder)
    world.with_raters(made)
    seen, used = _browse(site, made, seconds=READING_SECONDS, pause=1.0)
    return [
        *latencies("reading", "next", seen.next, bar=LATENCY_BAR_MS),
        *latencies("reading", "submit", seen.submit, bar=LATENCY_BAR_MS),
        *latencies("reading", "ahead", seen.ahead),
        *_stored("reading", made, seen),
        *used,
    ]


def nonstop(site: Site, folder: Path) -> list[Figure]:
    """No pause at all; beside it the same statements by plain psycopg."""
    made = world.campaign("nonstop", folder)
    world.with_raters(made)
    seen, used = _browse(site, made, seconds=NONSTOP_SECONDS, pause=0.0)
    floor = _replay(folder)
    slowest = max(seen.next + seen.submit)
    return [
        Figure(
            *("nonstop", "round trips", seen.trips_per_second, "/s"),
            at_least=floor / 8,
            floor=floor,
        ),
        Figure("nonstop", "slowest request", slowest, "s", at_most=2.0),
        *latencies("nonstop", "next", seen.next),
        *latencies("nonstop", "submit", seen.submit),
        *_stored("nonstop", made, seen),
        *used,
    ]


def _browse(
    site: Site, made: Campaign, *, seconds: float, pause: float
) -> tuple[Tally, list[Figure]]:
    part = made.slug
    meter = _Meter(site)
    seen = crowd.run(
        Browser,
        [
            {
                "port": site.port,
                "slug": made.slug,
                "username": f"rater-{place:02}",
                "password": world.PASSWORD,
                "pause": pause,
                "seed": place,
            }
            for place in range(world.RATERS)
        ],
        seconds=seconds,
        at_start=meter.start,
    )
    if seen.unexpected:
        raise RuntimeError(f"{part}: {len(seen.unexpected)} bad answers: {seen.unexpected[:3]}")
    used = meter.used() | {"the load": seen.cpu_seconds}
    used["everything else"] = used.pop("all") - sum(used.values())
    return seen, [
        Figure(part, f"cores used by {name}", cpu / seen.seconds) for name, cpu in used.items()
    ]


class _Meter:
    """CPU seconds of web server, PostgreSQL (if it runs here) and all there is, since the start."""

    def __init__(self, site: Site) -> None:
        assert site.web.main
        self._pids = {"web": site.web.main.pid}
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backend = cursor.fetchone()[0]
        if psutil.pid_exists(backend) and psutil.Process(backend).name() == "postgres":
            self._pids["PostgreSQL"] = psutil.Process(backend).ppid()

    def start(self) -> None:
        self._before = self._read()

    def used(self) -> dict[str, float]:
        return {name: cpu - self._before[name] for name, cpu in self._read().items()}

    def _read(self) -> dict[str, float]:
        times = psutil.cpu_times()
        used = {name: crowd.cpu_seconds(pid) for name, pid in self._pids.items()}
        return used | {"all": sum(times) - times.idle - getattr(times, "iowait", 0.0)}


def _replay(folder: Path) -> float:
    """Round trips a second of thirty connections on a fresh campaign of the same size."""
    made = world.campaign("floor", folder)
    members = world.with_raters(made)
    taken = statements.round_trip(members[0])
    arguments = [
        {
            "url": os.environ["DATABASE_URL"],
            "statements": taken,
            "variables": statements.variables(member),
        }
        for member in members
    ]
    seen = crowd.run(Psycopg, arguments, seconds=NONSTOP_SECONDS)
    assert not rebuild_tallies(pair_set=made.pair_set, repair=False)
    return seen.trips_per_second


def _stored(part: str, made: Campaign, seen: Tally) -> list[Figure]:
    """Every acknowledged answer is there once, as it was given, and no pair has more than n."""
    stored = {
        str(seat): (shown_left, dict(votes))
        for seat, shown_left, votes in _rows(
            """
            SELECT seat.id, seat.shown_left, json_object_agg(criterion.key, vote.choice)
            FROM annotation_assignment seat
            JOIN benchmark_vote vote USING (judgement_id)
            JOIN benchmark_criterion criterion ON criterion.id = vote.criterion_id
            WHERE seat.campaign_id = %s AND seat.state = 'submitted' GROUP BY seat.id
            """,
            made,
        )
    }
    wrong = sum(
        stored.get(seat) != (stored[seat][0], _canonical(answer, stored[seat][0]))
        if seat in stored
        else 1
        for seat, answer in seen.acknowledged.items()
    )
    pairs = _rows(
        """
        SELECT seats.free, pair.raters_per_pair,
            (SELECT count(*) FROM benchmark_judgement judgement
             WHERE judgement.pair_id = pair.id AND judgement.superseded_by_id IS NULL),
            (SELECT count(DISTINCT rater_id) FROM benchmark_judgement judgement
             WHERE judgement.pair_id = pair.id),
            (SELECT count(*) FROM annotation_assignment seat
             WHERE seat.pair_id = pair.id AND seat.state = 'open')
        FROM annotation_pairseats seats JOIN benchmark_pair pair ON pair.id = seats.pair_id
        WHERE seats.campaign_id = %s
        """,
        made,
    )
    miscounted = sum(
        judged > wanted or raters != judged or free + judged + held != wanted
        for free, wanted, judged, raters, held in pairs
    )
    return [
        Figure(part, "answers acknowledged", len(seen.acknowledged)),
        Figure(part, "lost or altered", wrong, at_most=0),
        Figure(part, "stored, not acknowledged", len(stored) - len(seen.acknowledged), at_most=0),
        Figure(part, "pairs with exactly n", sum(row[2] == row[1] for row in pairs)),
        Figure(part, "pairs over n or miscounted", miscounted, at_most=0),
        Figure(
            *(part, "tallies unlike a recount"),
            len(rebuild_tallies(pair_set=made.pair_set, repair=False)),
            at_most=0,
        ),
    ]


def _canonical(answer: dict[str, str], shown_left: str) -> dict[str, str]:
    other = "B" if shown_left == "A" else "A"
    return {key: shown_left if place == "1" else other for key, place in answer.items()}


def _rows(sql: str, made: Campaign) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [made.pk])
        return list(cursor.fetchall())
