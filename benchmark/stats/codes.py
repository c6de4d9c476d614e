"""Small integers that stand for words in arrays. A code never changes its meaning."""

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

Winner = Literal["A", "B"]
Status = Literal["decided", "tied", "insufficient", "conflict", "withdrawn"]
Adjudged = Literal["A", "B", "withdrawn"]
Tier = Literal["easy", "medium", "hard"]

NONE: Final = 0

A: Final = 1
B: Final = 2
WINNERS: Final[tuple[Winner | None, ...]] = (None, "A", "B")

DECIDED: Final = 0
TIED: Final = 1
INSUFFICIENT: Final = 2
CONFLICT: Final = 3
WITHDRAWN: Final = 4
STATUSES: Final[tuple[Status, ...]] = (
    *("decided", "tied", "insufficient", "conflict", "withdrawn"),
)

# What an adjudication says: nothing, A, B (as the codes of winners), or to leave the pair out.
WITHDRAW: Final = 3
ADJUDGED: Final[tuple[Adjudged | None, ...]] = (None, "A", "B", "withdrawn")

EASY: Final = 1
MEDIUM: Final = 2
HARD: Final = 3
TIERS: Final[tuple[Tier | None, ...]] = (None, "easy", "medium", "hard")

HELPFULNESS: Final = "helpfulness"
PERSONALIZATION: Final = "personalization"
CRITERIA: Final = (HELPFULNESS, PERSONALIZATION)
