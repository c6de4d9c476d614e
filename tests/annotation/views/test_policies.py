"""Policies of a campaign: which there are, trying out rules, and keeping them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Event, Membership
from benchmark.models import PairSet, Run, SavedPolicy, Verdict
from benchmark.stats.policy import PERSONAFEEDBACK_V1
from tests.annotation.test_access import nobody_else_writes
from tests.annotation.views.pages import Page, browser
from tests.annotation.views.test_audit import judged
from tests.benchmark.jobs.runs import aggregated
from tests.factories import make_campaign, make_member

pytestmark = pytest.mark.django_db

RULES = {
    "decide": "both_agree",
    "criterion": "personalization",
    "combine": "criterion",
    "minimum": "7",
    "easy_above": "0.5",
    "medium_from": "0.2",
    "chance": "1/2",
    "tie_rule": "ties_can_win",
}


@pytest.fixture
def lead(tmp_path: Path) -> Membership:
    return judged(tmp_path)


@pytest.fixture
def empty() -> Membership:
    """The lead of a campaign without pairs."""
    return make_member(make_campaign(), Membership.Role.LEAD)


def where(lead: Membership) -> str:
    return reverse("policies", args=[lead.campaign.slug])


def preview(lead: Membership, **changes: str) -> tuple[int, Page]:
    response = browser(lead).get(where(lead), {**RULES, **changes, "preview": "1"})
    return response.status_code, Page(response)


def post(lead: Membership, **changes: str) -> Any:
    return browser(lead).post(where(lead), {**RULES, "name": "wide", "note": "", **changes})


def table_rows(page: Page, name: str) -> str:
    """The texts of a table of the page."""
    start = page.html.index(f'id="{name}-title"')
    table = page.html[start : page.html.index("</table>", start)]
    return Page(SimpleNamespace(content=f"<h3 {table}".encode())).text


class TestTheList:
    def test_built_in_and_made_here(
        self, lead: Membership, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(PairSet, "snapshot", nobody_else_writes)
        post(lead, note="for <b>pilots</b>, 试点")
        post(lead, medium_from="0.25")
        run = aggregated(lead.campaign.pair_set)
        page = Page(browser(lead).get(where(lead)))
        for label in ("personafeedback-v1@1", "helpfulness-v1@1", "wide@1", "wide@2"):
            assert page.having(href=f"?from={label}#rules"), label
        assert page.text.index("wide@2") < page.text.index("wide@1")
        assert "for <b>pilots</b>, 试点" in page.text
        assert "easy above 0.5, medium from 0.25 to 0.5, hard below 0.25" in page.text
        assert lead.user.username in page.text
        assert page.having(href=reverse("run", args=[lead.campaign.slug, run.pk]))

    def test_another_one_to_start_from(self, empty: Membership) -> None:
        post(empty)
        page = Page(browser(empty).get(where(empty), {"from": "wide@1"}))
        assert page.having(name="easy_above", value="0.5")
        assert page.having(name="medium_from", value="0.2")
        for name in ("none", "wide@7", "a\0b"):
            response = browser(empty).get(where(empty), {"from": name})
            assert response.status_code == 422
            assert "There is no such policy in this campaign." in Page(response).text


class TestPreview:
    def test_what_would_move(self, lead: Membership) -> None:
        """Personalization has 2 times 9-0, 4 times 8-1, once 6-3, and 7-2 in the conflict."""
        status, page = preview(lead)
        assert status == 200
        # 8-1 (k = .556) becomes easy, 6-3 (k = 0) stays hard.
        assert "4 of 8 pairs would get another tier or status (50.0%)." in page.text
        assert "On none would the other response be chosen." in page.text
        states = table_rows(page, "preview-states")
        assert "easy 2 6 4" in states
        assert "medium 4 0 −4" in states
        assert "hard 1 1 0" in states
        assert "criteria disagree 1 1 0" in states
        # Rows and columns: easy, hard, criteria disagree; medium goes to easy as a whole.
        assert "medium 4 0 0" in table_rows(page, "preview-moves")

    def test_the_other_response(self, lead: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(PairSet, "snapshot", nobody_else_writes)
        aggregated(lead.campaign.pair_set, "helpfulness-v1")
        _status, page = preview(lead, decide="criterion")
        assert "Now: helpfulness-v1@1" in page.text
        assert "On 1 the other response would be chosen." in page.text

    def test_it_changes_nothing(self, lead: Membership) -> None:
        events = Event.objects.count()
        preview(lead, name="wide")
        assert not SavedPolicy.objects.exists()
        assert not Run.objects.exists()
        assert not Verdict.objects.exists()
        assert Event.objects.count() == events

    def test_what_was_looked_at_is_what_is_saved(self, lead: Membership) -> None:
        _status, page = preview(lead, combine="min", chance="0.52")
        sent = {
            found["name"]: found.get("value", "")
            for tag, found in page.elements
            if tag == "input" and found.get("id", "").startswith("save_")
        }
        assert {name: sent[name] for name in RULES} == {
            **RULES,
            "combine": "min",
            "chance": "0.52",
        }

    def test_no_pairs_yet(self, empty: Membership) -> None:
        status, page = preview(empty)
        assert status == 200
        assert "There are no pairs yet, so these rules decide nothing." in page.text

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"chance": "pooled"}, "Chance cannot be taken from the votes"),
            ({"chance": " Pooled "}, "Chance cannot be taken from the votes"),
            ({"chance": "1"}, "Enter a number from 0 to less than 1."),
            ({"chance": "-1/2"}, "Enter a number from 0 to less than 1."),
            ({"easy_above": ""}, "This field is required."),
            ({"easy_above": "much"}, "Enter a number such as 0.6"),
            ({"easy_above": "1/0"}, "Enter a number such as 0.6"),
            ({"easy_above": "nan"}, "Enter a number such as 0.6"),
            ({"easy_above": "0.60001"}, "at most three digits"),
            ({"easy_above": "1.5"}, "Enter a number from -1 to 1."),
            ({"easy_above": "0.1"}, "This must not be above the edge of easy."),
            ({"easy_above": "1" * 400}, "at most 20 characters"),
            ({"minimum": "0"}, "greater than or equal to 1"),
            ({"minimum": "2000"}, "less than or equal to 1000"),
            ({"minimum": ""}, "This field is required."),
            ({"decide": "all"}, "Select a valid choice."),
            ({"tie_rule": "\0"}, "Select a valid choice."),
            (
                {"decide": "criterion", "combine": "min"},
                "With one criterion deciding, the tier can come from that one only.",
            ),
        ],
    )
    def test_what_is_wrong_is_said_and_kept(
        self, empty: Membership, changes: dict[str, str], words: str
    ) -> None:
        status, page = preview(empty, **changes)
        assert status == 422
        assert words in page.text
        assert "What these rules would do now" not in page.text
        for name, text in changes.items():
            if name in ("easy_above", "chance"):
                assert page.having(name=name)[0].get("value", "") == text


class TestSaving:
    def test_a_first_version_and_the_next(self, empty: Membership) -> None:
        response = post(empty, note="for pilots")
        assert response.headers["Location"] == f"{where(empty)}?notice=saved&from=wide%401#main"
        row = SavedPolicy.objects.get()
        assert (row.name, row.version, row.note, row.by) == (
            "wide",
            1,
            "for pilots",
            empty.user.username,
        )
        assert row.policy.bands.easy_above == (1, 2)
        assert row.policy.bands.medium_from == (1, 5)
        [event] = Event.objects.filter(action="policy:saved")
        assert (event.actor, event.data) == (
            empty.user,
            {"policy": row.pk, "name": "wide", "version": 1},
        )
        page = Page(browser(empty).get(response.headers["Location"]))
        assert "Saved as wide@1." in page.text
        assert post(empty, minimum="9").headers["Location"].endswith("from=wide%402#main")
        assert SavedPolicy.objects.count() == 2

    def test_the_same_rules_again_are_no_version(self, empty: Membership) -> None:
        post(empty)
        # The same numbers, written otherwise.
        response = post(empty, easy_above="3/6", chance="0,5", note="again")
        assert "notice=unchanged" in response.headers["Location"]
        page = Page(browser(empty).get(response.headers["Location"]))
        assert "wide@1 has these rules already" in page.text
        assert SavedPolicy.objects.count() == 1
        assert Event.objects.filter(action="policy:saved").count() == 1

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"name": PERSONAFEEDBACK_V1.name}, "is built in and never changes."),
            ({"name": ""}, "Give it a name"),
            ({"name": "Wide"}, "Use lower-case letters and digits"),
            ({"name": "wide\n"}, None),  # the line end of a careless paste is no part of it
            ({"name": "a" * 81}, "at most 80 characters"),
            ({"name": "<script>"}, "Use lower-case letters and digits"),
            ({"note": "x" * 401}, "at most 400 characters"),
            ({"chance": "pooled"}, "Chance cannot be taken from the votes"),
        ],
    )
    def test_what_cannot_be_saved(
        self, empty: Membership, changes: dict[str, str], words: str | None
    ) -> None:
        response = post(empty, **{"note": "a note", **changes})
        if words is None:
            assert response.status_code == 302
            return
        page = Page(response)
        assert response.status_code == 422
        assert words in page.text
        assert not SavedPolicy.objects.exists()
        assert not Event.objects.filter(action="policy:saved").exists()
        assert page.having(name="easy_above", value="0.5")
        if "chance" not in changes:
            [note] = page.having(id="save_note")
            assert note["value"] == changes.get("note", "a note")

    def test_every_campaign_has_its_own(self, empty: Membership) -> None:
        post(empty)
        other = make_member(make_campaign("other"), Membership.Role.LEAD)
        response = browser(other).get(where(other), {"from": "wide@1"})
        assert response.status_code == 422
        assert "wide" not in Page(response).text
