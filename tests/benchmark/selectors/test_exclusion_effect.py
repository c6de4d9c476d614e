"""The effect of an exclusion, told before it is done, is what then happens."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Campaign
from benchmark.models import PairSet, Rater, Run, Verdict
from benchmark.selectors.exclusion_effect import EXAMPLES, Effect, exclusion_effect
from benchmark.services.adjudications import adjudicate
from benchmark.services.exclusions import exclude_votes, lift_exclusion
from benchmark.stats.majority import DEFAULT_MINIMUM
from benchmark.stats.policy import PERSONAFEEDBACK_V1, policy_named
from tests.benchmark.jobs.runs import aggregated, judged_campaign

pytestmark = pytest.mark.django_db(transaction=True)

PAIRS = 30
CRITERIA = ("helpfulness", "personalization")


def choose(pair: str, rater: int, criterion: str) -> str:
    chance = random.Random(f"{pair} {rater} {criterion}")
    return "skip" if chance.random() < 0.1 else "AB"[chance.random() < 0.3]


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return judged_campaign(tmp_path, pairs=PAIRS, choose=choose)


def rater(campaign: Campaign, number: int = 0) -> Rater:
    return campaign.pair_set.raters.get(pseudonym=f"rater-{number}")


def verdicts(run: Run) -> dict[str, tuple[str, str, str, bool]]:
    rows = Verdict.objects.filter(run=run).values_list(
        "pair__pair_id", "status", "chosen", "tier", "is_provisional"
    )
    return {pair: tuple(row) for pair, *row in rows}


def check(effect: Effect, before: Run, after: Run) -> None:
    """The effect, held against both aggregations pair by pair."""
    was, becomes = verdicts(before), verdicts(after)
    changed = {pair for pair in was if was[pair][:3] != becomes[pair][:3]}
    assert effect.changed == len(changed)
    assert [each.pair_id for each in effect.examples] == sorted(changed)[:EXAMPLES]
    assert effect.new_status == sum(was[p][0] != becomes[p][0] for p in was)
    assert effect.new_chosen == sum(was[p][1] != becomes[p][1] for p in was)
    assert effect.new_tier == sum(was[p][2] != becomes[p][2] for p in was)
    assert effect.provisional == sum(becomes[p][3] and not was[p][3] for p in was)
    assert effect.below_minimum == sum(
        becomes[p][0] == "insufficient" and was[p][0] != "insufficient" for p in was
    )

    def state(row: tuple[str, str, str, bool]) -> str:
        return (row[2] or "none") if row[0] == "decided" else row[0]

    moves: dict[tuple[str, str], int] = {}
    for pair in was:
        step = state(was[pair]), state(becomes[pair])
        if step[0] != step[1]:
            moves[step] = moves.get(step, 0) + 1
    assert {step: n for step, n in effect.moves.items() if step[0] != step[1]} == moves
    for each in effect.examples:
        assert each.before.state == state(was[each.pair_id])
        assert each.after.state == state(becomes[each.pair_id])
        assert each.after.chosen == becomes[each.pair_id][1]
    for figures, run in ((effect.before, before), (effect.after, after)):
        assert figures.statuses == run.result["statuses"]
        assert figures.tiers == run.result["tiers"]
        assert figures.provisional == run.result["provisional"]
        for key in CRITERIA:
            percent, fleiss = figures.agreement[key]
            report = run.result["agreement"][key]
            assert percent.value == pytest.approx(report["percent_agreement"]["value"], abs=1e-12)
            assert fleiss.value == pytest.approx(report["fleiss"]["value"], abs=1e-12)


@pytest.mark.parametrize("policy", ["personafeedback-v1", "helpfulness-v1"])
def test_what_is_foretold_happens_and_can_be_undone(campaign: Campaign, policy: str) -> None:
    pair_set = campaign.pair_set
    adjudicate(
        pair=pair_set.pairs.order_by("pair_id")[3],
        decision="withdrawn",
        reason="odd",
        by="lead",
        now=timezone.now(),
    )
    before = aggregated(pair_set, policy)
    foretold = exclusion_effect(rater=rater(campaign), policy=policy_named(policy))
    assert not foretold.is_lifting
    assert foretold.judgements == PAIRS
    for key in CRITERIA:
        votes = sum(choose(f"pair-{n}", 0, key) != "skip" for n in range(PAIRS))
        assert foretold.votes[key] == votes < PAIRS
    exclusion = exclude_votes(rater=rater(campaign), reason="No.", by="lead")
    after = aggregated(pair_set, policy)
    check(foretold, before, after)
    assert foretold.changed > 0

    back = exclusion_effect(rater=rater(campaign), policy=policy_named(policy), lifted=exclusion)
    assert back.is_lifting
    check(back, after, before)
    assert back.judgements == PAIRS
    lift_exclusion(exclusion=exclusion, by="lead", now=timezone.now())
    assert aggregated(pair_set, policy).digest == before.digest


def test_what_is_left_out_already_is_not_counted_again(campaign: Campaign) -> None:
    pair_set = campaign.pair_set
    one = pair_set.pairs.get(pair_id="pair-7")
    judgement = exclude_votes(rater=rater(campaign), pair=one, reason="Fast.", by="lead")
    exclude_votes(rater=rater(campaign, 1), reason="No.", by="lead")
    exclude_votes(rater=rater(campaign, 2), reason="No.", by="lead")
    before = aggregated(pair_set)
    foretold = exclusion_effect(rater=rater(campaign), policy=PERSONAFEEDBACK_V1)
    assert foretold.judgements == PAIRS - 1
    whole = exclude_votes(rater=rater(campaign), reason="No.", by="lead")
    after = aggregated(pair_set)
    check(foretold, before, after)
    # Six votes are too few for a tier.
    assert foretold.after.tiers["none"] == sum(foretold.after.tiers.values()), (
        "a pair with six votes has no tier"
    )
    # The other exclusion still holds its vote back, whichever of the two is lifted.
    nothing = exclusion_effect(
        rater=rater(campaign), pair=one, policy=PERSONAFEEDBACK_V1, lifted=judgement
    )
    assert (nothing.judgements, nothing.changed) == (0, 0)
    rest = exclusion_effect(rater=rater(campaign), policy=PERSONAFEEDBACK_V1, lifted=whole)
    assert rest.judgements == PAIRS - 1
    check(rest, after, before)


def test_one_judgement(campaign: Campaign) -> None:
    one = campaign.pair_set.pairs.get(pair_id="pair-7")
    before = aggregated(campaign.pair_set)
    foretold = exclusion_effect(rater=rater(campaign), pair=one, policy=PERSONAFEEDBACK_V1)
    assert foretold.judgements == 1
    exclude_votes(rater=rater(campaign), pair=one, reason="Fast.", by="lead")
    check(foretold, before, aggregated(campaign.pair_set))
    assert sum(foretold.moves.values()) == 1


def test_falling_below_the_minimum(tmp_path: Path) -> None:
    def some_skip(pair: str, rater: int, criterion: str) -> str:
        return "A" if rater < DEFAULT_MINIMUM else "skip"

    campaign = judged_campaign(tmp_path, pairs=3, choose=some_skip)
    foretold = exclusion_effect(rater=rater(campaign), policy=PERSONAFEEDBACK_V1)
    before = aggregated(campaign.pair_set)
    exclude_votes(rater=rater(campaign), reason="No.", by="lead")
    check(foretold, before, aggregated(campaign.pair_set))
    assert (foretold.below_minimum, foretold.changed) == (3, 3)
    # Who has skipped everything takes nothing away.
    nothing = exclusion_effect(rater=rater(campaign, 8), policy=PERSONAFEEDBACK_V1)
    assert (nothing.judgements, nothing.votes, nothing.changed) == (
        3,
        dict.fromkeys(CRITERIA, 0),
        0,
    )


def test_nothing_to_leave_out(campaign: Campaign) -> None:
    newcomer = Rater.objects.create(pair_set=campaign.pair_set, pseudonym="newcomer")
    effect = exclusion_effect(rater=newcomer, policy=PERSONAFEEDBACK_V1)
    assert (effect.judgements, effect.changed, effect.examples) == (0, 0, [])
    assert effect.before == effect.after


def test_queries_do_not_grow(campaign: Campaign, tmp_path: Path) -> None:
    small = judged_campaign(tmp_path, slug="mugs", pairs=2, choose=choose)

    def queries(pair_set: PairSet) -> int:
        who = pair_set.raters.order_by("pk")[0]
        asked = []

        def note(execute: Any, sql: str, *rest: Any) -> Any:
            asked.append(sql)
            return execute(sql, *rest)

        with connection.execute_wrapper(note):
            exclusion_effect(rater=who, policy=PERSONAFEEDBACK_V1)
        return len(asked)

    # The criteria and the names of changed pairs; all counts come by COPY, which is not seen here.
    assert queries(small.pair_set) == queries(campaign.pair_set) == 2
