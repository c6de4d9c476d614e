"""The versioned rules by which tallies become verdicts.

A policy is stored with every aggregation that it shaped, so it is plain data: `Policy.as_json` and
`Policy.from_json` are inverse, and a change of meaning takes a new name or version.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final, Literal, get_args

from benchmark.stats.codes import CRITERIA, PERSONALIZATION
from benchmark.stats.majority import DEFAULT_MINIMUM, TIE_RULES, TieRule
from benchmark.stats.tiers import DEFAULT_BANDS, MAX_VOTES, Bands

Decide = Literal["both_agree", "criterion"]
Combine = Literal["criterion", "min", "mean"]

DECIDE_RULES: Final[tuple[Decide, ...]] = get_args(Decide)
COMBINE_RULES: Final[tuple[Combine, ...]] = get_args(Combine)

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class PolicyError(ValueError):
    """A policy that cannot be followed; the message names the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The versioned rules that turn tallies into verdicts.

    ``decide``: "both_agree" wants the majorities of helpfulness and personalization to name the
    same response, "criterion" follows ``criterion`` alone. ``combine``: the tier comes from
    ``criterion``, or from the smaller ("min") or the mean of the k of both, which presupposes that
    both agree. ``minimum`` counts votes for A, B and tie. Raises PolicyError for anything else.
    """

    name: str
    version: int
    decide: Decide
    criterion: str = PERSONALIZATION
    combine: Combine = "criterion"
    minimum: int = DEFAULT_MINIMUM
    bands: Bands = DEFAULT_BANDS
    tie_rule: TieRule = "ties_can_win"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PolicyError(
                "name must be lower-case letters and digits, in words joined by hyphens, "
                f"not {self.name!r}"
            )
        _check_whole("version", self.version, low=1)
        _check_choice("decide", self.decide, DECIDE_RULES)
        _check_choice("criterion", self.criterion, CRITERIA)
        _check_choice("combine", self.combine, COMBINE_RULES)
        _check_choice("tie_rule", self.tie_rule, TIE_RULES)
        _check_whole("minimum", self.minimum, low=1, high=MAX_VOTES)
        if not isinstance(self.bands, Bands):
            raise PolicyError(f"bands must be Bands, not {type(self.bands).__name__}")
        if self.decide == "criterion" and self.combine != "criterion":
            raise PolicyError(
                f"combine: {self.combine!r} uses both criteria, so decide must be 'both_agree'"
            )

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria whose tallies decide, in the order of `CRITERIA`."""
        return CRITERIA if self.decide == "both_agree" else (self.criterion,)

    def as_json(self) -> dict[str, object]:
        """JSON form; band edges and chance are [numerator, denominator]."""
        return {
            "name": self.name,
            "version": self.version,
            "decide": self.decide,
            "criterion": self.criterion,
            "combine": self.combine,
            "minimum": self.minimum,
            "bands": {
                "easy_above": list(self.bands.easy_above),
                "medium_from": list(self.bands.medium_from),
                "chance": list(self.bands.chance),
            },
            "tie_rule": self.tie_rule,
        }

    @classmethod
    def from_json(cls, data: object) -> "Policy":
        """The policy that `as_json` wrote. Every field must be there, and no other.

        Raises PolicyError: a rule that is misspelt or left out must not fall back to a default.
        """
        values = _exact_keys("policy", data, {field.name for field in fields(cls)})
        edges = _exact_keys("bands", values["bands"], {field.name for field in fields(Bands)})
        try:
            bands = Bands(**{name: _edge(name, edge) for name, edge in edges.items()})
        except PolicyError:
            raise
        except ValueError as error:
            raise PolicyError(f"bands: {error}") from None
        return cls(**{**values, "bands": bands})  # type: ignore[arg-type]


def _check_whole(name: str, value: object, *, low: int, high: int | None = None) -> None:
    # bool is an int to Python, never to a reader of the file.
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(f"{name} must be a whole number, not {value!r}")
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high:,}"
        raise PolicyError(f"{name} must be {limits}, not {value}")


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise PolicyError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def _exact_keys(name: str, data: object, expected: set[str]) -> dict[str, object]:
    if not isinstance(data, Mapping):
        raise PolicyError(f"{name} must be a JSON object, not {type(data).__name__}")
    missing, unknown = expected - data.keys(), data.keys() - expected
    if missing:
        raise PolicyError(f"{name}: missing {', '.join(sorted(missing))}")
    if unknown:
        raise PolicyError(f"{name}: unknown {', '.join(sorted(map(str, unknown)))}")
    return dict(data)


def _edge(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise PolicyError(f"bands: {name} must be [numerator, denominator], not {value!r}")
    for part in value:
        if isinstance(part, bool) or not isinstance(part, int):
            raise PolicyError(f"bands: {name} must hold whole numbers, not {part!r}")
    return value[0], value[1]


PERSONAFEEDBACK_V1: Final = Policy(name="personafeedback-v1", version=1, decide="both_agree")
HELPFULNESS_ONLY_V1: Final = Policy(
    name="helpfulness-v1", version=1, decide="criterion", criterion="helpfulness"
)
PERSONALIZATION_ONLY_V1: Final = Policy(
    name="personalization-v1", version=1, decide="criterion", criterion="personalization"
)

DEFAULT_POLICY: Final = PERSONAFEEDBACK_V1
POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        policy.name: policy
        for policy in (PERSONAFEEDBACK_V1, HELPFULNESS_ONLY_V1, PERSONALIZATION_ONLY_V1)
    }
)


def policy_named(name: str) -> Policy:
    """The policy of that name; PolicyError, listing the names there are, if there is none."""
    try:
        return POLICIES[name]
    except KeyError:
        raise PolicyError(f"no policy {name!r}; there are {', '.join(POLICIES)}") from None
