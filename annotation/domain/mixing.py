"""Which of a rater's pairs are checks: as many as the lead wants, where nobody can foretell."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

Kind = Literal["vote", "gold", "repeat"]

# A pair is repeated after at least so many others: sooner it would be remembered.
REPEAT_GAP = 10
# A gold answer counts towards a pause after so many others: in the answer to the next page, the
# pause would tell which pair was gold.
PAUSE_GAP = 3


def due(*, seed: str, rater: str, slot: int, gold_percent: int, repeat_percent: int) -> Kind:
    """What the rater's slot (from 0: pairs given before it) is for.

    Of p percent, slots are cut into blocks of 100/p (of two lengths where that is no whole number,
    so that the rate is met) and one of each block is a check, at a place drawn from the seed, the
    rater and the block. Where both kinds fall on one slot, the repeat moves to the next slot of its
    block that is no gold one, going round; it is left out where all of them are.
    """
    if _is_gold(slot, seed=seed, rater=rater, percent=gold_percent):
        return "gold"
    if not repeat_percent:
        return "vote"
    block = slot * repeat_percent // 100
    slots = _slots_of(block, percent=repeat_percent)
    drawn = _draw("repeat", seed, rater, str(block)) % len(slots)
    for place in (*slots[drawn:], *slots[:drawn]):
        if not _is_gold(place, seed=seed, rater=rater, percent=gold_percent):
            return "repeat" if place == slot else "vote"
    return "vote"


def planned(*, pairs: int, gold_items: int, gold_percent: int, repeat_percent: int) -> int:
    """How many checks a rater is given, at the least, who judges all pairs.

    The last block of each kind may bring another one. Each gold item comes once at most, and each
    pair is repeated once at most.
    """
    checks = 0
    while True:
        slots = pairs + checks
        gold = min(gold_items, slots * gold_percent // 100)
        more = gold + min(pairs, slots * repeat_percent // 100)
        if more == checks:
            return checks
        checks = more


def first_drawn(keys: Sequence[str], *, seed: str, rater: str, purpose: str) -> int:
    """The index of the key whose turn it is: another order of the same keys for each rater.

    Without the keys that had their turn, the next one comes.
    """
    return min(range(len(keys)), key=lambda index: _draw("turn", purpose, seed, rater, keys[index]))


def _is_gold(slot: int, *, seed: str, rater: str, percent: int) -> bool:
    if not percent:
        return False
    block = slot * percent // 100
    slots = _slots_of(block, percent=percent)
    return slot == slots[_draw("gold", seed, rater, str(block)) % len(slots)]


def _slots_of(block: int, *, percent: int) -> range:
    """The slots s with s * percent // 100 == block."""
    return range(-(-100 * block // percent), -(-100 * (block + 1) // percent))


def _draw(*parts: str) -> int:
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big")
