"""``make run``, ``make services`` and ``make stop``."""

from __future__ import annotations

import contextlib
import os
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from annotation.embedded import processes, programs, services
from annotation.embedded.errors import SetupError
from annotation.embedded.processes import LOCALHOST, Interrupted, say
from annotation.embedded.programs import Program

_READY_SECONDS = 180.0


def run(var: Path) -> int:
    """Start everything, say where it is, and stop it all on Ctrl-C or when a part dies."""
    port = _port()
    processes.remember_signals()
    with _only_run(var), contextlib.ExitStack() as started:
        try:
            _run(var, started, port=port)
        except Interrupted:
            say("\nStopping.")
        finally:
            processes.ignore_signals()
            with services.prepared(var):
                services.stop(var, owner="run")
            # What is not noted any more, should somebody have removed var/ meanwhile.
            started.close()
        say("Stopped. The data stays.")
    return 0


def start_services(var: Path) -> int:
    """Start servers and a worker that outlive this command."""
    processes.remember_signals()
    try:
        with services.prepared(var):
            if processes.is_locked(services.run_lock(var)):
                say("`make run` is running here, and manage.py already uses its servers.")
                return 0
            _start_services(var)
    except Interrupted:
        say("\nInterrupted; `make stop` stops what runs already.")
        return 130
    return 0


def stop_services(var: Path) -> int:
    """Stop what `make services`, or a killed `make run`, left running."""
    if not var.exists():
        say("Nothing is running.")
        return 0
    with services.prepared(var):
        if processes.is_locked(services.run_lock(var)):
            raise SetupError("`make run` is running here: stop it with Ctrl-C first.")
        stopped = services.stop(var, owner="services") + services.stop(var, owner="run")
    say(f"Stopped: {', '.join(stopped)}." if stopped else "Nothing is running.")
    return 0


def _run(var: Path, started: contextlib.ExitStack, *, port: int) -> None:
    with services.prepared(var):
        services.clear_leftovers(var)
        if not processes.port_is_free(port):
            raise SetupError(
                f"Port {port} is in use{processes.listener(port)}."
                f" Take another: `PORT={port + 1} make run`."
            )
        servers = services.start(var, owner="run")
    for each in servers:
        if each.mine:
            started.callback(each.server.stop, each.running)
    env = services.environment(var, owner="run", port=port)
    _migrate(var, env)
    if programs.manage("load_demo", "--if-local", env=env):
        raise SetupError("The demo could not be loaded: see the lines above.")
    _prepare(var, env, "collectstatic", failure="The static files could not be collected")
    running = []
    for name in programs.NAMES:
        program = programs.start(name, env=env)
        started.callback(program.stop)
        services.note(var, program, owner="run")
        running.append(program)
    log = var / "log"
    watch = _watcher(running, servers, log=log)
    _wait_for_web(env, watch)
    _wait_for_worker(env, watch, log=log / "ping.log")
    say(f"\nPersonaFeedback is at {_address(env)}   (Ctrl-C stops it)")
    programs.manage("load_demo", "--print-logins", "--if-local", env=env)
    processes.wait_until(lambda: bool(watch()), seconds=float("inf"), pause=0.2)
    raise SetupError(watch())


def _start_services(var: Path) -> None:
    services.clear_leftovers(var)
    servers = services.start(var, owner="services")
    env = services.environment(var, owner="services", port=_port())
    _migrate(var, env)
    if not services.noted(var, "worker", owner="services"):
        log = var / "log"
        worker = programs.start("worker", env=env, log=log / "worker.log")
        services.note(var, worker, owner="services")
        _wait_for_worker(env, _watcher([worker], servers, log=log), log=log / "ping.log")
        say(f"Worker: started, log in {log / 'worker.log'}")
    say("Ready for `.venv/bin/python manage.py ...`; `make stop` stops them.")


@contextlib.contextmanager
def _only_run(var: Path) -> Iterator[None]:
    """One `make run` a folder; another would migrate and stop the same data."""
    with services.prepared(var):
        pass
    lock = services.run_lock(var)
    with processes.locked(lock, seconds=0.5) as taken:
        if not taken:
            raise SetupError(
                f"`make run` is running here already (pid {lock.read_text().strip()}):"
                " stop it with Ctrl-C there first."
            )
        lock.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield


def _port() -> int:
    text = os.environ.get("PORT") or "8000"
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise SetupError(f"PORT={text} is not a port: give a number from 1024 to 65535.")
    return int(text)


def _address(env: Mapping[str, str]) -> str:
    return env.get("PUBLIC_URL") or f"http://{LOCALHOST}:{env['PORT']}"


def _prepare(var: Path, env: Mapping[str, str], command: str, *, failure: str) -> None:
    """Run a command of manage.py whose output is of interest only when it fails."""
    log = var / "log" / f"{command}.log"
    begin = log.stat().st_size if log.exists() else 0
    if programs.manage(command, "--no-input", env=env, log=log):
        complaint = processes.complaint(log, start=begin)
        if complaint.startswith("Settings: "):
            raise SetupError(complaint)
        raise SetupError(f"{failure}: {complaint} (see {log})")


def _migrate(var: Path, env: Mapping[str, str]) -> None:
    _prepare(var, env, "migrate", failure="The database could not be migrated")
    say("Database: up to date.")


def _watcher(
    running: list[Program], servers: list[services.Started], *, log: Path
) -> Callable[[], str]:
    """A function that says which part ended, or nothing while all of them live."""

    def watch() -> str:
        for program in running:
            if not program.alive():
                return f"{program.ending()}, so everything else is stopped too."
        for each in servers:
            if not each.running.alive():
                return f"{each.server.title} ended, so everything else is stopped too: see {log}."
        return ""

    return watch


def _wait_for_web(env: Mapping[str, str], watch: Callable[[], str]) -> None:
    request = urllib.request.Request(
        f"http://{LOCALHOST}:{env['PORT']}/healthz",
        headers={"Host": urlsplit(_address(env)).netloc},
    )
    # A proxy of the environment has no business on this machine's own address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    last = ""

    def answers() -> bool:
        nonlocal last
        try:
            with opener.open(request, timeout=5):
                return True
        except OSError as error:  # HTTP errors are among them
            last = str(error)
            return False

    if not _wait_for(answers, watch):
        raise SetupError(f"The web server does not answer at /healthz: {last}.")


def _wait_for_worker(env: Mapping[str, str], watch: Callable[[], str], *, log: Path) -> None:
    if not _wait_for(lambda: programs.ping_worker(env, log=log), watch):
        raise SetupError(f"The worker does not answer: see {log}.")


def _wait_for(answers: Callable[[], bool], watch: Callable[[], str]) -> bool:
    """Wait for an answer; SetupError when a part ends before it."""

    def answered() -> bool:
        if ended := watch():
            raise SetupError(ended)
        return answers()

    return processes.wait_until(answered, seconds=_READY_SECONDS)
