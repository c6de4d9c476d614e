"""``python -m annotation.embedded run``: the whole thing, as `make run` starts it."""

from __future__ import annotations

import os
import signal
import socket
import urllib.request
from pathlib import Path

import psutil

from annotation.embedded import processes, services
from tests.annotation.embedded.conftest import Launched, launched

RUN = ("-m", "annotation.embedded", "run")


def left_of(var: Path) -> list[str]:
    """The command lines of living processes that have this VAR_DIR."""
    found = []
    for process in psutil.process_iter(["environ", "cmdline", "status"]):
        if process.info["status"] != psutil.STATUS_ZOMBIE and (process.info["environ"] or {}).get(
            "VAR_DIR"
        ) == str(var):
            found.append(" ".join(process.info["cmdline"]))
    return found


def assert_answers(run: Launched, port: int) -> None:
    run.says(f"at http://127.0.0.1:{port} ")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30) as response:
        assert response.status == 200


def test_kill_continue_break_continue_stop(var: Path, tmp_path: Path) -> None:
    """One story, as each start takes seconds: killed, taken over, a part dies, Ctrl-C."""
    port = processes.free_port()
    environment = {"VAR_DIR": str(var), "PORT": str(port), "WEB_CONCURRENCY": "1"}
    with launched(tmp_path / "killed", *RUN, **environment) as run:
        assert_answers(run, port)
        with launched(tmp_path / "second", *RUN, **environment) as second:
            assert second.ends() == 1
            assert f"is running here already (pid {run.pid})" in second.output()
        before = services.load(var)
        os.kill(run.pid, signal.SIGKILL)
        run.ends()

    with launched(tmp_path / "broken", *RUN, **environment) as run:
        assert_answers(run, port)
        assert "stopped the web and worker it left behind" in run.output()
        assert "in use again" in run.output()
        after = services.load(var)
        assert after["postgres"].pid == before["postgres"].pid
        assert after["run.web"].pid != before["run.web"].pid
        os.kill(after["run.worker"].pid, signal.SIGKILL)
        assert run.ends() == 1
        assert "worker was killed (signal 9), so everything else is stopped too." in run.output()
        assert "Traceback" not in run.output()
    assert left_of(var) == []

    with launched(tmp_path / "stopped", *RUN, **environment) as run:
        assert_answers(run, port)
        os.kill(run.pid, signal.SIGINT)
        assert run.ends() == 0
        assert "Traceback" not in run.output()
    assert left_of(var) == []
    assert services.load(var) == {}


def test_a_busy_port_is_named_before_anything_starts(var: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        environment = {"VAR_DIR": str(var), "PORT": str(port)}
        with launched(tmp_path / "log", *RUN, **environment) as run:
            assert run.ends() == 1
    assert f"Port {port} is in use" in run.output()
    assert f"`PORT={port + 1} make run`" in run.output()
    assert len(run.output().splitlines()) == 1
    assert not (var / "postgres").exists()


def test_a_port_that_is_none_is_refused(var: Path, tmp_path: Path) -> None:
    with launched(tmp_path / "log", *RUN, VAR_DIR=str(var), PORT="http") as run:
        assert run.ends() == 1
    assert run.output().startswith("PORT=http is not a port")
