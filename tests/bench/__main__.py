"""``python -m tests.bench [PART...]``: the promised speeds, measured, beside their bars."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.figures import Figure, table, write_json
from tests.bench.site import Site, manage, own_database, site

ROOT = Path(__file__).resolve().parent.parent.parent
REPORT = ROOT / "var" / "bench.json"
NAMES = (
    *("screen", "reading", "nonstop", "import", "aggregate", "release", "lists"),
    *("statistics", "audit", "scale"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(NAMES)}")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(NAMES):
        parser.error(f"no such part: {', '.join(sorted(unknown))} (there are {', '.join(NAMES)})")
    for name in ("DATABASE_URL", "REDIS_URL"):
        if not os.environ.get(name):
            parser.error(f"{name} is not set: `make bench` starts servers and sets it")
    # SystemExit, so that whatever was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.chdir(ROOT)
    if (busy := os.getloadavg()[0]) > 1:
        sys.stderr.write(f"This machine is busy (load {busy:.1f}): figures will be worse for it.\n")
    with (
        tempfile.TemporaryDirectory(prefix="personafeedback-bench-") as folder,
        own_database(os.environ["DATABASE_URL"]) as url,
    ):
        os.environ |= {"DATABASE_URL": url, "VAR_DIR": folder}
        os.environ["DJANGO_SETTINGS_MODULE"] = "annotation.settings"
        figures = _measure(options.parts or NAMES, Path(folder))
    sys.stdout.write(f"{table(figures)}\n")
    write_json(
        REPORT,
        figures,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        python=platform.python_version(),
        cores=os.cpu_count(),
        load_average=busy,
    )
    return 1 if any(figure.passes is False for figure in figures) else 0


def _measure(names: Sequence[str], folder: Path) -> list[Figure]:
    import django

    manage("migrate", "--no-input", log=folder / "migrate.log")
    django.setup()
    # These need Django's models.
    from django.db import connections

    from tests.bench import (
        audit,
        importing,
        jobs,
        judging,
        lists,
        scale,
        screen,
        statements,
        statistic,
    )

    parts: dict[str, Callable[[Site, Path], list[Figure]]] = {
        "screen": screen.screen,
        "reading": judging.reading,
        "nonstop": judging.nonstop,
        "import": importing.importing,
        "aggregate": jobs.aggregate,
        "release": jobs.release,
        "lists": lists.lists,
        "statistics": statistic.statistics,
        "audit": audit.audit,
        "scale": scale.scale,
    }
    statements.spread_ids()
    figures: list[Figure] = []
    try:
        with site(folder) as running:
            for name in NAMES:
                if name in names:
                    begin = time.monotonic()
                    figures += parts[name](running, folder)
                    sys.stderr.write(f"{name}: {time.monotonic() - begin:.0f} s\n")
    finally:
        connections.close_all()
    return figures


if __name__ == "__main__":
    sys.exit(main())
