"""Everything that happened to one pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import Prefetch, Q

from benchmark.models import Adjudication, Exclusion, Judgement, Pair, PairSet, Run, Verdict, Vote

# What a run made of a judgement: it counted it, left it out, came before it, or it had been
# replaced by a correction by then.
Counted = Literal["counted", "left_out", "later", "superseded"]


def pair_of(pair_set: PairSet, pair: int) -> Pair | None:
    """With its persona; None for a pair of another set."""
    return Pair.objects.filter(pair_set=pair_set, pk=pair).select_related("persona").first()


def verdict_of(run: Run, pair: Pair) -> Verdict | None:
    return Verdict.objects.filter(run=run, pair=pair).select_related("adjudication").first()


@dataclass(frozen=True, slots=True)
class PairJudgement:
    """A judgement as a run saw it: ``choices`` by criterion, ``skip_reason`` a code or words."""

    judgement: Judgement
    counted: Counted
    choices: dict[str, str]
    skip_reason: str
    # What leaves it out now, whatever the run did; None where nothing does.
    exclusion: Exclusion | None


def pair_judgements(run: Run, pair: Pair) -> list[PairJudgement]:
    """All revisions by everybody, by pseudonym; a fixed number of queries."""
    votes = Prefetch("votes", Vote.objects.select_related("criterion").order_by("id"))
    judgements = list(
        Judgement.objects.filter(pair=pair)
        .select_related("rater")
        .prefetch_related(votes)
        .order_by("rater__pseudonym", "revision", "id")
    )
    exclusions = list(
        Exclusion.objects.filter(rater__in={each.rater_id for each in judgements})
        .filter(Q(pair=None) | Q(pair=pair))
        .order_by("id")
    )
    of_run = set(run.exclusions.filter(pk__in=[each.pk for each in exclusions]).values_list("pk"))
    left_out = {each.rater_id for each in exclusions if (each.pk,) in of_run}
    now = {each.rater_id: each for each in exclusions if each.lifted_at is None}
    last = run.last_judgement or 0
    found = []
    for each in judgements:
        counted: Counted = "counted"
        if each.pk > last:
            counted = "later"
        elif each.superseded_by_id is not None and each.superseded_by_id <= last:
            counted = "superseded"
        elif each.rater_id in left_out:
            counted = "left_out"
        cast = list(each.votes.all())
        found.append(
            PairJudgement(
                judgement=each,
                counted=counted,
                choices={vote.criterion.key: vote.choice for vote in cast},
                skip_reason=next((vote.reason for vote in cast if vote.reason), ""),
                exclusion=now.get(each.rater_id),
            )
        )
    return found


def pair_adjudications(pair: Pair) -> list[Adjudication]:
    """Newest first, revoked ones too."""
    return list(Adjudication.objects.filter(pair=pair).order_by("-id"))


def verdicts_elsewhere(run: Run, pair: Pair, *, limit: int) -> list[Verdict]:
    """Of other finished aggregations, newest first."""
    verdicts = Verdict.objects.filter(pair=pair, run__state=Run.State.DONE).exclude(run=run)
    return list(
        verdicts.select_related("run")
        .defer("run__patterns", "run__result")
        .order_by("-run")[:limit]
    )
