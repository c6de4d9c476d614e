"""Every page that an annotator can meet, in a state that shows all of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, CrowdPlace, Membership, User
from annotation.services.campaigns import move_campaign
from annotation.services.crowd import Visit, consent, create_study
from annotation.services.flags import raise_flag
from annotation.services.invites import create_invite
from annotation.services.steps import MustRead, next_step
from tests.annotation.checking import add_checks, check_row
from tests.annotation.seating import answer, fresh, submit
from tests.annotation.ways import STUDY
from tests.factories import UserFactory, add_pairs, make_campaign, make_member


@dataclass(frozen=True)
class Scene:
    """A page: its address, who looks at it (nobody: signed out), and what is done on it first."""

    name: str
    address: str
    user: User | None
    before: Callable[[Page], None] = lambda page: None


def make_scenes(folder: Path) -> list[Scene]:
    """The campaigns and people behind the scenes are made here, through the services."""
    lead = UserFactory.create(username="lead")
    main = _campaign("cups", folder, lead)
    newcomer = make_member(main, has_read=False)
    trainee, explained, candidate = (make_member(main) for _ in range(3))
    _answer(explained, 1)
    _answer(candidate, 2)
    rater = make_member(main)
    _answer(rater, 8)
    paused, excluded = make_member(main), make_member(main)
    for member, standing in ((paused, "paused"), (excluded, "excluded")):
        Membership.objects.filter(pk=member.pk).update(standing=standing, standing_reason="lead")
    submitted = Assignment.objects.filter(membership=rater, state="submitted")
    newest = submitted.latest("submitted_at")
    trained = Assignment.objects.filter(membership=explained, state="submitted").get()
    small = make_campaign("mugs")
    add_pairs(small, folder, 2)
    done = make_member(small)
    _answer(done, 2)
    closed = make_campaign("jugs")
    late = make_member(closed)
    move_campaign(campaign=closed, state="closed")
    study = create_study(campaign=main, actor=lead, **STUDY | {"minutes": 600})
    places = [_place(study, f"p-{number}") for number in range(2)]
    # One training pair, one of qualification, and then the study's own.
    _answer(places[1].membership, 2 + STUDY["pairs_each"])
    invite = create_invite(campaign=main, actor=lead, role="annotator", days=7, now=timezone.now())
    used_up = create_invite(
        campaign=main, actor=lead, role="annotator", days=-1, now=timezone.now()
    )
    came = urlencode({"PROLIFIC_PID": "p-9", "STUDY_ID": "s", "SESSION_ID": "t"})
    task, guidelines = (reverse(name, args=["cups"]) for name in ("task", "guidelines"))
    crowd = reverse("crowd", args=[study.pk])
    return [
        Scene("sign-in", reverse("login"), None),
        Scene("home", reverse("home"), rater.user),
        Scene("guidelines", guidelines, newcomer.user),
        Scene("guidelines-read", guidelines, rater.user),
        Scene("training", task, trainee.user),
        Scene("training-explained", reverse("submit", args=[trained.pk]), explained.user),
        Scene("qualification", task, candidate.user),
        Scene("task", task, rater.user),
        Scene("task-refused", task, rater.user, _send_empty),
        Scene("task-skip", task, rater.user, lambda page: page.locator("#skip > summary").click()),
        Scene("task-flag", task, rater.user, lambda page: page.locator("#flags > summary").click()),
        Scene(
            *("task-guidelines", task, rater.user),
            _open_by_key("g", "#guidelines-dialog .prose"),
        ),
        Scene("task-help", task, rater.user, _open_by_key("?", "#help")),
        Scene(
            "task-correct",
            reverse("submit", args=[newest.pk]),
            rater.user,
        ),
        Scene("paused", task, paused.user),
        Scene("excluded", task, excluded.user),
        Scene("all-judged", reverse("task", args=["mugs"]), done.user),
        Scene("closed", reverse("task", args=["jugs"]), late.user),
        Scene("my-page", reverse("own", args=["cups"]), rater.user),
        Scene("history", reverse("history", args=["cups"]), rater.user),
        Scene("too-large", reverse("home"), rater.user, _send_too_much),
        Scene("password", reverse("password"), rater.user),
        Scene("invite", reverse("join", args=[invite.pk]), None),
        Scene("invite-signed-in", reverse("join", args=[invite.pk]), lead),
        Scene("invite-expired", reverse("join", args=[used_up.pk]), None),
        Scene("consent", f"{crowd}?{came}", None),
        Scene("crowd-lost", crowd, None),
        Scene("crowd-leave", reverse("leave", args=["cups"]), places[0].membership.user),
        Scene("crowd-done", task, places[1].membership.user),
    ]


def _campaign(slug: str, folder: Path, lead: User) -> Campaign:
    campaign = make_campaign(slug)
    add_pairs(campaign, folder, 12)
    rows = [check_row(0, "training"), check_row(1, "qualification"), check_row(2), check_row(3)]
    add_checks(campaign, folder, rows)
    Campaign.objects.filter(pk=campaign.pk).update(
        asks_confidence=True, asks_reasons=True, gold_percent=20, shows_gold_accuracy=True
    )
    make_member(campaign, Membership.Role.LEAD, user=lead)
    campaign.refresh_from_db()
    return campaign


def _answer(member: Membership, number: int) -> None:
    """So many pairs, one minute each, as expected; among them a skip, a comment and a flag."""
    now = timezone.now() - timedelta(minutes=number + 1)
    for place in range(number):
        step = next_step(membership=fresh(member), now=now)
        if isinstance(step, MustRead):
            raise AssertionError("has not read the guidelines")
        assert isinstance(step, Assignment), step
        words = "Both are fine, one knows the kettle." if place % 3 == 2 else ""
        if place == 3:
            raise_flag(seat=step, target="1", kind="broken", comment="No end.")
        now += timedelta(minutes=1)
        submit(seat=step, answer=answer("A", "A", comment=words), now=now)


def _place(study: object, participant: str) -> CrowdPlace:
    visit = Visit(participant=participant, session="t")
    place = consent(study=study, visit=visit, now=timezone.now())  # type: ignore[arg-type]
    assert isinstance(place, CrowdPlace), place
    member = place.membership
    Membership.objects.filter(pk=member.pk).update(
        acknowledged_version=member.campaign.guideline_version
    )
    return place


def _send_empty(page: Page) -> None:
    # By a request of its own: with scripts, the page says what is missing before it sends.
    page.locator("form.answer").evaluate("form => form.submit()")
    expect(page.locator(".field-error").first).to_be_visible()


def _send_too_much(page: Page) -> None:
    # More in any form, with the one that every page has.
    page.locator(".languages").evaluate(
        """(form, size) => {
            const field = document.createElement("textarea");
            field.name = "more";
            field.value = "x".repeat(size);
            form.append(field);
            form.submit();
        }""",
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )
    expect(page.locator("h1")).to_have_text(re.compile("too large|太大"))


def _open_by_key(key: str, shown: str) -> Callable[[Page], None]:
    def before(page: Page) -> None:
        page.keyboard.press(key)
        expect(page.locator(shown)).to_be_visible()

    return before
