from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from annotation.embedded import processes
from annotation.embedded.errors import SetupError


def test_a_pid_counts_only_with_its_start_command_and_folder(tmp_path: Path) -> None:
    process = psutil.Process()
    me, started = process.pid, process.create_time()
    here = Path(process.cwd())
    assert processes.find(me, started=started, command="python", cwd=here)
    assert processes.find(me, started=started - 3600) is None
    assert processes.find(me, command="postgres-of-nobody") is None
    assert processes.find(me, cwd=tmp_path) is None
    child = processes.spawn(["true"])
    assert processes.wait_until(lambda: not child.alive(), seconds=30)
    assert processes.find(child.pid, started=child.started) is None


def test_a_process_that_ignores_the_first_signal_gets_the_next(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('ready', flush=True); signal.pause()"
    )
    running = processes.spawn([sys.executable, "-c", program], log=log)
    assert processes.wait_until(lambda: "ready" in log.read_text(), seconds=30)
    running.stop((signal.SIGTERM, 0.1), (signal.SIGKILL, 30))
    assert running.child
    assert running.child.returncode == -signal.SIGKILL


def test_a_child_gets_no_key_of_the_terminal() -> None:
    running = processes.spawn(["sleep", "60"])
    try:
        assert os.getsid(running.pid) == running.pid
    finally:
        running.stop((signal.SIGKILL, 30))


def test_a_lock_is_free_again_when_its_holder_is_killed(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    program = (
        "import pathlib, signal, sys; from annotation.embedded import processes\n"
        "with processes.locked(pathlib.Path(sys.argv[1]), seconds=0) as taken:\n"
        "    print(taken, flush=True); signal.pause()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, lock], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "True\n"
    assert processes.is_locked(lock)
    with processes.locked(lock, seconds=0) as taken:
        assert not taken
    holder.kill()
    holder.communicate()
    assert not processes.is_locked(lock)
    with processes.locked(lock, seconds=0) as taken:
        assert taken


def test_a_taken_port_is_seen_with_its_owner() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not processes.port_is_free(port)
        assert f"pid {os.getpid()}" in processes.listener(port)
    assert processes.port_is_free(port)


def test_a_port_of_the_system_is_refused_to_others() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if os.geteuid() == 0 or first == 0:
        pytest.skip("this user may use every port")
    with pytest.raises(SetupError, match="above 1023"):
        processes.port_is_free(1)


def test_complaint_prefers_the_fatal_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("FATAL: old\n", encoding="utf-8")
    start = log.stat().st_size
    assert processes.complaint(log, start=start) == ""
    with log.open("a", encoding="utf-8") as file:
        file.write("LOG: one\nFATAL: why\nLOG: shut down\n")
    assert processes.complaint(log, start=start) == "FATAL: why"
    assert processes.complaint(tmp_path / "none") == ""
