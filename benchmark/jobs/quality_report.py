"""The quality of an aggregation's pairs, as `check_quality` sees them."""

from __future__ import annotations

from benchmark.jobs.analysis_material import Material


def quality(found: Material) -> dict[str, object]:
    raise NotImplementedError
