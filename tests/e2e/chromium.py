"""The browser of the tests and of the screenshots."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Browser, Playwright

from annotation.embedded.browser import chromium_path

# No calls home: on a machine without a network they only delay.
ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch(playwright: Playwright, *, fonts: Path | None = None) -> Browser:
    """Chromium without a window; ``fonts`` is a configuration file for fontconfig."""
    # Its sandbox refuses to run as root, as containers and CI do.
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    environment: dict[str, str | float | bool] = dict(os.environ)
    if fonts:
        environment["FONTCONFIG_FILE"] = str(fonts)
    return playwright.chromium.launch(
        executable_path=chromium_path(), args=[*ARGUMENTS, *as_root], env=environment
    )
