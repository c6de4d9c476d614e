"""Keys and codes of persona profiles in words. Keys that are not known stand as they are spelt."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.functional import Promise
from django.utils.translation import get_language, override, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.domain.persona_card import Entry, PersonaCard, Section

register = template.Library()

Text = str | Promise

KEYS: dict[str, Text] = {
    "Age": _("Age"),
    "Gender": _("Gender"),
    "Nationality": _("Nationality"),
    "Language": _("Languages"),
    "Career_Information": _("Work"),
    "Personality": _("Personality"),
    "Values_and_Interests": _("Values and interests"),
    "Preference": pgettext_lazy("persona", "Preferences"),
    "Local_Life": _("Everyday life"),
    "Food_Drinks": _("Food and drink"),
    "Entertainment": _("Entertainment"),
    "Entertainment_Shopping": _("Entertainment and shopping"),
    "Shopping": _("Shopping"),
    "TravelDaily_Outings": _("Getting around"),
    "Daily_Outings": _("Getting around"),
    "Travel": _("Travel"),
    "Business_Trips": _("Business trips"),
    "Leisure_Travel": _("Holidays"),
    "Social": _("Social life"),
    "Productivity": _("Work and study"),
    "Study_Work": _("Study and work"),
    "Fitness": _("Fitness"),
    "Content_Interests": _("Reads and watches"),
    "Bias": pgettext_lazy("persona", "Bias"),
}

# The letters of the four pairs of traits, whatever the key above them is misspelt as.
TRAITS: dict[str, Text] = {
    "E": _("Extraversion"),
    "I": _("Introversion"),
    "S": _("Sensing"),
    "N": _("Intuition"),
    "T": _("Thinking"),
    "F": _("Feeling"),
    "J": _("Judging"),
    "P": _("Perceiving"),
}


@register.filter
def key_words(key: str) -> Text:
    words = key.replace("_", " ").strip()
    return KEYS.get(key) or KEYS.get(words.capitalize()) or words[:1].upper() + words[1:]


@register.filter
def traits(section: Section) -> list[Text]:
    """The entries that are a letter of a pair of traits ("X_or_Y": "X"), in words."""
    return [TRAITS[entry.texts[0]] for entry in section.entries if _is_trait(entry)]


@register.filter
def named_entries(section: Section) -> list[Entry]:
    """The entries with a key, traits left out."""
    return [entry for entry in section.entries if entry.key and not _is_trait(entry)]


@register.filter
def plain_texts(section: Section) -> list[str]:
    """The items of a section that is a plain list or a single text."""
    return [text for entry in section.entries if not entry.key for text in entry.texts]


@register.filter
def brief(card: PersonaCard) -> list[str]:
    """The first three facts."""
    return [text for entry in card.facts[:3] for text in entry.texts]


@register.filter
def listed(texts: Iterable[Text], lang: str = "") -> str:
    """``texts`` in one line, with the commas of ``lang``, else of the interface."""
    with override(lang or get_language()):
        separator = pgettext("between the items of a list", ", ")
    return separator.join(map(str, texts))


def _is_trait(entry: Entry) -> bool:
    return "_or_" in entry.key and len(entry.texts) == 1 and entry.texts[0] in TRAITS
