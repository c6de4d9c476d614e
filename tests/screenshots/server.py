"""The demo on a web server and a worker, for as long as the pictures take."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 60


@contextmanager
def demo_server() -> Iterator[str]:
    """Migrate, load the demo, start web server and worker; the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {"PORT": str(port), "PUBLIC_URL": address, "LOG_LEVEL": "WARNING"}
    environment.pop("DEBUG", None)

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", *arguments], cwd=ROOT, env=environment)

    for command in (["migrate"], ["collectstatic", "--noinput"], ["load_demo"]):
        done = subprocess.run(
            [sys.executable, "manage.py", *command, "--verbosity", "0"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    if "Demo loaded." not in done.stdout:
        # The pictures need pairs that nobody has judged, and judging somebody's own would harm.
        raise SystemExit("The database is not empty: unset DATABASE_URL and use make screenshots.")
    with ExitStack() as stack:
        for arguments in (
            ["gunicorn", "annotation.wsgi:application", "--bind", f"127.0.0.1:{port}"],
            ["celery", "--quiet", "-A", "annotation", "worker", "--concurrency", "1"],
        ):
            process = start(*arguments)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        _wait(f"{address}/healthz")
        yield address


def _wait(address: str) -> None:
    limit = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310
                return
        except OSError:  # nobody listens yet, or answers yet
            if time.monotonic() > limit:
                raise
            time.sleep(0.1)
