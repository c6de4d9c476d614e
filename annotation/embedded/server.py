"""What PostgreSQL and Valkey have in common: a data folder, a port, a password, a process."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from annotation.embedded import processes
from annotation.embedded.accounts import Account
from annotation.embedded.errors import SetupError
from annotation.embedded.processes import Running

# A server that was killed reads its log again before it answers.
_START_SECONDS = 120.0


@dataclass(frozen=True)
class Access:
    """How to reach a server; kept in its data folder, so that both live and die together."""

    port: int
    password: str

    @classmethod
    def new(cls) -> Access:
        return cls(processes.free_port(), secrets.token_hex(24))

    @classmethod
    def read(cls, data: Path) -> Access:
        path = data / "access.json"
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise SetupError(
                f"{path}, which holds the server's password, cannot be read: put it back, or move"
                f" {data} away to start with empty data."
            ) from error

    def write(self, data: Path, *, account: Account | None = None) -> None:
        write_private(data / "access.json", vars(self), account=account)


def write_private(path: Path, content: Mapping[str, object], *, account: Account | None) -> None:
    """Replace a JSON file in one step; only its owner can read it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        if account:
            os.fchown(file.fileno(), account.uid, account.gid)
        json.dump(content, file, indent=1)
    Path(file.name).replace(path)


@dataclass(frozen=True)
class Server(ABC):
    """A server program on 127.0.0.1 with its data in a folder of its own."""

    title: ClassVar[str]
    variable: ClassVar[str]
    pid_file: ClassVar[str]
    program: ClassVar[str]
    stopping: ClassVar[tuple[tuple[int, float], ...]]

    data: Path
    log: Path
    account: Account | None = None
    durable: bool = True

    @abstractmethod
    def create(self) -> None:
        """Make the data folder, unless there is one."""

    @abstractmethod
    def launch(self, access: Access) -> Running:
        """Start the program, without waiting for it."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it accepts our password and serves."""

    @abstractmethod
    def url(self) -> str:
        """The address with name and password, as the settings expect it."""

    def find(self) -> Running | None:
        """The process that already works on this data folder, whoever started it."""
        try:
            first = (self.data / self.pid_file).read_text(encoding="ascii").split()[0]
            return processes.find(int(first), command=self.program, cwd=self.data)
        except (OSError, ValueError, IndexError):
            return None

    def start(self) -> Running:
        """Start it on its stored port, or on another where that one is taken, and wait for it."""
        self.create()
        access = Access.read(self.data)
        begin = self.log.stat().st_size if self.log.exists() else 0
        for _attempt in range(3):
            if not processes.port_is_free(access.port):
                access = Access(processes.free_port(), access.password)
                access.write(self.data, account=self.account)
            running = self.launch(access)
            try:
                if self.wait(running):
                    return running
            except BaseException:
                self.stop(running)
                raise
            if processes.port_is_free(access.port):
                break
        why = processes.complaint(self.log, start=begin)
        raise SetupError(f"{self.title} did not start: {why} (see {self.log})")

    def wait(self, running: Running) -> bool:
        """Wait until it answers; False when it ends or takes too long."""
        processes.wait_until(
            lambda: not running.alive() or self.answers(), seconds=_START_SECONDS, pause=0.02
        )
        if running.alive() and self.answers():
            return True
        self.stop(running)
        return False

    def stop(self, running: Running) -> None:
        running.stop(*self.stopping)
        if running.alive():
            raise SetupError(f"{self.title} (pid {running.pid}) does not stop: see {self.log}.")
