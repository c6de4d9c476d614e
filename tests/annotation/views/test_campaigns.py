"""Pages of leads and researchers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from celery import current_app
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Event, Membership
from annotation.services.campaigns import import_votes_into
from annotation.services.jobs import start_aggregation, start_release
from annotation.services.policies import save_policy
from benchmark.models import Release, Run
from benchmark.tasks import run_aggregation, run_release
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.test_access import make_release, make_run
from tests.annotation.views.pages import HTMX, Page, browser
from tests.factories import make_campaign, make_member, vote_rows, write_jsonl

pytestmark = pytest.mark.django_db


def address(campaign: Campaign, name: str = "campaign") -> str:
    return reverse(name, args=[campaign.slug])


@pytest.fixture
def lead(tmp_path: Path) -> Membership:
    campaign, _ = seated_campaign(tmp_path)
    return make_member(campaign, Membership.Role.LEAD)


@pytest.fixture
def researcher(lead: Membership) -> Membership:
    return make_member(lead.campaign, Membership.Role.RESEARCHER)


def judge(campaign: Campaign, folder: Path, *, raters: int = 9, **options: Any) -> None:
    path = write_jsonl(folder / "votes.jsonl", vote_rows(campaign.pair_set, raters=raters))
    assert not import_votes_into(campaign=campaign, path=path, **options).problems


class TestTheCampaign:
    def test_progress_and_coverage(self, lead: Membership, tmp_path: Path) -> None:
        campaign = lead.campaign
        judge(campaign, tmp_path, raters=4)
        seat(Membership.objects.filter(role="annotator")[0], now=timezone.now())
        text = Page(browser(lead).get(address(campaign))).text
        assert "44.4% of the 27 wanted" in text
        assert "of 3 have all 9 judgements" in text
        assert "pair is in front of somebody" in text
        assert "rater-3" in text

    def test_people_are_known_by_pseudonym_only(self, researcher: Membership) -> None:
        annotators = Membership.objects.filter(role="annotator").select_related("rater", "user")
        page = Page(browser(researcher).get(address(researcher.campaign)))
        assert annotators
        for annotator in annotators:
            assert annotator.rater is not None
            assert annotator.rater.pseudonym in page.text
            assert annotator.user.username not in page.html

    def test_htmx_gets_the_live_part(self, lead: Membership) -> None:
        client = browser(lead)
        whole = Page(client.get(address(lead.campaign)))
        part = Page(client.get(address(lead.campaign), headers=HTMX))
        assert whole.is_whole
        assert not part.is_whole
        assert len(part.having(id="live")) == len(whole.having(id="live")) == 1
        assert not part.having(id="main")

    def test_simulated_raters_are_labelled(self, lead: Membership, tmp_path: Path) -> None:
        client = browser(lead)
        pages = [address(lead.campaign), reverse("home")]
        assert not any("simulated" in Page(client.get(page)).text for page in pages)
        judge(lead.campaign, tmp_path, is_simulated=True)
        assert all("simulated" in Page(client.get(page)).text for page in pages)

    def test_a_campaign_without_anything(self) -> None:
        lead = make_member(make_campaign(), Membership.Role.LEAD)
        response = browser(lead).get(address(lead.campaign))
        assert response.status_code == 200
        assert "No releases yet" in Page(response).text

    @pytest.mark.parametrize(
        ("state", "age", "words", "period"),
        [
            ("queued", 1, "waiting", "1s"),
            ("queued", 60, "No worker has taken this job", "1s"),
            ("running", 60, "running", "1s"),
            ("failed", 60, "ValueError: the disk is full", "15s"),
        ],
    )
    def test_jobs(self, lead: Membership, state: str, age: int, words: str, period: str) -> None:
        run = make_run(lead.campaign)
        Run.objects.filter(pk=run.pk).update(
            state=state,
            created_at=timezone.now() - timedelta(seconds=age),
            error="ValueError: the disk is full" if state == "failed" else "",
        )
        page = Page(browser(lead).get(address(lead.campaign)))
        assert words in page.text
        assert page.having(id="live")[0]["hx-trigger"] == f"every {period}"


class TestRights:
    def test_a_researcher_sees_and_cannot_start(self, researcher: Membership) -> None:
        campaign = researcher.campaign
        make_release(campaign)
        client = browser(researcher)
        page = Page(client.get(address(campaign)))
        assert page.having(href=reverse("download", args=[campaign.slug, "1.0.0"]))
        actions = {found.get("action") for _, found in page.elements}
        for name in ("move", "aggregate", "release"):
            assert address(campaign, name) not in actions
            assert client.post(address(campaign, name)).status_code == 403
        assert Event.objects.filter(actor=researcher.user).count() == 0

    def test_a_lead_can(self, lead: Membership) -> None:
        make_release(lead.campaign)
        page = Page(browser(lead).get(address(lead.campaign)))
        actions = {found.get("action") for _, found in page.elements}
        assert {
            address(lead.campaign, name) for name in ("move", "aggregate", "release")
        } <= actions


class TestMoves:
    def test_from_open_to_closed_and_back(self, lead: Membership) -> None:
        client = browser(lead)
        for before, after in (("open", "paused"), ("paused", "closed"), ("closed", "open")):
            response = client.post(address(lead.campaign, "move"), {"state": after})
            assert (response.status_code, response.headers["Location"]) == (
                302,
                address(lead.campaign),
            )
            assert Campaign.objects.get(pk=lead.campaign_id).state == after
            event = Event.objects.order_by("-id")[0]
            assert (event.action, event.actor) == ("campaign:moved", lead.user)
            assert event.data == {"from": before, "to": after}

    @pytest.mark.parametrize("state", ["draft", "open", "", "archived"])
    def test_steps_that_there_are_not(self, lead: Membership, state: str) -> None:
        response = browser(lead).post(address(lead.campaign, "move"), {"state": state})
        assert response.status_code == 409
        assert "state has changed meanwhile" in Page(response).text
        assert Campaign.objects.get(pk=lead.campaign_id).state == "open"
        assert not Event.objects.filter(action="campaign:moved").exists()

    @pytest.mark.parametrize(
        ("state", "moves"),
        [
            ("draft", {"open"}),
            ("open", {"paused", "closed"}),
            ("paused", {"open", "closed"}),
            ("closed", {"open"}),
        ],
    )
    def test_only_possible_steps_are_offered(
        self, lead: Membership, state: str, moves: set[str]
    ) -> None:
        Campaign.objects.update(state=state)
        page = Page(browser(lead).get(address(lead.campaign)))
        assert {found["value"] for found in page.having(name="state")} == moves


@pytest.fixture
def messages(empty_broker: None) -> Callable[[], list[Any]]:
    """Take the messages that wait for workers."""

    def take() -> list[Any]:
        taken: list[Any] = []
        with current_app.connection_for_read() as broker:
            queue = broker.SimpleQueue(current_app.conf.task_default_queue)
            while True:
                try:
                    message = queue.get(block=False)
                except Empty:
                    return taken
                message.ack()
                taken.append((message.headers["task"], message.payload[:2]))

    return take


@pytest.fixture
def empty_broker() -> Iterator[None]:
    current_app.control.purge()
    yield
    current_app.control.purge()


class TestJobs:
    def test_an_aggregation_is_queued_when_all_of_it_is_stored(
        self, lead: Membership, messages: Any, django_capture_on_commit_callbacks: Any
    ) -> None:
        with django_capture_on_commit_callbacks() as callbacks:
            response = browser(lead).post(address(lead.campaign, "aggregate"))
        assert (response.status_code, response.headers["Location"]) == (302, address(lead.campaign))
        run = Run.objects.get()
        assert (run.kind, run.state) == (Run.Kind.AGGREGATION, Run.State.QUEUED)
        event = Event.objects.get(action="aggregation:started")
        assert (event.actor, event.data) == (lead.user, {"run": run.pk})
        # Nothing leaves before the commit, and then nothing but the id.
        assert messages() == []
        [publish] = callbacks
        publish()
        assert messages() == [("benchmark.tasks.run_aggregation", [[run.pk], {}])]

    def test_by_the_policy_that_is_chosen(self, lead: Membership, messages: Any) -> None:
        campaign, client = lead.campaign, browser(lead)
        save_policy(campaign=campaign, actor=lead.user, name="early", decide="both_agree")
        page = Page(client.get(address(campaign)))
        [chosen] = [found for found in page.having(selected="") if "value" in found]
        assert chosen["value"] == "personafeedback-v1@1"
        assert page.having(value="early@1")
        client.post(address(campaign, "aggregate"), {"policy": "early@1"})
        client.post(address(campaign, "aggregate"), {"policy": "helpfulness-v1"})
        names = Run.objects.order_by("id").values_list("policy__name", flat=True)
        assert list(names) == ["early", "helpfulness-v1"]

    @pytest.mark.parametrize("name", ["none", "early@9", "a\0b", "x" * 5_000, "p@" + "9" * 5_000])
    def test_no_such_policy(self, lead: Membership, name: str) -> None:
        response = browser(lead).post(address(lead.campaign, "aggregate"), {"policy": name})
        assert response.status_code == 422
        assert "There is no such policy in this campaign." in Page(response).text
        assert not Run.objects.exists()
        assert not Event.objects.filter(action="aggregation:started").exists()

    def test_so_is_a_release(
        self, lead: Membership, messages: Any, django_capture_on_commit_callbacks: Any
    ) -> None:
        verdicts = make_run(lead.campaign)
        with django_capture_on_commit_callbacks(execute=True) as callbacks:
            response = browser(lead).post(address(lead.campaign, "release"), {"version": " 1.0.0 "})
        assert response.status_code == 302
        assert len(callbacks) == 1
        release = Release.objects.get()
        assert (release.version, release.aggregation) == ("1.0.0", verdicts)
        assert messages() == [("benchmark.tasks.run_release", [[release.job_id], {}])]
        event = Event.objects.get(action="release:started")
        assert event.data == {"version": "1.0.0", "run": release.job_id}

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["whole", "htmx"])
    @pytest.mark.parametrize(
        ("version", "words"),
        [
            ("", "A version has letters, digits"),
            ("one two", "A version has letters, digits"),
            ("../../etc", "A version has letters, digits"),
            ("1.0.0\n", None),  # the line end of a careless paste is no part of it
            ("v" * 41, "A version has letters, digits"),
            ("1.0\x00", "A version has letters, digits"),
            ("1.0.0", None),
            ("0.9.0", "This version exists already"),
        ],
    )
    def test_versions(
        self, lead: Membership, version: str, words: str | None, headers: dict[str, str]
    ) -> None:
        release = make_release(lead.campaign)
        Release.objects.filter(pk=release.pk).update(version="0.9.0")
        runs = Run.objects.count()
        response = browser(lead).post(
            address(lead.campaign, "release"), {"version": version}, headers=headers
        )
        if words is None:
            assert response.status_code == 302
            return
        page = Page(response)
        assert response.status_code == 422
        assert page.is_whole is not bool(headers)
        assert words in page.text
        # What was typed is still there to be mended.
        assert page.having(id="version")[0]["value"] in (version, "1.1.0")
        assert Release.objects.count() == 1
        assert Run.objects.count() == runs

    def test_no_release_without_verdicts(self, lead: Membership) -> None:
        response = browser(lead).post(address(lead.campaign, "release"), {"version": "1.0.0"})
        assert response.status_code == 422
        assert "There are no verdicts yet: aggregate the votes first." in Page(response).text
        assert not Release.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_comes_of_it(lead: Membership, tmp_path: Path, empty_broker: None) -> None:
    """Runs and releases as the worker leaves them, on their pages."""
    campaign = lead.campaign
    judge(campaign, tmp_path)
    client = browser(lead)
    run = start_aggregation(campaign=campaign)
    run_aggregation(run.pk)
    for headers in ({}, HTMX):
        page = Page(client.get(reverse("run", args=[campaign.slug, run.pk]), headers=headers))
        assert page.is_whole is not bool(headers)
        assert f"Run {run.pk}" in page.text
        assert "Agreement and verdicts" in page.text
        run.refresh_from_db()
        assert run.digest[:12] in page.html
        # All nine say A everywhere: chance explains it, so Fleiss' kappa is no number.
        assert "so chance explains it all" in page.text
        assert "nan" not in page.text.lower().split()
    release = start_release(campaign=campaign, version="1.0.0")
    run_release(release.job_id)
    release.refresh_from_db()
    page = Page(client.get(address(campaign)))
    [link] = [
        found["href"] for _, found in page.elements if found.get("href", "").endswith("download/")
    ]
    assert release.digest[:12] in page.text
    response = client.get(link)
    assert response.headers["Content-Type"] == "application/zip"
    assert f'filename="{campaign.slug}-1.0.0.zip"' in response.headers["Content-Disposition"]
    assert b"".join(response) == release.archive.read_bytes()
    response.close()
