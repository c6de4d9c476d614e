"""What every vote of an aggregation says: raters, groups of pairs, biases. Done apart from the
verdicts, which nobody should have to wait for longer."""

from __future__ import annotations

from collections.abc import Callable

from benchmark.jobs.analysis_groups import breakdowns
from benchmark.jobs.analysis_material import Material, material
from benchmark.jobs.analysis_raters import biases, label_model, rater_pairs, raters
from benchmark.jobs.quality_report import quality
from benchmark.models import Analysis, Run

Progress = Callable[[int, int], None]

SUBJECTS: dict[Analysis.Subject, Callable[[Material], dict[str, object]]] = {
    Analysis.Subject.BREAKDOWNS: breakdowns,
    Analysis.Subject.BIASES: biases,
    Analysis.Subject.RATERS: raters,
    Analysis.Subject.RATER_PAIRS: rater_pairs,
    Analysis.Subject.LABEL_MODEL: label_model,
    Analysis.Subject.QUALITY: quality,
}


def analyse(run: Run, *, progress: Progress) -> None:
    """Write the analyses of the run's aggregation, one subject after the other.

    The same votes give the same figures. Doing it again replaces what an interrupted attempt has
    written.
    """
    assert run.of is not None
    found = material(run.of)
    Analysis.objects.filter(run=run.of).delete()
    for step, (subject, find) in enumerate(SUBJECTS.items(), start=1):
        Analysis.objects.create(run=run.of, subject=subject, data=find(found))
        progress(step, len(SUBJECTS))
