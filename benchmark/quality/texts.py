"""Texts as the checks compare them: one spelling, digests, shingles and bigrams."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmark.formats.checks import UNSEEN

Hashes = npt.NDArray[np.uint64]

# Characters in a shingle: fewer where a character is a syllable or a word.
SHINGLE: Final = 5
SHINGLE_EAST_ASIAN: Final = 3

_HIDDEN = re.compile(rf"(?!\s){UNSEEN}")
_NO_WORD = re.compile(r"[\W_]+")
# First and last code points of kana, ideographs and Hangul in their usual planes.
_EAST_ASIAN: Final = (
    *((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xAC00, 0xD7AF), (0x20000, 0x3FFFF)),
)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, bits spread: Knuth's multiplicative hashing
_SPACE: Final = 32


def normalised(text: str) -> str:
    """The text without what makes no difference to a reader.

    Compatibility forms (full width, composed accents), capital letters, white space and characters
    that nobody sees are evened out (Unicode's NFKC_Casefold, about).
    """
    composed = unicodedata.normalize("NFKC", text)
    folded = _HIDDEN.sub("", composed.casefold())
    if folded != composed:
        folded = unicodedata.normalize("NFKC", folded)
    return " ".join(folded.split())


def digest(text: str) -> bytes:
    """16 bytes that stand for a text, the same on every machine."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def shingles(text: str) -> Hashes:
    """Hashes of the runs of characters in a normalised text, sorted, each once.

    A run has 3 characters where at least half of all but the spaces are Chinese, Japanese or
    Korean, else 5; a shorter text is one run. Empty for an empty text.
    """
    codes = _codes(text)
    east_asian = sum(
        int(np.count_nonzero((codes >= first) & (codes <= last))) for first, last in _EAST_ASIAN
    )
    is_east_asian = 2 * east_asian >= max(len(codes) - text.count(" "), 1)
    width = min(SHINGLE_EAST_ASIAN if is_east_asian else SHINGLE, len(codes))
    if not width:
        return codes
    runs = len(codes) - width + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for start in range(width):
        hashes = (hashes ^ codes[start : start + runs]) * _MULTIPLIER
        hashes ^= hashes >> np.uint64(32)
    return _distinct(hashes)


def bigrams(text: str) -> Hashes:
    """Neighbouring pairs of letters or digits in a normalised text, sorted, each once."""
    codes = _codes(_NO_WORD.sub(" ", text))
    first, second = codes[:-1], codes[1:]
    inside = (first != _SPACE) & (second != _SPACE)
    return _distinct(first[inside] << np.uint64(21) | second[inside])


def shared(one: Hashes, other: Hashes) -> int:
    """How many hashes stand in both; each array is sorted and without repeats."""
    return int(np.intersect1d(one, other, assume_unique=True).size)


def jaccard(one: Hashes, other: Hashes) -> float:
    """Shared hashes over all hashes; 0 where there are none."""
    common = shared(one, other)
    union = one.size + other.size - common
    return common / union if union else 0.0


def profile_text(body: dict[str, Any] | str) -> str:
    """The values of a profile, without its keys, one a line."""
    if isinstance(body, str):
        return body
    values: list[str] = []
    stack: list[Any] = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
        elif value is not None:
            values.append(str(value))
    return "\n".join(values)


def names(name: str, text: str) -> bool:
    """Whether a normalised text contains a normalised name of two characters or more.

    In scripts with capital letters a name must not go on: Ann is not in Annual.
    """
    if len(name) < 2:
        return False
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        goes_on = (start > 0 and _is_cased(name[0]) and _is_cased(text[start - 1])) or (
            end < len(text) and _is_cased(name[-1]) and _is_cased(text[end])
        )
        if not goes_on:
            return True
        start = text.find(name, start + 1)
    return False


def _is_cased(character: str) -> bool:
    return character.lower() != character.upper()


def _codes(text: str) -> Hashes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)


def _distinct(hashes: Hashes) -> Hashes:
    """Sorted, each once: what np.unique gives, for arrays so short that its ways cost more."""
    hashes.sort()
    is_new = np.ones(len(hashes), dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=is_new[1:])
    return hashes[is_new]
