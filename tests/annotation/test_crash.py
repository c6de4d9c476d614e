"""The web server is killed in the middle of a burst, again and again, and no answer is lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock

import httpx
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Campaign, Membership
from benchmark.models import Judgement
from tests.annotation.seating import assert_sound, seated_campaign, votes_of
from tests.annotation.views.pages import Page
from tests.conftest import ROOT, process_environment, wait_until

CLIENTS, PAIRS, PLACES = 10, 18, 6
KILLS_AT = (15, 45, 80)


class Web:
    """The web server as the Procfile starts it, in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "web.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = process_environment() | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "VAR_DIR": str(folder / "var"),
            "PORT": str(self.port),
            "PUBLIC_URL": self.url,
            "WEB_CONCURRENCY": "2",
        }
        subprocess.run(
            [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"],
            cwd=ROOT,
            env=self.environment,
            check=True,
        )
        lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
        [self.command] = [line.partition(":")[2] for line in lines if line.startswith("web:")]
        self.is_up = Event()
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", self.command],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(self.answers, what="the web server answers")
        self.is_up.set()

    def answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/healthz", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        self.is_up.clear()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        # All of the group are gone when nobody listens any more.
        wait_until(self.is_silent, what="the port is free")

    def is_silent(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return True
        return False


@pytest.fixture
def web(transactional_db: None, tmp_path: Path) -> Iterator[Web]:
    server = Web(tmp_path)
    yield server
    server.is_up.set()
    server.kill()


class Answers:
    """Answers that were acknowledged, by seat: which place was chosen."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.by_seat: dict[str, str] = {}

    def add(self, seat: str, place: str) -> None:
        with self.lock:
            assert seat not in self.by_seat, "a seat was given again after its answer was taken"
            self.by_seat[seat] = place

    def __len__(self) -> int:
        return len(self.by_seat)


class Rater:
    """A browser with a session, which tries again whatever was not acknowledged."""

    def __init__(self, web: Web, membership: Membership, answers: Answers) -> None:
        client = Client()
        client.force_login(membership.user)
        self.cookies = {settings.SESSION_COOKIE_NAME: client.cookies["sessionid"].value}
        self.number = membership.pk
        self.task = reverse("task", args=[membership.campaign.slug])
        self.web = web
        self.answers = answers

    def judge(self) -> None:
        with httpx.Client(
            base_url=self.web.url, cookies=self.cookies, timeout=30, trust_env=False
        ) as client:
            while True:
                page = Page(self.ask(client, "GET", self.task))
                [task] = page.having(id="task")
                seat = task.get("data-seat")
                if seat is None:
                    if not page.having(href=self.task):
                        return
                    continue  # all are taken: "Look again"
                place = "12"[(self.number + len(self.answers)) % 2]
                [form] = page.having(method="post", class_="answer")
                sent = {
                    "helpfulness": place,
                    "personalization": place,
                    "csrfmiddlewaretoken": page.csrf_token,
                }
                response = self.ask(client, "POST", form["action"], data=sent)
                assert response.status_code == 303, response.text
                self.answers.add(seat, place)

    def ask(
        self, client: httpx.Client, method: str, address: str, data: dict[str, str] | None = None
    ) -> httpx.Response:
        while True:
            try:
                response = client.request(method, address, data=data)
            except httpx.TransportError:
                assert self.web.is_up.wait(60), "the web server did not come back"
                continue
            assert response.status_code < 400, response.text
            return response


def check(campaign: Campaign, answers: Answers) -> None:
    """Every acknowledged answer is stored as it was given, once."""
    seats = Assignment.objects.filter(pk__in=list(answers.by_seat)).select_related("judgement")
    assert len(seats) == len(answers.by_seat)
    for seat in seats:
        assert seat.state == Assignment.State.SUBMITTED, seat.pk
        assert seat.judgement is not None
        other = "B" if seat.shown_left == "A" else "A"
        choice = seat.shown_left if answers.by_seat[str(seat.pk)] == "1" else other
        assert votes_of(seat.judgement) == {"helpfulness": choice, "personalization": choice}
    assert_sound(campaign)


def test_killed_in_the_middle_of_a_burst(web: Web, tmp_path: Path) -> None:
    campaign, members = seated_campaign(
        tmp_path, pairs=PAIRS, annotators=CLIENTS, raters_per_pair=PLACES
    )
    answers = Answers()
    raters = [Rater(web, member, answers) for member in members]
    with ThreadPoolExecutor(CLIENTS) as pool:
        work = [pool.submit(rater.judge) for rater in raters]

        def has_come_to(number: int) -> bool:
            failed = [job.exception() for job in work if job.done() and job.exception()]
            assert not failed, failed
            return len(answers) >= number

        for number in KILLS_AT:
            wait_until(lambda n=number: has_come_to(n), seconds=120, what=f"{number} answers")  # type: ignore[misc]
            assert len(answers) < PAIRS * PLACES, "the burst is over"
            web.kill()
            with answers.lock:
                acknowledged = Answers()
                acknowledged.by_seat = dict(answers.by_seat)
            # What was acknowledged before the kill is there before anybody tries again.
            check(campaign, acknowledged)
            web.start()
        for job in work:
            job.result(timeout=300)
    check(campaign, answers)
    assert Judgement.objects.count() == len(answers) == PAIRS * PLACES
