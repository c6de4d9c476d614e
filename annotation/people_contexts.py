"""What a lead's desk is given: what needs a decision, the people, ways in, settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.domain.scoring import Score
from annotation.models import Assignment, Campaign, CheckItem, CrowdPlace, Flag, Invite, Membership
from annotation.selectors import people
from annotation.selectors.campaigns import newest_guideline
from annotation.selectors.checks import check_counts
from annotation.selectors.people import PersonRow, StudyRow
from annotation.services import invites as invite_services

Text = str | Promise


@dataclass(frozen=True, slots=True)
class FlagView:
    id: int
    target: Text
    kind: Text
    comment: str
    rater: str
    pair_id: str
    query: str  # its beginning
    purpose: Text  # of a pair that is no vote; empty for votes
    at: datetime


@dataclass(frozen=True, slots=True)
class PersonView:
    """A rater by pseudonym, with what may be done about them."""

    id: int
    rater_id: int
    pseudonym: str
    username: str  # for the lead alone; empty for participants of a crowd platform
    participant: str  # of a crowd platform, and what became of the place; empty for others
    participation: Text
    standing: Text
    standing_kind: str  # of the tag: ok, warn, bad or empty
    reason: Text
    since: datetime | None
    done: int
    last_at: datetime | None
    gold: Score
    repeats: Score
    qualification: Score
    median_seconds: float | None
    is_paused_by_checks: bool
    actions: list[tuple[str, Text]]  # one press each
    may_exclude: bool
    error: Text  # of the exclusion's reason
    given: str  # the refused reason


@dataclass(frozen=True, slots=True)
class InviteRow:
    id: UUID
    label: str
    role: Text
    address: str  # empty for one that leads nowhere any more
    uses: int
    max_uses: int | None
    expires_at: datetime
    ended: Text  # why it leads nowhere; empty while it works


@dataclass(frozen=True, slots=True)
class StudyView:
    id: UUID
    name: str
    address: str
    pairs_each: int
    minutes: int
    counts: list[tuple[Text, int]]
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class PeopleView:
    campaign: Campaign
    flags: list[FlagView]
    flags_count: int
    paused: list[PersonView]
    people: list[PersonView]
    watchers: list[tuple[str, Text]]  # user name and role
    invites: list[InviteRow]
    studies: list[StudyView]
    notice: Text
    error: Text

    @property
    def attention(self) -> int:
        return self.flags_count + len(self.paused)

    @property
    def has_participants(self) -> bool:
        return any(person.participant for person in self.people)


# What was done last, for the ``notice`` of the address that a post leads to.
NOTICES: dict[str, Text] = {
    "invited": _("The invite link is made: copy it and send it on."),
    "revoked": _("The invite does not work any more."),
    "study": _("The way in for participants is made: give its address to the platform."),
    "closed": _("The study is closed: nobody new gets in. Those who have begun go on."),
    "pause": _("The rater is paused and gets no more pairs until you let them go on."),
    "resume": _(
        "The rater may go on. If they were excluded, their votes count again from the next"
        " aggregation on."
    ),
    "exclude": _(
        "The rater is excluded: they get no more pairs, and the next aggregation leaves their votes"
        " out. Nothing is deleted, and this can be undone here."
    ),
    "resolved": _("The flag is resolved."),
    "settings": _("The settings are saved and apply from the next pair on."),
    "unchanged": _("Nothing has changed: the settings are as before."),
    "published": _("The guidelines are published. Raters read them before they go on."),
}

ERRORS: dict[str, Text] = {
    "changed_meanwhile": _(
        "This person's standing has changed meanwhile: nothing was done. Look at it again."
    ),
    "not_a_rater": _("Only raters can be paused or excluded."),
    "unknown_action": _("The form was not understood: nothing was done. Try again."),
}

_TARGETS: dict[str, Text] = {
    Flag.Target.PERSONA: _("The profile"),
    Flag.Target.QUERY: _("The question"),
    Flag.Target.A: _("Response A"),
    Flag.Target.B: _("Response B"),
}

_STANDING_KINDS: dict[str, str] = {
    Membership.Standing.ACTIVE: "ok",
    Membership.Standing.PAUSED: "warn",
    Membership.Standing.EXCLUDED: "bad",
}

_ACTIONS: dict[str, list[tuple[str, Text]]] = {
    Membership.Standing.ACTIVE: [("pause", pgettext_lazy("rater", "Pause"))],
    Membership.Standing.PAUSED: [("resume", _("Let them go on"))],
    Membership.Standing.EXCLUDED: [("resume", _("Take them back"))],
}

_INVITE_ENDS: dict[str, Text] = {
    "expired": pgettext_lazy("invite", "expired"),
    "revoked": pgettext_lazy("invite", "revoked"),
    "used_up": pgettext_lazy("invite", "used up"),
    "campaign_closed": pgettext_lazy("invite", "campaign closed"),
}


def people_view(
    campaign: Campaign,
    *,
    now: datetime,
    notice: str = "",
    error: str = "",
    wrong: tuple[int, str, Text] | None = None,
) -> PeopleView:
    """``wrong`` is a refused exclusion: the member's id, the reason given, and what is wrong."""
    flags = people.unresolved_flags(campaign)
    rows = people.person_rows(campaign)
    shown = [_person(row, wrong) for row in rows]
    return PeopleView(
        campaign=campaign,
        flags=[_flag(flag) for flag in flags[: people.FLAGS_SHOWN]],
        flags_count=flags.count(),
        paused=[person for person in shown if person.is_paused_by_checks],
        people=shown,
        watchers=[
            (member.user.get_username(), member.get_role_display())
            for member in people.watchers(campaign)
        ],
        # What still leads in stands first.
        invites=sorted(
            (_invite(invite, campaign, now) for invite in people.invites_of(campaign)),
            key=lambda row: bool(row.ended),
        ),
        studies=sorted(
            (_study(row) for row in people.study_rows(campaign)),
            key=lambda row: row.closed_at is not None,
        ),
        notice=NOTICES.get(notice, ""),
        error=ERRORS.get(error, ""),
    )


def _flag(flag: Flag) -> FlagView:
    seat = flag.assignment
    assert seat.membership.rater is not None
    return FlagView(
        id=flag.pk,
        target=_TARGETS[flag.target],
        kind=flag.get_kind_display(),
        comment=flag.comment,
        rater=seat.membership.rater.pseudonym,
        pair_id=seat.pair.pair_id,
        query=Truncator(seat.pair.query).chars(160),
        purpose="" if seat.purpose == Assignment.Purpose.VOTE else seat.get_purpose_display(),
        at=flag.created_at,
    )


def _person(row: PersonRow, wrong: tuple[int, str, Text] | None) -> PersonView:
    member = row.membership
    assert member.rater_id is not None
    is_wrong = wrong is not None and wrong[0] == member.pk
    return PersonView(
        id=member.pk,
        rater_id=member.rater_id,
        pseudonym=row.pseudonym,
        username="" if row.place else member.user.get_username(),
        participant=row.place.participant if row.place else "",
        participation=row.place.get_state_display() if row.place else "",
        standing=member.get_standing_display(),
        standing_kind=_STANDING_KINDS.get(member.standing, ""),
        reason=row.excluded_because
        or (member.get_standing_reason_display() if not member.is_active else ""),
        since=member.standing_at if not member.is_active else None,
        done=row.judged.done,
        last_at=row.judged.last_at,
        gold=row.gold,
        repeats=row.repeats,
        qualification=row.qualification,
        median_seconds=row.judged.median_seconds,
        is_paused_by_checks=row.is_paused_by_checks,
        actions=_ACTIONS.get(member.standing, []),
        may_exclude=member.standing != Membership.Standing.EXCLUDED,
        error=wrong[2] if wrong is not None and is_wrong else "",
        given=wrong[1] if wrong is not None and is_wrong else "",
    )


def _invite(invite: Invite, campaign: Campaign, now: datetime) -> InviteRow:
    invite.campaign = campaign
    ended = invite_services.problem(invite, now)
    return InviteRow(
        id=invite.pk,
        label=invite.label,
        role=invite.get_role_display(),
        address="" if ended else settings.PUBLIC_URL + reverse("join", args=[invite.pk]),
        uses=invite.uses,
        max_uses=invite.max_uses,
        expires_at=invite.expires_at,
        ended=_INVITE_ENDS[ended] if ended else "",
    )


def _study(row: StudyRow) -> StudyView:
    study = row.study
    # As Prolific writes them: it puts the ids in their places.
    names = (study.participant_parameter, study.study_parameter, study.session_parameter)
    placeholders = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    query = "&".join(
        f"{name}={{{{%{placeholder}%}}}}"
        for name, placeholder in zip(names, placeholders, strict=True)
    )
    return StudyView(
        id=study.pk,
        name=study.name,
        address=f"{settings.PUBLIC_URL}{reverse('crowd', args=[study.pk])}?{query}",
        pairs_each=study.pairs_each,
        minutes=study.minutes,
        counts=[(state.label, row.places[state.value]) for state in CrowdPlace.State],
        closed_at=study.closed_at,
    )


@dataclass(frozen=True, slots=True)
class SettingsView:
    campaign: Campaign
    items: list[tuple[Text, int]]  # pairs with known answers, by what they are for
    has_items: bool
    version: int  # of the guidelines; 0 without any
    next_version: int
    notice: Text


def settings_view(campaign: Campaign, *, notice: str = "") -> SettingsView:
    counts = check_counts(campaign)
    items = {purpose: getattr(counts, purpose.value) for purpose in CheckItem.Purpose}
    guideline = newest_guideline(campaign)
    version = guideline.version if guideline else 0
    return SettingsView(
        campaign=campaign,
        items=[(purpose.label, count) for purpose, count in items.items()],
        has_items=any(items.values()),
        version=version,
        next_version=version + 1,
        notice=NOTICES.get(notice, ""),
    )
