"""Every route, in every role. Strangers get 404, insiders without the right 403."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, CrowdStudy, Flag, Invite, Membership, User
from benchmark.models import Adjudication, Exclusion, PairSet, Rater, Release, Run
from benchmark.services.adjudications import adjudicate
from benchmark.services.exclusions import exclude_votes
from benchmark.stats.policy import PERSONAFEEDBACK_V1
from tests.annotation.seating import seat, seated_campaign
from tests.annotation.ways import STUDY, crowd_address, make_invite, make_study
from tests.benchmark.jobs.runs import aggregated
from tests.factories import UserFactory, make_campaign, make_member

pytestmark = pytest.mark.django_db

ROLES = ("anonymous", "stranger", "annotator", "other", "researcher", "lead", "foreigner")


def statuses(
    anonymous: int, stranger: int, annotator: int, researcher: int, lead: int
) -> dict[str, int]:
    """By role. A second annotator has the rights of the first, a lead elsewhere those of nobody."""
    return {
        "anonymous": anonymous,
        "stranger": stranger,
        "annotator": annotator,
        "other": annotator,
        "researcher": researcher,
        "lead": lead,
        "foreigner": stranger,
    }


EVERYBODY = statuses(200, 200, 200, 200, 200)
MEMBERS = statuses(302, 404, 200, 200, 200)
RATERS = statuses(302, 404, 200, 403, 403)
WATCHERS = statuses(302, 404, 403, 200, 200)
LEADS = statuses(302, 404, 403, 403, 302)
LEADS_READ = statuses(302, 404, 403, 403, 200)
SIGNED_IN = statuses(302, 200, 200, 200, 200)
# Leaving is for participants of a crowd study, and these annotators are none.
PARTICIPANTS = statuses(302, 404, 404, 403, 403)
# A seat is there for its holder only.
HOLDER = statuses(302, 404, 404, 404, 404)


@dataclass
class World:
    campaign: Campaign
    users: dict[str, User]
    seat: Assignment
    run: Run  # a finished aggregation
    member: Membership  # of the annotator
    rater: Rater  # the annotator's
    exclusion: Exclusion  # of the other annotator
    adjudication: Adjudication
    invite: Invite
    study: CrowdStudy
    flag: Flag


@dataclass(frozen=True)
class Route:
    name: str
    method: str
    arguments: Callable[[World], list[Any]]
    expected: dict[str, int]
    data: dict[str, str] | None = None
    # Of the address, also where the method sends data.
    query: Callable[[World], str] = lambda world: ""


def slug(world: World) -> list[Any]:
    return [world.campaign.slug]


def held(world: World) -> list[Any]:
    return [world.seat.pk]


def of_run(world: World) -> list[Any]:
    return [world.campaign.slug, world.run.pk]


def visit(world: World) -> str:
    return "?" + crowd_address(world.study).partition("?")[2]


FLAG = {"target": "1", "kind": "broken"}
GUIDELINES = {"form": "guidelines", "body": "# Other words", "after": "1"}
ANSWER = {"helpfulness": "1", "personalization": "2"}
REASON = {"reason": "did not read"}
POLICY = {
    "name": "strict",
    "decide": "both_agree",
    "criterion": "personalization",
    "combine": "criterion",
    "minimum": "9",
    "easy_above": "0.7",
    "medium_from": "0.4",
    "chance": "1/2",
    "tie_rule": "ties_can_win",
}
TABLE = [
    Route("home", "get", lambda w: [], SIGNED_IN),
    Route("healthz", "get", lambda w: [], EVERYBODY),
    Route("login", "get", lambda w: [], statuses(200, 302, 302, 302, 302)),
    Route("logout", "post", lambda w: [], statuses(302, 302, 302, 302, 302)),
    Route(
        *("set_language", "post", lambda w: [], statuses(302, 302, 302, 302, 302)),
        {"language": "zh-hans"},
    ),
    Route("password", "get", lambda w: [], SIGNED_IN),
    Route("join", "get", lambda w: [w.invite.pk], EVERYBODY),
    # Who is a member already is told so; an account cannot be made of nothing.
    Route("join", "post", lambda w: [w.invite.pk], statuses(422, 302, 200, 200, 200)),
    Route("crowd", "get", lambda w: [w.study.pk], EVERYBODY, query=visit),
    Route(
        *("crowd", "post", lambda w: [w.study.pk], statuses(302, 302, 302, 302, 302)),
        {"agree": "yes"},
        visit,
    ),
    Route("leave", "get", slug, PARTICIPANTS),
    Route("leave", "post", slug, PARTICIPANTS),
    Route("campaign", "get", slug, WATCHERS),
    Route("move", "post", slug, LEADS, {"state": "paused"}),
    Route("move", "get", slug, LEADS),
    Route("aggregate", "post", slug, LEADS),
    Route("aggregate", "get", slug, LEADS),
    Route("release", "post", slug, LEADS, {"version": "2.0.0"}),
    Route("release", "get", slug, LEADS),
    Route("audit", "get", slug, WATCHERS),
    Route("run", "get", of_run, WATCHERS),
    Route("run_tiers", "get", of_run, WATCHERS),
    Route("run_quality", "get", of_run, WATCHERS),
    Route("run_table", "get", lambda w: [*of_run(w), "tiers", "csv"], WATCHERS),
    Route("analyse", "post", of_run, LEADS),
    Route("analyse", "get", of_run, LEADS),
    Route("run_raters", "get", of_run, WATCHERS),
    Route("run_rater", "get", lambda w: [*of_run(w), w.rater.pk], WATCHERS),
    Route("run_breakdowns", "get", of_run, WATCHERS),
    Route("run_biases", "get", of_run, WATCHERS),
    Route("run_pairs", "get", of_run, WATCHERS),
    Route("run_pair", "get", lambda w: [*of_run(w), w.seat.pair_id], WATCHERS),
    Route("run_compare", "get", of_run, WATCHERS),
    Route("policies", "get", slug, LEADS_READ),
    Route("policies", "post", slug, LEADS, POLICY),
    Route("exclude_rater", "get", lambda w: [w.campaign.slug, w.rater.pk], LEADS_READ),
    Route("exclude_rater", "post", lambda w: [w.campaign.slug, w.rater.pk], LEADS, REASON),
    Route(
        "exclude_judgement",
        "get",
        lambda w: [w.campaign.slug, w.rater.pk, w.seat.pair_id],
        LEADS_READ,
    ),
    Route("lift_exclusion", "post", lambda w: [w.campaign.slug, w.exclusion.pk], LEADS),
    Route("lift_exclusion", "get", lambda w: [w.campaign.slug, w.exclusion.pk], LEADS),
    Route("adjudication", "get", slug, WATCHERS),
    Route(
        "adjudicate",
        "post",
        lambda w: [w.campaign.slug, w.seat.pair_id],
        LEADS,
        {"decision": "A", "reason": "by the profile"},
    ),
    Route("adjudicate", "get", lambda w: [w.campaign.slug, w.seat.pair_id], LEADS),
    Route("revoke_adjudication", "post", lambda w: [w.campaign.slug, w.adjudication.pk], LEADS),
    Route("revoke_adjudication", "get", lambda w: [w.campaign.slug, w.adjudication.pk], LEADS),
    Route("download", "get", lambda w: [w.campaign.slug, "1.0.0"], WATCHERS),
    Route("people", "get", slug, LEADS_READ),
    Route("judging_settings", "get", slug, LEADS_READ),
    Route("judging_settings", "post", slug, LEADS, GUIDELINES),
    Route("invite", "post", slug, LEADS, {"role": "annotator", "days": "7"}),
    Route("invite", "get", slug, LEADS),
    Route("revoke", "post", lambda w: [w.campaign.slug, w.invite.pk], LEADS),
    Route("revoke", "get", lambda w: [w.campaign.slug, w.invite.pk], LEADS),
    Route(
        *("study", "post", slug, LEADS),
        {key: str(value) for key, value in STUDY.items()}
        | {
            "participant_parameter": "PROLIFIC_PID",
            "study_parameter": "STUDY_ID",
            "session_parameter": "SESSION_ID",
        },
    ),
    Route("study", "get", slug, LEADS),
    Route("close_study", "post", lambda w: [w.campaign.slug, w.study.pk], LEADS),
    Route("close_study", "get", lambda w: [w.campaign.slug, w.study.pk], LEADS),
    Route(
        *("standing", "post", lambda w: [w.campaign.slug, w.member.pk], LEADS),
        {"action": "pause"},
    ),
    Route("standing", "get", lambda w: [w.campaign.slug, w.member.pk], LEADS),
    Route("resolve_flag", "post", lambda w: [w.campaign.slug, w.flag.pk], LEADS),
    Route("resolve_flag", "get", lambda w: [w.campaign.slug, w.flag.pk], LEADS),
    Route("guidelines", "get", slug, MEMBERS),
    Route("guidelines", "post", slug, statuses(302, 404, 302, 302, 302), {"version": "1"}),
    Route("task", "get", slug, RATERS),
    Route("own", "get", slug, RATERS),
    Route("history", "get", slug, RATERS),
    Route("submit", "post", held, HOLDER | {"annotator": 303}, ANSWER),
    Route("submit", "get", held, HOLDER | {"annotator": 302}),
    Route("renew", "post", held, HOLDER | {"annotator": 204}),
    Route("ahead", "post", held, HOLDER | {"annotator": 200}),
    Route("flag", "post", held, HOLDER | {"annotator": 303}, FLAG),
    Route("flag", "get", held, HOLDER | {"annotator": 302}),
]

ABOUT_ONE_CAMPAIGN = [route for route in TABLE if route.expected["stranger"] == 404]


def make_run(campaign: Campaign, kind: str = Run.Kind.AGGREGATION) -> Run:
    return Run.objects.create(
        pair_set=campaign.pair_set,
        kind=kind,
        state=Run.State.DONE,
        version="1",
        policy=PERSONAFEEDBACK_V1.as_json() if kind == Run.Kind.AGGREGATION else {},
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )


def make_release(campaign: Campaign) -> Release:
    release = Release.objects.create(
        pair_set=campaign.pair_set,
        version="1.0.0",
        aggregation=make_run(campaign),
        job=make_run(campaign, Run.Kind.RELEASE),
        digest="0" * 64,
        counts={},
        size=4,
    )
    release.archive.parent.mkdir(parents=True, exist_ok=True)
    release.archive.write_bytes(b"PK\x05\x06")
    return release


@contextmanager
def nobody_else_writes(pair_set: PairSet) -> Iterator[int]:
    """A snapshot within the test's own transaction."""
    yield 0


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(PairSet, "snapshot", nobody_else_writes)
    campaign, (annotator, other) = seated_campaign(tmp_path)
    elsewhere = make_campaign("mugs")
    members = {
        "annotator": annotator,
        "other": other,
        "researcher": make_member(campaign, Membership.Role.RESEARCHER),
        "lead": make_member(campaign, Membership.Role.LEAD),
        "foreigner": make_member(elsewhere, Membership.Role.LEAD),
    }
    make_release(campaign)
    taken = seat(annotator, now=timezone.now())
    return World(
        campaign=campaign,
        users={role: member.user for role, member in members.items()}
        | {"stranger": UserFactory.create()},
        seat=taken,
        run=aggregated(campaign.pair_set),
        member=annotator,
        rater=annotator.rater,
        exclusion=exclude_votes(rater=other.rater, reason="did not read", by="lead"),
        adjudication=adjudicate(
            pair=campaign.pair_set.pairs.order_by("-id")[0],
            decision="A",
            reason="by the profile",
            by="lead",
            now=timezone.now(),
        ),
        invite=make_invite(campaign),
        study=make_study(campaign),
        flag=Flag.objects.create(
            campaign=campaign, assignment=taken, target=Flag.Target.QUERY, kind=Flag.Kind.WRONG
        ),
    )


def client(world: World, role: str) -> Client:
    browser = Client()
    if role != "anonymous":
        browser.force_login(world.users[role])
    return browser


def test_every_route_in_every_role(world: World) -> None:
    found: dict[tuple[str, str], dict[str, int]] = {}
    for route in TABLE:
        answers = found[route.name, route.method] = {}
        address = reverse(route.name, args=route.arguments(world)) + route.query(world)
        for role in ROLES:
            # What one request changes, the next one does not see.
            with transaction.atomic():
                browser = client(world, role)
                response = getattr(browser, route.method)(address, route.data or {})
                transaction.set_rollback(True)
            answers[role] = response.status_code
            if role == "anonymous" and response.status_code == 302:
                to_login = response.headers["Location"].startswith(reverse(settings.LOGIN_URL))
                assert to_login or route.name in ("set_language", "crowd"), route
    assert found == {(route.name, route.method): route.expected for route in TABLE}


def test_no_route_is_left_out() -> None:
    names = {pattern.name for pattern in get_resolver().url_patterns}  # type: ignore[union-attr]
    assert None not in names
    assert names == {route.name for route in TABLE}


@pytest.mark.parametrize(
    "route", ABOUT_ONE_CAMPAIGN, ids=lambda route: f"{route.method}-{route.name}"
)
def test_a_stranger_cannot_tell_what_exists(world: World, route: Route) -> None:
    """The answer about a campaign of others is the answer about one that there is not."""
    arguments = route.arguments(world)
    if isinstance(arguments[0], str):
        other = ["no-such-campaign", *arguments[1:]]
    else:
        other = ["00000000-0000-4000-8000-000000000000"]
    browser = client(world, "stranger")
    answers = [
        getattr(browser, route.method)(reverse(route.name, args=values), route.data or {})
        for values in (arguments, other)
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    bodies = []
    for answer, values in zip(answers, (arguments, other), strict=True):
        body = re.sub(r'(csrfmiddlewaretoken" value=)"\w+"', r"\1", answer.content.decode())
        bodies.append(body.replace(str(values[0]), "it"))
    assert bodies[0] == bodies[1]
    assert answers[0].headers.keys() == answers[1].headers.keys()


def test_runs_and_releases_of_other_campaigns_are_not_there(world: World) -> None:
    elsewhere = Campaign.objects.get(pair_set__slug="mugs")
    make_member(elsewhere, Membership.Role.ANNOTATOR, user=world.users["lead"])
    run = make_run(elsewhere)
    browser = client(world, "lead")
    assert browser.get(reverse("run", args=[world.campaign.slug, run.pk])).status_code == 404
    theirs = make_release(elsewhere)
    Release.objects.filter(pk=theirs.pk).update(version="9.0.0")
    download = reverse("download", args=[world.campaign.slug, "9.0.0"])
    assert browser.get(download).status_code == 404


def test_a_release_that_is_not_ready_cannot_be_downloaded(world: World) -> None:
    Release.objects.update(digest="")
    download = reverse("download", args=[world.campaign.slug, "1.0.0"])
    assert client(world, "lead").get(download).status_code == 404


def test_who_loses_the_membership_loses_the_seat(world: World) -> None:
    """Rights are looked up at each request."""
    browser = client(world, "researcher")
    page = reverse("campaign", args=[world.campaign.slug])
    assert browser.get(page).status_code == 200
    Membership.objects.filter(user=world.users["researcher"]).delete()
    assert browser.get(page).status_code == 404


def test_an_account_that_was_switched_off_is_signed_out(world: World) -> None:
    browser = client(world, "lead")
    User.objects.filter(pk=world.users["lead"].pk).update(is_active=False)
    assert browser.get(reverse("home")).status_code == 302
