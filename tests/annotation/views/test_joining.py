"""Invite links and crowd entry over HTTP."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, CrowdPlace, CrowdStudy, Invite, Membership, PairSeats, User
from annotation.services import crowd
from tests.annotation.views.pages import Page, browser
from tests.annotation.ways import (
    crowd_address,
    join_address,
    make_invite,
    make_place,
    make_study,
    signed_in_as,
)
from tests.factories import PASSWORD, UserFactory, add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db

ACCOUNT = {"username": "ada", "password": PASSWORD, "again": PASSWORD}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    campaign = make_campaign()
    add_pairs(campaign, tmp_path, 4)
    return campaign


def task_of(campaign: Campaign) -> str:
    return reverse("task", args=[campaign.slug])


class TestInvitePage:
    def test_a_stranger_reads_what_it_is_about(self, campaign: Campaign) -> None:
        invite = make_invite(campaign, label="Secret label")
        page = Page(Client().get(join_address(invite)))
        assert "Join Campaign cups" in page.text
        assert "you will be: annotator" in page.text
        assert "guidelines" in page.text
        assert "Secret label" not in page.html
        assert page.having(name="password", type="password")
        login = reverse("login")
        assert page.having(href=f"{login}?next={join_address(invite)}")

    def test_it_speaks_the_language_one_picks(self, campaign: Campaign) -> None:
        invite = make_invite(campaign)
        client = Client()
        page = Page(client.get(join_address(invite)))
        assert page.having(name="next", value=join_address(invite))
        here = {"language": "zh-hans", "next": join_address(invite)}
        response = client.post(reverse("set_language"), here, follow=True)
        assert 'lang="zh-hans"' in response.content.decode()

    def test_an_unknown_one_is_not_there(self) -> None:
        assert Client().get(reverse("join", args=[uuid4()])).status_code == 404

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"revoked_at": timezone.now()}, "This invite has been withdrawn"),
            ({"expires_at": timezone.now()}, "This invite has expired"),
            ({"uses": 1, "max_uses": 1}, "This invite is used up"),
        ],
    )
    def test_one_that_is_over_says_why(
        self, campaign: Campaign, change: dict[str, Any], words: str
    ) -> None:
        invite = make_invite(campaign)
        Invite.objects.filter(pk=invite.pk).update(**change)
        client = Client()
        for response in (
            client.get(join_address(invite)),
            client.post(join_address(invite), ACCOUNT),
        ):
            assert response.status_code == 410
            assert words in Page(response).text
            assert "Ask the person who sent it to you for a new one." in Page(response).text
        assert not User.objects.filter(username="ada").exists()

    def test_a_closed_campaign_says_so(self, campaign: Campaign) -> None:
        invite = make_invite(campaign)
        Campaign.objects.update(state=Campaign.State.CLOSED)
        response = Client().get(join_address(invite))
        assert response.status_code == 410
        assert "This campaign is closed" in Page(response).text


class TestNewAccount:
    def test_joining_signs_in_and_leads_to_the_task(self, campaign: Campaign) -> None:
        client = Client()
        response = client.post(join_address(make_invite(campaign)), ACCOUNT)
        assert response.status_code == 302
        assert response.headers["Location"] == task_of(campaign)
        member = Membership.objects.get(user__username="ada")
        assert signed_in_as(client) == str(member.user.pk)
        assert member.user.check_password(PASSWORD)
        assert not member.user.is_staff
        assert not member.user.is_superuser

    def test_a_researcher_is_led_to_the_figures(self, campaign: Campaign) -> None:
        invite = make_invite(campaign, role=Membership.Role.RESEARCHER)
        response = Client().post(join_address(invite), ACCOUNT)
        assert response.headers["Location"] == reverse("campaign", args=[campaign.slug])

    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"username": ""}, "username", "Choose a user name."),
            ({"username": "two words"}, "username", "Use letters, digits"),
            ({"username": "a\x00da"}, "username", "Null characters"),
            ({"username": "\N{RIGHT-TO-LEFT OVERRIDE}ada"}, "username", "Use letters, digits"),
            ({"username": "👩‍👩‍👧"}, "username", "Use letters, digits"),
            ({"username": "x" * 151}, "username", "at most 150"),
            ({"username": "\u3164"}, "username", "nothing in this name that can be seen"),
            ({"username": "\u115f\uffa0\u1160"}, "username", "nothing in this name"),
            ({"username": "TAKEN"}, "username", "This user name is taken."),
            ({"password": ""}, "password", "Choose a password."),
            ({"password": "short", "again": "short"}, "password", "too short"),
            ({"password": "12345678901", "again": "12345678901"}, "password", "entirely numeric"),
            ({"password": "password1", "again": "password1"}, "password", "too common"),
            (
                {"username": "adalovelace", "password": "adalovelace1", "again": "adalovelace1"},
                *("password", "too similar to the username"),
            ),
            ({"again": ""}, "again", "Enter the password a second time."),
            ({"again": PASSWORD + "!"}, "again", "The two passwords differ."),
        ],
    )
    def test_what_is_wrong_is_said_at_its_field(
        self, campaign: Campaign, change: dict[str, str], field: str, words: str
    ) -> None:
        UserFactory.create(username="taken")
        accounts = User.objects.count()
        client = Client()
        invite = make_invite(campaign)
        response = client.post(join_address(invite), ACCOUNT | change)
        page = Page(response)
        assert response.status_code == 422
        assert words in page.text
        wrong = page.having(name=field)[0]
        assert wrong["aria-invalid"] == "true"
        assert f"id_{field}_error" in wrong["aria-describedby"].split()
        assert page.having(id=f"id_{field}_error")
        # A way to the field from the top; nothing of a password comes back.
        assert page.having(href=f"#id_{field}")
        assert PASSWORD not in page.html
        assert User.objects.count() == accounts + 1  # who made the invite
        assert not signed_in_as(client)
        assert Invite.objects.get().uses == 0

    @pytest.mark.parametrize("name", ["李雷", "Ægir", "user.name+tag@example.org", "x" * 150])
    def test_names_of_all_scripts(self, campaign: Campaign, name: str) -> None:
        response = Client().post(join_address(make_invite(campaign)), ACCOUNT | {"username": name})
        assert response.status_code == 302
        assert User.objects.get(username=name)

    def test_names_that_look_alike_are_one(self, campaign: Campaign) -> None:
        """ﬁ is a single character, which nobody types."""
        client = Client()
        client.post(join_address(make_invite(campaign)), ACCOUNT | {"username": "ﬁona"})
        assert User.objects.get(username="fiona")

    def test_forms_from_elsewhere_are_refused(self, campaign: Campaign) -> None:
        client = Client(enforce_csrf_checks=True)
        assert client.post(join_address(make_invite(campaign)), ACCOUNT).status_code == 403
        assert not User.objects.filter(username="ada").exists()


class TestPresentAccount:
    def test_one_click_joins(self, campaign: Campaign) -> None:
        user = UserFactory.create(username="grace")
        client = Client()
        client.force_login(user)
        invite = make_invite(campaign)
        assert "Join as grace" in Page(client.get(join_address(invite))).text
        response = client.post(join_address(invite))
        assert response.headers["Location"] == task_of(campaign)
        assert Membership.objects.get(user=user)

    def test_who_has_joined_is_told_so_and_takes_no_use(self, campaign: Campaign) -> None:
        member = make_member(campaign)
        invite = make_invite(campaign, max_uses=1)
        Invite.objects.update(revoked_at=timezone.now())
        client = browser(member)
        for response in (client.get(join_address(invite)), client.post(join_address(invite))):
            assert "You have joined this campaign already" in Page(response).text
        assert Invite.objects.get().uses == 0

    def test_a_form_for_a_new_account_does_not_join_with_another(self, campaign: Campaign) -> None:
        """Somebody has signed in meanwhile, in another tab."""
        user = UserFactory.create()
        client = Client()
        client.force_login(user)
        invite = make_invite(campaign)
        response = client.post(join_address(invite), ACCOUNT)
        assert response.headers["Location"] == join_address(invite)
        assert not Membership.objects.exists()

    def test_signing_in_comes_back(self, campaign: Campaign) -> None:
        UserFactory.create(username="grace")
        address = join_address(make_invite(campaign))
        login = {"username": "grace", "password": PASSWORD, "next": address}
        response = Client().post(reverse("login"), login)
        assert response.headers["Location"] == address


class TestCrowdAddress:
    def test_an_unknown_study_is_not_there(self) -> None:
        assert Client().get(reverse("crowd", args=[uuid4()])).status_code == 404

    @pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
    def test_what_is_missing_is_named(self, campaign: Campaign, name: str) -> None:
        response = Client().get(crowd_address(make_study(campaign), **{name: ""}))
        page = Page(response)
        assert response.status_code == 400
        assert f"The address has no {name}" in page.text
        assert "Go back to the study's page on the platform" in page.text

    @pytest.mark.parametrize("value", ["{{%PROLIFIC_PID%}}", "名字", "a\x00", "x" * 5_000, "<b>x"])
    def test_odd_values_are_refused_and_not_shown(self, campaign: Campaign, value: str) -> None:
        study = make_study(campaign)
        for call in (Client().get, Client().post):
            response = call(crowd_address(study, value))
            assert response.status_code == 400
            assert "PROLIFIC_PID" in Page(response).text
        assert not CrowdPlace.objects.exists()

    def test_bytes_that_are_no_text(self, campaign: Campaign) -> None:
        address = crowd_address(make_study(campaign), "PID").replace("=PID", "=%ff%fe%00")
        assert Client().get(address).status_code == 400

    def test_another_study(self, campaign: Campaign) -> None:
        response = Client().get(crowd_address(make_study(campaign, external_id="other")))
        assert response.status_code == 403
        assert "belongs to another study" in Page(response).text

    def test_the_log_does_not_say_who_came(
        self, campaign: Campaign, caplog: pytest.LogCaptureFixture
    ) -> None:
        study = make_study(campaign)
        with caplog.at_level(logging.DEBUG):
            Client().get(crowd_address(study, "5f3acafe" * 50))
            Client().get(crowd_address(study, "5f3acafe"))
            Client().post(crowd_address(study, "5f3acafe"), {"agree": "yes"})
        # The database's own statements are logged where DEBUG is on, and nowhere else.
        said = [
            entry.getMessage() for entry in caplog.records if entry.name != "django.db.backends"
        ]
        assert any("Bad Request" in line for line in said)
        assert not any("5f3acafe" in line for line in said)


class TestConsent:
    def test_the_page_shows_the_text_safely(self, campaign: Campaign) -> None:
        study = make_study(campaign, consent="You compare **two** texts. <script>alert(1)</script>")
        page = Page(Client().get(crowd_address(study)))
        assert "<strong>two</strong>" in page.html
        assert "<script>alert" not in page.html
        assert "You compare two texts, 2 times." in page.text
        assert "You have 30 minutes" in page.text
        assert not CrowdPlace.objects.exists()

    def test_agreeing_leads_to_the_task(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        client = Client()
        response = client.post(crowd_address(study), {"agree": "yes"})
        assert response.headers["Location"] == task_of(campaign)
        place = CrowdPlace.objects.get()
        assert (place.participant, place.session) == ("p-1", "s-1")
        assert signed_in_as(client) == str(place.membership.user_id)

    @pytest.mark.parametrize("agree", ["no", "", "maybe"])
    def test_declining_stores_nothing(self, campaign: Campaign, agree: str) -> None:
        client = Client()
        response = client.post(crowd_address(make_study(campaign)), {"agree": agree})
        page = Page(response)
        assert "You do not take part" in page.text
        assert "return your place" in page.text
        assert not CrowdPlace.objects.exists()
        assert not User.objects.filter(username__startswith="crowd-").exists()
        assert not signed_in_as(client)

    @pytest.mark.parametrize(
        ("state", "words"),
        [
            (Campaign.State.PAUSED, "This study is not open at the moment"),
            (Campaign.State.CLOSED, "This study has ended"),
        ],
    )
    def test_a_campaign_that_is_not_open(self, campaign: Campaign, state: str, words: str) -> None:
        study = make_study(campaign)
        Campaign.objects.update(state=state)
        client = Client()
        address = crowd_address(study)
        for response in (client.get(address), client.post(address, {"agree": "yes"})):
            assert response.status_code == 403
            assert words in Page(response).text

    def test_a_closed_study(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        CrowdStudy.objects.update(closed_at=timezone.now())
        assert "This study is closed" in Page(Client().get(crowd_address(study))).text

    def test_a_campaign_with_nothing_left(self, campaign: Campaign) -> None:
        address = crowd_address(make_study(campaign))
        PairSeats.objects.update(free=0)
        for response in (Client().get(address), Client().post(address, {"agree": "yes"})):
            page = Page(response)
            assert response.status_code == 403
            assert "This study is full" in page.text
            assert "return your place" in page.text
        assert not CrowdPlace.objects.exists()

    def test_a_second_study_of_the_campaign(self, campaign: Campaign) -> None:
        make_place(make_study(campaign))
        response = Client().get(crowd_address(make_study(campaign)))
        assert response.status_code == 403
        assert "You have taken part already" in Page(response).text


class TestComingAgain:
    def test_it_signs_in_again(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        place = make_place(study)
        client = Client()
        response = client.get(crowd_address(study))
        assert response.headers["Location"] == task_of(campaign)
        assert signed_in_as(client) == str(place.membership.user_id)
        # And again, signed in already: then the session does not matter.
        assert client.get(crowd_address(study, SESSION_ID="another")).status_code == 302
        assert CrowdPlace.objects.count() == 1

    def test_another_session_opens_nothing(self, campaign: Campaign) -> None:
        """Participants' ids are known to more people than the participants."""
        study = make_study(campaign)
        place = make_place(study)
        address = crowd_address(study, SESSION_ID="another")
        for is_done in (False, True):
            if is_done:
                crowd.settle(membership=place.membership, done=2, now=timezone.now())
            client = Client()
            for response in (client.get(address), client.post(address, {"agree": "yes"})):
                page = Page(response)
                assert response.status_code == 403
                assert "This place was opened with another session" in page.text
                assert "Open the study's link on the platform again." in page.text
                assert "C0DE-42" not in page.html
            assert not signed_in_as(client)

    def test_a_link_alone_takes_nobody_out_of_their_account(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        place = make_place(study)
        lead = make_member(campaign, Membership.Role.LEAD)
        client = browser(lead)
        page = Page(client.get(crowd_address(study)))
        assert f"you are signed in as {lead.user.username}" in page.text
        assert signed_in_as(client) == str(lead.user.pk)
        client.post(crowd_address(study), {"agree": "yes"})
        assert signed_in_as(client) == str(place.membership.user_id)

    def test_who_is_done_gets_the_code_again(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        member = make_place(study).membership
        crowd.settle(membership=member, done=2, now=timezone.now())
        CrowdStudy.objects.update(closed_at=timezone.now())
        Campaign.objects.update(state=Campaign.State.CLOSED)
        page = Page(Client().get(crowd_address(study)))
        assert page.having(id="completion-code", value="C0DE-42")
        assert page.having(href="https://platform.example/complete?cc=C0DE-42")

    def test_who_has_not_finished_gets_no_code(self, campaign: Campaign) -> None:
        study = make_study(campaign, minutes=30)
        make_place(study, now=timezone.now() - timedelta(hours=1))
        page = Page(Client().get(crowd_address(study)))
        assert "Your time for this study has run out" in page.text
        assert "return your place" in page.text
        assert "C0DE-42" not in page.html
        assert CrowdPlace.objects.get().state == CrowdPlace.State.TIMED_OUT


class TestLeaving:
    def test_a_question_first_then_words(self, campaign: Campaign) -> None:
        study = make_study(campaign)
        place = make_place(study)
        client = browser(place.membership)
        address = reverse("leave", args=[campaign.slug])
        page = Page(client.get(address))
        assert "Stop taking part?" in page.text
        assert "are kept" in page.text
        place.refresh_from_db()
        assert place.state == CrowdPlace.State.STARTED
        response = client.post(address, follow=True)
        assert response.redirect_chain == [(address, 302)]
        page = Page(response)
        assert "You have stopped taking part" in page.text
        assert "return your place" in page.text
        assert "C0DE-42" not in page.html
        assert "You have stopped taking part" in Page(Client().get(crowd_address(study))).text

    def test_it_is_for_participants_alone(self, campaign: Campaign) -> None:
        client = browser(make_member(campaign))
        address = reverse("leave", args=[campaign.slug])
        assert client.get(address).status_code == 404
        assert client.post(address).status_code == 404


def test_participants_are_named_to_nobody_but_the_lead(campaign: Campaign) -> None:
    """Of everything that others can open in the campaign."""
    make_place(make_study(campaign), "5f3acafe")
    researcher = browser(make_member(campaign, Membership.Role.RESEARCHER))
    assert (
        "5f3acafe" not in researcher.get(reverse("campaign", args=[campaign.slug])).content.decode()
    )
    lead = browser(make_member(campaign, Membership.Role.LEAD))
    assert "5f3acafe" not in lead.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert "5f3acafe" in lead.get(reverse("people", args=[campaign.slug])).content.decode()
