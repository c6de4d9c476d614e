"""The programs of the Procfile, each under honcho."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from annotation.embedded import folders, processes
from annotation.embedded.errors import SetupError
from annotation.embedded.processes import Running

NAMES = ("web", "worker")  # in the order in which they stop

# Finish what is under way; then drop it (a job goes back to the queue); then no more asking.
_STOPPING = ((signal.SIGTERM, 6.0), (signal.SIGQUIT, 4.0), (signal.SIGKILL, 2.0))


def part_names(name: str) -> tuple[str, str]:
    return name, f"{name}.honcho"


@dataclass(frozen=True)
class Program:
    """A program and the honcho above it; either may be gone when they are found again."""

    name: str
    main: Running | None
    honcho: Running | None

    @classmethod
    def of_parts(cls, name: str, parts: Mapping[str, Running]) -> Program:
        return cls(name, *(parts.get(part) for part in part_names(name)))

    def parts(self) -> dict[str, Running]:
        pairs = zip(part_names(self.name), (self.main, self.honcho), strict=True)
        return {part: running for part, running in pairs if running}

    def alive(self) -> bool:
        return all(running.alive() for running in self.parts().values())

    def ending(self) -> str:
        """How it ended, for a message."""
        # honcho passes the exit code on, unless it was killed itself.
        processes.wait_until(lambda: not self.honcho_alive(), seconds=2)
        code = self.honcho.child.poll() if self.honcho and self.honcho.child else None
        if code is None:
            return f"{self.name} ended"
        # honcho was killed, or says so of the program in its one byte.
        signum = -code if code < 0 else 256 - code if code > 192 else None
        return f"{self.name} " + (f"was killed (signal {signum})" if signum else f"ended ({code})")

    def stop(self) -> None:
        if self.main:
            # Not through honcho: it signals the whole group, and a pool that loses its
            # processes before its parent knows complains about each.
            self.main.stop(*_STOPPING)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.main.pid, signal.SIGKILL)
        if self.honcho:
            processes.wait_until(lambda: not self.honcho_alive(), seconds=2)
            self.honcho.stop((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))

    def honcho_alive(self) -> bool:
        return self.honcho is not None and self.honcho.alive()


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The caller's variables and these, with this Python first on the path."""
    here = Path(sys.executable).parent
    return {
        # Two a core: a browser's connection stays with one process, so with one a core some wait in
        # a long queue while another core idles.
        "WEB_CONCURRENCY": str(2 * (os.cpu_count() or 1)),
        **os.environ,
        "PATH": f"{here}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONUNBUFFERED": "1",
        **extra,
    }


def start(name: str, *, env: Mapping[str, str], log: Path | None = None) -> Program:
    """Start a program of the Procfile; output goes to ``log``, else to the terminal."""
    plain = ["--no-colour", "--no-prefix"] if log else []
    honcho = processes.spawn(
        processes.python(
            # No .env file: it would set DATABASE_URL here and nowhere else.
            *("-m", "honcho", "start", "--env", os.devnull, "--port", env["PORT"], *plain, name)
        ),
        log=log,
        env=env,
        cwd=folders.ROOT,
    )
    found: list[Running] = []

    def begun() -> bool:
        # honcho gives the program a session of its own.
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            for process in psutil.Process(honcho.pid).children(recursive=True):
                if os.getsid(process.pid) == process.pid:
                    found.append(Running(process.pid, process.create_time()))
        return bool(found) or not honcho.alive()

    try:
        processes.wait_until(begun, seconds=60)
        if not found:
            raise SetupError(f"{name} did not start: see {log or 'the lines above'}.")
    except BaseException:
        honcho.stop((signal.SIGTERM, 3.0), (signal.SIGKILL, 2.0))
        raise
    return Program(name, found[0], honcho)


def manage(*arguments: str, env: Mapping[str, str], log: Path | None = None) -> int:
    """Run manage.py and return its exit code; a signal to stop ends it."""
    return run(processes.python("manage.py", *arguments), env=env, log=log)


def ping_worker(env: Mapping[str, str], *, log: Path) -> bool:
    """Whether the worker named in the environment answers over the broker."""
    arguments = ("--destination", env["WORKER_NAME"], "--timeout", "2")
    command = processes.python("-m", "celery", "-A", "annotation", "inspect", "ping", *arguments)
    return run(command, env=env, log=log) == 0


def run(command: list[str], *, env: Mapping[str, str], log: Path | None) -> int:
    running = processes.spawn(command, env=env, log=log, cwd=folders.ROOT)
    try:
        processes.wait_until(lambda: not running.alive(), seconds=float("inf"), pause=0.02)
    finally:
        running.stop((signal.SIGTERM, 5.0), (signal.SIGKILL, 2.0))
    assert running.child
    return running.child.wait()
