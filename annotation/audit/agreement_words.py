"""What the agreement on one criterion says, in plain words and without adjectives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext

from annotation.templatetags.figures import (
    agreement_reading,
    coefficient,
    share,
    why_missing,
)
from annotation.templatetags.tables import kind_words

Text = str | Promise

# Coefficients part where the votes lean to one answer: from so large a share of it, and so large a
# difference between AC1 and Fleiss' kappa, the reading says why.
LEAN = 0.65
GAP = 0.08

Report = Mapping[str, Any]


def reading(report: Report) -> list[Text]:
    """Sentences on a `benchmark.stats.report.criterion_report` beside its Fleiss' kappa."""
    fleiss = report["fleiss"]
    if fleiss["value"] is None:
        sentences: list[Text] = [
            gettext("Fleiss' kappa is undefined: %(reason)s.") % {"reason": why_missing(fleiss)}
        ]
    else:
        sentences = [agreement_reading(fleiss)]
    if report["percent_agreement"]["value"] is not None:
        sentences.append(_observed(report))
    paradox = _paradox(report)
    return [*sentences, paradox] if paradox else sentences


def _observed(report: Report) -> str:
    words = {
        "observed": share(report["percent_agreement"]),
        "chance": share({"value": expected_by_chance(report)}),
    }
    return (
        gettext(
            "Two raters of the same pair give the same answer in %(observed)s of all cases;"
            " two answers drawn from all that were given would agree in %(chance)s."
        )
        % words
    )


def expected_by_chance(report: Report) -> float:
    """P_e of Fleiss' kappa: the sum of the squared shares of the answers."""
    return sum((each["value"] or 0.0) ** 2 for each in report["shares"].values())


def _paradox(report: Report) -> str:
    """Why Fleiss' kappa is low although raters agree often; empty where it is not."""
    fleiss, ac1 = report["fleiss"]["value"], report["ac1"]["value"]
    if fleiss is None or ac1 is None:
        return ""
    answer, lean = max(
        ((name, each["value"] or 0.0) for name, each in report["shares"].items()),
        key=lambda item: item[1],
    )
    if lean < LEAN or ac1 - fleiss < GAP:
        return ""
    words = {
        "share": share({"value": lean}),
        "answer": kind_words(answer),
        "randolph": coefficient({"value": report["randolph"]["value"]}),
        "ac1": coefficient({"value": ac1}),
    }
    return (
        gettext(
            "%(share)s of the votes are for %(answer)s, and the more votes lean to one answer, the"
            " more agreement Fleiss' kappa puts down to chance. Randolph's kappa (%(randolph)s) and"
            " AC1 (%(ac1)s) put down less from the same votes: read them together with the share."
        )
        % words
    )
