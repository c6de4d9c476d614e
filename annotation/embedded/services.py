"""The project's own servers: start or adopt them, stop them, and keep ``var/services.json``.

Every process noted there has an owner, ``run`` or ``services``: whoever started it stops it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from annotation.embedded import accounts, folders, processes, programs, state
from annotation.embedded.errors import SetupError
from annotation.embedded.postgres import Postgres
from annotation.embedded.processes import Running, say
from annotation.embedded.server import Server, write_private
from annotation.embedded.valkey import Valkey

Owner = Literal["run", "services"]

_COMMANDS: dict[Owner, str] = {"run": "make run", "services": "make services"}
# Another command may be starting PostgreSQL on a slow disk.
_LOCK_SECONDS = 180.0


@dataclass(frozen=True)
class Record:
    """A process of the set-up; ``url`` for a server."""

    pid: int
    started: float
    owner: Owner
    url: str | None = None


def load(var: Path) -> dict[str, Record]:
    """What was noted last, by name: a server's, or ``OWNER.PROGRAM`` as programs are noted."""
    try:
        content = json.loads(state.path(var).read_text(encoding="utf-8"))
        return {name: Record(**values) for name, values in content.items()}
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        owner = state.path(var).owner()
        raise SetupError(
            f"{owner} started the servers of this folder: run this as {owner}, too."
        ) from error
    except (ValueError, TypeError, AttributeError):
        return {}  # servers are found again by their own pid files


def save(var: Path, records: Mapping[str, Record]) -> None:
    if not records:
        # Also so that another user of the folder is not kept out by a file that says nothing.
        state.path(var).unlink(missing_ok=True)
        return
    content = {name: asdict(record) for name, record in records.items()}
    write_private(state.path(var), content, account=None)


@contextlib.contextmanager
def prepared(var: Path) -> Iterator[None]:
    """Hold the right to change what runs; one command at a time has it."""
    folders.require_writable(var)
    folders.make(var / "log")
    with processes.locked(var / "services.lock", seconds=_LOCK_SECONDS) as taken:
        if not taken:
            raise SetupError("Another command is starting or stopping the servers: try again.")
        yield


def run_lock(var: Path) -> Path:
    """Locked as long as `make run` runs; holds its pid."""
    return var / "run.lock"


def servers(var: Path, *, given: bool = False) -> dict[str, Server]:
    """The embedded servers by name, unless the environment names others or ``given`` is true."""
    log = var / "log"
    found: dict[str, Server] = {}
    if given or not os.environ.get(Postgres.variable):
        data = folders.postgres_folder(var, accounts.for_postgres())
        account = accounts.for_postgres(data)
        found["postgres"] = Postgres(data, log / "postgres.log", account)
    if given or not os.environ.get(Valkey.variable):
        found["valkey"] = Valkey(var / "valkey", log / "valkey.log")
    return found


@dataclass(frozen=True)
class Started:
    """A server that runs, and whether it is the starter's to stop."""

    server: Server
    running: Running
    mine: bool


def start(var: Path, *, owner: Owner) -> list[Started]:
    """Start what is not running yet and return all. Call within ``prepared``.

    A server that `make services` started stays its own. One that was left by a killed command
    gets the new owner.
    """
    started = []
    records = load(var)
    for name, server in servers(var).items():
        processes.check_signals()
        running = server.find()
        if running and server.wait(running):
            record = records.get(name)
            if record and record.pid == running.pid and record.owner == "services":
                say(f"{server.title}: running already, started by `make services`.")
            else:
                record = Record(running.pid, running.started, owner)
                say(f"{server.title}: left running by a killed command, in use again.")
        else:
            running = server.start()
            record = Record(running.pid, running.started, owner)
            say(f"{server.title}: started, data in {server.data}")
        records[name] = replace(record, url=server.url())
        save(var, records)
        started.append(Started(server, running, mine=record.owner == owner))
    return started


def environment(var: Path, *, owner: Owner, port: int) -> dict[str, str]:
    """What web server, worker and manage.py are started with: the caller's, and our servers."""
    addresses = {
        server.variable: record.url
        for name, server in servers(var).items()
        if (record := load(var).get(name)) and record.url
    }
    return programs.environment(
        {
            **addresses,
            "VAR_DIR": str(var),
            "PORT": str(port),
            "WORKER_NAME": f"{owner}-{os.getpid()}@{socket.gethostname()}",
        }
    )


def note(var: Path, program: programs.Program, *, owner: Owner) -> None:
    """Write down a program, so that it is found even if this process is killed."""
    records = load(var)
    for part, running in program.parts().items():
        records[f"{owner}.{part}"] = Record(running.pid, running.started, owner)
    save(var, records)


def noted(var: Path, name: str, *, owner: Owner) -> programs.Program | None:
    """The program of that name in the Procfile, if this owner's is still running."""
    records = load(var)
    alive = {
        part: running
        for part in programs.part_names(name)
        if (record := records.get(f"{owner}.{part}"))
        and (running := processes.find(record.pid, started=record.started))
    }
    return programs.Program.of_parts(name, alive) if alive else None


def stop_programs(var: Path, *, owner: Owner) -> list[str]:
    """Stop the web server, then the worker; return what was stopped."""
    stopped = []
    for name in programs.NAMES:
        if program := noted(var, name, owner=owner):
            program.stop()
            stopped.append(name)
    records = load(var)
    save(var, {key: value for key, value in records.items() if not key.startswith(f"{owner}.")})
    return stopped


def stop(var: Path, *, owner: Owner) -> list[str]:
    """Stop all that this owner started, or that nobody noted, servers last; within ``prepared``."""
    stopped = stop_programs(var, owner=owner)
    records = load(var)
    for name, server in servers(var, given=True).items():
        if name in records and records[name].owner != owner:
            continue
        running = server.find()
        if running:
            server.stop(running)
            stopped.append(server.title)
        records.pop(name, None)
        save(var, records)
    return stopped


def clear_leftovers(var: Path) -> None:
    """Stop the web server and worker of a `make run` that was killed; within ``prepared``."""
    left = stop_programs(var, owner="run")
    if left:
        say(f"An earlier `make run` was killed: stopped the {' and '.join(left)} it left behind.")
