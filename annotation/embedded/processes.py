"""Processes: who is who, starting, waiting, stopping; signals, locks and ports."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psutil

from annotation.embedded.accounts import Account
from annotation.embedded.errors import SetupError

LOCALHOST = "127.0.0.1"
# Two readings of a start time differ by what the system's clock was set in between.
_CLOCK_SLACK = 10.0


def say(text: str) -> None:
    """Print one line; a closed terminal must not keep anything from being stopped."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


@dataclass
class Running:
    """A process that was started here (``child``) or found by its recorded pid."""

    pid: int
    started: float
    child: subprocess.Popen[bytes] | None = None

    def alive(self) -> bool:
        if self.child is not None:
            return self.child.poll() is None
        return find(self.pid, started=self.started) is not None

    def stop(self, *steps: tuple[int, float]) -> None:
        """Send each signal in turn until the process ends, waiting that many seconds for it."""
        for signum, seconds in steps:
            if not self.alive():
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)
            if wait_until(lambda: not self.alive(), seconds=seconds):
                return


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    account: Account | None = None,
) -> Running:
    """Start a process in a session of its own, so that no key of the terminal reaches it.

    Output is appended to ``log``, else goes where this process's goes.
    """
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(log.open("ab")) if log else None
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            env=env,
            cwd=cwd or "/",
            start_new_session=True,
            **(account.drop() if account else {}),
        )
    return Running(child.pid, psutil.Process(child.pid).create_time(), child)


def find(
    pid: int, *, started: float | None = None, command: str = "", cwd: Path | None = None
) -> Running | None:
    """The live process of this pid, if it is the one that is meant.

    Pids are handed out again, so at least one of its start time, a word of its command line and
    its working folder should be given.
    """
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            begun = process.create_time()
            if started is not None and abs(begun - started) > _CLOCK_SLACK:
                return None
            if command and not any(command in word for word in process.cmdline()):
                return None
            if cwd is not None and process.cwd() != str(cwd.resolve()):
                return None
            return Running(pid, begun)
    except (psutil.Error, ValueError):
        return None


def wait_until(condition: Callable[[], bool], *, seconds: float, pause: float = 0.05) -> bool:
    """Ask until the condition holds or the time is up; Interrupted when a signal asks to stop."""
    deadline = time.monotonic() + seconds
    while not condition():
        check_signals()
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def complaint(log: Path, *, start: int = 0) -> str:
    """What a log, from the byte ``start`` on, says last: its last fatal line, else its last."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(start, log.stat().st_size - 4096))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
        fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
        return (fatal or lines or [""])[-1].strip()
    return ""


# Signals. A handler that raises could do so between starting a process and noting its pid, so
# they are only remembered here, and asked for where it is safe to leave.

_received: int | None = None


class Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP asked for the end."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


def _remember(signum: int, _frame: FrameType | None) -> None:
    global _received
    _received = signum


def remember_signals() -> None:
    """From now on SIGINT, SIGTERM and SIGHUP are remembered until ``check_signals``."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup asks to outlive the terminal.
        if signum != signal.SIGHUP or signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, _remember)


def check_signals() -> None:
    if _received is not None:
        signum = _received
        ignore_signals()
        raise Interrupted(signum)


def ignore_signals() -> None:
    """For the way out: a second Ctrl-C must not leave half of it running."""
    global _received
    _received = None
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)


def exit_code(code: int) -> int:
    """A child's return code as a shell shows it."""
    return 128 - code if code < 0 else code


# Locks. The system frees a flock however its holder ends, so none goes stale.


@contextlib.contextmanager
def locked(path: Path, *, seconds: float) -> Iterator[bool]:
    """Hold the lock for the block; False when another process holds it for that long."""
    with path.open("a") as file:

        def take() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        yield wait_until(take, seconds=seconds)


def is_locked(path: Path) -> bool:
    if not path.exists():
        return False
    with locked(path, seconds=0) as taken:
        return not taken


# Ports.


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOCALHOST, 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(port: int) -> bool:
    """Whether a server could listen there now; SetupError if this user never may."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCALHOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise SetupError(
                f"Port {port} cannot be used ({error.strerror}): take one above 1023, as in"
                " `PORT=8001 make run`."
            ) from error
        return True


def listener(port: int) -> str:
    """Who listens on the port, as far as this user may know: `` (python, pid 123)`` or nothing."""
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            # Address and port, or nothing at all.
            if connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,):
                if connection.pid:
                    return f" ({psutil.Process(connection.pid).name()}, pid {connection.pid})"
                break
    return ""


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]
