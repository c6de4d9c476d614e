"""The second reading of a set: what its texts say, for which they have to be there.

Names of personas, sources and models in texts, phrases that give away how a response was made, what
responses share with the profile, and the texts of candidates for near-duplicates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from benchmark.formats import PairRecord
from benchmark.quality import texts
from benchmark.quality.findings import Finding, Kind, Severity, listed
from benchmark.quality.sheet import Item, Records, Sheet
from benchmark.quality.texts import Hashes

# As products are called: in other texts these words are rare.
MODELS: Final = (
    *("chatgpt", "gpt", "openai", "claude", "anthropic", "gemini", "gemma", "deepseek", "qwen"),
    *("llama", "mistral", "grok", "chatglm", "baichuan", "kimi", "通义千问", "文心一言", "豆包"),
)
# Of the prompt or of the machine behind a response, in normalised texts. Words in which a response
# addresses the person ("your interests") are no leak: it is asked to.
PHRASES: Final = (
    *("as an ai", "as a language model", "as an assistant", "i'm an ai", "i am an ai"),
    *("language model", "persona", "based on your profile", "according to your profile"),
    *("based on the profile", "according to the profile", "your profile says"),
    *("given your profile", "作为一个ai", "作为ai", "作为人工智能", "作为一个人工智能"),
    *("作为语言模型", "语言模型", "人物画像", "用户画像", "根据你的画像", "根据您的画像"),
    *("根据你的资料", "根据您的资料", "根据你的个人资料", "根据您的个人资料", "人设"),
)

EXCERPT: Final = 80
# A plain word names a way of making responses (full, none); a model's name has more to it.
_PLAIN_WORD = re.compile(r"[^\W\d_]*")


@dataclass(slots=True)
class Scan:
    """What the second reading found, by item and text.

    ``named_in`` holds, of each item, whether query, A and B name the persona; ``overlap`` how many
    of the persona's bigrams stand in A and in B, for items whose persona is known. ``sources``,
    ``models`` and ``phrases`` list what stands in the responses of an item. The texts of ``wanted``
    digests have their shingles and the beginning of the first spelling in order.
    """

    named_in: dict[Item, tuple[bool, bool, bool]] = field(default_factory=dict)
    overlap: dict[Item, tuple[int, int]] = field(default_factory=dict)
    sources: dict[Item, tuple[str, ...]] = field(default_factory=dict)
    models: dict[Item, tuple[str, ...]] = field(default_factory=dict)
    phrases: dict[Item, tuple[str, ...]] = field(default_factory=dict)
    shingles: dict[bytes, Hashes] = field(default_factory=dict)
    excerpts: dict[bytes, str] = field(default_factory=dict)


def scan(records: Records, sheet: Sheet, *, wanted: Collection[bytes]) -> Scan:
    """Reads a set again. What has come into it since the first reading is passed over."""
    found = Scan()
    seen: set[Item] = set()
    for record in records():
        if not isinstance(record, PairRecord):
            continue
        raw = record.query, record.response_a, record.response_b
        query, a, b = (texts.normalised(text) for text in raw)
        item = sheet.item_of(record, query, a, b)
        if item is None:
            continue
        if item not in seen:
            seen.add(item)
            _look(found, sheet, item, record, (query, a, b))
        for text, normalised in zip(raw, (query, a, b), strict=True):
            digest = texts.digest(normalised)
            if digest in wanted:
                if digest not in found.shingles:
                    found.shingles[digest] = texts.shingles(normalised)
                excerpt = " ".join(text[: 4 * EXCERPT].split())[:EXCERPT]
                found.excerpts[digest] = min(found.excerpts.get(digest, excerpt), excerpt)
    return found


def _look(
    found: Scan, sheet: Sheet, item: Item, record: PairRecord, normalised: tuple[str, str, str]
) -> None:
    query, a, b = normalised
    name = sheet.names.get(item.persona_id)
    if name:
        found.named_in[item] = texts.names(name, query), texts.names(name, a), texts.names(name, b)
    profile = sheet.bigrams.get(item.persona_id)
    if profile is not None:
        one, other = (texts.shared(profile, texts.bigrams(text)) for text in (a, b))
        found.overlap[item] = one, other
    sources = _names_of(record.source_a) | _names_of(record.source_b)
    for into, words in (
        (found.sources, sorted(sources)),
        (found.models, MODELS),
        (found.phrases, PHRASES),
    ):
        if there := _standing_in(words, a, b):
            into[item] = there


def _standing_in(words: Sequence[str], a: str, b: str) -> tuple[str, ...]:
    both = f"{a}\n{b}"  # most words stand in neither, which one search tells
    return tuple(word for word in words if word in both and texts.names(word, both))


@cache
def _names_of(source: str) -> frozenset[str]:
    """The source as a name to look for, unless it is a mere word such as full or none."""
    name = texts.normalised(source)
    is_word = _PLAIN_WORD.fullmatch(name) and name not in MODELS
    return frozenset() if is_word else frozenset((name,))


def leaks(sheet: Sheet, found: Scan) -> Iterator[Finding]:
    """Texts that say whose they are, or how they were made."""
    in_query = [item for item, (query, _, _) in found.named_in.items() if query]
    in_one = [item for item, (_, a, b) in found.named_in.items() if a != b]
    for kind, severity, items in (
        (Kind.NAME_IN_QUERY, Severity.NOTICE, in_query),
        (Kind.NAME_IN_ONE_RESPONSE, Severity.WARNING, in_one),
    ):
        if items:
            yield _finding(kind, severity, sheet, items)
    for kind, severity, hits in (
        (Kind.SOURCE_IN_RESPONSE, Severity.ERROR, found.sources),
        (Kind.MODEL_IN_RESPONSE, Severity.NOTICE, found.models),
        (Kind.TELLTALE_PHRASE, Severity.WARNING, found.phrases),
    ):
        if hits:
            yield _finding(kind, severity, sheet, list(hits), hits)


def _finding(
    kind: Kind,
    severity: Severity,
    sheet: Sheet,
    items: list[Item],
    hits: dict[Item, tuple[str, ...]] | None = None,
) -> Finding:
    """Counted as pairs: an id may stand for the same pair in several rows, and ids may repeat."""
    pairs = {item.content for item in items}
    numbers: dict[str, int | str] = {"pairs": sheet.pairs}
    details: list[dict[str, object]] = []
    if hits is not None:
        by_word: dict[str, set[Item]] = {}
        for item, words in hits.items():
            for word in words:
                by_word.setdefault(word, set()).add(item)
        counts = Counter(
            {word: len({item.content for item in having}) for word, having in by_word.items()}
        )
        numbers["which"] = listed(counts)
        details = [
            {"text": word, "count": counts[word], "ids": sorted({i.pair_id for i in having})}
            for word, having in sorted(by_word.items())
        ]
    return Finding(
        kind=kind,
        severity=severity,
        count=len(pairs),
        numbers=numbers,
        ids=tuple(sorted({item.pair_id for item in items})),
        details=tuple(details),
    )
