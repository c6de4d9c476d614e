"""What the pages about pairs share: the head of a run's page, verdicts in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.audit.nav import nav
from annotation.domain.tables import Tag
from annotation.models import Campaign, Membership
from benchmark.models import Run, Status, Tier
from benchmark.selectors.pair_rows import QUERY_CHARACTERS

Text = str | Promise


@dataclass(frozen=True, slots=True)
class RunHead:
    """What stands above every page of a run."""

    campaign: Campaign
    run: Run
    may_lead: bool
    is_simulated: bool
    nav: object  # what components/audit_nav.html takes


def run_head(membership: Membership, run: Run, current: str) -> RunHead:
    campaign = membership.campaign
    return RunHead(
        campaign=campaign,
        run=run,
        may_lead=membership.may_lead,
        is_simulated=campaign.pair_set.is_simulated,
        nav=nav(campaign.slug, run, current),
    )


# By the states of benchmark.stats.comparison.Outcome, in the order of a table of them.
STATES: dict[str, Text] = {
    "easy": Tier.EASY.label,
    "medium": Tier.MEDIUM.label,
    "hard": Tier.HARD.label,
    "none": _("decided, no tier"),
    "conflict": Status.CONFLICT.label,
    "tied": Status.TIED.label,
    "insufficient": Status.INSUFFICIENT.label,
    "withdrawn": Status.WITHDRAWN.label,
    "absent": _("not in the set"),
}

_STATUS_KINDS: dict[str, str] = {
    Status.DECIDED: "ok",
    Status.CONFLICT: "warn",
    Status.TIED: "warn",
}


def status_tag(status: str) -> Tag:
    return Tag(words=Status(status).label, kind=_STATUS_KINDS.get(status, ""))


def tier_words(tier: str | None) -> Text:
    """Empty without one."""
    return Tier(tier).label if tier else ""


PROVISIONAL = Tag(words=pgettext_lazy("tier", "provisional"), kind="warn")
ADJUDICATED = Tag(words=_("adjudicated"))


def shortened(query: str) -> str:
    """The beginning of a query, which the selectors cut one character later."""
    if len(query) > QUERY_CHARACTERS:
        return query[:-1].rstrip() + "…"
    return query


def split_words(a: int, b: int, tie: int = 0) -> str:
    """Votes for A, for B and, if there are any, ties: 6–2–1."""
    numbers = [a, b, tie] if tie else [a, b]
    return "\N{EN DASH}".join(map(str, numbers))


def read_id(text: str) -> int | None:
    """A row's id out of an address; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else None
