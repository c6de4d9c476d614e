"""Pages with lists: no more queries with a thousand rows than with ten; time of the largest."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign, Membership, User
from annotation.services.campaigns import create_campaign
from annotation.services.jobs import start_aggregation
from annotation.services.members import add_member
from benchmark.models import Rater, Run
from tests.bench import jobs, world
from tests.bench.figures import Figure, latencies
from tests.bench.site import Site

FEW, MANY = 10, 1_000
REQUESTS = 60


def lists(site: Site, folder: Path) -> list[Figure]:
    return [
        *_growth("home page", _home),
        *_growth("campaign page", lambda rows: _campaign_page(rows, folder)),
        *_growth("run page", lambda rows: _run_page(rows, folder)),
        *_large_page(site, folder),
    ]


def _growth(name: str, address: Callable[[int], tuple[User, str]]) -> list[Figure]:
    few, many = (_queries(*address(rows)) for rows in (FEW, MANY))
    return [
        Figure(
            *("lists", f"{name}: queries with {MANY:,} rows", many, f"({few} with {FEW})"),
            at_most=few,
        )
    ]


def _queries(user: User, address: str) -> int:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(user)
    client.get(address)  # what is only asked once a process
    with CaptureQueriesContext(connection) as log:
        answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    return len(log.captured_queries)


def _home(rows: int) -> tuple[User, str]:
    """Someone who is in that many campaigns."""
    user = world.user(f"in-{rows}-campaigns")
    for place in range(rows):
        made = create_campaign(slug=f"home-{rows}-{place}")
        add_member(campaign=made, user=user, role=Membership.Role.ANNOTATOR)
    return user, "/"


def _many(rows: int, folder: Path) -> Campaign:
    """A campaign with that many pairs, raters, aggregations and releases-to-be."""
    slug = f"list-{rows}"
    if found := Campaign.objects.filter(pair_set__slug=slug).select_related("pair_set").first():
        return found
    made = world.campaign(slug, folder, pairs=rows)
    world.judge_all(made)
    Rater.objects.bulk_create(
        Rater(pair_set=made.pair_set, pseudonym=f"more-{place}") for place in range(rows)
    )
    jobs.seconds(start_aggregation(campaign=made))
    newest = Run.objects.get(pair_set=made.pair_set)
    newest.pk = None
    Run.objects.bulk_create(
        Run(**{field.attname: getattr(newest, field.attname) for field in Run._meta.fields[1:]})
        for _ in range(rows - 1)
    )
    return made


def _campaign_page(rows: int, folder: Path) -> tuple[User, str]:
    return world.user("lead"), f"/campaigns/{_many(rows, folder).slug}/"


def _run_page(rows: int, folder: Path) -> tuple[User, str]:
    made = _many(rows, folder)
    run = Run.objects.filter(pair_set=made.pair_set).newest_first().first()
    assert run
    return world.user("lead"), f"/campaigns/{made.slug}/runs/{run.pk}/"


def _large_page(site: Site, folder: Path) -> list[Figure]:
    """The campaign page of 8,298 pairs with nine judgements each, over HTTP."""
    made = jobs.judged(folder)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(world.user("lead"))
    cookie = {"Cookie": f"sessionid={client.session.session_key}"}
    browser = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    taken = []
    for _ in range(REQUESTS):
        begin = time.perf_counter()
        browser.request("GET", f"/campaigns/{made.slug}/", headers=cookie)
        answer = browser.getresponse()
        answer.read()
        taken.append(time.perf_counter() - begin)
        assert answer.status == 200, answer.status
    browser.close()
    return latencies("lists", "campaign page, 8,298 × 9", taken)
