"""Settings and guidelines: only what differs, one version after the other."""

from __future__ import annotations

import pytest

from annotation.models import Campaign, Event, Guideline
from annotation.services.judging_settings import (
    LIMITS,
    SWITCHES,
    CannotPublish,
    publish_guidelines,
    update_settings,
)
from tests.annotation.threads import together
from tests.factories import UserFactory, make_campaign

pytestmark = pytest.mark.django_db


def test_what_differs_is_stored_and_logged() -> None:
    campaign = make_campaign()
    before = campaign.undo_seconds
    values = {"undo_seconds": 60, "gold_percent": 10, "allows_skip": campaign.allows_skip}
    changed = update_settings(campaign=campaign, values=values, actor=UserFactory.create())
    assert changed == {"undo_seconds": [before, 60], "gold_percent": [0, 10]}
    assert Event.objects.get(action="settings:changed").data == {"changed": changed}
    stored = Campaign.objects.get()
    assert (stored.undo_seconds, stored.gold_percent) == (60, 10)
    assert update_settings(campaign=campaign, values=values, actor=UserFactory.create()) == {}
    assert Event.objects.filter(action="settings:changed").count() == 1


@pytest.mark.parametrize("name", LIMITS)
def test_bounds_hold_on_both_sides(name: str) -> None:
    """What the service lets through, the database's constraints do, too."""
    campaign, lead = make_campaign(), UserFactory.create()
    low, high = LIMITS[name]
    for value in (low, high):
        update_settings(campaign=campaign, values={name: value}, actor=lead)
        assert getattr(Campaign.objects.get(), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=name):
            update_settings(campaign=campaign, values={name: value}, actor=lead)
    assert getattr(Campaign.objects.get(), name) == high


def test_checks_leave_pairs_that_count() -> None:
    campaign, lead = make_campaign(), UserFactory.create()
    with pytest.raises(ValueError, match="checks"):
        update_settings(
            campaign=campaign, values={"gold_percent": 30, "repeat_percent": 30}, actor=lead
        )


@pytest.mark.parametrize("name", ["allows_tie", "state", "pair_set_id", "guideline_version"])
def test_nothing_else_is_a_setting(name: str) -> None:
    assert name not in SWITCHES
    with pytest.raises(ValueError, match=name):
        update_settings(campaign=make_campaign(), values={name: 1}, actor=UserFactory.create())


def test_the_next_version_is_the_one_to_be_read() -> None:
    campaign = make_campaign()
    guideline = publish_guidelines(campaign=campaign, body="New", actor=UserFactory.create())
    assert (guideline.version, guideline.body) == (2, "New")
    assert campaign.guideline_version == 2
    assert Campaign.objects.get().guideline_version == 2
    assert Event.objects.get(action="guidelines:published").data == {"version": 2}


def test_the_first_version() -> None:
    campaign = make_campaign()
    Guideline.objects.all().delete()
    written = publish_guidelines(campaign=campaign, body="New", actor=UserFactory.create(), after=0)
    assert written.version == 1


def test_nobody_writes_over_a_version_they_have_not_seen() -> None:
    campaign, lead = make_campaign(), UserFactory.create()
    publish_guidelines(campaign=campaign, body="Mine", actor=lead, after=1)
    with pytest.raises(CannotPublish):
        publish_guidelines(campaign=campaign, body="Theirs", actor=lead, after=1)
    assert Guideline.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_versions_published_at_once_follow_each_other() -> None:
    campaign, lead = make_campaign(), UserFactory.create()

    def publish() -> int:
        here = Campaign.objects.get(pk=campaign.pk)
        return publish_guidelines(campaign=here, body="New", actor=lead).version

    assert sorted(together(*[publish] * 5)) == [2, 3, 4, 5, 6]
    assert Campaign.objects.get().guideline_version == 6
