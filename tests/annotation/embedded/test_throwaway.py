"""``python -m annotation.embedded throwaway``: servers for one command."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.annotation.embedded.conftest import launched

THROWAWAY = ("-m", "annotation.embedded", "throwaway")
# Prints its environment, then does what the argument says.
PROGRAM = """
import os, signal, sys, psycopg, redis
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    print("data", *connection.execute("SHOW data_directory").fetchone())
    print("fsync", *connection.execute("SHOW fsync").fetchone())
redis.Redis.from_url(os.environ["REDIS_URL"]).ping()
print("var", os.environ["VAR_DIR"])
print("ready", flush=True)
exec(sys.argv[1])
"""


def value(output: str, name: str) -> Path:
    return Path(
        next(line.partition(" ")[2] for line in output.splitlines() if line.startswith(f"{name} "))
    )


def assert_gone(output: str) -> None:
    """No server works in the folder any more, and the folder is gone."""
    folder = value(output, "data").parent
    assert not folder.exists()
    assert not [
        process.pid
        for process in psutil.process_iter(["name", "cmdline"])
        if str(folder) in " ".join(process.info["cmdline"] or [])
    ]


@pytest.mark.parametrize(
    ("action", "code"),
    [("sys.exit(7)", 7), ("os.kill(os.getpid(), signal.SIGSEGV)", 128 + signal.SIGSEGV)],
)
def test_the_commands_end_is_passed_on_and_nothing_stays(
    tmp_path: Path, action: str, code: int
) -> None:
    log = tmp_path / "log"
    with launched(log, *THROWAWAY, "--durable", "--", "python", "-c", PROGRAM, action) as run:
        assert run.ends() == code
    assert "fsync on" in run.output()
    assert value(run.output(), "var").parent == value(run.output(), "data").parent
    assert_gone(run.output())


def test_two_at_once_and_both_are_interrupted(tmp_path: Path) -> None:
    signals = (signal.SIGINT, signal.SIGTERM)
    action = (
        "for each in (2, 15): signal.signal(each, lambda n, f: (print('got', n), sys.exit(n)))\n"
        "print('waiting', flush=True)\n"
        "while True: signal.pause()"
    )
    with ExitStack() as stack:
        runs = [
            stack.enter_context(
                launched(tmp_path / signum.name, *THROWAWAY, "python", "-c", PROGRAM, action)
            )
            for signum in signals
        ]
        for run in runs:
            run.says("waiting")
        assert value(runs[0].output(), "data") != value(runs[1].output(), "data")
        for run, signum in zip(runs, signals, strict=True):
            os.kill(run.pid, signum)
        for run, signum in zip(runs, signals, strict=True):
            assert run.ends() == signum
            assert f"got {signum}" in run.output()
            assert "fsync off" in run.output()
            assert "Traceback" not in run.output()
            assert_gone(run.output())


def test_given_servers_are_passed_on(tmp_path: Path) -> None:
    given = {"DATABASE_URL": "postgres://elsewhere/a", "REDIS_URL": "redis://elsewhere"}
    program = "import os; print(os.environ['DATABASE_URL'], os.environ['REDIS_URL'])"
    with launched(tmp_path / "log", *THROWAWAY, "python", "-c", program, **given) as run:
        assert run.ends() == 0
    assert run.output().split() == list(given.values())
