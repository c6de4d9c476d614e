"""What a single value must satisfy before it may become part of a record."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any, NamedTuple

ID_LIMIT = 200
TEXT_LIMIT = 200_000
DEPTH_LIMIT = 64

_SURROGATE = re.compile("[\ud800-\udfff]")
# A character that nobody sees, spelt out for Python and PostgreSQL alike, whatever their Unicode
# and locale: white space, control and format characters (Cc, Cf). And what has no shape although
# it counts as a letter, a mark or a symbol: the joiner of graphemes, fillers of Hangul, inherent
# vowels of Khmer, variation selectors, the empty Braille cell; and what Unicode keeps for more of
# the kind (Default_Ignorable_Code_Point).
UNSEEN = (
    r"[\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    r"\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    r"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BLANK = re.compile(f"{UNSEEN}*")
# As CommonMark has them: anything longer, or without the semicolon, is text.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_MISSING = object()
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    dict: "an object",
    list: "a list",
    str: "text",
    type(None): "null",
}


class Flaw(NamedTuple):
    """A reason to refuse, and the field it is about (None: the whole row)."""

    field: str | None
    reason: str


def kind_of(value: Any) -> str:
    """What a value is, in the words of a person who looks at a file."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def printable(text: str) -> str:
    """`text` with everything that UTF-8 or PostgreSQL cannot hold spelt out, fit for a message."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def is_blank(text: str) -> bool:
    """Whether nobody could see anything of it, be it written as such or as entities of HTML."""
    resolved = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    return _BLANK.fullmatch(resolved) is not None


def text_of(
    values: Mapping[str, Any],
    name: str,
    flaws: list[Flaw],
    *,
    limit: int = TEXT_LIMIT,
    required: bool = True,
) -> str:
    """The text in column `name`, exactly as given; "" and an entry in `flaws` if it is unfit.

    Null and a missing column count as "" where the text is not required.
    """
    value = values.get(name, _MISSING)
    if type(value) is str:
        if len(value) > limit:
            flaws.append(Flaw(name, f"is longer than {limit:,} characters ({len(value):,})"))
        elif required and is_blank(value):
            flaws.append(Flaw(name, "is empty"))
        return value
    if value is None or value is _MISSING:
        if required:
            flaws.append(Flaw(name, "is missing"))
    else:
        flaws.append(Flaw(name, f"must be text, not {kind_of(value)}"))
    return ""


def character_flaw(text: str) -> str | None:
    """Why a text cannot be stored or written as UTF-8, or None."""
    if "\0" in text:
        return "contains a NUL character (U+0000)"
    if found := _SURROGATE.search(text):
        return f"contains a lone surrogate (U+{ord(found[0]):04X}), which is half a character"
    return None


def deep_flaws(value: Any, field: str | None = None) -> Iterator[Flaw]:
    """Everything in a JSON value, however deep, that cannot be stored: NUL, surrogates, NaN, depth.

    The field of each flaw is a path such as `persona.Preference.Travel[2]`.
    """
    stack: list[tuple[str | None, Any, int]] = [(field, value, 0)]
    while stack:
        path, item, depth = stack.pop()
        if isinstance(item, str):
            if reason := character_flaw(item):
                yield Flaw(path, reason)
        elif isinstance(item, float):
            if not math.isfinite(item):
                yield Flaw(path, "is NaN or infinite, which JSON does not have")
        elif isinstance(item, dict | list) and depth > DEPTH_LIMIT:
            yield Flaw(path, f"is nested deeper than {DEPTH_LIMIT} levels")
        elif isinstance(item, dict):
            children: list[tuple[str | None, Any, int]] = []
            for key, child in item.items():
                below = printable(key) if path is None else f"{path}.{printable(key)}"
                if reason := character_flaw(key):
                    yield Flaw(below, f"has a name that {reason}")
                children.append((below, child, depth + 1))
            stack.extend(reversed(children))
        elif isinstance(item, list):
            stack.extend(
                (f"{path or ''}[{i}]", item[i], depth + 1) for i in reversed(range(len(item)))
            )


def json_flaws(name: str, value: Any) -> Sequence[Flaw]:
    """Flaws of a cell of any type, cheap for the texts that most cells are."""
    if type(value) is str:
        return (Flaw(name, "contains a NUL character (U+0000)"),) if "\0" in value else ()
    if isinstance(value, dict | list | float):
        return tuple(deep_flaws(value, name))
    return ()
