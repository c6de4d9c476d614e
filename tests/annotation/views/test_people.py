"""The lead's desk over HTTP: people, ways in, flags, settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    Campaign,
    CheckAnswer,
    CheckItem,
    CrowdStudy,
    Event,
    Flag,
    Invite,
    Membership,
)
from annotation.selectors.people import attention_count
from annotation.services.campaigns import create_campaign
from benchmark.models import Exclusion, Judgement
from tests.annotation.seating import NOW, answer, seat, seated_campaign, submit
from tests.annotation.views.pages import Page, browser
from tests.annotation.ways import STUDY, make_invite, make_place, make_study
from tests.factories import add_pairs, make_campaign, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return seated_campaign(tmp_path, annotators=2)[0]


@pytest.fixture
def rater(campaign: Campaign) -> Membership:
    raters = Membership.objects.select_related("rater", "user").filter(campaign=campaign)
    return raters.order_by("id")[0]


@pytest.fixture
def lead(campaign: Campaign) -> Membership:
    return make_member(campaign, Membership.Role.LEAD)


@pytest.fixture
def client(lead: Membership) -> Client:
    return browser(lead)


def address(name: str, campaign: Campaign, *arguments: Any) -> str:
    return reverse(name, args=[campaign.slug, *arguments])


def people(client: Client, campaign: Campaign) -> Page:
    return Page(client.get(address("people", campaign)))


def make_flag(held: Assignment, **options: Any) -> Flag:
    given = {"target": Flag.Target.QUERY, "kind": Flag.Kind.BROKEN} | options
    return Flag.objects.create(campaign=held.campaign, assignment=held, **given)


def gold_answer(
    rater: Membership, folder: Path, number: int = 1, *, right: int, asked: int
) -> None:
    """What a gold pair leaves behind."""
    campaign = rater.campaign
    if campaign.checks is None:
        checks = create_campaign(slug=f"{campaign.slug}-checks")
        add_pairs(checks, folder, 20)
        campaign.checks = checks.pair_set
        campaign.save()
    assert campaign.checks is not None
    pair = campaign.checks.pairs.order_by("id")[number]
    item, _ = CheckItem.objects.get_or_create(
        pair=pair,
        defaults={
            "campaign": campaign,
            "purpose": "gold",
            "position": number,
            "expected": {"helpfulness": "A"},
        },
    )
    held = Assignment.objects.create(
        campaign=campaign,
        membership=rater,
        pair=pair,
        purpose="gold",
        check_item=item,
        state="submitted",
        shown_left="A",
        claimed_at=NOW,
        lease_expires_at=NOW,
        submitted_at=NOW,
    )
    CheckAnswer.objects.create(
        assignment=held,
        choices={},
        opened_at=NOW,
        submitted_at=NOW,
        seconds=5,
        asked=asked,
        right=right,
    )


class TestAttention:
    def test_nothing_waits(self, client: Client, campaign: Campaign) -> None:
        assert "Nothing waits for you" in people(client, campaign).text
        assert attention_count(campaign) == 0

    def test_a_flag_is_shown_in_full_and_resolved(
        self, client: Client, campaign: Campaign, rater: Membership
    ) -> None:
        held = seat(rater)
        flag = make_flag(held, comment="It says <b>nothing</b>.")
        assert attention_count(campaign) == 1
        page = people(client, campaign)
        assert "The question · broken or unreadable" in page.text
        assert "It says <b>nothing</b>." in page.text
        assert held.pair.pair_id in page.text
        assert rater.rater is not None
        assert rater.rater.pseudonym in page.text
        # What it is about, without looking it up.
        assert held.pair.query in page.text
        response = client.post(address("resolve_flag", campaign, flag.pk), follow=True)
        assert "The flag is resolved." in Page(response).text
        assert "It says" not in Page(response).text
        flag.refresh_from_db()
        assert flag.resolved_at is not None
        assert attention_count(campaign) == 0

    @pytest.mark.parametrize("reason", ["gold", "qualification"])
    def test_who_is_paused_by_checks_is_let_go_on(
        self,
        client: Client,
        campaign: Campaign,
        rater: Membership,
        reason: str,
        tmp_path: Path,
    ) -> None:
        gold_answer(rater, tmp_path, right=0, asked=2)
        Membership.objects.filter(pk=rater.pk).update(
            standing="paused", standing_reason=reason, standing_at=NOW
        )
        assert attention_count(campaign) == 1
        page = people(client, campaign)
        assert "Paused by checks" in page.text
        assert "gold answers right: 0 of 2" in page.text
        response = client.post(
            address("standing", campaign, rater.pk), {"action": "resume"}, follow=True
        )
        assert "The rater may go on." in Page(response).text
        rater.refresh_from_db()
        assert rater.is_active
        assert attention_count(campaign) == 0

    def test_who_was_paused_by_the_lead_waits_for_nothing(
        self, campaign: Campaign, rater: Membership
    ) -> None:
        Membership.objects.filter(pk=rater.pk).update(standing="paused", standing_reason="lead")
        assert attention_count(campaign) == 0

    def test_other_campaigns_do_not_count(self, campaign: Campaign, tmp_path: Path) -> None:
        _, (stranger,) = seated_campaign(tmp_path, slug="mugs", annotators=1)
        make_flag(seat(stranger))
        assert attention_count(campaign) == 0


class TestTable:
    def test_figures_of_a_rater(
        self, client: Client, campaign: Campaign, rater: Membership, tmp_path: Path
    ) -> None:
        for minutes in (1, 2, 6):
            held = seat(rater)
            submit(seat=held, answer=answer(), now=NOW + timedelta(minutes=minutes))
        seconds = list(Judgement.objects.order_by("id").values_list("seconds", flat=True))
        assert sorted(seconds) == [60, 120, 360]
        gold_answer(rater, tmp_path, 1, right=2, asked=2)
        gold_answer(rater, tmp_path, 2, right=1, asked=2)
        text = people(client, campaign).text
        # Leads know whose pseudonym it is: they have to talk with people.
        assert f"r-0 {rater.user.username} active 3" in text
        assert "3 of 4" in text
        assert "2 min 0 s" in text

    def test_active_time_goes_before_the_time_by_the_clock(
        self, client: Client, campaign: Campaign, rater: Membership
    ) -> None:
        submit(seat=seat(rater), answer=answer(), now=NOW + timedelta(minutes=9))
        Judgement.objects.update(active_seconds=75)
        assert "1 min 15 s" in people(client, campaign).text

    def test_participants_stand_beside_their_pseudonym(
        self, client: Client, campaign: Campaign
    ) -> None:
        place = make_place(make_study(campaign), "5f3acafe")
        page = people(client, campaign)
        assert place.membership.rater is not None
        assert f"{place.membership.rater.pseudonym} 5f3acafe" in page.text
        assert place.membership.user.username not in page.text

    def test_it_asks_as_much_for_many_as_for_few(self, tmp_path: Path) -> None:
        def queries(slug: str, number: int) -> list[str]:
            campaign, members = seated_campaign(tmp_path, slug=slug, pairs=6, annotators=number)
            study = make_study(campaign)
            for count, member in enumerate(members):
                submit(seat=seat(member), answer=answer(), now=NOW)
                gold_answer(member, tmp_path, right=1, asked=2)
                make_flag(seat(member), comment="Hm.")
                make_place(study, f"p-{count}")
                make_invite(campaign)
                make_study(campaign)
                Membership.objects.filter(pk=member.pk).update(
                    standing="paused", standing_reason="gold"
                )
            signed_in = browser(make_member(campaign, Membership.Role.LEAD))
            with CaptureQueriesContext(connection) as captured:
                assert signed_in.get(address("people", campaign)).status_code == 200
            return [query["sql"] for query in captured.captured_queries]

        few, many = queries("few", 1), queries("many", 6)
        assert len(few) == len(many), "\n".join(["few:", *few, "many:", *many])
        assert len(many) <= 16


class TestStanding:
    def post(self, client: Client, rater: Membership, **data: str) -> Any:
        return client.post(address("standing", rater.campaign, rater.pk), data)

    def test_pausing_and_excluding(self, client: Client, rater: Membership) -> None:
        response = self.post(client, rater, action="pause")
        assert response.headers["Location"].endswith("/people/?notice=pause#main")
        response = self.post(client, rater, action="exclude", reason="Bots.")
        assert response.status_code == 302
        rater.refresh_from_db()
        assert rater.standing == "excluded"
        assert Event.objects.get(action="rater:excluded").data["reason"] == "Bots."
        assert Exclusion.objects.in_force().get(rater=rater.rater).reason == "Bots."
        assert "leaves their votes out" in Page(client.get(response.headers["Location"])).text
        response = self.post(client, rater, action="resume")
        assert not Exclusion.objects.in_force().exists()
        assert "votes count again" in Page(client.get(response.headers["Location"])).text

    def test_the_effect_can_be_seen_first(
        self, client: Client, campaign: Campaign, rater: Membership
    ) -> None:
        found = people(client, campaign).having(
            href=address("exclude_rater", campaign, rater.rater_id)
        )
        assert found

    @pytest.mark.parametrize(
        ("reason", "words"),
        [
            ("", "Say why"),
            ("   ", "Say why"),
            ("\u200b \u3164", "Say why"),
            ("a\x00b", "Null characters"),
            ("x" * 1_001, "at most 1000"),
        ],
    )
    def test_a_reason_is_needed(
        self, client: Client, rater: Membership, reason: str, words: str
    ) -> None:
        response = self.post(client, rater, action="exclude", reason=reason)
        assert response.status_code == 422
        assert words in Page(response).text
        rater.refresh_from_db()
        assert rater.is_active

    def test_what_has_changed_meanwhile(self, client: Client, rater: Membership) -> None:
        self.post(client, rater, action="pause")
        response = self.post(client, rater, action="pause")
        assert response.status_code == 409
        assert "has changed meanwhile" in Page(response).text

    @pytest.mark.parametrize("action", ["", "delete"])
    def test_other_actions_do_nothing(self, client: Client, rater: Membership, action: str) -> None:
        assert self.post(client, rater, action=action).status_code == 422

    def test_a_lead_cannot_change_leads(self, client: Client, lead: Membership) -> None:
        response = self.post(client, lead, action="exclude", reason="Mutiny.")
        assert response.status_code == 409
        assert "Only raters" in Page(response).text
        lead.refresh_from_db()
        assert lead.is_active

    def test_what_belongs_to_another_campaign_is_not_there(
        self, client: Client, campaign: Campaign, tmp_path: Path
    ) -> None:
        theirs, (stranger,) = seated_campaign(tmp_path, slug="mugs", annotators=1)
        flag = make_flag(seat(stranger))
        found = [
            self_post.status_code
            for self_post in (
                client.post(address("standing", campaign, stranger.pk), {"action": "pause"}),
                client.post(address("resolve_flag", campaign, flag.pk)),
                client.post(address("revoke", campaign, make_invite(theirs).pk)),
                client.post(address("close_study", campaign, make_study(theirs).pk)),
                client.post(address("resolve_flag", campaign, 10**30)),
            )
        ]
        assert found == [404] * 5
        assert Flag.objects.get().resolved_at is None
        assert Invite.objects.get().revoked_at is None
        assert CrowdStudy.objects.get().closed_at is None


class TestInvites:
    FORM = {"label": "Lisbon 里斯本", "role": "researcher", "max_uses": "1", "days": "3"}

    def test_the_link_is_there_to_copy_until_it_is_revoked(
        self, client: Client, campaign: Campaign
    ) -> None:
        before = timezone.now()
        response = client.post(address("invite", campaign), self.FORM)
        assert response.headers["Location"].endswith("?notice=invited#main")
        invite = Invite.objects.get()
        assert (invite.label, invite.role, invite.max_uses) == ("Lisbon 里斯本", "researcher", 1)
        assert timedelta(0) <= invite.expires_at - before - timedelta(days=3) < timedelta(hours=1)
        link = settings.PUBLIC_URL + reverse("join", args=[invite.pk])
        page = people(client, campaign)
        shown = page.having(value=link)[0]
        assert "readonly" in shown
        assert "used by 0 of 1 people" in page.text
        client.post(address("revoke", campaign, invite.pk))
        page = people(client, campaign)
        assert str(invite.pk) not in page.html
        assert "revoked" in page.text

    def test_a_label_that_nobody_sees_is_none(self, client: Client, campaign: Campaign) -> None:
        client.post(address("invite", campaign), self.FORM | {"label": "\u200b"})
        assert Invite.objects.get().label == ""
        assert "Without a label" in people(client, campaign).text

    def test_for_any_number_of_people(self, client: Client, campaign: Campaign) -> None:
        client.post(address("invite", campaign), self.FORM | {"max_uses": ""})
        assert Invite.objects.get().max_uses is None
        assert "for any number of people, used by 0" in people(client, campaign).text

    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"role": "lead"}, "role", "Choose annotator or researcher."),
            ({"role": ""}, "role", "Choose annotator or researcher."),
            ({"max_uses": "0"}, "max_uses", "from 1 to 10000"),
            ({"max_uses": "many"}, "max_uses", "from 1 to 10000"),
            ({"days": ""}, "days", "from 1 to 365"),
            ({"days": "366"}, "days", "from 1 to 365"),
            ({"days": "9" * 500}, "days", "from 1 to 365"),
            ({"label": "x" * 201}, "label", "at most 200"),
            ({"label": "a\x00"}, "label", "Null characters"),
        ],
    )
    def test_what_is_wrong_is_said_and_kept(
        self,
        client: Client,
        campaign: Campaign,
        change: dict[str, str],
        field: str,
        words: str,
    ) -> None:
        response = client.post(address("invite", campaign), self.FORM | change)
        page = Page(response)
        assert response.status_code == 422
        assert words in page.text
        assert page.having(href=f"#id_{field}")
        assert page.having(id=f"id_{field}")
        assert not Invite.objects.exists()
        if field != "label":
            assert page.having(name="label", value="Lisbon 里斯本")


class TestStudies:
    FORM = {key: str(value) for key, value in STUDY.items()} | {
        "participant_parameter": "PROLIFIC_PID",
        "study_parameter": "STUDY_ID",
        "session_parameter": "SESSION_ID",
    }

    def test_the_address_has_the_platforms_placeholders(
        self, client: Client, campaign: Campaign
    ) -> None:
        response = client.post(address("study", campaign), self.FORM | {"study_parameter": "s"})
        assert response.headers["Location"].endswith("?notice=study#main")
        study = CrowdStudy.objects.get()
        link = (
            f"{settings.PUBLIC_URL}/crowd/{study.pk}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
            "&s={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        )
        page = people(client, campaign)
        assert page.having(value=link)
        assert "started 0" in page.text
        make_place(study)
        assert "started 1" in people(client, campaign).text
        client.post(address("close_study", campaign, study.pk))
        page = people(client, campaign)
        assert not page.having(value=link)
        assert "started 1" in page.text

    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"name": ""}, "name", "Give the study a name."),
            ({"name": "\u2800"}, "name", "Give the study a name."),
            ({"consent": " "}, "consent", "Write what participants agree to."),
            ({"consent": "\ufeff\n\u200b"}, "consent", "Write what participants agree to."),
            ({"consent": "&nbsp;\n&#8203;"}, "consent", "Write what participants agree to."),
            ({"consent": "[a]: http://x"}, "consent", "Write what participants agree to."),
            ({"consent": "x" * 20_001}, "consent", "at most 20000"),
            ({"pairs_each": "0"}, "pairs_each", "from 1 to 10000"),
            ({"minutes": "-1"}, "minutes", "from 1 to 10080"),
            ({"completion_code": ""}, "completion_code", "Enter the code"),
            ({"completion_code": "\u3164"}, "completion_code", "Enter the code"),
            ({"completion_url": "javascript:alert(1)"}, "completion_url", "https://"),
            ({"completion_url": "ftp://x.example/"}, "completion_url", "https://"),
            ({"study_parameter": "a=b&c"}, "study_parameter", "A parameter has letters"),
            ({"study_parameter": "名"}, "study_parameter", "A parameter has letters"),
            ({"session_parameter": "STUDY_ID"}, "session_parameter", "different names"),
        ],
    )
    def test_what_is_wrong_is_said(
        self,
        client: Client,
        campaign: Campaign,
        change: dict[str, str],
        field: str,
        words: str,
    ) -> None:
        response = client.post(address("study", campaign), self.FORM | change)
        assert response.status_code == 422
        assert words in Page(response).text
        assert Page(response).having(name=field)[0]["aria-invalid"] == "true"
        assert not CrowdStudy.objects.exists()


@pytest.mark.parametrize("role", [Membership.Role.LEAD, Membership.Role.RESEARCHER])
def test_the_campaigns_page_leads_there(campaign: Campaign, role: str) -> None:
    page = Page(browser(make_member(campaign, role)).get(address("campaign", campaign)))
    for name in ("people", "judging_settings"):
        links = page.having(href=address(name, campaign))
        assert bool(links) == (role == Membership.Role.LEAD)


@pytest.mark.parametrize("name", ["people", "judging_settings"])
def test_pages_of_an_empty_campaign(name: str) -> None:
    campaign = make_campaign()
    lead = make_member(campaign, Membership.Role.LEAD)
    assert browser(lead).get(address(name, campaign)).status_code == 200
