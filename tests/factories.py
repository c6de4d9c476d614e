"""Test objects: the cast of a campaign, in which everybody stands for a right."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import factory

from annotation.models import Campaign, Membership, User
from annotation.services.campaigns import create_campaign, import_pairs_into
from annotation.services.members import add_member
from annotation.services.steps import acknowledge
from benchmark.models import PairSet

PASSWORD = "correct horse battery staple"


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"user-{n}")
    password = factory.django.Password(PASSWORD)


def make_campaign(slug: str = "cups", **options: Any) -> Campaign:
    return create_campaign(slug=slug, name=f"Campaign {slug}", **options)


def make_member(
    campaign: Campaign,
    role: str = Membership.Role.ANNOTATOR,
    *,
    user: User | None = None,
    has_read: bool = True,
    **options: Any,
) -> Membership:
    """Somebody who has read the guidelines, unless ``has_read`` says otherwise."""
    member = add_member(campaign=campaign, user=user or UserFactory.create(), role=role, **options)
    if has_read:
        acknowledge(membership=member, version=campaign.guideline_version)
    return member


def pair_row(number: int, **changes: Any) -> dict[str, Any]:
    """A row of a pairs file whose fields say what they are."""
    return {
        "pair_id": f"pair-{number}",
        "persona_id": f"persona-{number % 3}",
        "persona": {"Name": f"Persona {number % 3}", "Demographics": {"Age": 30 + number % 3}},
        "query": f"Query {number}?",
        "query_kind": "general",
        "response_a": f"Response of one kind to {number}.",
        "response_b": f"Response of another kind to {number}.",
        "source_a": "full",
        "source_b": "none",
    } | changes


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def add_pairs(campaign: Campaign, folder: Path, number: int = 3, **changes: Any) -> None:
    """Import ``number`` pairs through the real importer."""
    path = write_jsonl(
        folder / f"{campaign.slug}-pairs.jsonl", (pair_row(n, **changes) for n in range(number))
    )
    report = import_pairs_into(campaign=campaign, paths=[path])
    assert not report.problems, report.problems


def vote_rows(
    pair_set: PairSet, *, raters: int, choose: Any = lambda pair, rater, criterion: "A"
) -> list[dict[str, Any]]:
    """Rows of a votes file: every rater on every pair and criterion."""
    pairs = pair_set.pairs.order_by("pair_id").values_list("pair_id", flat=True)
    criteria = pair_set.criteria.order_by("position").values_list("key", flat=True)
    return [
        {
            "pair_id": pair,
            "rater": f"rater-{rater}",
            "criterion": criterion,
            "choice": choose(pair, rater, criterion),
            "shown_left": "AB"[rater % 2],
            "seconds": 10.5 + rater,
            "at": f"2026-01-0{1 + rater % 9}T10:00:00+00:00",
        }
        for pair in pairs
        for rater in range(raters)
        for criterion in criteria
    ]
