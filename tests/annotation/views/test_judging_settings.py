"""Settings and guidelines over HTTP."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Guideline, Membership
from tests.annotation.views.pages import Page, browser
from tests.factories import make_campaign, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


@pytest.fixture
def client(campaign: Campaign) -> Client:
    return browser(make_member(campaign, Membership.Role.LEAD))


def address(campaign: Campaign) -> str:
    return reverse("judging_settings", args=[campaign.slug])


def form_of(campaign: Campaign, **changes: str) -> dict[str, str]:
    """What the page sends when only ``changes`` are made."""
    return {
        "form": "settings",
        "allows_skip": "on",
        "undo_seconds": str(campaign.undo_seconds),
        "idle_seconds": str(campaign.idle_seconds),
        "lease_seconds": str(campaign.lease_seconds),
        "gold_percent": str(campaign.gold_percent),
        "gold_minimum": str(campaign.gold_minimum),
        "gold_pass_percent": str(campaign.gold_pass_percent),
        "repeat_percent": str(campaign.repeat_percent),
        "qualification_pass_percent": str(campaign.qualification_pass_percent),
        "qualification_tries": str(campaign.qualification_tries),
    } | changes


def test_the_page_shows_what_holds(client: Client, campaign: Campaign) -> None:
    page = Page(client.get(address(campaign)))
    for name, value in form_of(campaign).items():
        if name not in ("form", "allows_skip"):
            assert page.having(name=name, value=value), name
    assert "checked" in page.having(name="allows_skip")[0]
    assert "checked" not in page.having(name="asks_confidence")[0]
    assert not page.having(name="allows_tie")
    assert f"import_checks checks.jsonl --campaign {campaign.slug}" in page.text


def test_changes_are_saved(client: Client, campaign: Campaign) -> None:
    form = form_of(campaign, undo_seconds="60", asks_reasons="on")
    del form["allows_skip"]
    response = client.post(address(campaign), form)
    assert response.headers["Location"].endswith("/settings/?notice=settings#main")
    stored = Campaign.objects.get()
    assert (stored.undo_seconds, stored.asks_reasons, stored.allows_skip) == (60, True, False)
    response = client.post(address(campaign), form)
    assert response.headers["Location"].endswith("?notice=unchanged#main")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"gold_percent": "51"}, "gold_percent"),
        ({"gold_percent": "30", "repeat_percent": "30"}, "repeat_percent"),
        ({"lease_seconds": "29"}, "lease_seconds"),
        ({"idle_seconds": "１２３x"}, "idle_seconds"),
        ({"qualification_tries": ""}, "qualification_tries"),
        ({"gold_pass_percent": "1e2"}, "gold_pass_percent"),
    ],
)
def test_what_is_out_of_bounds_changes_nothing(
    client: Client, campaign: Campaign, change: dict[str, str], field: str
) -> None:
    form = form_of(campaign, undo_seconds="61") | change
    response = client.post(address(campaign), form)
    page = Page(response)
    assert response.status_code == 422
    assert page.having(name=field)[0]["aria-invalid"] == "true"
    assert page.having(href=f"#id_{field}")
    # What else was entered is still there, and the other form is not emptied.
    assert page.having(name="undo_seconds", value="61")
    assert "How to judge a pair" in page.html
    assert Campaign.objects.get().undo_seconds != 61


def test_guidelines_are_published_as_the_next_version(client: Client, campaign: Campaign) -> None:
    rater = make_member(campaign)
    page = Page(client.get(address(campaign)))
    assert "Publish as version 2" in page.text
    form = {"form": "guidelines", "body": "# Neu\r\n\r\n新的说明", "after": "1"}
    response = client.post(address(campaign), form)
    assert response.headers["Location"].endswith("?notice=published#main")
    assert Guideline.objects.get(version=2).body == "# Neu\n\n新的说明\n"
    assert Campaign.objects.get(pk=campaign.pk).guideline_version == 2
    rater.refresh_from_db()
    assert rater.acknowledged_version == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "Write what raters are to do."),
        (" \n ", "Write what raters are to do."),
        ("\u200b\n\u3164\ufe0f", "Write what raters are to do."),
        ("&#8203;\r\n&nbsp;", "Write what raters are to do."),
        ("[a]: http://a.example", "Write what raters are to do."),
        ("# &nbsp;\n\n---\n", "Write what raters are to do."),
        ("#" * 100_001, "the limit is 100000 characters"),
        ("x" * 100_001, "the limit is 100000 characters"),
        ("a\x00b", "Null characters"),
    ],
)
def test_guidelines_that_cannot_be_published(
    client: Client, campaign: Campaign, body: str, words: str
) -> None:
    form = {"form": "guidelines", "body": body, "after": "1"}
    response = client.post(address(campaign), form)
    assert response.status_code == 422
    assert words in Page(response).text
    assert Guideline.objects.count() == 1


def test_the_same_text_is_no_new_version(client: Client, campaign: Campaign) -> None:
    body = Guideline.objects.get().body.replace("\n", "\r\n")
    form = {"form": "guidelines", "body": body, "after": "1"}
    response = client.post(address(campaign), form)
    assert "there is nothing to publish" in Page(response).text


def test_nobody_writes_over_a_colleagues_version(client: Client, campaign: Campaign) -> None:
    form = {"form": "guidelines", "body": "Mine", "after": "1"}
    client.post(address(campaign), form)
    response = client.post(address(campaign), form | {"body": "Theirs"})
    page = Page(response)
    assert response.status_code == 422
    assert "Somebody else has published a version" in page.text
    assert "Theirs" in page.html
    assert Guideline.objects.count() == 2
