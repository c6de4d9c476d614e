from __future__ import annotations

from itertools import product

import pytest

from annotation.domain.lifecycle import CLOSED, DRAFT, MOVES, OPEN, PAUSED, may_move

ALLOWED = {
    (DRAFT, OPEN),
    (OPEN, PAUSED),
    (OPEN, CLOSED),
    (PAUSED, OPEN),
    (PAUSED, CLOSED),
    (CLOSED, OPEN),
}


@pytest.mark.parametrize(("before", "after"), list(product(MOVES, MOVES)))
def test_every_move(before: str, after: str) -> None:
    assert may_move(before, after) is ((before, after) in ALLOWED)


@pytest.mark.parametrize(("before", "after"), [(OPEN, ""), (OPEN, "archived"), ("gone", OPEN)])
def test_unknown_states_move_nowhere(before: str, after: str) -> None:
    assert not may_move(before, after)
