"""The overview of the votes as they are now, and the pages of a run, over HTTP."""

from __future__ import annotations

import http.client
import time
from pathlib import Path

from django.test import Client

from annotation.models import Campaign
from annotation.services.jobs import start_aggregation
from benchmark.models import Run
from tests.bench import jobs, world
from tests.bench.figures import Figure, latencies
from tests.bench.site import Site

BAR_MS = 300.0
REQUESTS = 40


def audit(site: Site, folder: Path) -> list[Figure]:
    """Nothing is kept between two requests, so each of them is cold but for the first's imports."""
    made = jobs.judged(folder)
    run = _analysed(made)
    pages = {
        "overview now": (f"/campaigns/{made.slug}/audit/", BAR_MS),
        "overview of a run": (f"/campaigns/{made.slug}/runs/{run.pk}/", BAR_MS),
        "tiers of a run": (f"/campaigns/{made.slug}/runs/{run.pk}/tiers/", None),
        "raters of a run": (f"/campaigns/{made.slug}/runs/{run.pk}/raters/", None),
        "pairs of a run": (f"/campaigns/{made.slug}/runs/{run.pk}/pairs/", None),
    }
    figures = []
    for name, (address, bar) in pages.items():
        figures += latencies("audit", f"{name}, 8,298 × 9", _taken(site, address), bar=bar)
    return figures


def _analysed(made: Campaign) -> Run:
    run = start_aggregation(campaign=made)
    jobs.seconds(run)
    begin = time.perf_counter()
    while not Run.objects.done().filter(of=run).exists():
        time.sleep(0.05)
        assert time.perf_counter() - begin < 300, "the analysis does not end"
    return run


def _taken(site: Site, address: str) -> list[float]:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(world.user("lead"))
    cookie = {"Cookie": f"sessionid={client.session.session_key}"}
    taken = []
    for _ in range(REQUESTS):
        browser = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
        begin = time.perf_counter()
        browser.request("GET", address, headers=cookie)
        answer = browser.getresponse()
        answer.read()
        taken.append(time.perf_counter() - begin)
        browser.close()
        assert answer.status == 200, (address, answer.status)
    return taken
