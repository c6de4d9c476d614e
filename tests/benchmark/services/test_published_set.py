"""The public rows of PersonaFeedback, where they lie beside this checkout."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from annotation.services.campaigns import import_pairs_into
from benchmark.models import Pair, Persona
from tests.conftest import shared_data
from tests.factories import make_campaign
from tests.tables import row_digests


def label_sets(priors: list[dict[str, Any]]) -> int:
    return len({prior["label"] for prior in priors})


@pytest.mark.django_db
def test_the_published_rows_are_counted_right_and_again_change_nothing() -> None:
    folder = shared_data("personafeedback")
    campaign = make_campaign()
    report = import_pairs_into(campaign=campaign, paths=[folder])

    assert report.problems == []
    found = report.as_json()
    assert {name: found[name] for name in ("personas", "rows", "pairs")} == {
        "personas": 1_714,
        "rows": 3_841,
        "pairs": 3_304,
    }
    assert (report.repeats, report.contradictions, report.rejected) == (370, 167, 0)
    assert (report.new_personas, report.new_pairs) == (1_714, 3_304)

    priors = list(Pair.objects.values_list("priors", flat=True))
    assert sum(len(prior) for prior in priors) == 3_841
    both_ways = [prior for prior in priors if label_sets(prior) == 2]
    assert len(both_ways) == len(report.contradictory_pairs) == 167
    tiers = Counter(prior["tier"] for pair in priors for prior in pair)
    assert tiers == {"easy": 1_510, "medium": 1_321, "hard": 1_010}
    assert Persona.objects.count() == 1_714
    # Preferred answers stand on either side: the order says nothing of the label.
    first = sum(prior[0]["label"] == "A" for prior in priors)
    assert 0.45 < first / len(priors) < 0.55

    before = row_digests()
    again = import_pairs_into(campaign=campaign, paths=[folder])
    assert not again.changed
    assert (again.rows, again.repeats, again.contradictions) == (3_841, 370, 167)
    assert row_digests() == before
