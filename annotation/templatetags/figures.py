"""Numbers as pages show them: with their interval, and words where there is no number."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmark.stats.values import Reason

register = template.Library()

Text = str | Promise

DASH = "\N{EM DASH}"
MINUS = "\N{MINUS SIGN}"

REASONS: dict[str, Text] = {
    Reason.NO_VOTES: _("there are no votes"),
    Reason.FEWER_THAN_TWO_VOTES: _("it takes two votes to agree"),
    Reason.NO_ITEM_WITH_TWO_VOTES: _("no pair has two votes, so nobody can agree or disagree"),
    Reason.SINGLE_CATEGORY: _("every vote is for the same response, so chance explains it all"),
    Reason.SINGLE_ITEM: _("one pair alone has no spread"),
    Reason.NO_SE_FOR_VARIANT: _("no standard error is published for this formula"),
    Reason.NOT_ENOUGH_VOTES: _("there are too few votes"),
    Reason.TIED: _("the votes are tied"),
    Reason.INSUFFICIENT: _("there are too few votes"),
    Reason.CONFLICT: _("the criteria name different responses"),
    Reason.WITHDRAWN: _("the pair was left out by adjudication"),
    Reason.CATEGORY_UNUSED_OR_UNIVERSAL: _("nobody chose this answer, or everybody did"),
    Reason.NOT_TWO_CATEGORIES: _("it is defined for two answers only"),
    Reason.NO_RATER_IDS: _("it takes two raters who are told apart"),
    Reason.NO_RATER_OVERLAP: _("no two raters judged the same pair"),
    Reason.NO_OVERLAP: _("nobody else judged these pairs"),
    Reason.ZERO_SPREAD: _("the values do not differ, so nothing stands out"),
    Reason.EARLY_STOPPED: _("judging of the pair stopped early"),
    Reason.NOT_STRONGLY_CONNECTED: _("some never won against, or never lost to, any of the others"),
}

VARIANTS: dict[str, Text] = {
    "fleiss_gwet": _("each pair weighs the same (Gwet)"),
    "fleiss_pooled": _("each pair weighs the same, shares from all votes"),
    "fleiss_nweighted": _("pairs weigh by their votes"),
    "fleiss_pairs": _("pairs weigh by their pairs of votes"),
    "alpha_nominal": _("nominal; pairs with a single vote left out"),
    "alpha_ordinal": _("ordinal; pairs with a single vote left out"),
    "wilson": _("interval by Wilson"),
}

CRITERIA: dict[str, Text] = {
    "helpfulness": _("Helpfulness"),
    "personalization": _("Personalization"),
}

RULES: dict[str, Text] = {
    "both_agree": _("the majorities on both criteria must name the same response"),
    "criterion": _("one criterion alone"),
    "min": _("the lower agreement of both criteria"),
    "mean": _("the mean agreement of both criteria"),
    "ties_can_win": _("more ties than votes for either response leave a pair tied"),
    "ties_never_win": _("a pair is tied only when both responses have equally many votes"),
}


@register.filter
def percent_of(part: float, whole: float) -> str:
    """``part`` of ``whole`` in percent for attributes: a plain number such as 37.50."""
    return f"{100 * part / whole:.2f}" if whole else "0"


@register.filter
def share_of(part: float, whole: float) -> str:
    """``part`` of ``whole`` for reading: 37.5%; a dash where there is no whole."""
    return _percent(part / whole) if whole else DASH


@register.filter
def coefficient(value: Mapping[str, Any]) -> str:
    """A published value with its interval: 0.43 [0.39, 0.47]; a dash when it is undefined.

    Of coefficients, none of which exceeds 1; for n raters the least is -1/(n-1), -1 for two.
    """
    return _with_interval(value, _two_decimals, least=-1.0)


@register.filter
def share(value: Mapping[str, Any]) -> str:
    """The same in percent: 71.2% [70.1%, 72.3%]."""
    return _with_interval(value, _percent, least=0.0)


@register.filter
def why_missing(value: Mapping[str, Any]) -> Text:
    """Why a published value, or else its interval, does not exist; empty when both do."""
    return reason_words(value.get("reason") or value.get("se_reason") or "")


@register.filter
def reason_words(code: str) -> Text:
    return REASONS.get(code, code.replace("_", " "))


@register.filter
def variant_words(value: Mapping[str, Any]) -> Text:
    """Which formula of several a coefficient is; empty when there is only one."""
    code = value.get("variant") or ""
    return VARIANTS.get(code, code.replace("_", " "))


@register.filter
def rule_words(code: str) -> Text:
    """A rule of a policy in words."""
    return RULES.get(code, code.replace("_", " "))


@register.filter
def criterion_name(key: str) -> Text:
    return CRITERIA.get(key, key.replace("_", " ").replace("-", " ").capitalize())


@register.filter
def agreement_reading(value: Mapping[str, Any]) -> str:
    """What a chance-corrected coefficient says, without adjectives that nobody agrees on."""
    number, interval = value.get("value"), value.get("ci")
    if number is None:
        return ""
    if interval is None:
        if number > 0:
            return gettext("Above chance; without an interval, how surely is not known.")
        return gettext("Not above chance.")
    low, high = interval
    if low > 0:
        return gettext("Raters agree more than chance would make them.")
    if high < 0:
        return gettext("Raters agree less than chance would make them.")
    return gettext("Not distinguishable from chance: the interval holds zero.")


@register.filter
def duration(seconds: float | None) -> str:
    """1 min 12 s; tenths below ten seconds."""
    if seconds is None:
        return DASH
    if seconds < 10:
        return gettext("%(seconds)s s") % {"seconds": _rounded(seconds, 1)}
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return gettext("%(seconds)s s") % {"seconds": rest}
    return gettext("%(minutes)s min %(seconds)s s") % {
        "minutes": number_format(minutes),
        "seconds": rest,
    }


def _with_interval(value: Mapping[str, Any], words: Any, *, least: float) -> str:
    """Intervals are kept as they come out; nothing beyond what is possible is shown."""
    number, interval = value.get("value"), value.get("ci")
    if number is None:
        return DASH
    if interval is None:
        return str(words(number))
    low, high = max(interval[0], least), min(interval[1], 1.0)
    return f"{words(number)} [{words(low)}, {words(high)}]"


def _two_decimals(number: float) -> str:
    return _rounded(number, 2)


def _percent(number: float) -> str:
    return _rounded(100 * number, 1) + "%"


def _rounded(number: float, places: int) -> str:
    """In the reader's language. Rounded first, because number_format cuts digits off."""
    text = number_format(Decimal(f"{number:.{places}f}"), places)
    return text.replace("-", MINUS)
