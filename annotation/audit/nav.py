"""The way between the pages of a run's audit."""

from __future__ import annotations

from typing import NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from benchmark.models import Run

# By the name of a part: its title and its route.
PARTS: dict[str, tuple[Promise, str]] = {
    "overview": (_("Overview"), "run"),
    "tiers": (_("Tiers"), "run_tiers"),
    "breakdowns": (_("Breakdowns"), "run_breakdowns"),
    "biases": (_("Biases"), "run_biases"),
    "raters": (_("Raters"), "run_raters"),
    "pairs": (_("Pairs"), "run_pairs"),
    "compare": (_("Compare"), "run_compare"),
    "quality": (_("Quality"), "run_quality"),
}


class NavItem(NamedTuple):
    """In the order in which components/audit_nav.html takes it."""

    name: str
    title: Promise
    address: str
    is_current: bool


def nav(slug: str, run: Run, current: str) -> list[NavItem]:
    """Every part of the audit of a run; ``current`` is the name of the one that is shown."""
    return [
        NavItem(name, title, reverse(route, args=[slug, run.pk]), name == current)
        for name, (title, route) in PARTS.items()
    ]
