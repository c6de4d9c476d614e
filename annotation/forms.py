"""What people fill in, and what is wrong with it in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, URLValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.domain.rendering import shows_nothing
from annotation.models import Campaign, Membership, User
from annotation.services.accounts import check_username
from annotation.services.crowd import PARAMETER_LIMIT
from annotation.services.invites import INVITABLE
from annotation.services.judging_settings import (
    CHECKS_LIMIT,
    GUIDELINES_LIMIT,
    LIMITS,
    SWITCHES,
)
from benchmark.formats.checks import is_blank

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise

CONSENT_LIMIT = 20_000


class TextField(forms.CharField):
    """A text in which there is nothing to be seen counts as none."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return self.empty_value if text and is_blank(text) else text


class MarkdownField(TextField):
    """Nor is there a text where nothing is left to be seen of its Markdown."""

    def clean(self, value: Any) -> Any:
        # At last, so that what is too long is not rendered.
        text = super().clean(value)
        if text and self.required and shows_nothing(text):
            raise ValidationError(self.error_messages["required"], code="required")
        return text


def _number(
    label: Text,
    low: int,
    high: int,
    *,
    help_text: Text = "",
    required: bool = True,
    initial: int | None = None,
) -> forms.IntegerField:
    message = format_lazy(_("Enter a whole number from {low} to {high}."), low=low, high=high)
    return forms.IntegerField(
        label=label,
        help_text=help_text,
        required=required,
        initial=initial,
        min_value=low,
        max_value=high,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), message),
    )


def _parameter(label: Text, usual: str) -> forms.CharField:
    message = _("A parameter has letters, digits, underscores, dots and hyphens, as in STUDY_ID.")
    return forms.CharField(
        label=label,
        max_length=60,
        initial=usual,
        validators=[RegexValidator(r"\A[A-Za-z_][0-9A-Za-z_.-]*\Z", message)],
        error_messages={"required": message},
    )


class AccountForm(forms.Form):
    """A new account, for somebody with an invite."""

    username = UsernameField(
        label=_("User name"),
        max_length=150,
        help_text=_("Letters, digits and @ . + - _ without spaces. Others see only a pseudonym."),
        validators=[
            UnicodeUsernameValidator(
                message=_("Use letters, digits and @ . + - _ only, without spaces.")
            )
        ],
        error_messages={"required": _("Choose a user name.")},
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=1_000,
        widget=forms.PasswordInput,
        help_text=_(
            "At least eight characters, not only digits, unlike your name, and no password that"
            " many people use."
        ),
        error_messages={"required": _("Choose a password.")},
    )
    again = forms.CharField(
        label=_("The same password again"),
        strip=False,
        max_length=1_000,
        widget=forms.PasswordInput,
        error_messages={"required": _("Enter the password a second time.")},
    )

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        check_username(username)
        # Ada and ada would be told apart by nobody.
        if User.objects.filter(username__iexact=username).exists():
            self.name_is_taken()
        return username

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        password, again = given.get("password"), given.get("again")
        if password:
            try:
                validate_password(password, User(username=given.get("username", "")))
            except ValidationError as error:
                self.add_error("password", error)
        if password and again and password != again:
            self.add_error("again", _("The two passwords differ. Enter the same one twice."))
        return given

    def name_is_taken(self) -> None:
        self.add_error("username", _("This user name is taken. Choose another one."))


class InviteForm(forms.Form):
    """A new invite link."""

    label = TextField(
        label=_("What it is for"),
        max_length=200,
        required=False,
        help_text=_("Only leads see this, for example: team in Lisbon."),
    )
    role = forms.ChoiceField(
        label=_("Role of those who join"),
        choices=[(role.value, role.label) for role in INVITABLE],
        initial=Membership.Role.ANNOTATOR,
        widget=forms.RadioSelect,
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"), _("Choose annotator or researcher.")
        ),
    )
    max_uses = _number(
        _("How many people may use it"),
        1,
        10_000,
        help_text=_("Leave it empty for any number."),
        required=False,
        initial=1,
    )
    days = _number(_("Days until it expires"), 1, 365, initial=14)


class StudyForm(forms.Form):
    """A new way in for participants of a crowd platform."""

    name = TextField(
        label=_("Name"),
        max_length=200,
        help_text=_("Only leads see this."),
        error_messages={"required": _("Give the study a name.")},
    )
    pairs_each = _number(_("Pairs for each participant"), 1, 10_000)
    minutes = _number(
        _("Minutes allowed"), 1, 7 * 24 * 60, help_text=_("As many as the platform gives them.")
    )
    completion_code = TextField(
        label=_("Completion code"),
        max_length=100,
        help_text=_("The platform gives it to you; participants get it when they are done."),
        error_messages={"required": _("Enter the code that the platform has given you.")},
    )
    completion_url = forms.URLField(
        label=_("Completion address"),
        max_length=400,
        required=False,
        assume_scheme="https",
        validators=[URLValidator(schemes=["https", "http"])],
        help_text=_("Where the platform takes participants back, if it gives an address."),
        error_messages={"invalid": _("Enter an address that begins with https://.")},
    )
    external_id = TextField(
        label=_("The platform's id of the study"),
        max_length=PARAMETER_LIMIT,
        required=False,
        help_text=_("When it is given, people who come from another study are turned away."),
    )
    consent = MarkdownField(
        label=_("What participants agree to"),
        max_length=CONSENT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_(
            "In Markdown: who asks and what for, how long it takes, what is kept, and that they may"
            " stop at any time."
        ),
        error_messages={"required": _("Write what participants agree to.")},
    )
    participant_parameter = _parameter(_("Parameter of the participant"), "PROLIFIC_PID")
    study_parameter = _parameter(_("Parameter of the study"), "STUDY_ID")
    session_parameter = _parameter(_("Parameter of the session"), "SESSION_ID")

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        names = [given[name] for name in given if name.endswith("_parameter")]
        if len(set(names)) < len(names):
            self.add_error("session_parameter", _("The three parameters need different names."))
        return given


class ExclusionForm(forms.Form):
    """Why a rater is excluded."""

    reason = TextField(
        label=_("Reason"),
        max_length=1_000,
        error_messages={"required": _("Say why: the reason is kept for the record.")},
    )


_SETTING_WORDS: dict[str, tuple[Text, Text]] = {
    "allows_skip": (_("Raters may skip a pair, with a reason"), ""),
    "asks_confidence": (_("Ask how sure they are"), _("Answering is up to the rater.")),
    "asks_reasons": (_("Ask what decided"), _("Answering is up to the rater.")),
    "undo_seconds": (
        _("Seconds in which the last answer can be undone"),
        _("Later it can still be changed from “My answers”."),
    ),
    "idle_seconds": (
        _("Seconds without a sign of life that still count as work"),
        _("Longer pauses are left out of the active time."),
    ),
    "lease_seconds": (
        _("Seconds for which a pair is held"),
        _("After the last sign of life; then somebody else may get the place. 1200 is 20 minutes."),
    ),
    "gold_percent": (
        _("Gold pairs, in percent"),
        _("Pairs with a known answer among those to judge. Raters cannot tell them apart."),
    ),
    "gold_minimum": (
        _("Gold pairs before a rater can be paused"),
        _("With fewer, nothing can be told."),
    ),
    "gold_pass_percent": (
        _("Gold pass mark, in percent"),
        _("A rater who has fewer of them right is paused until you let them go on."),
    ),
    "shows_gold_accuracy": (_("Raters see their share of right gold answers"), ""),
    "repeat_percent": (
        _("Repeated pairs, in percent"),
        _("Pairs that a rater gets a second time with the sides swapped."),
    ),
    "qualification_pass_percent": (_("Qualification pass mark, in percent"), ""),
    "qualification_tries": (_("Tries at the qualification"), ""),
}


class JudgingForm(forms.Form):
    """How the campaign is judged."""

    SECTIONS: tuple[tuple[Text, tuple[str, ...]], ...] = (
        (_("What raters are asked"), ("allows_skip", "asks_confidence", "asks_reasons")),
        (_("Time"), ("undo_seconds", "idle_seconds", "lease_seconds")),
        (
            _("Gold pairs"),
            ("gold_percent", "gold_minimum", "gold_pass_percent", "shows_gold_accuracy"),
        ),
        (_("Repeated pairs"), ("repeat_percent",)),
        (_("Qualification"), ("qualification_pass_percent", "qualification_tries")),
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, (label, help_text) in _SETTING_WORDS.items():
            if name in SWITCHES:
                self.fields[name] = forms.BooleanField(
                    label=label, help_text=help_text, required=False
                )
            else:
                self.fields[name] = _number(label, *LIMITS[name], help_text=help_text)

    @staticmethod
    def initial_of(campaign: Campaign) -> dict[str, int | bool]:
        return {name: getattr(campaign, name) for name in _SETTING_WORDS}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("gold_percent", 0) + given.get("repeat_percent", 0) > CHECKS_LIMIT:
            self.add_error(
                "repeat_percent",
                format_lazy(
                    _("Gold and repeated pairs together may be at most {limit} percent."),
                    limit=CHECKS_LIMIT,
                ),
            )
        return given

    def sections(self) -> list[tuple[Text, list[forms.BoundField]]]:
        """Headings with their fields."""
        return [(title, [self[name] for name in names]) for title, names in self.SECTIONS]


class GuidelinesForm(forms.Form):
    """The next version of the guidelines."""

    body = MarkdownField(
        label=_("Guidelines"),
        help_text=_("In Markdown. Raters read and acknowledge a new version before they go on."),
        widget=forms.Textarea(attrs={"rows": 24}),
        max_length=GUIDELINES_LIMIT,
        strip=False,
        error_messages={
            "required": _("Write what raters are to do."),
            "max_length": _("The text is too long: the limit is %(limit_value)s characters."),
        },
    )
    # The version that the author has before them.
    after = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    def __init__(self, *arguments: Any, published: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.published = published

    def clean_body(self) -> str:
        body: str = self.cleaned_data["body"].replace("\r\n", "\n").strip() + "\n"
        if body.strip() == self.published.strip():
            raise ValidationError(
                _("This is the text that is published already: there is nothing to publish.")
            )
        return body

    def changed_meanwhile(self) -> None:
        self.add_error(
            "body",
            _(
                "Somebody else has published a version since you opened this page. Copy your"
                " text, reload the page, and put your changes into the new version."
            ),
        )
