"""A database of the bench's own, and the site on it as the Procfile starts it."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from annotation.embedded import processes, programs
from annotation.embedded.programs import Program


@contextlib.contextmanager
def own_database(url: str) -> Iterator[str]:
    """The address of an empty database on the same server, dropped at the end."""
    name = f"bench_{os.getpid()}_{secrets.token_hex(3)}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def manage(*arguments: str, log: Path) -> None:
    """Run manage.py; CalledProcessError, with its output in the log, when it fails."""
    with log.open("ab") as output:
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            stdout=output,
            stderr=output,
            check=True,
        )


@dataclass(frozen=True)
class Site:
    """The web server and the worker, both running."""

    port: int
    web: Program
    worker: Program


@contextlib.contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Start web server and worker, wait until both answer, stop them at the end."""
    manage("collectstatic", "--no-input", log=folder / "collectstatic.log")
    env = programs.environment(
        {
            "PORT": str(processes.free_port()),
            "WORKER_NAME": f"bench-{os.getpid()}@{socket.gethostname()}",
        }
    )
    with contextlib.ExitStack() as stack:
        started = {}
        for name in programs.NAMES:
            started[name] = programs.start(name, env=env, log=folder / f"{name}.log")
            stack.callback(started[name].stop)
        _wait(started["web"], lambda: _web_answers(int(env["PORT"])), folder / "web.log")
        _wait(
            started["worker"],
            lambda: programs.ping_worker(env, log=folder / "ping.log"),
            folder / "worker.log",
        )
        yield Site(port=int(env["PORT"]), web=started["web"], worker=started["worker"])


def _wait(program: Program, answers: Callable[[], bool], log: Path) -> None:
    def done() -> bool:
        return not program.alive() or answers()

    if not processes.wait_until(done, seconds=60) or not program.alive():
        raise RuntimeError(f"{program.name} does not answer: {log.read_text()[-2000:]}")


def _web_answers(port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/healthz", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False
