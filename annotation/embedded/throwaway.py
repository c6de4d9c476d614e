"""Servers for one command only: tests, benchmarks, screenshots."""

from __future__ import annotations

import contextlib
import os
import signal

from annotation.embedded import accounts, folders, processes, programs
from annotation.embedded.postgres import Postgres
from annotation.embedded.processes import Interrupted, Running
from annotation.embedded.server import Server
from annotation.embedded.valkey import Valkey

# Each of pytest's processes holds a few, the race tests some dozens.
_CONNECTIONS = 300


def throwaway(command: list[str], *, durable: bool) -> int:
    """Run the command against fresh servers and an empty VAR_DIR; return its exit code.

    Only the servers that the environment does not name are started. Without ``durable``
    PostgreSQL does not wait for the disk.
    """
    processes.remember_signals()
    try:
        return _throwaway(command, durable=durable)
    except Interrupted as interrupted:
        return 128 + interrupted.signum
    finally:
        processes.ignore_signals()


def _throwaway(command: list[str], *, durable: bool) -> int:
    account = accounts.for_postgres()
    with folders.throwaway_folder(account) as folder, contextlib.ExitStack() as stack:
        var = folder / "var"
        folders.make(var)
        extra = {} if os.environ.get("VAR_DIR") else {"VAR_DIR": str(var)}
        possible: list[Server] = [
            Postgres(folder / "postgres", folder / "postgres.log", account, durable, _CONNECTIONS),
            Valkey(folder / "valkey", folder / "valkey.log", durable=durable),
        ]
        for server in possible:
            if not os.environ.get(server.variable):
                running = server.start()
                stack.callback(_stop, server, running)
                extra[server.variable] = server.url()
        child = processes.spawn(command, env=programs.environment(extra), cwd=folders.ROOT)
        return _follow(child)


def _stop(server: Server, running: Running) -> None:
    processes.ignore_signals()
    server.stop(running)


def _follow(child: Running) -> int:
    """Wait for the command, hand every signal on to it, and leave nothing of its group behind."""
    while True:
        try:
            processes.wait_until(lambda: not child.alive(), seconds=float("inf"))
            break
        except Interrupted as interrupted:
            processes.remember_signals()
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, interrupted.signum)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    assert child.child
    return processes.exit_code(child.child.wait())
