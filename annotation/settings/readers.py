"""Typed readers of environment variables. They refuse nonsense and name the variable.

Each reader also accepts ``NAME_FILE``, the path of a file that holds the value, which is how
container platforms hand over secrets.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
# A name (without the wildcards that ALLOWED_HOSTS would take) or an address.
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+")


def text(name: str, default: str | None = None) -> str:
    """The variable's text; ``default`` when it is unset or empty.

    Raises ImproperlyConfigured when it is missing without a default, given twice (as ``NAME`` and
    ``NAME_FILE``), or its file cannot be read.
    """
    value = os.environ.get(name, "")
    file = os.environ.get(f"{name}_FILE", "")
    if value and file:
        raise ImproperlyConfigured(f"Set {name} or {name}_FILE, not both.")
    if file:
        try:
            value = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(f"{name}_FILE={file} cannot be read: {error}") from error
        if not value:
            raise ImproperlyConfigured(f"{name}_FILE={file} is empty.")
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"{name} is not set.")
    return default


def boolean(name: str, default: bool) -> bool:
    value = text(name, "").lower()
    if not value:
        return default
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is neither true nor false (use 1 or 0).")


def integer(name: str, default: int, *, low: int, high: int) -> int:
    value = text(name, "")
    if not value:
        return default
    try:
        number = int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number.") from error
    if not low <= number <= high:
        raise ImproperlyConfigured(f"{name}={number} is not between {low} and {high}.")
    return number


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in among:
        raise ImproperlyConfigured(f"{name}={value!r} is not one of: {', '.join(among)}.")
    return value


def time_zone(name: str, default: str) -> str:
    value = text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ImproperlyConfigured(
            f"{name}={value!r} is not a time zone such as Asia/Shanghai."
        ) from error
    return value


def public_url(name: str, default: str) -> SplitResult:
    """The address that people type, in small letters: scheme, host and optional port, no more."""
    value = text(name, default)
    try:
        # Browsers send it so, whichever way it is typed.
        url = urlsplit(value.lower())
        _ = url.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={value!r} is not a web address: {error}") from error
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ImproperlyConfigured(f"{name}={value!r} must start with http:// or https://.")
    if not _HOST.fullmatch(url.hostname):
        raise ImproperlyConfigured(f"{name}={value!r}: {url.hostname!r} is not a host's name.")
    if url.path not in ("", "/") or url.query or url.fragment or "@" in url.netloc:
        raise ImproperlyConfigured(f"{name}={value!r} must be scheme, host and port only.")
    return url


_POSTGRES_OPTIONS: dict[str, object] = {
    "connect_timeout": 5,
    # A statement that a connection has sent five times is planned once and for all: planning is
    # half of PostgreSQL's work for an annotator's page.
    "server_side_binding": True,
    "prepare_threshold": 5,
}


def postgres(name: str, value: str) -> dict[str, object]:
    """Django's database settings out of a ``postgres://`` address.

    What follows a question mark, such as ``sslmode=require``, goes to the driver.
    """
    url = urlsplit(value)
    if url.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(f"{name} must start with postgres:// (only PostgreSQL works).")
    database = unquote(url.path.lstrip("/"))
    if not database:
        raise ImproperlyConfigured(f"{name} names no database.")
    try:
        port = url.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": str(port or ""),
        "OPTIONS": {**_POSTGRES_OPTIONS, **dict(parse_qsl(url.query))},
    }


def redis(name: str, value: str) -> str:
    """The address of a Redis or Valkey server."""
    url = urlsplit(value)
    if url.scheme not in ("redis", "rediss") or not url.hostname:
        raise ImproperlyConfigured(f"{name} must start with redis:// or rediss:// and a host.")
    return value
