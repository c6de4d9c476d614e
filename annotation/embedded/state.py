"""What of the local set-up runs, in ``var/services.json``; it holds passwords, so mode 600.

Kept import-light: the settings ask ``urls`` in every process.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

_SERVERS = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL"}


def path(var: Path) -> Path:
    return var / "services.json"


def urls(var: Path | None = None) -> dict[str, str]:
    """DATABASE_URL and REDIS_URL of the embedded servers that run now.

    ``var`` is the folder of the set-up, VAR_DIR or the project's var/ by default. A server counts
    when its process lives and its port accepts; whatever cannot be read counts as not running.
    """
    folder = var or Path(os.environ.get("VAR_DIR") or Path(__file__).parents[2] / "var")
    try:
        records = json.loads(path(folder).read_text(encoding="utf-8"))
        return {
            variable: str(records[name]["url"])
            for name, variable in _SERVERS.items()
            if name in records and _serves(int(records[name]["pid"]), str(records[name]["url"]))
        }
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _serves(pid: int, url: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, under another user
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port), timeout=0.5).close()
    except OSError:
        return False
    return True
