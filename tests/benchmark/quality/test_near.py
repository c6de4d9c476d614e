"""Near-duplicates: candidates against comparing each with each, and groups of links."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from benchmark.quality import Kind, Severity
from benchmark.quality.near import NEIGHBOURS, THRESHOLD, Sketches, components
from benchmark.quality.texts import jaccard, normalised, shingles

from .sets import essay, found, one, pair, persona, report


def candidates(texts: list[str]) -> set[tuple[int, int]]:
    sketches = Sketches()
    for text in texts:
        sketches.add(shingles(text))
    links = list(sketches.candidates(range(len(texts))))
    assert len(links) == len(set(links))
    return set(links)


def variants() -> list[str]:
    """Thirty texts, each in five states of decay: similarities from 1 down to .1."""
    draw = random.Random(5)
    texts = []
    for number in range(30):
        words = essay(number, words=60).split()
        texts.append(" ".join(words))
        for changes in (1, 3, 6, 20):
            again = list(words)
            for place in draw.sample(range(len(words)), changes):
                again[place] = f"other{place}"
            texts.append(" ".join(again))
    return texts


def test_every_near_pair_is_a_candidate_and_hardly_any_other() -> None:
    texts = variants()
    sets = [shingles(text) for text in texts]
    similar = {
        link: jaccard(sets[link[0]], sets[link[1]]) for link in combinations(range(len(texts)), 2)
    }
    near = {link for link, similarity in similar.items() if similarity >= THRESHOLD}
    assert len(near) > 60
    proposed = candidates(texts)
    assert near <= proposed
    far = {link for link, similarity in similar.items() if similarity < 0.2}
    assert len(proposed & far) < len(far) / 200


def test_candidates_of_few_texts() -> None:
    assert candidates([]) == set()
    assert candidates(["one"]) == set()
    assert candidates(["one and the same", "one and the same"]) == {(0, 1)}


def test_a_crowd_of_equal_texts_stays_linear() -> None:
    proposed = candidates(["all of us are the same"] * 300)
    assert len(proposed) <= 300 * NEIGHBOURS
    assert [len(group) for group in components(proposed)] == [300]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12))))
def test_groups_are_what_links_connect(links: list[tuple[int, int]]) -> None:
    expected: list[set[int]] = []
    for a, b in links:
        touched = [group for group in expected if group & {a, b}]
        expected = [group for group in expected if group not in touched]
        expected.append({a, b}.union(*touched))
    assert components(links) == sorted(sorted(group) for group in expected)


def changed(text: str) -> str:
    """With another last word."""
    return " ".join([*text.split()[:-1], "changed"])


def test_near_queries_and_responses_within_a_persona_and_across() -> None:
    first = pair(1)
    query = essay(90, words=20)
    result = report(
        persona("ada"),
        persona("bob", {"Name": "Bob"}),
        first,
        pair(2, response_a=changed(first.response_a)),
        pair(3, persona_id="bob", response_b=changed(first.response_b)),
        pair(4, query=query),
        pair(5, query=changed(query)),
        pair(6, query=f"{query} too", persona_id="bob"),
    )
    within = one(result, Kind.NEAR_RESPONSES_WITHIN)
    assert (within.count, within.severity, within.ids) == (1, Severity.WARNING, ("p001", "p002"))
    assert within.numbers == {"texts": 2, "links": 1}
    (group,) = within.details
    assert group["personas"] == ["ada"]
    assert group["least_similarity"] == round(
        jaccard(
            shingles(normalised(first.response_a)), shingles(normalised(changed(first.response_a)))
        ),
        4,
    )
    assert group["texts"] == sorted([first.response_a[:80]] * 2)
    across = one(result, Kind.NEAR_RESPONSES_ACROSS)
    assert (across.ids, across.severity) == (("p001", "p003"), Severity.NOTICE)
    assert one(result, Kind.NEAR_QUERIES_WITHIN).ids == ("p004", "p005")
    assert one(result, Kind.NEAR_QUERIES_ACROSS).ids == ("p004", "p005", "p006")


def test_texts_that_are_equal_are_no_near_duplicates() -> None:
    first = pair(1)
    result = report(first, pair(2, query=f" {first.query.upper()}", response_a=first.response_a))
    assert not found(result, Kind.NEAR_QUERIES_WITHIN)
    assert not found(result, Kind.NEAR_RESPONSES_WITHIN)


def test_responses_of_one_pair_that_nobody_can_tell_apart() -> None:
    text = essay(1)
    result = report(pair(1, response_a=text, response_b=changed(text)), pair(2))
    finding = one(result, Kind.ALIKE_RESPONSES)
    assert (finding.count, finding.ids) == (1, ("p001",))
    assert finding.numbers["threshold"] == 70
