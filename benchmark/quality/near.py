"""Nearly the same texts among many, without comparing each with each.

Two texts are near when the Jaccard similarity of their shingles is at least THRESHOLD. MinHash
signatures (Broder 1997) in BANDS bands of ROWS values find the candidates: a pair of similarity s
is one with probability 1 - (1 - s^ROWS)^BANDS, which is .9998 at .7 and .0002 at .05. Of these the
ones whose signatures differ too much are dropped: the share of equal values estimates s with a
standard error of .04 at .7, and LIKELY lies four of them below. The rest are compared exactly, from
their texts.

The signatures are those of datasketch. Its index (MinHashLSH) keeps sets in dictionaries, 32 a
text, and answers with all of a bucket, quadratic in sets where everything is alike; sorting the
bands needs no memory beyond the signatures and allows to bound what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.quality.texts import Hashes
from benchmark.stats.codes import Ints

THRESHOLD: Final = 0.7
BANDS: Final = 32
ROWS: Final = 4
SEED: Final = 1

# In a bucket of more texts than this, each is compared with the next so many (by digest) only.
NEIGHBOURS: Final = 10
LIKELY: Final = 0.54

# Pairs whose signatures are compared at once: some 50 MB.
_AT_ONCE: Final = 50_000


class Sketches:
    """Signatures of texts, numbered as they were added: 512 bytes each."""

    def __init__(self) -> None:
        # The library takes half a second to load, which only a check should pay.
        from datasketch import MinHash  # type: ignore[import-untyped, unused-ignore]

        self._make = MinHash
        self._permutations = MinHash(
            num_perm=BANDS * ROWS, seed=SEED, scheme="affine32"
        ).permutations
        self._values = bytearray()

    def add(self, shingles: Hashes) -> None:
        sketch = self._make(
            num_perm=BANDS * ROWS,
            permutations=self._permutations,
            scheme="affine32",
            hashfunc=int,
        )
        sketch.update_batch((shingles >> np.uint64(32)).tolist())
        self._values += sketch.hashvalues.tobytes()

    def candidates(self, order: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs of numbers that may be near, each once; ``order`` ranks all of them."""
        if not self._values:
            return
        ranked = np.asarray(order, dtype=np.int64)
        signatures = np.frombuffer(self._values, dtype=np.uint32).reshape(-1, BANDS * ROWS)[ranked]
        found = np.empty(0, dtype=np.int64)
        for band in range(BANDS):
            keys = signatures[:, band * ROWS : (band + 1) * ROWS]
            found = np.union1d(found, _likely(_neighbours(keys), signatures))
        for code in found.tolist():
            first, second = divmod(code, len(ranked))
            yield int(ranked[first]), int(ranked[second])


def _likely(codes: Ints, signatures: npt.NDArray[np.uint32]) -> Ints:
    """The codes of pairs whose signatures (N, BANDS * ROWS) are alike enough."""
    kept = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(codes), _AT_ONCE):
        block = codes[start : start + _AT_ONCE]
        first, second = np.divmod(block, len(signatures))
        same = (signatures[first] == signatures[second]).mean(axis=1)
        kept.append(block[same >= LIKELY])
    return np.concatenate(kept)


def _neighbours(keys: npt.NDArray[np.uint32]) -> Ints:
    """Codes ``first * N + second`` of rows with equal keys (N, ROWS), first before second."""
    order = np.lexsort(keys.T)
    ordered = keys[order]
    bucket = np.concatenate(([0], np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))))
    found = [np.empty(0, dtype=np.int64)]
    for step in range(1, min(NEIGHBOURS, len(order) - 1) + 1):
        same = bucket[step:] == bucket[:-step]
        if not same.any():
            break
        found.append(order[:-step][same] * len(order) + order[step:][same])
    return np.concatenate(found)


def components(links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The numbers that links connect, group by group, each group sorted."""
    parent: dict[int, int] = {}

    def root(number: int) -> int:
        parent.setdefault(number, number)
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for one, other in links:
        parent[root(one)] = root(other)
    groups: dict[int, list[int]] = {}
    for number in sorted(parent):
        groups.setdefault(root(number), []).append(number)
    return sorted(groups.values())
