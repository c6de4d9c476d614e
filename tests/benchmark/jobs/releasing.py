"""A small campaign with every kind of verdict, and what its release is looked at with."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from annotation.models import Campaign
from annotation.services.campaigns import import_pairs_into, import_votes_into
from annotation.services.jobs import export_release
from benchmark.models import Release
from tests.benchmark.jobs.runs import aggregated
from tests.factories import make_campaign, pair_row, vote_rows, write_jsonl

# Votes for A among nine, on both criteria unless a second number says otherwise.
SPLITS = {
    "pair-0": (9, 9),  # easy, A
    "pair-1": (0, 0),  # easy, B
    "pair-2": (8, 8),  # medium
    "pair-3": (7, 1),  # conflict
    "pair-4": (6, 5),  # hard, A
    "pair-5": (2, 3),  # hard, B
}
TIERS = {
    "pair-0": ("easy", "A"),
    "pair-1": ("easy", "B"),
    "pair-2": ("medium", "A"),
    "pair-4": ("hard", "A"),
    "pair-5": ("hard", "B"),
}
ODD = "“Odd”, 奇怪\u2028\\N\t🙂 =1+1"


def by_split(pair: str, rater: int, criterion: str) -> str:
    return "A" if rater < SPLITS[pair][criterion == "personalization"] else "B"


def judged(folder: Path, slug: str = "cups", pairs: dict[str, Any] = SPLITS) -> Campaign:
    """Nine raters, the last of them simulated; texts that are hard to keep."""
    campaign = make_campaign(slug)
    numbers = [int(pair.removeprefix("pair-")) for pair in pairs]
    rows = [
        pair_row(
            number,
            # Every third persona is a text and no object.
            **({"persona": f"Somebody {ODD}"} if number % 3 == 2 else {}),
            query=f"{pair} {ODD}?",
            response_a=f"One for {pair} {ODD}",
            response_b=f"Two for {pair} {ODD}",
            topic={"é": [1, None, 2.5]},
        )
        for pair, number in zip(pairs, numbers, strict=True)
    ]
    report = import_pairs_into(campaign=campaign, paths=[write_jsonl(folder / "p.jsonl", rows)])
    assert not report.problems
    votes = vote_rows(campaign.pair_set, raters=9, choose=by_split)
    for vote in votes:
        number = int(vote["rater"].removeprefix("rater-"))
        vote |= {"simulated": number == 8, "comment": ODD, "reason": ODD[:9]}
        if number % 2:
            vote |= {"active_seconds": number / 3, "confidence": 1 + number % 3}
            vote |= {"reasons": ["taste", ODD[:20]][: number % 3]}
    found = import_votes_into(campaign=campaign, path=write_jsonl(folder / "v.jsonl", votes))
    assert not found.problems
    return campaign


def released(campaign: Campaign, out: Path, version: str = "1.0.0") -> Release:
    """The folder of a new release, from a new aggregation."""
    aggregated(campaign.pair_set)
    return export_release(campaign=campaign, version=version, out=out)


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 by name of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows_of(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


_LOAD = """
import json, sys
import datasets
datasets.disable_progress_bars()
folder, *names = sys.argv[1:]
found = {name: datasets.load_dataset(folder, name, split="test").to_list() for name in names}
print(json.dumps({"configs": datasets.get_dataset_config_names(folder), "rows": found}))
"""


def as_json_lines(row: dict[str, Any]) -> dict[str, Any]:
    """A row of Parquet, where objects are JSON texts, as it stands in JSON lines."""
    return row | {
        name: json.loads(row[name])
        for name in ("persona", "meta")
        if row.get(name, "").startswith("{")
    }


def load_with_datasets(folder: Path, names: list[str], *, cache: Path) -> dict[str, Any]:
    """What the library `datasets` reads: {"configs": names, "rows": name -> rows}.

    In a process of its own, because it takes its folders from the environment when it is imported.
    """
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(folder), *names],
        env=os.environ | {"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
