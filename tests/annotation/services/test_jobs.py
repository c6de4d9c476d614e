"""What a release says that raters were told."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Campaign, Membership
from annotation.services.campaigns import import_votes_into
from annotation.services.jobs import start_aggregation, start_release
from annotation.services.judging_settings import publish_guidelines
from annotation.services.steps import acknowledge
from benchmark.models import Run
from tests.annotation.seating import seated_campaign
from tests.factories import make_member, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db


def told(campaign: Campaign, version: str) -> str:
    return start_release(campaign=campaign, version=version).guidelines


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """With verdicts, and two raters who have read version 1."""
    campaign, _ = seated_campaign(tmp_path)
    path = write_jsonl(tmp_path / "votes.jsonl", vote_rows(campaign.pair_set, raters=3))
    assert not import_votes_into(campaign=campaign, path=path).problems
    Run.objects.filter(pk=start_aggregation(campaign=campaign).pk).update(state=Run.State.DONE)
    return campaign


def test_the_version_that_was_read_and_not_a_later_one(campaign: Campaign) -> None:
    first = campaign.guidelines.get()
    lead = make_member(campaign, Membership.Role.LEAD).user
    publish_guidelines(campaign=campaign, body="Quite another text.", actor=lead)
    assert told(campaign, "1.0.0") == first.body


def test_each_version_that_was_read(campaign: Campaign) -> None:
    first = campaign.guidelines.get()
    lead = make_member(campaign, Membership.Role.LEAD).user
    publish_guidelines(campaign=campaign, body="Another text.", actor=lead)
    campaign.refresh_from_db()
    rater = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).first()
    assert rater is not None
    assert acknowledge(membership=rater, version=2)
    text = told(campaign, "1.0.0")
    assert text.index("# Version 1") < text.index(first.body.strip()) < text.index("# Version 2")
    assert text.endswith("Another text.")


def test_the_newest_where_nobody_has_read_any(campaign: Campaign) -> None:
    campaign.memberships.all().delete()
    assert told(campaign, "1.0.0") == campaign.guidelines.get().body
