"""Aggregation of up to a million pairs, generated straight into PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from django.conf import settings
from django.db import connection

from annotation.services.campaigns import create_campaign
from benchmark.models import PairSet, Run
from benchmark.stats.policy import PERSONAFEEDBACK_V1
from tests.bench.figures import Figure
from tests.bench.site import Site

SIZES = (10_000, 100_000, 1_000_000)
RATERS = 300
VOTES_EACH = 9
BAR_SECONDS = 60.0
BAR_MB = 1_000.0
# Of the time for a pair at the largest size against that at the smallest.
BAR_GROWTH = 1.5
_MB = 1_000_000

_JOB = """
import sys, django
django.setup()
from benchmark.jobs.aggregate import aggregate
from benchmark.jobs.recording import recorded
recorded(int(sys.argv[1]), aggregate)
"""


def scale(site: Site, folder: Path) -> list[Figure]:
    """The job alone in a process of its own: seconds, memory, and how both grow."""
    figures = []
    per_pair = {}
    for pairs in SIZES:
        pair_set = generated(pairs)
        seconds, megabytes = _aggregate(pair_set)
        per_pair[pairs] = seconds / pairs
        largest = pairs == SIZES[-1]
        name = f"{pairs:,} pairs x 9 x 2"
        figures += [
            Figure("scale", name, seconds, "s", at_most=BAR_SECONDS if largest else None),
            Figure(
                "scale", f"{name}, peak RSS", megabytes, "MB", at_most=BAR_MB if largest else None
            ),
        ]
    growth = per_pair[SIZES[-1]] / per_pair[SIZES[0]]
    figures.append(
        Figure("scale", "time a pair, largest against smallest", growth, "x", at_most=BAR_GROWTH)
    )
    return figures


def _aggregate(pair_set: PairSet) -> tuple[float, float]:
    run = Run.objects.create(
        pair_set=pair_set,
        kind=Run.Kind.AGGREGATION,
        policy=PERSONAFEEDBACK_V1.as_json(),
        version=settings.VERSION,
    )
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", _JOB, str(run.pk)])
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    run.refresh_from_db()
    assert process.returncode == 0, run.error
    assert sum(run.result["statuses"].values()) == pair_set.pairs.count()
    return seconds, used.ru_maxrss * 1024 / _MB


def generated(pairs: int) -> PairSet:
    """Pairs with nine judgements on two criteria, and the tallies that go with them.

    Each pair has a share of its own for either criterion, so that all splits come up.
    """
    pair_set = create_campaign(slug=f"scale-{pairs}", name=f"Scale {pairs}").pair_set
    first, second = (criterion.pk for criterion in pair_set.criteria_in_order)
    values = {
        "set": pair_set.pk,
        "pairs": pairs,
        "raters": RATERS,
        "n": VOTES_EACH,
        "first": first,
        "second": second,
    }
    with connection.cursor() as cursor:
        # Foreign keys hold by construction; checking 40 million of them is not what is measured.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SELECT setseed(0.5)")
        for statement in _STATEMENTS:
            cursor.execute(statement, values)
        cursor.execute("SET session_replication_role = DEFAULT")
        for table in ("pair", "judgement", "vote", "tally"):
            cursor.execute(f"VACUUM ANALYZE benchmark_{table}")
    return pair_set


_EMPTY = json.dumps({"Name": "Nobody"})
_STATEMENTS = (
    "INSERT INTO benchmark_rater (pair_set_id, pseudonym, is_simulated)"
    " SELECT %(set)s, 'rater-' || n, false FROM generate_series(1, %(raters)s) n",
    "INSERT INTO benchmark_persona (pair_set_id, persona_id, name, profile, digest)"
    f" VALUES (%(set)s, 'persona', 'Nobody', '{_EMPTY}', '')",
    """
    INSERT INTO benchmark_pair (pair_set_id, pair_id, persona_id, query, query_kind, response_a,
        response_b, source_a, source_b, priors, meta, digest, raters_per_pair, created_at)
    SELECT %(set)s, 'pair-' || lpad(n::text, 8, '0'), (SELECT max(id) FROM benchmark_persona),
        'Query ' || n, 'general', 'One ' || n, 'Another ' || n, 'full', 'none', '[]', '{}', '',
        %(n)s, now()
    FROM generate_series(1, %(pairs)s) n
    """,
    """
    INSERT INTO benchmark_judgement (pair_id, rater_id, seat, raters_per_pair, revision, shown_left,
        comment, reasons, seconds, created_at)
    SELECT pair.id, rater.first + (pair.id * 7 + seat * 31) %% %(raters)s, seat, %(n)s, 1,
        CASE WHEN (pair.id + seat) %% 2 = 0 THEN 'A' ELSE 'B' END, '', '{}', 10 + seat, now()
    FROM benchmark_pair pair CROSS JOIN generate_series(1, %(n)s) seat
    CROSS JOIN (SELECT min(id) AS first FROM benchmark_rater WHERE pair_set_id = %(set)s) rater
    WHERE pair.pair_set_id = %(set)s
    """,
    """
    INSERT INTO benchmark_vote (judgement_id, criterion_id, choice, reason)
    SELECT judgement.id, criterion.id,
        CASE WHEN random() < 0.5 + 0.5 * sin(judgement.pair_id * criterion.id)
             THEN 'A' ELSE 'B' END, ''
    FROM benchmark_judgement judgement
    JOIN benchmark_pair pair ON pair.id = judgement.pair_id
    CROSS JOIN (VALUES (%(first)s), (%(second)s)) criterion (id)
    WHERE pair.pair_set_id = %(set)s
    """,
    """
    INSERT INTO benchmark_tally (pair_id, criterion_id, a, b, tie, skip)
    SELECT judgement.pair_id, vote.criterion_id, count(*) FILTER (WHERE choice = 'A'),
        count(*) FILTER (WHERE choice = 'B'), 0, 0
    FROM benchmark_vote vote JOIN benchmark_judgement judgement ON judgement.id = vote.judgement_id
    JOIN benchmark_pair pair ON pair.id = judgement.pair_id
    WHERE pair.pair_set_id = %(set)s GROUP BY 1, 2
    """,
)
