"""``python -m tests.screenshots.scene``: people in every state of the demo; prints addresses.

Beside the demo's own people: raters on the way through training and qualification, one in the
middle of the work, one paused, a participant of a crowd study. Their passwords are ``demo-NAME``.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from typing import Any

import django


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation.settings")
    django.setup()
    sys.stdout.write(json.dumps(make_scene()) + "\n")
    return 0


def make_scene() -> dict[str, str]:
    """Addresses by name, for accounts and states that the pictures show."""
    from django.contrib.auth.hashers import make_password
    from django.urls import reverse
    from django.utils import timezone

    from annotation.domain.rubric import SKIP, Answer
    from annotation.domain.timing import Timing
    from annotation.models import Assignment, Campaign, Membership, User
    from annotation.services.answers import revise, submit
    from annotation.services.crowd import Visit, consent, create_study
    from annotation.services.flags import raise_flag
    from annotation.services.invites import create_invite
    from annotation.services.members import add_member
    from annotation.services.steps import acknowledge, next_step

    campaign = Campaign.objects.get(pair_set__slug="demo-open")
    lead = User.objects.get(username="lead")
    now = timezone.now()

    def member(name: str) -> Membership:
        user = User.objects.create(username=name, password=make_password(f"demo-{name}"))
        added = add_member(campaign=campaign, user=user, role=Membership.Role.ANNOTATOR)
        acknowledge(membership=added, version=campaign.guideline_version)
        return added

    def work(membership: Membership, number: int) -> list[Assignment]:
        """So many pairs over four days, as expected where something is expected."""
        seats = []
        for place in range(number):
            at = now - timedelta(days=3 - 4 * place // number, minutes=5 * (number - place))
            membership.refresh_from_db()
            seat = next_step(membership=membership, now=at)
            assert isinstance(seat, Assignment), seat
            seconds = 25 + 37 * place % 80
            submit(
                seat=seat,
                answer=_answer(seat, place),
                timing=Timing(
                    opened_at=at,
                    first_action_at=at + timedelta(seconds=9),
                    submitted_at=at + timedelta(seconds=seconds),
                    active_seconds=0.8 * seconds,
                ),
                now=at + timedelta(seconds=seconds),
            )
            seats.append(seat)
        return seats

    def _answer(seat: Assignment, place: int) -> Answer:
        keys = ("helpfulness", "personalization")
        expected = seat.check_item.expected if seat.check_item else {}
        if place % 11 == 10 and seat.is_main_round:
            return Answer(choices=dict.fromkeys(keys, SKIP), skip_reason="cannot_judge")
        choices = {key: expected.get(key, "AB"[(place + i) % 2]) for i, key in enumerate(keys)}
        words = "The second one knows the allergy." if place % 7 == 6 else ""
        return Answer(
            choices=choices, comment=words, confidence=place % 3 + 1, reasons=("situation",)
        )

    member("trainee")
    [trained] = work(member("learner"), 1)
    work(member("candidate"), 4)
    regular = member("regular")
    seats = work(regular, 31)
    revise(
        seat=seats[12],
        answer=Answer(choices={"helpfulness": "A", "personalization": "A"}, comment="Read again."),
        timing=Timing(now, None, now, None),
        revision=1,
    )
    raise_flag(seat=seats[20], target="1", kind="broken", comment="It ends mid-sentence.")
    paused = member("paused")
    work(paused, 18)
    Membership.objects.filter(pk=paused.pk).update(
        standing="paused", standing_reason="gold", standing_at=now
    )
    study: dict[str, Any] = {
        "name": "Pilot of 20",
        "consent": (
            "You read short profiles of people and compare two answers to a question. It takes"
            " about 20 minutes. Your answers are published under a pseudonym; your platform id is"
            " not. You can stop at any time."
        ),
        "pairs_each": 3,
        "minutes": 60,
        "completion_code": "C1A7-PF",
        "completion_url": "https://platform.example/complete?cc=C1A7-PF",
    }
    made = create_study(campaign=campaign, actor=lead, **study)
    place = consent(study=made, visit=Visit("5f3a9c", "s1"), now=now - timedelta(minutes=50))
    crowd = place.membership  # type: ignore[union-attr]
    acknowledge(membership=crowd, version=campaign.guideline_version)
    User.objects.filter(pk=crowd.user_id).update(
        username="participant", password=make_password("demo-participant")
    )
    invite = create_invite(
        campaign=campaign, actor=lead, role="annotator", label="Team in Lisbon", days=14, now=now
    )
    crowd_address = reverse("crowd", args=[made.pk])
    return {
        "explained": reverse("submit", args=[trained.pk]),
        "correction": reverse("submit", args=[seats[-1].pk]),
        "invite": reverse("join", args=[invite.pk]),
        "consent": f"{crowd_address}?PROLIFIC_PID=77aa01&STUDY_ID=pilot&SESSION_ID=s2",
    }


if __name__ == "__main__":
    sys.exit(main())
