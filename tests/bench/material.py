"""Made-up pairs of the published set's size and shape; the same seed gives the same ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAIRS = 8_298
PERSONAS = 1_700

_WORDS = {
    "en": "a walk before breakfast quiet museums cheap trains strong coffee two children a small"
    " garden the last budget weekly plans short answers numbers rather than praise old films"
    " cooking for friends spicy soup a bad knee night shifts remote work careful savings new"
    " shoes mountain paths local markets early mornings detailed lists patient teachers",
    "zh": "清晨散步 安静的博物馆 便宜的火车 浓咖啡 两个孩子 小花园 上个月的预算 每周计划 简短的回答"
    " 数字而不是夸奖 老电影 为朋友做饭 辣汤 膝盖不好 夜班 在家办公 谨慎储蓄 新鞋 山间小路 本地市场",
}
_ENGLISH, _CHINESE = (words.split() for words in _WORDS.values())


def personas(seed: int = 1) -> dict[str, dict[str, Any]]:
    """Profiles by persona id, as long as the published ones: about 1,500 characters."""
    draw = random.Random(seed)
    return {f"persona-{n:04}": _profile(draw, n) for n in range(PERSONAS)}


def pair_rows(number: int, *, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Rows of a pairs file; every second one is Chinese. A response has 400 to 900 characters."""
    draw = random.Random(seed)
    profiles = list(personas(seed).items())
    for n in range(number):
        persona_id, profile = profiles[n % len(profiles)]
        words = _CHINESE if n % 2 else _ENGLISH
        yield {
            "pair_id": f"pair-{n:06}",
            "persona_id": persona_id,
            "persona": profile,
            "query": _sentence(draw, words, 12) + "?",
            "query_kind": "specific" if n % 3 else "general",
            "response_a": _response(draw, words),
            "response_b": _response(draw, words),
            "source_a": "full",
            "source_b": "none",
        }


def write_pairs(path: Path, number: int, *, seed: int = 1) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for row in pair_rows(number, seed=seed):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _profile(draw: random.Random, n: int) -> dict[str, Any]:
    words = _CHINESE if n % 2 else _ENGLISH

    def text(length: int = 30) -> str:
        return _sentence(draw, words, length // 4 if n % 2 else length)

    return {
        "Name": f"Persona {n}",
        "Demographics": {
            "Age": 18 + n % 60,
            "Gender": "女" if n % 2 else "female",
            "Nationality": "中国" if n % 2 else "Kenya",
            "Language": ["中文", "English"],
            "Career_Information": text(),
        },
        "Personality": {
            "Extraversion_or_Introversion": "EI"[draw.randrange(2)],
            "Sensing_or_Intuition": "SN"[draw.randrange(2)],
            "Thinking_or_Feeling": "TF"[draw.randrange(2)],
            "Judging_or_Perceiving": "JP"[draw.randrange(2)],
            "Values_and_Interests": [text(8) for _ in range(4)],
        },
        "Preference": {
            "Local_Life": {key: text() for key in ("Food_Drinks", "Entertainment", "Shopping")},
            "Travel": {key: text() for key in ("Business_Trips", "Leisure_Travel")},
            "Productivity": {key: text() for key in ("Study_Work", "Fitness")},
        },
    }


def _sentence(draw: random.Random, words: list[str], number: int) -> str:
    return ("，" if words is _CHINESE else " ").join(draw.choices(words, k=number))


def _response(draw: random.Random, words: list[str]) -> str:
    """Markdown as models write it: a paragraph, a list with bold openings, a closing line."""
    length = draw.randint(400, 900)
    parts = [_sentence(draw, words, 20 if words is _ENGLISH else 10)]
    number = 1
    while sum(map(len, parts)) < length - 60:
        opening = draw.choice(words)
        parts.append(f"{number}. **{opening}**: {_sentence(draw, words, 10)}")
        number += 1
    parts.append(f"*{_sentence(draw, words, 4)}*")
    return "\n\n".join((parts[0], "\n".join(parts[1:-1]), parts[-1]))
