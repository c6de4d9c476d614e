"""Make ``.venv`` and install a lock into it: ``python3 -I environment.py local|dev``.

Runs before anything is installed, with whatever Python there is: standard library only, and
nothing in it that an old Python cannot parse, so that it can be told that it is too old.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)

# The lock for development holds all of the lock for running.
INSTALLS = {"local": ("local",), "dev": ("dev", "local")}


def main(kind: str) -> None:
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:3]))
        needed = ".".join(map(str, OLDEST))
        sys.exit(
            f"Python {needed} or newer is needed and {sys.executable} is {version}:"
            " name another, as in `make run PYTHON=python3.12`."
        )
    # Two commands at once would install over each other; the file is only a thing to lock.
    with (ROOT / "pyproject.toml").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            install(kind)
        except KeyboardInterrupt:
            sys.exit("Interrupted; the next call starts anew.")
        except OSError as error:
            sys.exit(
                f"{VENV} cannot be written ({error.strerror}): run this as the owner of {ROOT}."
            )


def install(kind: str) -> None:
    lock = ROOT / f"requirements-{kind}.txt"
    if stamp(kind).is_file() and stamp(kind).read_text() == digest(kind) and works():
        return
    # Left by an interrupted installation, which may have written half of a package.
    unfinished = VENV / ".unfinished"
    if unfinished.exists() or not works():
        create()
    for each in INSTALLS[kind]:
        stamp(each).unlink(missing_ok=True)
    unfinished.touch()
    count = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    print(
        f"Installing {count} packages of {lock.name} into .venv (once, some minutes) ...",
        flush=True,
    )
    done = subprocess.run(
        [
            *(PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"),
            # A lock is complete, and some of it is there against what a package asks for (tool.uv).
            *("--no-input", "--no-deps", "--require-hashes", "--requirement", lock),
        ],
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        sys.exit(f"The packages of {lock.name} could not be installed: see pip's lines above.")
    for each in INSTALLS[kind]:
        stamp(each).write_text(digest(each))
    unfinished.unlink()


def stamp(kind: str) -> Path:
    """The file that tells which lock is installed."""
    return VENV / f".installed-{kind}"


def digest(kind: str) -> str:
    return hashlib.sha256((ROOT / f"requirements-{kind}.txt").read_bytes()).hexdigest()


def works() -> bool:
    """Whether .venv has a Python that starts, is new enough and has pip."""
    if not PYTHON.exists():
        return False
    check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    tried = subprocess.run(
        [PYTHON, "-c", check], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return tried.returncode == 0


def create() -> None:
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        install_venv_module()
    print("Making .venv ...", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        output = " ".join(done.stdout.decode("utf-8", "replace").split())
        sys.exit(f"{VENV} could not be made: {output[-500:]}")


def install_venv_module() -> None:
    """Debian and its like keep the module in a package of its own."""
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    apt = shutil.which("apt-get")
    if os.geteuid() == 0 and apt:
        print(f"Installing {package} with apt-get ...", flush=True)
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", package]):
            subprocess.run(
                [apt, "-qq", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                check=False,
            )
        # A fresh process: this one remembers that the module was missing.
        if subprocess.run([sys.executable, "-c", "import ensurepip"], check=False).returncode == 0:
            return
    sys.exit(
        "This Python has no venv module. On Debian or Ubuntu: "
        f"`sudo apt-get install {package}`; then run this again."
    )


if __name__ == "__main__":
    main(sys.argv[1])
