"""``import_pairs`` of a large JSON lines file, beside a bare COPY of the same rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from annotation.services.campaigns import create_campaign, import_pairs_into
from tests.bench import material
from tests.bench.figures import Figure
from tests.bench.site import Site

PAIRS = 20_000
BAR = 2_000.0

# The columns that the importer writes; ids, keys and indexes come with the table.
_COLUMNS = (
    "pair_set_id, pair_id, persona_id, query, query_kind, response_a, response_b, source_a,"
    " source_b, priors, meta, digest, raters_per_pair, created_at"
)


def importing(site: Site, folder: Path) -> list[Figure]:
    path = material.write_pairs(folder / "import.jsonl", PAIRS)
    command = _command(path)
    made = create_campaign(slug="importing")
    begin = time.perf_counter()
    report = import_pairs_into(campaign=made, paths=[path])
    alone = time.perf_counter() - begin
    assert report.new_pairs == PAIRS
    copy = _copy_seconds(made.pk)
    return [
        Figure(
            *("import", "the whole command", PAIRS / command, "pairs/s"),
            at_least=BAR,
            floor=PAIRS / copy,
        ),
        Figure("import", "the import alone", PAIRS / alone, "pairs/s", floor=PAIRS / copy),
    ]


def _command(path: Path) -> float:
    """Seconds of manage.py import_pairs into a new campaign, from start to end of the process."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "manage.py", "import_pairs", path, "--campaign", "by-command", "--json"],
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds = time.perf_counter() - begin
    assert json.loads(done.stdout)["new_pairs"] == PAIRS
    return seconds


def _copy_seconds(pair_set: int) -> float:
    """Seconds that a COPY of the set's rows into a table like the real one takes."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE bench_copy (LIKE benchmark_pair INCLUDING ALL)")
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM benchmark_pair WHERE pair_set_id = %s ORDER BY id", [pair_set]
        ).fetchall()
        at_json = [_COLUMNS.split(", ").index(name) for name in ("priors", "meta")]
        prepared = [
            tuple(json.dumps(v) if i in at_json else v for i, v in enumerate(row)) for row in rows
        ]
        connection.commit()
        begin = time.perf_counter()
        statement = f"COPY bench_copy ({_COLUMNS}) FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in prepared:
                copy.write_row(row)
        connection.commit()
        seconds = time.perf_counter() - begin
        connection.execute("DROP TABLE bench_copy")
    return seconds
