"""Chromium for the tests that look at pages, and a font for their Chinese."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from annotation.embedded import processes
from annotation.embedded.errors import SetupError
from annotation.embedded.processes import say

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium_path() -> str | None:
    """The Chromium of this machine: CHROMIUM, else the first found on the path.

    None means Playwright's own, which it finds by itself: ``launch(executable_path=None)``.
    """
    given = os.environ.get("CHROMIUM")
    if given:
        found = shutil.which(given)
        if not found:
            raise SetupError(f"CHROMIUM={given} is not a program that can be run.")
        return found
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


def ensure() -> int:
    """Install Chromium and a Chinese font unless they are there; SetupError with what to do."""
    apt = _apt()
    wanted = [] if chromium_path() else ["chromium"]
    if not _has_chinese_font():
        wanted.append("fonts-noto-cjk")
    if wanted and apt:
        _apt_install(apt, wanted)
    if not chromium_path():
        _playwright_install()
    if not _has_chinese_font():
        say("No Chinese font: Chinese shows as boxes in screenshots. Install fonts-noto-cjk.")
    return 0


def _apt() -> str | None:
    """Debian's installer for root; elsewhere a package of that name may be a stub."""
    try:
        system = platform.freedesktop_os_release()["ID"]
    except (OSError, KeyError):
        return None
    return shutil.which("apt-get") if system == "debian" and os.geteuid() == 0 else None


def _has_chinese_font() -> bool:
    lister = shutil.which("fc-list")
    if not lister:
        return False
    listed = subprocess.run(
        [lister, ":lang=zh"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return bool(listed.stdout.strip())


def _apt_install(apt: str, packages: list[str]) -> None:
    say(f"Installing {' and '.join(packages)} with apt-get ...")
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [apt, "-q", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            check=False,
        )
        if done.returncode:
            # Whether it mattered shows in what is still missing afterwards.
            last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:]
            say(f"apt-get {arguments[0]} failed: {' '.join(last)}")


def _playwright_install() -> None:
    done = subprocess.run(
        processes.python("-m", "playwright", "install", "chromium"),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise SetupError(
            "No Chromium: install the package chromium (or google-chrome), or set CHROMIUM to its"
            f" program, then run this again. {Path(__file__).name} looks for: {', '.join(_NAMES)}."
        )
