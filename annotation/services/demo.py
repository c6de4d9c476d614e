"""The demo: one campaign to judge, with checks, and one judged by simulated raters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.contrib.auth.hashers import make_password
from django.db import transaction

from annotation.domain.simulation import SimulatedPair, simulated_votes
from annotation.models import Campaign, Membership, User
from annotation.services.campaigns import create_campaign, import_pairs_into, import_votes_into
from annotation.services.check_imports import import_checks
from annotation.services.members import add_member
from benchmark.models import PairSet

FOLDER = Path(__file__).resolve().parent.parent / "demo"
FILES = [FOLDER / f"{kind}.{lang}.jsonl" for kind in ("personas", "pairs") for lang in ("en", "zh")]
CHECKS = FOLDER / "checks.jsonl"
OPEN = "demo-open"
JUDGED = "demo-judged"
SIMULATED_RATERS = [f"simulated-{number}" for number in range(1, 10)]


@dataclass(frozen=True, slots=True)
class Login:
    username: str
    password: str
    role: str
    campaigns: tuple[str, ...]


# On a machine of one's own these are for everybody to know; load_demo refuses elsewhere.
LOGINS = (
    Login("annotator", "demo-annotator", Membership.Role.ANNOTATOR, (OPEN,)),
    Login("lead", "demo-lead", Membership.Role.LEAD, (OPEN, JUDGED)),
    Login("researcher", "demo-researcher", Membership.Role.RESEARCHER, (OPEN, JUDGED)),
)


def load_demo() -> bool:
    """Make the demo once, all of it or nothing; False when it is there."""
    with transaction.atomic():
        if PairSet.objects.filter(slug__in=[OPEN, JUDGED]).exists():
            return False
        campaigns = {
            OPEN: create_campaign(slug=OPEN, name="Demo: try judging"),
            JUDGED: create_campaign(
                slug=JUDGED,
                name="Demo: judged by simulated raters",
                state=Campaign.State.CLOSED,
            ),
        }
        for campaign in campaigns.values():
            report = import_pairs_into(campaign=campaign, paths=FILES)
            if report.problems:
                raise ValueError(f"The demo's own files are broken: {report.problems[0]}")
        _add_checks(campaigns[OPEN])
        _judge(campaigns[JUDGED])
        for login in LOGINS:
            user, _ = User.objects.get_or_create(
                username=login.username,
                defaults={"password": make_password(login.password)},
            )
            for slug in login.campaigns:
                add_member(campaign=campaigns[slug], user=user, role=login.role)
    return True


def _add_checks(campaign: Campaign) -> None:
    """Training, qualification, gold and repeats, and everything that can be asked."""
    report = import_checks(campaign=campaign, path=CHECKS)
    if report.problems:
        raise ValueError(f"The demo's own checks are broken: {report.problems[0]}")
    campaign.gold_percent = 10
    campaign.repeat_percent = 5
    campaign.asks_confidence = True
    campaign.asks_reasons = True
    campaign.save(
        update_fields=["gold_percent", "repeat_percent", "asks_confidence", "asks_reasons"]
    )


def _judge(campaign: Campaign) -> None:
    pairs = [
        SimulatedPair(*row)
        for row in campaign.pair_set.pairs.order_by("pair_id", "id").values_list(
            "pair_id", "source_a", "source_b"
        )
    ]
    votes = simulated_votes(
        pairs=pairs,
        raters=SIMULATED_RATERS,
        seed=campaign.pair_set.seed,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC),
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "votes.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(vote) + "\n" for vote in votes)
        report = import_votes_into(campaign=campaign, path=path, is_simulated=True)
    if report.problems:
        raise ValueError(f"The simulated votes were refused: {report.problems[0]}")
