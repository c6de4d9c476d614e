"""What a text must have in it to count as one."""

from __future__ import annotations

import unicodedata

import pytest

from benchmark.formats import Location, PersonaRecord
from benchmark.formats.checks import is_blank

# By Unicode's name, or its number where it has none.
UNSEEN = [
    *("\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff", "\u00ad", "\u061c"),
    *("\u3164", "\uffa0", "\u115f", "\u1160", "\u2800", "\u180e", "\u034f", "\u17b4"),
    *("\ufe00", "\ufe0f", "\U000e0100", "\U000e0020", "\U0001d173", "\u2065", "\ufff0"),
    *(" ", "\t", "\n", "\r", "\x0b", "\x0c", "\x85", "\xa0", "\u1680", "\u2000", "\u200a"),
    *("\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\x00", "\x7f", "\u202e", "\u2066"),
]


def name(text: str) -> str:
    return " ".join(unicodedata.name(each, f"U+{ord(each):04X}") for each in text)


@pytest.mark.parametrize("text", ["", *UNSEEN, "".join(UNSEEN)], ids=name)
def test_nothing_to_be_seen(text: str) -> None:
    assert is_blank(text)
    assert is_blank(f" {text}\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        *("a", ".", "0", "-", "中", "字。", "한", "ไ", "ا", "é", "e\u0301", "\u0301"),
        *(
            "🙂",
            "❤\ufe0f",
            "👩\u200d👩\u200d👧",
            "🏴\U000e0067\U000e0062\U000e007f",
            "1\ufe0f\u20e3",
        ),
        *("\u2801", "\u3131", "\ufffd", "\ue000", "葛\U000e0100"),
    ],
    ids=name,
)
def test_something_to_be_seen(text: str) -> None:
    assert not is_blank(text)
    # Wherever it stands.
    assert not is_blank(f"\u200b{text}")
    assert not is_blank(f"{text}\u3164")


def test_a_name_that_nobody_sees_is_none() -> None:
    at = Location("p.jsonl", 1)
    assert PersonaRecord("anna", {"Name": "\u3164\u200b"}, at).name == "anna"
    assert PersonaRecord("anna", {"Name": "安娜"}, at).name == "安娜"
