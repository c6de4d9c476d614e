"""What the pages of those who are not in a campaign yet, or not any more, are given."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.domain.rendering import language_of, to_html
from annotation.models import CrowdPlace, CrowdStudy, Invite, Membership
from annotation.services.crowd import Refused, VisitProblem, completion

Text = str | Promise


@dataclass(frozen=True, slots=True)
class MessageView:
    """A page that only says something."""

    title: Text
    texts: list[Text]
    code: str = ""  # of completed work, to be entered on the platform
    code_address: str = ""  # of the platform, where the code is known
    slug: str = ""  # of a campaign to go on to


@dataclass(frozen=True, slots=True)
class InviteView:
    """A campaign seen by somebody with an invite."""

    name: str
    role: Text
    asked: Text
    is_annotator: bool


@dataclass(frozen=True, slots=True)
class ConsentView:
    """What a crowd participant is asked to agree to."""

    name: str
    html: str
    lang: str
    pairs: int
    minutes: int


_ASKED: dict[str, Text] = {
    Membership.Role.ANNOTATOR: _(
        "You read a profile of a person, a question that this person asks, and two responses to it."
        " Then you say which response is more helpful and which one fits the person better. You"
        " begin with the guidelines, and you can stop and go on whenever you like."
    ),
    Membership.Role.RESEARCHER: _(
        "You see how the judging goes: progress, agreement, verdicts and releases. Raters are shown"
        " by pseudonym. You judge nothing and change nothing."
    ),
}

_ROLES: dict[str, Text] = {
    Membership.Role.ANNOTATOR: pgettext_lazy("invite", "annotator"),
    Membership.Role.RESEARCHER: pgettext_lazy("invite", "researcher"),
}


def invite_view(invite: Invite) -> InviteView:
    return InviteView(
        name=str(invite.campaign),
        role=_ROLES[invite.role],
        asked=_ASKED[invite.role],
        is_annotator=invite.role == Membership.Role.ANNOTATOR,
    )


_NEW_LINK = _("Ask the person who sent it to you for a new one.")


def refused_invite_view(code: str) -> MessageView:
    """Why nobody can join by this link."""
    title, *texts = {
        "expired": (_("This invite has expired"), _("The link was good for a limited time.")),
        "revoked": (_("This invite has been withdrawn"), _("The link does not work any more.")),
        "used_up": (
            _("This invite is used up"),
            _("As many people as it was meant for have joined by it."),
        ),
        "campaign_closed": (
            _("This campaign is closed"),
            _("It takes no more answers, so nobody joins it any more."),
        ),
    }[code]
    if code != "campaign_closed":
        texts.append(_NEW_LINK)
    return MessageView(title, list(texts))


def member_view(membership: Membership) -> MessageView:
    """Somebody who has joined already comes by the link again."""
    return MessageView(
        _("You have joined this campaign already"),
        [_("You need the link no more: the campaign is listed among yours whenever you sign in.")],
        slug=membership.campaign.slug,
    )


def consent_view(study: CrowdStudy) -> ConsentView:
    return ConsentView(
        name=str(study.campaign),
        html=to_html(study.consent, breaks=False),
        lang=language_of(study.consent),
        pairs=study.pairs_each,
        minutes=study.minutes,
    )


_GO_BACK = _(
    "Go back to the study's page on the platform that sent you here, and open this study from"
    " there again. If that does not help, write to the researchers through the platform."
)
_RETURN = _(
    "Please return your place on the platform that sent you here, so that somebody else can have"
    " it."
)


def visit_problem_view(problem: VisitProblem) -> MessageView:
    """An address that is no way in."""
    titles: dict[str, Text] = {
        "missing": _("Something is missing in the address"),
        "odd": _("Something in the address cannot be right"),
        "too_long": _("Something in the address cannot be right"),
        "other_study": _("This address belongs to another study"),
    }
    words: dict[str, Text] = {
        "missing": _("The address has no %(parameter)s, so we cannot tell who is coming."),
        "odd": _("The value of %(parameter)s is not one that a platform gives."),
        "too_long": _("The value of %(parameter)s is too long."),
        "other_study": _(
            "The value of %(parameter)s is that of another study than the one you have opened."
        ),
    }
    return MessageView(
        titles[problem.code],
        [words[problem.code] % {"parameter": problem.parameter}, _GO_BACK],
    )


def refused_visit_view(refused: Refused) -> MessageView:
    """No place for this participant, or not for who comes in this way."""
    title, text = {
        "study_closed": (
            _("This study is closed"),
            _("It takes nobody new. Nothing of you has been stored."),
        ),
        "not_open": (
            _("This study is not open at the moment"),
            _(
                "Nothing of you has been stored. Try again later; when your time on the platform"
                " runs out, return your place there."
            ),
        ),
        "campaign_closed": (
            _("This study has ended"),
            _("It takes no more answers. Nothing of you has been stored."),
        ),
        "took_part": (
            _("You have taken part already"),
            _(
                "You have a place in another study about the same texts, and each person can judge"
                " them only once. Thank you for coming again."
            ),
        ),
        "full": (
            _("This study is full"),
            _("Everything in it has been judged or is taken. Nothing of you has been stored."),
        ),
        "other_session": (
            _("This place was opened with another session"),
            _("Open the study's link on the platform again."),
        ),
    }[refused.code]
    is_for_good = refused.code not in ("not_open", "other_session")
    texts: list[Text] = [text, _RETURN] if is_for_good else [text]
    return MessageView(title, texts)


def declined_view() -> MessageView:
    return MessageView(
        _("You do not take part"), [_("That is fine. Nothing of you has been stored."), _RETURN]
    )


def ended_view(place: CrowdPlace) -> MessageView:
    """A place that has ended: the code again, or that there is none."""
    if place.state == CrowdPlace.State.COMPLETED:
        code, address = completion(place.membership) or ("", "")
        return MessageView(
            _("You are done: thank you"),
            [_("All your answers are saved. Enter this code on the platform that sent you here.")],
            code=code,
            code_address=address,
        )
    if place.state == CrowdPlace.State.TIMED_OUT:
        return MessageView(
            _("Your time for this study has run out"),
            [_("The answers that you gave are kept. There are no more pairs for you."), _RETURN],
        )
    return MessageView(
        _("You have stopped taking part"),
        [_("The answers that you gave are kept. There are no more pairs for you."), _RETURN],
    )
