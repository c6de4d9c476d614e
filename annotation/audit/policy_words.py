"""The rules of a policy in words, from its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext

from annotation.templatetags.figures import MINUS, criterion_name, rule_words

Text = str | Promise

# Edges with more digits than these are written as fractions.
_DIGITS = 4
# No name@version is longer.
_LABEL = 100


@dataclass(frozen=True, slots=True)
class PolicyWords:
    """``label`` is name@version; the others are sentences without a stop."""

    label: str
    decides: str
    ties: Text
    tiers: str
    chance: str

    @property
    def sentences(self) -> list[Text]:
        return [self.decides, self.ties, self.tiers, self.chance]


def policy_words(policy: Mapping[str, Any]) -> PolicyWords:
    """``policy`` as `benchmark.stats.policy.Policy.as_json` gives it."""
    bands = policy["bands"]
    return PolicyWords(
        label=f"{policy['name']}@{policy['version']}",
        decides=_decides(policy),
        ties=rule_words(policy["tie_rule"]),
        tiers=_tiers(policy),
        chance=gettext("k takes %(chance)s as agreement by chance")
        % {"chance": edge_words(bands["chance"])},
    )


def edge_words(edge: tuple[int, int] | list[int]) -> str:
    """An edge of a band for reading, never rounded: 0.6, or 2/3 where no short decimal is equal."""
    text = plain_edge(edge)
    if "/" not in text:
        text = number_format(Decimal(text))
    return text.replace("-", MINUS)


def plain_edge(edge: tuple[int, int] | list[int]) -> str:
    """The same for a form, whatever the language."""
    exact = Fraction(*edge)
    if 10**_DIGITS % exact.denominator:
        return f"{exact.numerator}/{exact.denominator}"
    text = f"{float(exact):.{_DIGITS}f}"
    return text.rstrip("0").rstrip(".")


def _decides(policy: Mapping[str, Any]) -> str:
    numbers = {"n": policy["minimum"], "criterion": criterion_name(policy["criterion"])}
    if policy["decide"] == "criterion":
        return gettext("%(criterion)s alone decides, with at least %(n)s votes") % numbers
    return (
        gettext(
            "the majorities on both criteria must name the same response,"
            " with at least %(n)s votes on each"
        )
        % numbers
    )


def _tiers(policy: Mapping[str, Any]) -> str:
    bands = policy["bands"]
    words = {
        "easy": edge_words(bands["easy_above"]),
        "medium": edge_words(bands["medium_from"]),
        "rule": rule_words(policy["combine"]),
        "criterion": criterion_name(policy["criterion"]),
    }
    if policy["combine"] == "criterion":
        return (
            gettext(
                "tiers by k of %(criterion)s: easy above %(easy)s, medium from %(medium)s to"
                " %(easy)s, hard below %(medium)s"
            )
            % words
        )
    return (
        gettext(
            "tiers by %(rule)s: easy above %(easy)s, medium from %(medium)s to %(easy)s,"
            " hard below %(medium)s"
        )
        % words
    )


def asked_for(text: str) -> str:
    """A policy's name, or name@version, as it was sent: no more than a query can take."""
    return text.replace("\0", "").strip()[:_LABEL]
