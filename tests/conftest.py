"""What all tests share: static files without a manifest, a broker per test process, a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import hypothesis
import pytest
from celery import current_app
from django.conf import settings as django_settings
from django.db import connection
from django.utils import translation

# In CI the same examples every time: a red run there means that something changed.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


def wait_until(condition: Callable[[], object], *, seconds: float = 60.0, what: str = "") -> None:
    """Poll until the condition holds; fails after the limit."""
    import time

    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            pytest.fail(f"not within {seconds} s: {what or condition}")
        time.sleep(0.02)


def shared_data(*parts: str) -> Path:
    """A file of the shared reference data; the test is skipped where there is none."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"reference data is not on this machine: shared/data/{'/'.join(parts)}")
    return path


@pytest.fixture(autouse=True, scope="session")
def _environment(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> None:
    """Each test process has its own releases folder and its own queue of the broker."""
    number = int(worker_id.removeprefix("gw")) if worker_id != "master" else 0
    base = django_settings.CELERY_BROKER_URL.rsplit("/", 1)[0]
    django_settings.CELERY_BROKER_URL = f"{base}/{number + 1}"
    current_app.conf.update(
        broker_url=django_settings.CELERY_BROKER_URL, broker_read_url=None, broker_write_url=None
    )
    django_settings.RELEASES_DIR = tmp_path_factory.mktemp("releases")
    django_settings.STATIC_ROOT = tmp_path_factory.mktemp("static")
    django_settings.STORAGES = django_settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _own_language() -> Iterator[None]:
    """What a request activated in this thread ends with the test."""
    yield
    translation.deactivate()


def process_environment() -> dict[str, str]:
    """For a process of the project that works on this test's database, broker and folders."""
    database = connection.settings_dict
    user, password = (quote(str(database[key]), safe="") for key in ("USER", "PASSWORD"))
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "annotation.settings",
        "DATABASE_URL": (
            f"postgres://{user}:{password}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
        ),
        "REDIS_URL": django_settings.CELERY_BROKER_URL,
        "SECRET_KEY": django_settings.SECRET_KEY,
        "RELEASES_DIR": str(django_settings.RELEASES_DIR),
    }


@contextmanager
def worker_process(log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker in a process group of its own, on this test's database and broker."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(
                    sys.executable,
                    "-m",
                    "celery",
                    "-A",
                    "annotation",
                    "worker",
                    "--concurrency",
                    "1",
                ),
                *("--loglevel", "INFO", "--without-gossip", "--without-mingle"),
            ],
            cwd=ROOT,
            env=process_environment() | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(
            lambda: process.poll() is not None or current_app.control.ping(timeout=0.5),
            what="worker answers",
        )
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def empty_queue(transactional_db: None) -> None:
    """No message of an earlier test is left for the workers of this one."""
    current_app.control.purge()


@pytest.fixture
def celery_worker(empty_queue: None, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker, ready for jobs."""
    with worker_process(tmp_path / "worker.log") as process:
        yield process
