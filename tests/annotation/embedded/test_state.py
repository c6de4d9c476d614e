from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from annotation import embedded
from annotation.embedded import services, state
from tests.annotation.embedded.conftest import ROOT


def test_urls_are_empty_without_a_file_and_with_a_broken_one(tmp_path: Path) -> None:
    assert embedded.urls(tmp_path) == {}
    for content in ("", "{", "[]", '{"postgres": 1}', '{"postgres": {"pid": "x", "url": "y"}}'):
        state.path(tmp_path).write_text(content, encoding="utf-8")
        assert embedded.urls(tmp_path) == {}


def test_urls_are_those_of_running_servers_only(var: Path) -> None:
    services.start(var, owner="services")
    found = embedded.urls(var)
    with psycopg.connect(found["DATABASE_URL"]) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
    with redis.Redis.from_url(found["REDIS_URL"]) as client:
        assert client.ping()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(found["DATABASE_URL"], password="guessed")
    with (
        redis.Redis(port=urlsplit(found["REDIS_URL"]).port or 0, password="guessed") as client,
        pytest.raises(redis.AuthenticationError),
    ):
        client.ping()
    assert state.path(var).stat().st_mode & 0o777 == 0o600
    noted = json.loads(state.path(var).read_text(encoding="utf-8"))

    services.stop(var, owner="services")
    assert embedded.urls(var) == {}
    # Left by a killed command, its pid handed out again: the port does not answer.
    noted["postgres"]["pid"] = os.getpid()
    state.path(var).write_text(json.dumps(noted), encoding="utf-8")
    assert embedded.urls(var) == {}


def test_settings_get_urls_without_the_launcher() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys; from annotation import embedded; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    assert "annotation.embedded.state" in loaded
    assert not {"psutil", "psycopg", "annotation.embedded.services"} & set(loaded)
