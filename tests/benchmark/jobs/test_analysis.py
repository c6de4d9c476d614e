"""Analyses of an aggregation, held against going through its votes one by one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.jobs.analysis_groups import breakdowns, completed, groups, periods, quarters
from benchmark.jobs.analysis_material import Material, material
from benchmark.jobs.analysis_raters import biases, label_model, rater_pairs, raters
from benchmark.jobs.quality_report import quality
from benchmark.models import Judgement, Pair, Run, Vote
from benchmark.services.exclusions import exclude_votes
from tests.benchmark.jobs.runs import aggregated, judged_campaign

pytestmark = pytest.mark.django_db(transaction=True)

PAIRS = 12
CRITERIA = ("helpfulness", "personalization")


def choose(pair: str, rater: int, criterion: str) -> str:
    chance = random.Random(f"{pair} {rater} {criterion}")
    # The last rater votes for whatever stands left.
    return "AB"[rater % 2] if rater == 8 else "AB"[chance.random() < 0.3]


@pytest.fixture
def found(tmp_path: Path) -> Material:
    campaign = judged_campaign(tmp_path, pairs=PAIRS, choose=choose)
    for number, pair in enumerate(Pair.objects.order_by("pair_id")):
        Pair.objects.filter(pk=pair.pk).update(
            query_kind=("general", "specific", "")[number % 3],
            source_a=("full", "none")[number % 2],
            source_b=("none", "full")[number % 2],
            response_a="a" * (10 + number),
            response_b="b" * 15,
        )
    first = campaign.pair_set.raters.get(pseudonym="rater-1")
    exclude_votes(rater=first, reason="did not read", by="lead")
    return material(aggregated(campaign.pair_set))


def counted(criterion: str) -> list[tuple[int, str, str, str]]:
    """Pair, rater, choice and what stood left, of the counted votes."""
    rows = Vote.objects.filter(criterion__key=criterion).exclude(
        judgement__rater__pseudonym="rater-1"
    )
    return list(
        rows.values_list(
            *("judgement__pair_id", "judgement__rater__pseudonym", "choice"),
            "judgement__shown_left",
        )
    )


def test_every_counted_vote_is_there(found: Material) -> None:
    votes = found.votes
    assert votes.pseudonyms == [f"rater-{n}" for n in range(9) if n != 1]
    assert len(votes.pair) == 8 * PAIRS
    for key in CRITERIA:
        rows = {
            (int(votes.pairs[pair]), votes.pseudonyms[rater], "AB"[choice], " AB"[left])
            for pair, rater, choice, left in zip(
                votes.pair, votes.rater, votes.choices[key], votes.left, strict=True
            )
        }
        assert rows == set(counted(key))
        assert (votes.votes(key).counts() == found.counts[key][:, :2]).all()
    assert votes.seconds.tolist()[0] == Judgement.objects.order_by("pair_id", "rater_id")[0].seconds


def test_raters(found: Material) -> None:
    report: dict[str, Any] = raters(found)
    assert [row["pseudonym"] for row in report["raters"]] == found.votes.pseudonyms
    for key in CRITERIA:
        votes = counted(key)
        for row in report["raters"]:
            own = {pair: choice for pair, who, choice, _ in votes if who == row["pseudonym"]}
            shares = [
                np.mean(
                    [
                        c == own[pair]
                        for p, who, c, _ in votes
                        if p == pair and who != row["pseudonym"]
                    ]
                )
                for pair in own
            ]
            part = row["criteria"][key]
            assert part["agreement"]["pair_agreement"]["value"] == pytest.approx(np.mean(shares))
            left = sum(choice == side for _, who, choice, side in votes if who == row["pseudonym"])
            assert part["side"]["chosen"] == left
    last = report["raters"][-1]
    assert last["criteria"]["helpfulness"]["side"]["share"]["value"] == 1
    assert {"helpfulness:side", "identical"} <= set(last["flags"])
    assert not any("side" in flag for row in report["raters"][:-1] for flag in row["flags"])
    assert (last["judgements"], last["skips"]) == (PAIRS, 0)


def test_pairs_of_raters(found: Material) -> None:
    report: dict[str, Any] = rater_pairs(found)
    names = report["pseudonyms"]
    assert len(report["criteria"]["helpfulness"]) == 8 * 7 // 2
    for first, second, shared, agreeing in report["criteria"]["helpfulness"]:
        of = {
            name: {p: c for p, who, c, _ in counted("helpfulness") if who == name} for name in names
        }
        one, other = of[names[first]], of[names[second]]
        assert (shared, agreeing) == (PAIRS, sum(one[pair] == other[pair] for pair in one))


def test_breakdowns(found: Material) -> None:
    report: dict[str, Any] = breakdowns(found)
    dimensions = {one["key"]: one["groups"] for one in report["dimensions"]}
    # All pairs came at once, about personas of the same size: nothing to tell apart.
    assert "persona_size" not in dimensions
    assert "batch" not in dimensions
    kinds = dimensions["query_kind"]
    assert [(group["key"], group["pairs"]) for group in kinds] == [
        ("general", 4),
        ("specific", 4),
        ("", 4),
    ]
    whole = found.run.result
    for part in ("statuses", "tiers"):
        assert {name: sum(g[part][name] for g in kinds) for name in whole[part]} == whole[part]
    assert sum(g["criteria"]["helpfulness"]["votes"] for g in kinds) == 8 * PAIRS


def test_groups_beyond_the_limit_are_put_together(found: Material, monkeypatch: Any) -> None:
    monkeypatch.setattr("benchmark.jobs.analysis_groups.GROUPS", 3)
    values = ["b", "b", "b", "a", "a", "c", "d", "e", "f", "", "", ""]
    assert [(group["key"], group["pairs"]) for group in groups(found, values)] == [
        ("b", 3),
        ("", 3),
        ("others", 6),
    ]


def test_quarters_and_periods() -> None:
    lengths = np.arange(100, 200)
    assert sorted(set(quarters(lengths))) == ["100-124", "125-149", "150-174", "175-199"]
    assert quarters(np.full(5, 7)) == ["7-7"] * 5
    assert quarters(np.zeros(0, dtype=np.int64)) == []
    day = 86_400.0
    assert periods(np.array([0.0, 3 * day, np.nan])) == ["1970-01-01", "1970-01-04", ""]
    assert periods(np.array([0.0, 40 * day])) == ["1970-W01", "1970-W07"]
    assert periods(np.array([np.nan])) == [""]


def test_when_a_pair_was_completed(found: Material) -> None:
    last = completed(found)
    for pair, moment in zip(found.votes.pairs.tolist(), last.tolist(), strict=True):
        at = max(
            judgement.submitted_at
            for judgement in Judgement.objects.filter(pair_id=pair).exclude(
                rater__pseudonym="rater-1"
            )
        )
        assert moment == at.timestamp()


def test_biases(found: Material) -> None:
    report: dict[str, Any] = biases(found)
    votes = counted("personalization")
    part = report["criteria"]["personalization"]
    assert part["position"]["left"] == sum(choice == left for *_, choice, left in votes)
    lengths = dict(Pair.objects.values_list("pk", "response_a"))
    unequal = [(pair, choice) for pair, _, choice, _ in votes if len(lengths[pair]) != 15]
    longer = sum((choice == "A") == (len(lengths[pair]) > 15) for pair, choice in unequal)
    overall = part["length"]["overall"]
    assert overall["votes"] == len(unequal)
    assert overall["by_votes"]["value"] == pytest.approx(longer / len(unequal))
    (meeting,) = part["sources"]
    assert (meeting["first"], meeting["second"], meeting["pairs"]) == ("full", "none", PAIRS)
    sources = dict(Pair.objects.values_list("pk", "source_a"))
    for_full = sum((choice == "A") == (sources[pair] == "full") for pair, _, choice, _ in votes)
    assert meeting["votes"]["value"] == pytest.approx(for_full / len(votes))


def test_the_label_model_stands_beside_the_majority(found: Material) -> None:
    report: dict[str, Any] = label_model(found)
    part = report["criteria"]["helpfulness"]
    assert part["fit"]["converged"]
    assert len(part["fit"]["raters"]) == 8
    decided = (found.verdicts.criteria["helpfulness"].winner > 0).sum()
    assert part["compared"] <= decided


def test_quality_is_about_the_pairs_of_the_set(found: Material) -> None:
    report: dict[str, Any] = quality(found)
    assert (report["source"], report["pairs"], report["rows"]) == ("cups", PAIRS, PAIRS)
    kinds = {finding["kind"] for finding in report["findings"]}
    # Every response B of this set is the same text.
    assert any("response" in kind for kind in kinds), kinds


def test_a_campaign_without_votes_has_analyses_too(tmp_path: Path) -> None:
    from tests.factories import add_pairs, make_campaign

    campaign = make_campaign()
    for pairs in (0, 3):
        if pairs:
            add_pairs(campaign, tmp_path, pairs)
        nothing = material(aggregated(campaign.pair_set))
        assert raters(nothing)["raters"] == []
        assert rater_pairs(nothing)["criteria"] == {key: [] for key in CRITERIA}
        assert label_model(nothing)["criteria"] == {
            key: {"fit": None, "reason": "no_votes"} for key in CRITERIA
        }
        found: Any = biases(nothing)
        assert found["criteria"]["helpfulness"]["position"]["share"]["value"] is None
        assert isinstance(breakdowns(nothing)["dimensions"], list)
        assert quality(nothing)["pairs"] == pairs
    assert Run.objects.count() == 2
