"""The rules of a policy as people write them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.audit.policy_words import plain_edge
from annotation.forms import TextField
from benchmark.models import SavedPolicy
from benchmark.stats.policy import POLICIES, Policy
from benchmark.stats.tiers import MAX_DENOMINATOR, MAX_VOTES, Bands

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise

# Longer texts are no numbers that anybody would write.
_EDGE_CHARACTERS = 20
_POOLED = ("pooled", "fleiss")
# The name of rules that have none yet.
UNSAVED = "unsaved"

_DECIDE = (
    ("both_agree", _("the majorities on both criteria must name the same response")),
    ("criterion", _("one criterion alone")),
)
_CRITERION = (
    ("helpfulness", _("Helpfulness")),
    ("personalization", _("Personalization")),
)
_COMBINE = (
    ("criterion", _("k of the criterion above")),
    ("min", _("the lower k of both criteria")),
    ("mean", _("the mean k of both criteria")),
)
_TIE_RULES = (
    ("ties_can_win", _("more ties than votes for either response leave a pair tied")),
    ("ties_never_win", _("a pair is tied only when both responses have equally many votes")),
)


class FractionField(forms.CharField):
    """A decimal such as 0.6, or a fraction such as 3/5, as [numerator, denominator]."""

    default_error_messages = {
        "not_a_number": _("Enter a number such as 0.6, or a fraction such as 3/5."),
        "too_fine": _("Enter a number with at most three digits after the point, or a fraction."),
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=_EDGE_CHARACTERS, **options)
        self.widget.attrs |= {"inputmode": "text", "size": "8", "autocomplete": "off"}

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            exact = Fraction(text.replace("\N{MINUS SIGN}", "-").replace(",", "."))
        except (ValueError, ZeroDivisionError):
            raise ValidationError(
                self.error_messages["not_a_number"], code="not_a_number"
            ) from None
        if exact.denominator > MAX_DENOMINATOR:
            raise ValidationError(self.error_messages["too_fine"], code="too_fine")
        return exact.numerator, exact.denominator


class ChanceField(FractionField):
    """Agreement by chance; never that of the votes themselves."""

    def clean(self, value: Any) -> Any:
        if str(value or "").strip().casefold() in _POOLED:
            raise ValidationError(
                _(
                    "Chance cannot be taken from the votes: with more than 75.5% of them for one"
                    " side no pair of nine votes could be medium any more, and the tier of a pair"
                    " would hang on the votes on all others. Enter a fixed number, such as 1/2."
                ),
                code="pooled",
            )
        return super().clean(value)


def _choice(label: Text, choices: tuple[tuple[str, Text], ...]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, widget=forms.RadioSelect)


class RulesForm(forms.Form):
    """The rules of a policy, to look at what they do."""

    SECTIONS: tuple[tuple[Text, tuple[str, ...]], ...] = (
        (_("Who decides"), ("decide", "criterion", "minimum", "tie_rule")),
        (_("Tiers"), ("combine", "easy_above", "medium_from", "chance")),
    )

    decide = _choice(_("A pair is decided by"), _DECIDE)
    criterion = _choice(_("Criterion"), _CRITERION)
    minimum = forms.IntegerField(
        label=_("Fewest votes"),
        min_value=1,
        max_value=MAX_VOTES,
        help_text=_("Votes for A, B and ties. With fewer a pair stays open."),
    )
    tie_rule = _choice(_("Ties"), _TIE_RULES)
    combine = _choice(_("Tier by"), _COMBINE)
    easy_above = FractionField(
        label=_("Easy above k ="),
        help_text=_("At 0.6 a pair with 9–0 is easy, and one with 8–1 (k = 0.56) is not."),
    )
    medium_from = FractionField(label=_("Medium from k ="), help_text=_("Below it pairs are hard."))
    chance = ChanceField(
        label=_("Agreement by chance"),
        help_text=_("One half for two responses. It is fixed, and never taken from the votes."),
    )

    @staticmethod
    def initial_of(policy: Policy) -> dict[str, object]:
        """What the form holds at first."""
        bands = policy.bands
        return {
            "decide": policy.decide,
            "criterion": policy.criterion,
            "combine": policy.combine,
            "minimum": policy.minimum,
            "tie_rule": policy.tie_rule,
            "easy_above": plain_edge(bands.easy_above),
            "medium_from": plain_edge(bands.medium_from),
            "chance": plain_edge(bands.chance),
        }

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        easy, medium, chance = (given.get(name) for name in ("easy_above", "medium_from", "chance"))
        for name, edge in (("easy_above", easy), ("medium_from", medium)):
            if edge is not None and not -1 <= Fraction(*edge) <= 1:
                self.add_error(name, _("Enter a number from -1 to 1."))
        if chance is not None and not 0 <= Fraction(*chance) < 1:
            self.add_error("chance", _("Enter a number from 0 to less than 1."))
        if easy is not None and medium is not None and Fraction(*medium) > Fraction(*easy):
            self.add_error("medium_from", _("This must not be above the edge of easy."))
        if given.get("decide") == "criterion" and given.get("combine") in ("min", "mean"):
            self.add_error(
                "combine", _("With one criterion deciding, the tier can come from that one only.")
            )
        return given

    def rules(self) -> dict[str, Any]:
        """The fields of `Policy` but its name and version, of a form whose rules are valid."""
        given = self.cleaned_data
        names = ("decide", "criterion", "combine", "minimum", "tie_rule")
        return {
            **{name: given[name] for name in names},
            "bands": Bands(
                easy_above=given["easy_above"],
                medium_from=given["medium_from"],
                chance=given["chance"],
            ),
        }

    def policy(self) -> Policy | None:
        """The rules as a policy that nobody has saved; None if there is something to mend."""
        names = {name for _title, section in self.SECTIONS for name in section}
        if names & self.errors.keys():
            return None
        return Policy(name=UNSAVED, version=1, **self.rules())

    def sections(self) -> list[tuple[Text, list[forms.BoundField]]]:
        """Headings with their fields."""
        return [(title, [self[name] for name in names]) for title, names in self.SECTIONS]


class PolicyForm(RulesForm):
    """The same, looked at before and carried along unseen, with a name under which to keep it."""

    name = forms.CharField(
        label=_("Name of the policy"),
        max_length=SavedPolicy._meta.get_field("name").max_length,
        help_text=_("Lower-case letters and digits, in words joined by hyphens."),
        validators=[
            RegexValidator(
                r"\A[a-z0-9]+(-[a-z0-9]+)*\Z",
                _("Use lower-case letters and digits, in words joined by hyphens, as in strict."),
            )
        ],
        error_messages={"required": _("Give it a name: releases and runs will show it.")},
    )
    note = TextField(
        label=_("Note"),
        max_length=SavedPolicy._meta.get_field("note").max_length,
        required=False,
        help_text=_("What it is for, and why so."),
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name in POLICIES:
            raise ValidationError(
                format_lazy(
                    _("{name} is built in and never changes. Choose another name."), name=name
                )
            )
        return name

    def rule_fields(self) -> list[forms.BoundField]:
        return [field for _title, fields in self.sections() for field in fields]
