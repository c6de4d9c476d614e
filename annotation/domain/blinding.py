"""What a rater must not be able to tell: the order of the responses carries no information."""

import hashlib
from typing import Literal


def shown_left(*, seed: str, pair_id: str, rater: str) -> Literal["A", "B"]:
    """The canonical response that stands left (first on a phone) for this rater and pair.

    A fair coin drawn from the campaign's seed, the pair and the rater's pseudonym: the same on
    every reload, independent between raters and between pairs.
    """
    draw = hashlib.sha256("\x1f".join(("order", seed, pair_id, rater)).encode()).digest()
    return "A" if draw[0] & 1 else "B"
