"""Aggregation and release of 8,298 pairs with nine judgements each, by the real worker."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import psutil

from annotation.models import Campaign
from annotation.services.jobs import start_aggregation, start_release
from benchmark.models import Run
from benchmark.services.tallies import rebuild_tallies
from tests.bench import material, world
from tests.bench.figures import Figure, median
from tests.bench.site import Site

AGGREGATE_BAR_SECONDS = 3.0
RELEASE_BAR_SECONDS = 10.0
RELEASE_BAR_MB = 300.0
REPEATS = 3
_MB = 1_000_000


@cache
def judged(folder: Path) -> Campaign:
    """A campaign whose every pair has nine judgements; made once."""
    made = world.campaign("judged", folder)
    world.judge_all(made)
    assert not rebuild_tallies(pair_set=made.pair_set, repair=False)
    return made


def aggregate(site: Site, folder: Path) -> list[Figure]:
    """From asking for it to the finished run."""
    made = judged(folder)
    first, *later = (seconds(start_aggregation(campaign=made)) for _ in range(1 + REPEATS))
    return [
        Figure("aggregate", "end to end", median(later), "s", at_most=AGGREGATE_BAR_SECONDS),
        Figure("aggregate", "first of a new worker", first, "s"),
    ]


def release(site: Site, folder: Path) -> list[Figure]:
    """The files, by the worker and by the command, with the memory of the process that writes."""
    made = judged(folder)
    if not Run.objects.filter(pair_set=made.pair_set).aggregations().done().exists():
        seconds(start_aggregation(campaign=made))
    peak = _Peak(site)
    by_worker = seconds(start_release(campaign=made, version="1.0.0").job, meanwhile=peak.look)
    by_command, command_mb = _command(made, folder / "release")
    return [
        Figure("release", "by the worker", by_worker, "s", at_most=RELEASE_BAR_SECONDS),
        Figure("release", "peak RSS, worker", peak.mb, "MB", at_most=RELEASE_BAR_MB),
        Figure("release", "by the command", by_command, "s", at_most=RELEASE_BAR_SECONDS),
        Figure("release", "peak RSS, command", command_mb, "MB", at_most=RELEASE_BAR_MB),
    ]


def seconds(run: Run, *, meanwhile: Callable[[], None] = lambda: None) -> float:
    """Wait for a run that was just queued."""
    begin = time.perf_counter()
    while not run.is_over:
        time.sleep(0.005)
        meanwhile()
        run.refresh_from_db(fields=["state", "error"])
        assert time.perf_counter() - begin < 120, f"run {run.pk} is still {run.state}"
    assert run.state == Run.State.DONE, run.error
    return time.perf_counter() - begin


def _command(made: Campaign, out: Path) -> tuple[float, float]:
    """Seconds and peak memory (MB) of manage.py export_release of a new version."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [
            *(sys.executable, "manage.py", "export_release", made.slug, "--version", "1.1.0"),
            *("--out", out, "--json"),
        ],
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    taken = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert json.loads(said)["counts"]["pairs"] == material.PAIRS
    return taken, used.ru_maxrss * 1024 / _MB


class _Peak:
    """The most memory that one of the worker's processes has had."""

    def __init__(self, site: Site) -> None:
        assert site.worker.main
        self._worker = psutil.Process(site.worker.main.pid)
        self.mb = 0.0

    def look(self) -> None:
        for process in (self._worker, *self._worker.children(recursive=True)):
            # A process that does one job only may just have gone.
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                self.mb = max(self.mb, _high_water_mark(process.pid) / _MB)


def _high_water_mark(pid: int) -> int:
    """The largest resident set so far, in bytes; 0 for a process that has ended."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
