"""What a check of the pairs found, in words of the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from benchmark.quality.findings import Kind, Severity

Text = str | Promise

SEVERITIES: dict[str, Text] = {
    Severity.ERROR: pgettext_lazy("finding", "error"),
    Severity.WARNING: pgettext_lazy("finding", "warning"),
    Severity.NOTICE: pgettext_lazy("finding", "notice"),
}

# Findings whose ids are those of personas and not of pairs.
OF_PERSONAS: frozenset[str] = frozenset(
    {
        Kind.PERSONA_CLASH,
        Kind.UNKNOWN_PERSONA,
        Kind.MISSPELT_FIELD,
        Kind.OTHER_LAYOUT,
        Kind.MISSING_FIELD,
        Kind.STRAY_FIELD,
        Kind.OPTIONAL_FIELD,
        Kind.TYPE_DRIFT,
        Kind.SAME_PROFILE,
        Kind.UNUSED_PERSONA,
        Kind.ONE_SIDED,
    }
)

# As benchmark.quality.findings.SENTENCES, where the same numbers are named.
SENTENCES: dict[str, Text] = {
    Kind.REFUSED: _("Faults for which an import would refuse the files: %(count)s."),
    Kind.PAIR_CLASH: _("Pair ids that stand for different content: %(count)s."),
    Kind.PERSONA_CLASH: _("Persona ids that stand for different profiles: %(count)s."),
    Kind.UNKNOWN_PERSONA: _(
        "Personas that pairs name and nothing describes: %(count)s (pairs of theirs: %(pairs)s)."
    ),
    Kind.NO_PERSONAS: _(
        "There are no personas: profiles, names in texts and overlap could not be checked."
    ),
    Kind.CONTRADICTION: _("Pairs that are labelled both ways: %(count)s of %(pairs)s (%(which)s)."),
    Kind.SEVERAL_TIERS: _(
        "Pairs that stand with the same label in several tiers: %(count)s of %(pairs)s (%(which)s)."
    ),
    Kind.REPEAT: _(
        "Pairs that stand more than once, neither contradicted nor in several tiers: %(count)s of"
        " %(pairs)s."
    ),
    Kind.CHOSEN_AND_REJECTED: _(
        "Groups of one persona and query in which a response is chosen in one row and rejected in"
        " another: %(count)s of %(groups)s."
    ),
    Kind.SHARED_CHOICE: _(
        "Rows in %(tier)s whose chosen response is chosen in %(other)s too, for the same persona"
        " and query: %(count)s of %(rows)s (the other way round: %(other_count)s of"
        " %(other_rows)s)."
    ),
    Kind.SHARED_QUERY: _(
        "Rows in %(tier)s whose persona and query stand in %(other)s too: %(count)s of %(rows)s"
        " (the other way round: %(other_count)s of %(other_rows)s)."
    ),
    Kind.SAME_RESPONSES: _(
        "Pairs whose responses differ in capital letters, spacing or forms of characters only:"
        " %(count)s of %(pairs)s."
    ),
    Kind.ALIKE_RESPONSES: _(
        "Pairs whose responses are nearly the same: %(count)s of %(pairs)s (they share"
        " %(threshold)s%% or more of their character runs)."
    ),
    Kind.REUSED_RESPONSE: _(
        "Responses that stand under several queries or personas: %(count)s of %(texts)s."
    ),
    Kind.COMMON_QUERY: _(
        "Queries (%(query_kind)s) that several personas ask, word for word: %(count)s of %(texts)s."
    ),
    Kind.NEAR_QUERIES_WITHIN: _(
        "Groups of nearly the same queries of one persona: %(count)s (different texts in them:"
        " %(texts)s)."
    ),
    Kind.NEAR_QUERIES_ACROSS: _(
        "Groups of nearly the same queries of different personas: %(count)s (different texts in"
        " them: %(texts)s)."
    ),
    Kind.NEAR_RESPONSES_WITHIN: _(
        "Groups of nearly the same responses to one persona: %(count)s (different texts in them:"
        " %(texts)s)."
    ),
    Kind.NEAR_RESPONSES_ACROSS: _(
        "Groups of nearly the same responses to different personas: %(count)s (different texts in"
        " them: %(texts)s)."
    ),
    Kind.LONGER_WINS: _(
        "The longer response is the chosen one in %(share)s%% of %(rows)s labelled rows (95%%"
        " interval %(low)s to %(high)s; equally long in %(equal)s; %(which)s)."
    ),
    Kind.OVERLAP_WINS: _(
        "The response that shares more character pairs with the persona is the chosen one in"
        " %(share)s%% of %(rows)s labelled rows (95%% interval %(low)s to %(high)s; equal in"
        " %(equal)s; %(which)s)."
    ),
    Kind.NAME_IN_QUERY: _("Pairs whose query names the persona: %(count)s of %(pairs)s."),
    Kind.NAME_IN_ONE_RESPONSE: _(
        "Pairs of which one response names the persona and the other does not: %(count)s of"
        " %(pairs)s."
    ),
    Kind.SOURCE_IN_RESPONSE: _(
        "Pairs in which a response names one of the pair's sources: %(count)s of %(pairs)s"
        " (%(which)s)."
    ),
    Kind.MODEL_IN_RESPONSE: _(
        "Pairs in which a response names a well-known model or its maker, be it as a topic:"
        " %(count)s of %(pairs)s (%(which)s)."
    ),
    Kind.TELLTALE_PHRASE: _(
        "Pairs in which a response speaks of its own making: %(count)s of %(pairs)s (%(which)s)."
    ),
    Kind.MISSPELT_FIELD: _(
        "Personas with a misspelt %(field)s: %(count)s of %(personas)s (%(which)s)."
    ),
    Kind.OTHER_LAYOUT: _(
        "Personas with another layout in %(field)s: %(count)s of %(personas)s (%(which)s)."
    ),
    Kind.MISSING_FIELD: _("Personas without %(field)s: %(count)s of %(personas)s."),
    Kind.STRAY_FIELD: _(
        "Personas with stray fields in %(field)s: %(count)s of %(personas)s (%(which)s)."
    ),
    Kind.OPTIONAL_FIELD: _("Personas with the rare field %(field)s: %(count)s of %(personas)s."),
    Kind.TYPE_DRIFT: _(
        "Personas in which %(field)s is something else than in most: %(count)s of %(personas)s"
        " (%(which)s)."
    ),
    Kind.SAME_PROFILE: _("Personas whose profile another id has too: %(count)s of %(personas)s."),
    Kind.UNUSED_PERSONA: _("Personas without a pair: %(count)s of %(personas)s."),
    Kind.ONE_SIDED: _("Personas in which %(field)s is %(value)s: %(count)s of %(personas)s."),
}

_PLACES = {"threshold": 0}


def sentence(finding: Mapping[str, Any]) -> str:
    """A finding in words; as it was stored where it is of a kind that has none here."""
    numbers = {**finding.get("numbers", {}), "count": finding["count"]}
    words = SENTENCES.get(finding["kind"])
    try:
        if words is not None:
            return str(words) % {name: _number(name, value) for name, value in numbers.items()}
    except KeyError:
        # Stored by a version that gave other numbers.
        pass
    return str(finding["sentence"])


def _number(name: str, value: object) -> object:
    match value:
        case bool() | str():
            return value
        case int():
            return number_format(value)
        case float():
            return number_format(value, _PLACES.get(name, 1))
        case _:
            return value
