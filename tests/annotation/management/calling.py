"""Commands called in this process, and as a person calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.core.management import call_command

from tests.conftest import ROOT, process_environment


@dataclass(frozen=True)
class Called:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object that was printed."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def call(name: str, *arguments: object, **options: Any) -> Called:
    """A command in this process; CommandError is raised."""
    out, err = StringIO(), StringIO()
    code = 0
    try:
        call_command(name, *map(str, arguments), stdout=out, stderr=err, no_color=True, **options)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    return Called(code, out.getvalue(), err.getvalue())


def manage(*arguments: object, **environment: str) -> Called:
    """``manage.py`` in a process of its own, on this test's database and broker."""
    done = subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=ROOT,
        env=process_environment() | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Called(done.returncode, done.stdout, done.stderr)
