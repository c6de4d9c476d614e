"""Numbers inside of sentences."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.functional import Promise


def grouped(**parts: int | str | Promise) -> dict[str, object]:
    """What fills a sentence: whole numbers with the reader's separators, words as they are."""
    return {
        name: number_format(part) if isinstance(part, int) else part for name, part in parts.items()
    }
