"""Joining, taking part and leaving in a browser, with scripts and without."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, CrowdPlace, Invite, Membership
from tests.annotation.ways import crowd_address, join_address, make_invite, make_study
from tests.e2e.conftest import NewPage, answer
from tests.factories import PASSWORD, make_member


@pytest.mark.parametrize("scripts", [True, False])
def test_from_an_invite_to_the_guidelines(
    campaign: Campaign, new_page: NewPage, scripts: bool
) -> None:
    page = new_page(scripts=scripts)
    page.goto(join_address(make_invite(campaign)))
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password", exact=True).fill("short")
    page.locator("#join").click()
    # From the list of what is wrong to the field.
    page.get_by_role("alert").get_by_role("link", name=re.compile("too short")).click()
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/campaigns/{campaign.slug}/guidelines/")
    assert Membership.objects.get(user__username="ada").user.username == "ada"


def test_a_participant_judges_and_gets_the_code(campaign: Campaign, new_page: NewPage) -> None:
    study = make_study(campaign, pairs_each=1)
    page = new_page()
    page.goto(crowd_address(study))
    page.get_by_role("button", name="I agree and want to take part").click()
    page.wait_for_url(f"**/campaigns/{campaign.slug}/guidelines/")
    # The address does not tell on who came.
    assert "p-1" not in page.url
    page.locator("form[action$='/guidelines/'] button").click()
    page.wait_for_url(f"**/campaigns/{campaign.slug}/task/")
    answer(page)
    page.locator(".submit").click()
    expect(page.get_by_label("Completion code")).to_have_value("C0DE-42")
    assert CrowdPlace.objects.get().state == CrowdPlace.State.COMPLETED
    page.goto(crowd_address(study))
    expect(page.get_by_label("Completion code")).to_have_value("C0DE-42")


def test_a_participant_stops(campaign: Campaign, new_page: NewPage) -> None:
    page = new_page(scripts=False)
    page.goto(crowd_address(make_study(campaign)))
    page.get_by_role("button", name="I agree and want to take part").click()
    page.goto(f"/campaigns/{campaign.slug}/leave/")
    page.locator("#leave").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You have stopped taking part")
    assert CrowdPlace.objects.get().state == CrowdPlace.State.RETURNED


def test_the_leads_desk(campaign: Campaign, rater: Membership, new_page: NewPage) -> None:
    lead = make_member(campaign, Membership.Role.LEAD)
    page = new_page(lead.user)
    page.goto(f"/campaigns/{campaign.slug}/")
    page.get_by_role("link", name="People").click()
    page.get_by_label("Days until it expires").fill("0")
    page.locator("#make-invite").click()
    expect(page.get_by_role("alert")).to_contain_text("from 1 to 365")
    page.get_by_label("Days until it expires").fill("3")
    page.locator("#make-invite").click()
    link = page.get_by_label("Link to copy")
    expect(link).to_have_value(re.compile(f"/join/{Invite.objects.get().pk}/$"))
    assert rater.rater is not None
    row = page.get_by_role("row", name=re.compile(rater.rater.pseudonym))
    row.locator("summary").click()
    row.get_by_role("button", name=re.compile("^Pause")).click()
    expect(page.get_by_role("status").first).to_contain_text("The rater is paused")
    expect(row).to_contain_text("paused")
