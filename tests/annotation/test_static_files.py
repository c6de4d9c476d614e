"""Scripts under hashed names: what they import is there, under its hashed name, too."""

from __future__ import annotations

import re
from pathlib import Path

from django.core.management import call_command
from pytest_django import Settings

HASHED = re.compile(r"\.[0-9a-f]{12}\.js$")
IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([^"']+)["']""")


def test_modules_import_hashed_names(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "annotation.static_files.StaticFilesStorage"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    folder = tmp_path / "js"
    imported = {
        script.name: IMPORTED.findall(script.read_text(encoding="utf-8"))
        for script in folder.glob("*.js")
        if HASHED.search(script.name)
    }
    names = {name for each in imported.values() for name in each}
    assert len(names) > 5
    assert [name for name in names if not HASHED.search(name)] == []
    assert [name for name in names if not (folder / name).exists()] == []
