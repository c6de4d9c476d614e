"""Calls at the same moment, each in a thread with a database connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def alone(call: Callable[[], T]) -> T:
    """Make the call and close this thread's connection: the test database must be left by all."""
    try:
        return call()
    finally:
        connection.close()


def together(*calls: Callable[[], T]) -> list[T]:
    """Start all calls at once and give their results in order; any error is raised."""
    barrier = Barrier(len(calls))

    def start(call: Callable[[], T]) -> T:
        barrier.wait()
        return alone(call)

    with ThreadPoolExecutor(len(calls)) as pool:
        futures: list[Future[T]] = [pool.submit(start, call) for call in calls]
        return [future.result() for future in futures]
