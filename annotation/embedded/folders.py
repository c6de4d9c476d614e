"""Where the local set-up keeps things, and whether it may."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from annotation.embedded.accounts import Account
from annotation.embedded.errors import SetupError

ROOT = Path(__file__).resolve().parent.parent.parent

# As root PostgreSQL runs under another account. What that account cannot reach below the
# project (a home of mode 700, say) is kept here instead; no existing folder is opened for it.
SHARED = Path("/var/lib/personafeedback")


def var_folder() -> Path:
    """The folder of everything that the local set-up keeps: VAR_DIR, else var/ of the project."""
    return Path(os.environ.get("VAR_DIR") or ROOT / "var").absolute()


def require_writable(folder: Path) -> None:
    """Make the folder if it is missing and write a file there to be sure; SetupError if not."""
    try:
        make(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be written ({error.strerror}): run this as the owner of the project,"
            " or set VAR_DIR to a folder that can be written."
        ) from error


def make(folder: Path, *, mode: int = 0o755) -> None:
    """Make a folder and its missing parents with this mode, whatever the umask.

    The mode of a folder that exists already is not touched.
    """
    if folder.is_dir():
        return
    make(folder.parent, mode=mode)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(mode)


def postgres_folder(var: Path, account: Account | None) -> Path:
    """The data folder of PostgreSQL: ``var/postgres``, or one below SHARED out of need.

    ``account`` is the one PostgreSQL runs under, None for the current user. Data that exists is
    preferred to a better place, so that a changed mode of a parent never makes it seem lost.
    """
    inside = var / "postgres"
    if account is None:
        return inside
    name = hashlib.sha256(os.fsencode(var)).hexdigest()[:12]
    outside = SHARED / name / "postgres"
    reachable = account.can("test", "-x", var)
    if (inside / "PG_VERSION").exists() and not reachable:
        raise SetupError(
            f"The user {account.name}, under which PostgreSQL runs, can no longer reach {inside}:"
            f" undo the change of mode above it, or move the data with"
            f" `mkdir -p {outside.parent} && mv {inside} {outside}`."
        )
    if reachable and not (outside / "PG_VERSION").exists():
        return inside
    make_shared(outside.parent)
    return outside


def make_shared(folder: Path) -> None:
    """Make a folder below SHARED; SetupError where the system has no place for it."""
    try:
        make(folder, mode=0o711)
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be made ({error.strerror}): set DATABASE_URL to a PostgreSQL server,"
            " or run this as an ordinary user."
        ) from error


@contextlib.contextmanager
def throwaway_folder(account: Account | None) -> Iterator[Path]:
    """A temporary folder that the account can reach; removed at the end with all in it."""
    base = Path(tempfile.gettempdir())
    if account and not account.can("test", "-x", base):
        make_shared(SHARED)
        base = SHARED
    folder = Path(tempfile.mkdtemp(prefix="personafeedback-", dir=base))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
