"""The quality of an aggregation's set, as `check_quality` sees it."""

from __future__ import annotations

from typing import Any, cast

from benchmark.formats.records import Side
from benchmark.jobs.analysis_material import Material
from benchmark.quality import check
from benchmark.selectors.quality import SetRecords, set_records
from benchmark.stats.codes import WINNERS


def quality(found: Material) -> dict[str, Any]:
    """Findings and measures of all pairs of the set.

    A pair's label is its prior one; where the set has none, it is what the aggregation's votes
    decided, whatever was voted since.
    """
    records = set_records(found.run.pair_set)
    if records.voted is not None:
        chosen = zip(found.votes.pairs.tolist(), found.verdicts.chosen.tolist(), strict=True)
        voted = {pair: cast(Side, WINNERS[code]) for pair, code in chosen if WINNERS[code]}
        records = SetRecords(found.run.pair_set, voted)
    source = found.run.pair_set.slug
    return check(records, source=source, labels_from=records.labels_from).as_json()
