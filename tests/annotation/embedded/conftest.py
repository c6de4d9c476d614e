"""A folder for servers of a test's own, and the launcher as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from annotation.embedded import accounts, folders, processes, services
from annotation.embedded.postgres import Postgres
from annotation.embedded.valkey import Valkey

ROOT = Path(__file__).resolve().parents[3]
# What the launcher obeys; a test starts without.
VARIABLES = ("DATABASE_URL", "REDIS_URL", "VAR_DIR", "PORT", "PUBLIC_URL", "WEB_CONCURRENCY")


@pytest.fixture
def base() -> Iterator[Path]:
    """A new folder that PostgreSQL's account can reach."""
    with folders.throwaway_folder(accounts.for_postgres()) as folder:
        yield folder


@pytest.fixture
def var(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty var/ whose servers are stopped at the end, with no servers in the environment."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = base / "var"
    with services.prepared(folder):
        pass
    yield folder
    for owner in ("run", "services"):
        services.stop(folder, owner=owner)


@pytest.fixture
def postgres(var: Path) -> Postgres:
    return Postgres(
        var / "postgres", var / "log" / "postgres.log", accounts.for_postgres(), durable=False
    )


@pytest.fixture
def valkey(var: Path) -> Valkey:
    return Valkey(var / "valkey", var / "log" / "valkey.log")


class Launched:
    """A Python process of the project, its output in a file."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.pid = process.pid
        self.log = log

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def says(self, text: str, *, seconds: float = 120) -> None:
        """Wait until it has printed the text; fails when it ends without."""
        processes.wait_until(
            lambda: text in self.output() or self.process.poll() is not None, seconds=seconds
        )
        assert text in self.output(), f"{text!r} is not in: {self.output()}"

    def ends(self, *, seconds: float = 60) -> int:
        return self.process.wait(timeout=seconds)


@contextmanager
def launched(log: Path, *arguments: str, **environment: str) -> Iterator[Launched]:
    """``python ARGUMENTS`` in the project, in a session of its own; killed if it is still there."""
    inherited = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=inherited | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Launched(process, log)
    finally:
        process.kill()
        process.wait()
