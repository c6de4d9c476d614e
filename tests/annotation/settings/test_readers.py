"""Readers of environment variables: what they take, and that they name what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotation.settings import readers


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Call a reader with THING set to a value."""

    def call(reader: Callable[..., Any], value: str | None, *args: Any, **options: Any) -> Any:
        monkeypatch.delenv("THING", raising=False)
        monkeypatch.delenv("THING_FILE", raising=False)
        if value is not None:
            monkeypatch.setenv("THING", value)
        return reader("THING", *args, **options)

    return call


@pytest.mark.parametrize("value", [None, ""])
def test_unset_and_empty_are_the_default(read: Callable[..., Any], value: str | None) -> None:
    assert read(readers.text, value, "default") == "default"
    assert read(readers.boolean, value, True) is True
    assert read(readers.integer, value, 7, low=1, high=9) == 7
    assert read(readers.choice, value, "a", among=("a", "b")) == "a"
    with pytest.raises(ImproperlyConfigured, match="THING is not set"):
        read(readers.text, value)


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        *(("1", True), ("true", True), ("Yes", True), ("ON", True)),
        *(("0", False), ("false", False), ("No", False), ("off", False)),
    ],
)
def test_booleans(read: Callable[..., Any], value: str, meaning: bool) -> None:
    assert read(readers.boolean, value, not meaning) is meaning


@pytest.mark.parametrize("value", ["2", "ja", "truE!", "None", "-1"])
def test_what_is_no_boolean(read: Callable[..., Any], value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^THING="):
        read(readers.boolean, value, False)


@pytest.mark.parametrize("value", ["0", "10", "-1", "1e3", "3.0", "three", "0x3", "99999999999"])
def test_integers_out_of_range_or_none(read: Callable[..., Any], value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^THING="):
        read(readers.integer, value, 5, low=1, high=9)


@pytest.mark.parametrize(("value", "number"), [("1", 1), ("9", 9), (" 5 ", 5)])
def test_integers(read: Callable[..., Any], value: str, number: int) -> None:
    assert read(readers.integer, value, 3, low=1, high=9) == number


def test_choices(read: Callable[..., Any]) -> None:
    assert read(readers.choice, "b", "a", among=("a", "b")) == "b"
    with pytest.raises(ImproperlyConfigured, match="THING='c' is not one of: a, b"):
        read(readers.choice, "c", "a", among=("a", "b"))


class TestFiles:
    def test_a_secret_out_of_a_file(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        path = tmp_path / "secret"
        path.write_text("von weit her: 密码\n", encoding="utf-8")
        monkeypatch.setenv("THING_FILE", str(path))
        assert readers.text("THING", "default") == "von weit her: 密码"

    def test_given_twice(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("THING", "x")
        monkeypatch.setenv("THING_FILE", str(tmp_path / "secret"))
        with pytest.raises(ImproperlyConfigured, match="THING or THING_FILE, not both"):
            readers.text("THING", "default")

    @pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
    def test_a_file_that_gives_nothing(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
    ) -> None:
        path = tmp_path / "secret"
        if content is not None:
            path.write_bytes(content)
        monkeypatch.setenv("THING_FILE", str(path))
        with pytest.raises(ImproperlyConfigured, match=r"^THING_FILE="):
            readers.text("THING", "default")


@pytest.mark.parametrize(
    ("value", "scheme", "host", "port"),
    [
        ("http://127.0.0.1:8000", "http", "127.0.0.1", 8000),
        ("https://judge.example", "https", "judge.example", None),
        ("https://judge.example/", "https", "judge.example", None),
        ("HTTPS://Judge.Example:8443", "https", "judge.example", 8443),
        ("http://[2001:db8::1]:80", "http", "2001:db8::1", 80),
        ("http://localhost", "http", "localhost", None),
    ],
)
def test_public_addresses(
    read: Callable[..., Any], value: str, scheme: str, host: str, port: int | None
) -> None:
    url = read(readers.public_url, value, "")
    assert (url.scheme, url.hostname, url.port) == (scheme, host, port)
    assert url.netloc == url.netloc.lower()


@pytest.mark.parametrize(
    "value",
    [
        *("judge.example", "//judge.example", "ftp://judge.example", "https://", "https:///path"),
        *("https://judge.example/app", "https://judge.example?x=1", "https://judge.example#x"),
        *("https://user@judge.example", "https://:word@judge.example"),
        *("https://judge.example:port", "https://judge.example:70000", "https://[::1"),
        *("https://*", "https://.example", "https://judge example", "https://a,b", "https://-"),
    ],
)
def test_what_is_no_public_address(read: Callable[..., Any], value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^THING="):
        read(readers.public_url, value, "")


def test_database_addresses() -> None:
    assert readers.postgres("THING", "postgres://u:p%40s%2Fs@db.example:5433/na%20me") == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "na me",
        "USER": "u",
        "PASSWORD": "p@s/s",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"connect_timeout": 5, "server_side_binding": True, "prepare_threshold": 5},
    }
    local = readers.postgres("THING", "postgresql:///judge?host=/run/postgresql&sslmode=require")
    assert (local["HOST"], local["PORT"], local["NAME"]) == ("", "", "judge")
    assert local["OPTIONS"] == {
        "connect_timeout": 5,
        "server_side_binding": True,
        "prepare_threshold": 5,
        "host": "/run/postgresql",
        "sslmode": "require",
    }


@pytest.mark.parametrize(
    "value",
    ["sqlite:///x.db", "mysql://h/x", "db.example/judge", "postgres://h", "postgres://h:x/d"],
)
def test_what_is_no_database(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^THING"):
        readers.postgres("THING", value)


def test_broker_addresses() -> None:
    for value in ("redis://127.0.0.1:6379/0", "rediss://:word@cache.example"):
        assert readers.redis("THING", value) == value
    for value in ("127.0.0.1:6379", "amqp://h", "redis:///0", "memory://"):
        with pytest.raises(ImproperlyConfigured, match=r"^THING"):
            readers.redis("THING", value)


def test_time_zones(read: Callable[..., Any]) -> None:
    assert read(readers.time_zone, "Asia/Shanghai", "UTC") == "Asia/Shanghai"
    for value in ("Mars/Olympus", "../etc/passwd", "/etc/localtime", "Europe"):
        with pytest.raises(ImproperlyConfigured, match=r"^THING="):
            read(readers.time_zone, value, "UTC")
