"""What commands print: words for people, one JSON object for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from benchmark.formats import Problem

Progress = Callable[[int], None]


def print_json(stream: Any, value: dict[str, Any]) -> None:
    stream.write(json.dumps(value, ensure_ascii=False, allow_nan=False))


def terminal_progress(what: str) -> Progress | None:
    """Counts on one line of a terminal; nothing when the output is a file or a pipe."""
    if not sys.stderr.isatty():
        return None

    def report(number: int) -> None:
        sys.stderr.write(f"\r{number:,} {what} read")
        sys.stderr.flush()

    return report


def end_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def problem_lines(problems: Iterable[Problem], *, count: int, shown: int = 50) -> list[str]:
    """The first problems, a line each, and how many more there are."""
    lines = [str(problem) for _, problem in zip(range(shown), problems, strict=False)]
    if count > len(lines):
        lines.append(f"... and {count - len(lines):,} more")
    return lines


def refusal(count: int) -> str:
    return f"{count:,} {'problem' if count == 1 else 'problems'}: nothing was imported."
