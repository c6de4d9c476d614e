"""Everything there is to say about the agreement on one criterion, as one JSON document."""

from collections.abc import Mapping, Sequence

import numpy.typing as npt

from benchmark.stats.agreement import Engine, agreement
from benchmark.stats.bootstrap import REPLICATES, bootstrap
from benchmark.stats.by_rater import conger
from benchmark.stats.counts import histogram
from benchmark.stats.values import Value
from benchmark.stats.variants import fleiss_variants, kappa_by_category
from benchmark.stats.weighted import ORDER_WITH_TIE, readings_with_ties


def criterion_report(
    counts: npt.ArrayLike,
    *,
    categories: Sequence[str],
    multiplicity: npt.ArrayLike | None = None,
    by_rater: npt.ArrayLike | None = None,
    seed: str = "",
    replicates: int = REPLICATES,
    engine: Engine = "statsmodels",
) -> dict[str, object]:
    """The report of `agreement` with Conger's kappa, Fleiss' variants and bootstrap intervals.

    ``counts`` (N, K) and ``multiplicity`` (N,) as for `agreement`, ``by_rater`` (R, K) the votes of
    each rater, None where votes have no raters. Keys of `AgreementReport.as_json`, then ``conger``,
    ``fleiss_variants`` and ``bootstrap``; with more than two categories ``by_category`` (with two
    it would repeat Fleiss) and, where these are A, B and tie, ``tie_readings``. No NaN, whatever
    the data. Raises ValueError for a malformed table.
    """
    table = histogram(counts, categories=categories, multiplicity=multiplicity)
    names, x, weight = table.categories, table.patterns, table.multiplicity
    report = agreement(x, categories=names, multiplicity=weight, engine=engine).as_json()
    report["conger"] = conger(x, categories=names, multiplicity=weight, by_rater=by_rater).as_json()
    report["fleiss_variants"] = _as_json(fleiss_variants(x, categories=names, multiplicity=weight))
    report["bootstrap"] = bootstrap(
        x, categories=names, multiplicity=weight, seed=seed, replicates=replicates
    ).as_json()
    if len(names) > 2:
        report["by_category"] = _as_json(
            kappa_by_category(x, categories=names, multiplicity=weight)
        )
    if set(names) == set(ORDER_WITH_TIE):
        readings = readings_with_ties(x, categories=names, multiplicity=weight)
        report["tie_readings"] = {name: _as_json(values) for name, values in readings.items()}
    return report


def _as_json(values: Mapping[str, Value]) -> dict[str, object]:
    return {name: value.as_json() for name, value in values.items()}
