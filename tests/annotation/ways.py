"""What the tests of joining share: invites, studies, and the addresses by which people come."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, CrowdPlace, CrowdStudy, Invite, Membership
from annotation.services.crowd import Visit, consent, create_study
from annotation.services.invites import create_invite
from tests.factories import UserFactory

STUDY = {
    "name": "Pilot",
    "consent": "You compare **two texts**.",
    "pairs_each": 2,
    "minutes": 30,
    "completion_code": "C0DE-42",
    "completion_url": "https://platform.example/complete?cc=C0DE-42",
}


def make_invite(campaign: Campaign, **options: Any) -> Invite:
    given = {"role": Membership.Role.ANNOTATOR, "days": 7, "now": timezone.now()} | options
    return create_invite(campaign=campaign, actor=UserFactory.create(), **given)


def make_study(campaign: Campaign, **options: Any) -> CrowdStudy:
    return create_study(campaign=campaign, actor=UserFactory.create(), **STUDY | options)


def make_place(study: CrowdStudy, participant: str = "p-1", **options: Any) -> CrowdPlace:
    visit = Visit(participant=participant, session="s-1")
    place = consent(study=study, visit=visit, now=options.get("now", timezone.now()))
    assert isinstance(place, CrowdPlace), place
    return place


def join_address(invite: Invite) -> str:
    return reverse("join", args=[invite.pk])


def crowd_address(study: CrowdStudy, participant: str = "p-1", **changes: str) -> str:
    parameters = {"PROLIFIC_PID": participant, "STUDY_ID": "study-1", "SESSION_ID": "s-1"}
    return reverse("crowd", args=[study.pk]) + "?" + urlencode(parameters | changes)


def signed_in_as(client: Client) -> str:
    """The pk of whoever the browser is signed in as; empty for nobody."""
    return str(client.session.get("_auth_user_id", ""))
