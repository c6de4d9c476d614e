"""Many clients at once, spread over processes that start at the same moment."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

import psutil

PROCESSES = 2
_READY_SECONDS = 120
_barrier: Barrier | None = None


@dataclass(slots=True)
class Tally:
    """What the clients of one process saw; times in seconds."""

    next: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    ahead: list[float] = field(default_factory=list)
    trips: int = 0  # submits followed by the next pair
    acknowledged: dict[str, dict[str, str]] = field(default_factory=dict)  # seat -> what was sent
    unexpected: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            next=self.next + other.next,
            submit=self.submit + other.submit,
            ahead=self.ahead + other.ahead,
            trips=self.trips + other.trips,
            acknowledged=self.acknowledged | other.acknowledged,
            unexpected=self.unexpected + other.unexpected,
            seconds=max(self.seconds, other.seconds),
            cpu_seconds=self.cpu_seconds + other.cpu_seconds,
        )

    @property
    def trips_per_second(self) -> float:
        return self.trips / self.seconds if self.seconds else 0.0


class Client:
    """One rater: `prepare` before the clock starts, then `work` until the deadline."""

    def __init__(self) -> None:
        self.seen = Tally()

    def prepare(self) -> None:
        raise NotImplementedError

    def work(self, deadline: float) -> None:
        raise NotImplementedError


def run(
    client: type[Client],
    arguments: Sequence[dict[str, Any]],
    *,
    seconds: float,
    at_start: Callable[[], None] = lambda: None,
) -> Tally:
    """Let one client for each dictionary of arguments work that long; what all of them saw."""
    context = get_context("spawn")
    barrier = context.Barrier(PROCESSES + 1)
    with ProcessPoolExecutor(
        PROCESSES, mp_context=context, initializer=_remember, initargs=(barrier,)
    ) as pool:
        futures = [
            pool.submit(_crowd, client, arguments[share::PROCESSES], seconds)
            for share in range(PROCESSES)
        ]
        try:
            barrier.wait(_READY_SECONDS)
        except threading.BrokenBarrierError:
            for future in futures:
                future.result()  # raises what happened there
            raise
        at_start()
        return sum((future.result() for future in futures), Tally())


def _remember(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def _crowd(client: type[Client], arguments: Sequence[dict[str, Any]], seconds: float) -> Tally:
    assert _barrier is not None
    try:
        clients = [client(**words) for words in arguments]
        _together([one.prepare for one in clients])
        if failed := [line for one in clients for line in one.seen.unexpected]:
            raise RuntimeError("; ".join(failed[:3]))
        for one in clients:
            one.seen = Tally()
    except BaseException:
        _barrier.abort()
        raise
    _barrier.wait(_READY_SECONDS)
    begin, cpu = time.perf_counter(), _cpu_seconds()
    _together([partial(one.work, begin + seconds) for one in clients])
    total = sum((one.seen for one in clients), Tally())
    total.seconds = time.perf_counter() - begin
    total.cpu_seconds = _cpu_seconds() - cpu
    return total


def _together(calls: Sequence[Callable[[], None]]) -> None:
    failed: list[BaseException] = []

    def guarded(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, its living descendants and those that it has waited for."""
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
        return sum(sum(process.cpu_times()[:4]) for process in family)
    except psutil.Error:
        return 0.0
