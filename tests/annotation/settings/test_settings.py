"""Settings as a fresh process reads them from its environment."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

KEY = "k" * 50
PUBLIC = {"PUBLIC_URL": "https://Judge.Example", "SECRET_KEY": KEY}
SHOW = """
import json
import django
from django.conf import settings
django.setup()
print(json.dumps({name: getattr(settings, name) for name in dir(settings) if name.isupper()},
                 default=str))
"""


def python(*arguments: str, var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with nothing of the project set but what is given."""
    ours = {"DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "PORT", "DEBUG"}
    # Tests with a browser set it for their process.
    ours.add("DJANGO_ALLOW_ASYNC_UNSAFE")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.removesuffix("_FILE") not in ours and not name.startswith("SECRET_KEY")
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=kept
        | {"DJANGO_SETTINGS_MODULE": "annotation.settings", "VAR_DIR": str(var)}
        | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )


def settings(var: Path, **variables: str) -> dict[str, Any]:
    done = python("-c", SHOW, var=var, **variables)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_at_home(tmp_path: Path) -> None:
    found = settings(tmp_path, PORT="8123")
    assert found["DEBUG"] is False
    assert found["PUBLIC_URL"] == "http://127.0.0.1:8123"
    assert found["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["http://127.0.0.1:8123"]
    assert not found["SESSION_COOKIE_SECURE"]
    assert not found["CSRF_COOKIE_SECURE"]
    assert not found["SECURE_SSL_REDIRECT"]
    assert found["SECURE_PROXY_SSL_HEADER"] is None
    # A key is made once, for its owner alone, and stays.
    key = tmp_path / "secret_key"
    assert found["SECRET_KEY"] == key.read_text()
    assert len(found["SECRET_KEY"]) >= 50
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert settings(tmp_path)["SECRET_KEY"] == found["SECRET_KEY"]
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_in_public(tmp_path: Path) -> None:
    found = settings(tmp_path, **PUBLIC)
    assert found["PUBLIC_URL"] == "https://judge.example"
    assert found["ALLOWED_HOSTS"] == ["judge.example"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://judge.example"]
    assert found["SESSION_COOKIE_SECURE"]
    assert found["CSRF_COOKIE_SECURE"]
    assert found["SECURE_SSL_REDIRECT"]
    assert found["SECURE_PROXY_SSL_HEADER"] == ["HTTP_X_FORWARDED_PROTO", "https"]
    assert found["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert found["SECRET_KEY"] == KEY
    assert not list(tmp_path.iterdir())


def test_in_public_without_tls_and_by_address(tmp_path: Path) -> None:
    found = settings(tmp_path, PUBLIC_URL="http://[2001:db8::1]:8000", SECRET_KEY=KEY)
    assert found["ALLOWED_HOSTS"] == ["[2001:db8::1]"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["http://[2001:db8::1]:8000"]
    assert not found["SESSION_COOKIE_SECURE"]
    assert not found["SECURE_SSL_REDIRECT"]


def test_a_key_out_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mounted"
    file.write_text(KEY + "\n")
    found = settings(
        tmp_path / "var", PUBLIC_URL="https://judge.example", SECRET_KEY_FILE=str(file)
    )
    assert found["SECRET_KEY"] == KEY


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"PUBLIC_URL": "https://judge.example"}, "SECRET_KEY (or SECRET_KEY_FILE) is not set"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is shorter"),
        ({"PUBLIC_URL": "judge.example"}, "PUBLIC_URL='judge.example'"),
        ({"DEBUG": "maybe"}, "DEBUG='maybe'"),
        ({"PORT": "eighty"}, "PORT='eighty'"),
        ({"DATABASE_URL": "sqlite:///x.db"}, "DATABASE_URL must start with postgres://"),
        ({"REDIS_URL": "127.0.0.1"}, "REDIS_URL must start with redis://"),
        ({"LEASE_SECONDS": "0"}, "LEASE_SECONDS=0"),
        ({"WORKER_CONCURRENCY": "-1"}, "WORKER_CONCURRENCY=-1"),
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL='LOUD'"),
        ({"TIME_ZONE": "Mars/Olympus"}, "TIME_ZONE='Mars/Olympus'"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_nonsense_is_refused_by_the_variables_name(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    done = python("manage.py", "check", var=tmp_path, **variables)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.startswith("Settings: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_key_that_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = python("manage.py", "check", var=tmp_path / "file" / "var")
    assert done.returncode == 1
    assert "set SECRET_KEY, or VAR_DIR" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "No database: run `make services`, or set DATABASE_URL"),
        (
            {"DATABASE_URL": "postgres://me:hidden@127.0.0.1:1/x"},
            "The database of DATABASE_URL does not answer: ",
        ),
    ],
    ids=["none", "silent"],
)
def test_without_a_database_one_line_says_what_to_start(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    done = python("manage.py", "migrate", var=tmp_path, **variables)
    assert done.returncode == 1
    assert done.stderr.startswith(words)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "hidden" not in done.stderr


def test_ready_for_the_public(tmp_path: Path) -> None:
    """Django's own list for deployment has nothing to say."""
    key = "".join(chr(33 + number) for number in range(80))
    done = python(
        *("manage.py", "check", "--deploy", "--fail-level", "WARNING"),
        var=tmp_path,
        PUBLIC_URL="https://judge.example",
        SECRET_KEY=key,
    )
    assert done.returncode == 0, done.stderr
