"""What a lead decides on a pair, and what is wrong with it in words."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import TextField
from benchmark.models import Adjudication

REASON_LIMIT = 2_000


class AdjudicationForm(forms.Form):
    """A response, or to leave the pair out; never without a reason."""

    decision = forms.ChoiceField(
        label=_("Decision"),
        choices=[
            (Adjudication.Decision.A, _("Response A")),
            (Adjudication.Decision.B, _("Response B")),
            (Adjudication.Decision.WITHDRAWN, _("Leave the pair out")),
        ],
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a response, or leave the pair out."),
            "invalid_choice": _("Choose a response, or leave the pair out."),
        },
    )
    reason = TextField(
        label=_("Reason"),
        help_text=_("For the record: it is published with the release, without your name."),
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=REASON_LIMIT,
        error_messages={
            "required": _("Say why: the reason is kept for the record."),
            "max_length": _("The reason is too long: the limit is %(limit_value)s characters."),
        },
    )
