"""The unprivileged account that PostgreSQL, which refuses root, runs under."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from annotation.embedded.errors import SetupError


class Drop(TypedDict, total=False):
    """Arguments of subprocess that give up root for good."""

    user: int
    group: int
    extra_groups: list[int]
    umask: int


@dataclass(frozen=True)
class Account:
    """An account of the system, by name and ids."""

    name: str
    uid: int
    gid: int

    def drop(self) -> Drop:
        return {"user": self.uid, "group": self.gid, "extra_groups": [], "umask": 0o077}

    def can(self, *command: str | Path) -> bool:
        """Whether this command succeeds under the account.

        Trying is the only sure test: modes, ACLs, mount options and a home below a closed folder
        all count.
        """
        try:
            tried = subprocess.run(
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                **self.drop(),
            )
        except PermissionError:
            return False
        return tried.returncode == 0


def for_postgres(data: Path | None = None) -> Account | None:
    """The account for PostgreSQL when this is root, else None.

    An existing data folder keeps its owner: PostgreSQL starts under no other. New ones go to
    ``postgres``, which a distribution's own package makes, else to ``nobody``.
    """
    if os.geteuid() != 0:
        return None
    if data is not None and data.exists() and (owner := data.stat().st_uid) != 0:
        try:
            return _account(pwd.getpwuid(owner))
        except KeyError as error:
            raise SetupError(
                f"{data} belongs to user id {owner}, who does not exist here: give it to another"
                f" with `chown -R nobody {data}`."
            ) from error
    for name in ("postgres", "nobody"):
        try:
            return _account(pwd.getpwnam(name))
        except KeyError:
            continue
    raise SetupError(
        "PostgreSQL refuses to run as root and there is no user `nobody` to run it:"
        " run this as an ordinary user, or set DATABASE_URL."
    )


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
