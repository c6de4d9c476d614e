"""One module a noun. Truth is guarded by the database's constraints."""

from benchmark.models.judgement import Choice, Judgement, Rater, Side, Vote
from benchmark.models.pair import Pair, Persona
from benchmark.models.pair_set import Criterion, PairSet
from benchmark.models.release import Release
from benchmark.models.run import Run
from benchmark.models.tally import Tally
from benchmark.models.verdict import CriterionVerdict, Status, Tier, Verdict

__all__ = [
    "Choice",
    "Criterion",
    "CriterionVerdict",
    "Judgement",
    "Pair",
    "PairSet",
    "Persona",
    "Rater",
    "Release",
    "Run",
    "Side",
    "Status",
    "Tally",
    "Tier",
    "Verdict",
    "Vote",
]
