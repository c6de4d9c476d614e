"""States of a campaign and the moves between them."""

DRAFT = "draft"
OPEN = "open"
PAUSED = "paused"
CLOSED = "closed"

# state -> states it may move to
MOVES: dict[str, frozenset[str]] = {
    DRAFT: frozenset({OPEN}),
    OPEN: frozenset({PAUSED, CLOSED}),
    PAUSED: frozenset({OPEN, CLOSED}),
    CLOSED: frozenset({OPEN}),
}


def may_move(before: str, after: str) -> bool:
    return after in MOVES.get(before, frozenset())
