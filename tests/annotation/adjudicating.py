"""What the tests of adjudication share: a campaign whose votes leave pairs open, and flags."""

from __future__ import annotations

from pathlib import Path

from annotation.models import Assignment, Campaign, Flag, Membership
from benchmark.models import Pair
from tests.annotation.seating import NOW
from tests.benchmark.jobs.runs import judged_campaign
from tests.factories import make_member

# Votes for A among nine on helpfulness and personalization.
SPLITS = {
    "pair-0": (9, 9),
    "pair-1": (9, 1),
    "pair-2": (8, 8),
    "pair-3": (2, 7),
    "pair-4": (5, 6),
    "pair-5": (9, 8),
}


def choose(pair: str, rater: int, criterion: str) -> str:
    return "A" if rater < SPLITS[pair][criterion == "personalization"] else "B"


def open_campaign(folder: Path) -> Campaign:
    """Pairs 1 and 3 are in conflict; the votes decide all others."""
    return judged_campaign(folder, pairs=6, choose=choose)


def pair_named(campaign: Campaign, name: str) -> Pair:
    return campaign.pair_set.pairs.get(pair_id=name)


def raise_flag(campaign: Campaign, name: str, *, rater: Membership | None = None) -> Flag:
    """By a rater who had the pair on screen."""
    held = Assignment.objects.create(
        campaign=campaign,
        membership=rater or make_member(campaign),
        pair=pair_named(campaign, name),
        state=Assignment.State.EXPIRED,
        shown_left="A",
        claimed_at=NOW,
        lease_expires_at=NOW,
    )
    return Flag.objects.create(
        campaign=campaign,
        assignment=held,
        target=Flag.Target.QUERY,
        kind=Flag.Kind.BROKEN,
        comment="half a question",
    )
