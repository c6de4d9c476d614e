"""What a text must have in it to count as one."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from django.db import connection

from benchmark.formats import Location, PersonaRecord
from benchmark.formats.checks import UNSEEN as CLASS
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


def everything() -> str:
    codes = range(1, sys.maxunicode + 1)
    return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


def test_white_space_control_and_format_characters_are_all_in_the_class() -> None:
    left = re.sub(CLASS, "", everything())
    assert [
        f"U+{ord(each):04X}"
        for each in left
        if each.isspace() or unicodedata.category(each) in ("Cc", "Cf")
    ] == []


@pytest.mark.django_db
@pytest.mark.parametrize("collation", ["default", "C", "POSIX"])
def test_postgresql_reads_the_class_as_python_does(collation: str) -> None:
    text = everything()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT regexp_replace(%s COLLATE "{collation}", '{CLASS}+', '', 'g')""", [text]
        )
        assert cursor.fetchone() == (re.sub(CLASS, "", text),)


@pytest.mark.parametrize(
    "text", ["&#8203;", "&nbsp;", "&#x3164;", "&ZeroWidthSpace;", " &nbsp;\n&#X200B;&shy;\u200b"]
)
def test_entities_of_nothing_are_nothing(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}a")


@pytest.mark.parametrize(
    "text", ["&", "&amp;", "&lt;", "&#65;", "&amp;nbsp;", "&nbsp", "&none;", f"&#{'9' * 5_000};"]
)
def test_other_entities_are_something(text: str) -> None:
    assert not is_blank(text)


def test_a_name_that_nobody_sees_is_none() -> None:
    at = Location("p.jsonl", 1)
    assert PersonaRecord("anna", {"Name": "\u3164\u200b"}, at).name == "anna"
    assert PersonaRecord("anna", {"Name": "安娜"}, at).name == "安娜"
