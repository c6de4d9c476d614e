"""The dataset card: README.md of a release, as the Hugging Face hub reads it."""

from __future__ import annotations

import json
from typing import Any

from benchmark.models import Release, Tier
from benchmark.stats.policy import Policy

_COEFFICIENTS = ("percent_agreement", "randolph", "ac1", "alpha", "conger")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(release: Release, *, counts: dict[str, Any]) -> str:
    """Markdown with a YAML head; ``counts`` as in the manifest."""
    return "\n".join([_head(release, counts), *_body(release, counts)]) + "\n"


def _head(release: Release, counts: dict[str, Any]) -> str:
    configs = [
        {
            "config_name": tier,
            "data_files": [{"split": "test", "path": f"data/{tier}/test-*.parquet"}],
            **({"default": True} if tier == _hardest(counts) else {}),
        }
        for tier in Tier.values
        # A configuration without rows cannot be loaded, so it is not offered.
        if counts["cases"][tier]
    ]
    configs += [
        {
            "config_name": name,
            "data_files": [{"split": "test", "path": f"{name}/{name}.parquet"}],
        }
        for name in ("diagnosis", "pairs", "personas", "tallies", "votes")
        if counts[name]
    ]
    head = {
        "pretty_name": release.pair_set.name,
        "version": release.version,
        "task_categories": ["text-generation"],
        "tags": ["personalization", "preference", "human-feedback"],
        "annotations_creators": [
            "machine-generated" if counts["simulated_raters"] else "crowdsourced"
        ],
        "size_categories": [
            next((name for limit, name in _SIZES if counts["pairs"] < limit), "n>1M")
        ],
    }
    lines = ["---", *(f"{key}: {_yaml(value)}" for key, value in head.items()), "configs:"]
    return "\n".join([*lines, *(f"- {_yaml(config)}" for config in configs), "---", ""])


def _hardest(counts: dict[str, Any]) -> str | None:
    """The hardest tier that has cases."""
    return next((tier for tier in reversed(Tier.values) if counts["cases"][tier]), None)


def _yaml(value: object) -> str:
    """JSON is YAML, which spares a writer of our own."""
    return json.dumps(value, ensure_ascii=False)


def _body(release: Release, counts: dict[str, Any]) -> list[str]:
    run = release.aggregation
    policy = Policy.from_json(run.policy)
    cases, statuses = counts["cases"], run.result["statuses"]
    example = _hardest(counts) or "pairs"
    lines = [f"# {release.pair_set.name} {release.version}", ""]
    if counts["simulated_raters"]:
        lines += [
            f"> **Simulated votes.** {counts['simulated_raters']} of {counts['raters']} raters are"
            " not people: their votes were drawn from a noise model. Use these files to try tools,"
            " not to measure anything.",
            "",
        ]
    lines += [
        "Each case is a persona, a query and two responses, with the one that people chose.",
        "",
        "| | n |",
        "|---|---:|",
        f"| pairs judged | {counts['pairs']} |",
        f"| raters | {counts['raters']} |",
        f"| raters wanted per pair | {release.pair_set.raters_per_pair} |",
        f"| votes (of all criteria, skips and those left out included) | {counts['votes']} |",
        *(f"| cases, {tier} | {cases[tier]} |" for tier in Tier.values),
        f"| decided, but too few votes for a tier | {run.result['tiers']['none']} |",
        *(
            f"| {words} | {statuses[status]} |"
            for status, words in (
                ("tied", "left out: tied"),
                ("insufficient", "left out: too few votes"),
                ("conflict", "left out: the criteria name different responses"),
                ("withdrawn", "left out: by adjudication"),
            )
        ),
        *(
            f"| {words} | {number} |"
            for words, number in (
                ("decided or left out by adjudication", run.result["adjudicated"]),
                ("raters whose votes are not counted", run.result["left_out"]["raters"]),
                ("single judgements not counted", run.result["left_out"]["judgements"]),
            )
            if number
        ),
        "",
        "## Load",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'cases = load_dataset("path/to/{release.name}", "{example}", split="test")',
        "```",
        "",
        "## How a case is decided",
        "",
        f"Policy `{policy.name}` (all of it in `policy.json`): at least {policy.minimum} votes; "
        + (
            "the majorities on helpfulness and on personalization must name the same response."
            if policy.decide == "both_agree"
            else f"the majority on {policy.criterion} decides."
        ),
        f"Tiers come from item agreement on {_basis(policy)}, k = (P - c) / (1 - c) with"
        f" P = sum x(x-1) / (n(n-1)) and chance fixed at c = {_fraction(policy.bands.chance)}: easy"
        f" above {_fraction(policy.bands.easy_above)}, medium from"
        f" {_fraction(policy.bands.medium_from)} up to there, hard below. Nine votes give a final"
        " tier, seven or eight a provisional one.",
        "One vote more or less would move many cases, so a tier is an estimate, not a property of"
        " the case.",
        "",
        "## Agreement",
        "",
        "| criterion | items | Fleiss' kappa | interval | observed | Randolph | AC1 | alpha"
        " | Conger |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|",
        *(_agreement_row(key, report) for key, report in run.result["agreement"].items()),
        "",
        "Intervals are 95 % (Gwet's linearization) and hold for this pool of raters."
        " `agreement.json` has every coefficient with its method; a dash is undefined, with the"
        " reason there.",
        "",
        "## Files",
        "",
        "`data/` cases by tier; `pairs/` every pair with both responses as A and B; `personas/`;"
        " `votes/` one row a vote, by pseudonym and canonical response, with the response shown"
        " left and whether it was counted; `tallies/` counts and verdicts; `diagnosis/` every pair,"
        " whether it is a case, and why or why not; `figures/`; `GUIDELINES.md` what raters were"
        " told; `MANIFEST.json` checksums of all files and the digest of the data.",
        "",
        f"Data digest `{run.digest}`.",
    ]
    return lines


def _basis(policy: Policy) -> str:
    """What the tier rests on, in words."""
    return {
        "criterion": policy.criterion,
        "min": "both criteria, the lower of the two",
        "mean": "both criteria, the mean of the two",
    }[policy.combine]


def _fraction(fraction: tuple[int, int]) -> str:
    numerator, denominator = fraction
    return f"{numerator / denominator:g}"


def _agreement_row(key: str, report: dict[str, Any]) -> str:
    fleiss = report["fleiss"]
    ci = fleiss.get("ci")
    interval = f"[{ci[0]:.2f}, {ci[1]:.2f}]" if ci else "—"
    numbers = " | ".join(_number(report[name]) for name in _COEFFICIENTS)
    return f"| {key} | {report['items']} | {_number(fleiss)} | {interval} | {numbers} |"


def _number(value: dict[str, Any]) -> str:
    return "—" if value["value"] is None else f"{value['value']:.2f}"
