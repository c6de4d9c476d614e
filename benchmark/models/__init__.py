"""One module a noun. Truth is guarded by the database's constraints."""

from benchmark.models.adjudication import Adjudication
from benchmark.models.analysis import Analysis
from benchmark.models.exclusion import Exclusion
from benchmark.models.judgement import Choice, Judgement, Rater, Side, Vote
from benchmark.models.pair import Pair, Persona
from benchmark.models.pair_set import Criterion, PairSet
from benchmark.models.policy import SavedPolicy
from benchmark.models.release import Release
from benchmark.models.run import Run
from benchmark.models.tally import Tally
from benchmark.models.verdict import CriterionVerdict, PatternVerdict, Status, Tier, Verdict

__all__ = [
    "Adjudication",
    "Analysis",
    "Choice",
    "Criterion",
    "CriterionVerdict",
    "Exclusion",
    "Judgement",
    "Pair",
    "PairSet",
    "PatternVerdict",
    "Persona",
    "Rater",
    "Release",
    "Run",
    "SavedPolicy",
    "Side",
    "Status",
    "Tally",
    "Tier",
    "Verdict",
    "Vote",
]
