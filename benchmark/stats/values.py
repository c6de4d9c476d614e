"""A number that is published, or the reason why it does not exist."""

import math
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a number is undefined. The codes are stored and exported: never rename one."""

    NO_VOTES = "no_votes"
    FEWER_THAN_TWO_VOTES = "fewer_than_two_votes"
    NO_ITEM_WITH_TWO_VOTES = "no_item_with_two_votes"
    SINGLE_CATEGORY = "single_category"
    SINGLE_ITEM = "single_item"
    NO_SE_FOR_VARIANT = "no_se_for_variant"
    NOT_ENOUGH_VOTES = "not_enough_votes"
    TIED = "tied"
    INSUFFICIENT = "insufficient"
    CONFLICT = "conflict"
    WITHDRAWN = "withdrawn"
    CATEGORY_UNUSED_OR_UNIVERSAL = "category_unused_or_universal"
    NOT_TWO_CATEGORIES = "not_two_categories"
    NO_RATER_IDS = "no_rater_ids"
    NO_RATER_OVERLAP = "no_rater_overlap"
    NO_OVERLAP = "no_overlap"
    ZERO_SPREAD = "zero_spread"
    EARLY_STOPPED = "early_stopped"
    NOT_STRONGLY_CONNECTED = "not_strongly_connected"


class Caution(StrEnum):
    """What a reader must know about a number that does exist."""

    DEGENERATE_VARIANCE = "degenerate_variance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One figure with its uncertainty; a missing figure carries a reason and is never NaN or 0.

    ``se`` and ``ci`` (95 %, not clipped) come together. Where the figure exists but its standard
    error does not, ``se_reason`` says why. ``variant`` names the formula where a coefficient has
    several. Raises ValueError for a combination that would mislead a reader.
    """

    value: float | None
    reason: Reason | None = None
    se: float | None = None
    ci: tuple[float, float] | None = None
    se_reason: Reason | None = None
    warning: Caution | None = None
    variant: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("a Value has either a value or a reason, never both or neither")
        if (self.se is None) != (self.ci is None):
            raise ValueError("a standard error and its interval come together")
        if self.se is not None and (self.value is None or self.se_reason is not None):
            raise ValueError("a standard error needs a value and excludes a reason for its absence")
        numbers = [self.value, self.se, *(self.ci or ())]
        if not all(math.isfinite(number) for number in numbers if number is not None):
            raise ValueError(f"a published number must be finite, not {numbers}")
        if self.ci is not None and self.ci[0] > self.ci[1]:
            raise ValueError(f"an interval runs from low to high, not {self.ci}")

    @classmethod
    def undefined(cls, reason: Reason, *, variant: str | None = None) -> "Value":
        """A figure that does not exist; its standard error is missing for the same reason."""
        return cls(value=None, reason=reason, se_reason=reason, variant=variant)

    def as_json(self) -> dict[str, object]:
        """JSON form. An undefined figure is ``{"value": null, "reason": code}`` (and variant)."""
        result: dict[str, object] = {"value": self.value}
        if self.reason is not None:
            result["reason"] = self.reason.value
        elif self.se is not None and self.ci is not None:
            result |= {"se": self.se, "ci": list(self.ci)}
        elif self.se_reason is not None:
            result |= {"se": None, "ci": None, "se_reason": self.se_reason.value}
        if self.warning is not None:
            result["warning"] = self.warning.value
        if self.variant is not None:
            result["variant"] = self.variant
        return result
