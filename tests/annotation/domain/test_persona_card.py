"""Profiles are laid out, and nothing of them is dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.domain.persona_card import Entry, PersonaCard, Section, persona_card
from benchmark.formats import Location, PersonaRecord
from tests.conftest import shared_data


def leaves(value: Any) -> Iterator[str]:
    """Every text, number and truth value of a profile; nulls and empty texts say nothing."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None and value != "":
        yield str(value)


def shown(card: PersonaCard) -> str:
    return f"{card.name}\n{card.all_text}"


def card_of(body: dict[str, Any] | str) -> PersonaCard:
    """As the importer names it and the page lays it out."""
    record = PersonaRecord("id-1", body, Location("file", 1))
    return persona_card(name=record.name, body=body)


def test_facts_first_then_sections() -> None:
    card = card_of(
        {
            "Name": "Mei",
            "Preference": {
                "Bias": "cheap is good",
                "Local_Life": {"Food_Drinks": ["tea", "noodles"], "Shopping": ""},
                "Empty": {},
            },
            "Demographics": {"Age": 32, "Language": ["zh", "en"], "Pets": None},
            "Motto": "slowly",
        }
    )
    assert card.name == "Mei"
    assert card.facts == (Entry("Age", ("32",)), Entry("Language", ("zh", "en")))
    assert card.sections == (
        Section("Preference", (Entry("Bias", ("cheap is good",)),)),
        Section("Local_Life", (Entry("Food_Drinks", ("tea", "noodles")),)),
        Section("Motto", (Entry("", ("slowly",)),)),
    )
    assert card.text == ""


def test_a_plain_text_stays_one() -> None:
    card = card_of("A nurse from Lyon.")
    assert card == PersonaCard(name="id-1", text="A nurse from Lyon.")
    assert card.all_text.strip() == "A nurse from Lyon."


def test_deeper_structures_become_text() -> None:
    card = card_of({"Work": {"Jobs": {"first_job": [{"as": "baker", "years": 3}]}}})
    assert card.sections == (Section("Jobs", (Entry("first_job", ("as: baker", "years: 3")),)),)


def test_a_name_that_is_no_name_is_shown_all_the_same() -> None:
    for name in (["Mei", "Lin"], 7, {"first": "Mei"}):
        card = card_of({"Name": name, "Motto": "slowly"})
        assert card.name == "id-1"
        assert all(leaf in card.all_text for leaf in leaves(name))


def test_the_schema_misspelt_or_missing() -> None:
    assert card_of({"Demografics": {"Age": 3}}).sections[0].key == "Demografics"
    assert card_of({"Demographics": "from Oslo"}).sections == (
        Section("Demographics", (Entry("", ("from Oslo",)),)),
    )
    assert card_of({"Name": "Mei"}) == PersonaCard(name="Mei")
    assert card_of({"Married": False, "Children": 0}).all_text.split() == ["False", "0"]


profiles = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Name", "Demographics", "a", "b_c", ""]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["Name", "Demographics", "x", ""]), profiles, min_size=1))
def test_no_profile_loses_a_word(body: dict[str, Any]) -> None:
    text = shown(card_of(body))
    assert all(leaf in text for leaf in leaves(body))


def test_the_published_personas_lose_nothing() -> None:
    folder = shared_data("personafeedback", "persona_all")
    files = sorted(folder.glob("*.json"))
    assert len(files) > 1_000
    for path in files:
        body = json.loads(path.read_text(encoding="utf-8"))
        card = card_of(body)
        text = shown(card)
        missing = [leaf for leaf in leaves(body) if leaf not in text]
        assert not missing, (path.name, missing)
        assert card.facts, path.name
