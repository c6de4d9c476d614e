"""PersonaFeedback folders, in every layout in circulation, and the real rows."""

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchmark.formats import PairRecord, PersonaRecord, Prior, read_pairs

from .files import json_lines, pair, pairs, personas, problems, put

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "personafeedback"


def published(**changes: Any) -> dict[str, Any]:
    row = {
        "user_id": "1",
        "question": "吃什么？",
        "chosen": "烤鱼。",
        "reject": "随便。",
        **changes,
    }
    return {name: value for name, value in row.items() if value is not ...}


def read(*paths: Path, seed: str = "s") -> list[Any]:
    return list(read_pairs(paths, seed=seed))


@pytest.mark.parametrize("below", ["", "data"])
def test_hub_layout(tmp_path: Path, below: str) -> None:
    root = tmp_path / "hub"
    put(root / below / "general" / "easy.jsonl", json_lines(published()))
    put(root / below / "general" / "medium.jsonl", json_lines(published(user_id=2)))
    put(root / below / "spedific" / "hard.jsonl", json_lines(published(question="q")))
    put(root / "persona" / "all_personas.jsonl", json_lines({"Name": "李鹏"}, {"Age": 3}))
    put(root / "README.md", "card")
    items = read(root)
    assert [(p.persona_id, p.name, p.at.line) for p in personas(items)] == [
        ("1", "李鹏", 1),
        ("2", "2", 2),
    ]
    records = pairs(items)
    assert [
        (r.persona_id, r.query_kind, r.priors[0].tier, r.priors[0].origin) for r in records
    ] == [
        ("1", "general", "easy", "general/easy"),
        ("2", "general", "medium", "general/medium"),
        ("1", "specific", "hard", "specific/hard"),
    ]
    assert records[2].at.file == "/".join(filter(None, ["hub", below, "spedific/hard.jsonl"]))


@pytest.mark.parametrize("folder", ["persona_all", "persona", "personas"])
def test_mirror_layout(tmp_path: Path, folder: str) -> None:
    root = tmp_path / "mirror"
    put(
        root / "general" / "mid.jsonl",
        json_lines(published(user_id="李鹏_cCs2", reject=..., rejected="b")),
    )
    put(root / "specific" / "easy.jsonl", json_lines(published()))
    put(
        root / folder / "李鹏_cCs2.json", json.dumps({"Name": "李鹏"}, indent=2).encode("utf-8-sig")
    )
    put(root / folder / ".DS_Store", b"\0")
    items = read(root)
    (person,) = personas(items)
    assert (person.persona_id, person.body, person.at.line) == ("李鹏_cCs2", {"Name": "李鹏"}, None)
    first, second = pairs(items)
    assert first.priors[0].tier == "medium"
    assert {first.response_a, first.response_b} == {"烤鱼。", "b"}
    assert second.query_kind == "specific"
    assert (second.source_a, second.source_b, second.meta) == ("", "", {})


def test_one_file_with_personas_from_elsewhere(tmp_path: Path) -> None:
    put(tmp_path / "set" / "general" / "hard.jsonl", json_lines(published(user_id="x")))
    put(tmp_path / "set" / "persona_all" / "x.json", '{"Name": "X"}')
    flat = put(tmp_path / "general_mid.jsonl", json_lines(published(user_id="x", note=1)))
    other = put(tmp_path / "export.csv", "user_id,question,chosen,reject\nx,q,a,b\n")
    people = tmp_path / "set" / "persona_all"
    paths = [tmp_path / "set" / "general" / "hard.jsonl", flat, other, people]
    items = read(*paths)
    assert isinstance(items[0], PersonaRecord)
    assert [(r.query_kind, r.priors[0].tier, r.priors[0].origin) for r in pairs(items)] == [
        ("general", "hard", "general/hard"),
        ("general", "medium", "general/medium"),
        ("", None, "export"),
    ]
    assert pairs(items)[1].meta == {"note": 1}
    assert [p.persona_id for p in personas(read(people / "x.json"))] == ["x"]
    assert [r.priors[0].tier for r in pairs(read(tmp_path / "set" / "general"))] == ["hard"]


def test_generic_personas_serve_published_rows(tmp_path: Path) -> None:
    rows = put(tmp_path / "general" / "easy.jsonl", json_lines(published()))
    people = put(
        tmp_path / "people.jsonl", json_lines({"persona_id": "1", "persona": {"Name": "A"}})
    )
    assert [p.persona_id for p in personas(read(rows, people))] == ["1"]


def test_bad_parts_of_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "pf"
    put(root / "general" / "easy.jsonl", json_lines(published(chosen="")))
    put(root / "general" / "other.jsonl", json_lines(published()))
    put(root / "persona" / "a.json", '{\n "Name": "A",\n "Name": "B"\n}')
    put(root / "persona" / "b.json", "[1]")
    put(root / "persona" / "c.json", '{\n "Name": \n}')
    put(root / "persona" / "d.json", b'{\n "Name": "\xff"}')
    put(root / "persona" / "e.json", "")
    put(root / "persona" / "f.json", '{"Name": "\\ud800"}')
    assert [str(problem) for problem in problems(read(root))] == [
        "pf/general/other.jsonl: is not named easy, medium, mid or hard",
        "pf/persona/a.json:1: Name: stands twice in one JSON object",
        "pf/persona/b.json: persona: must be an object or text, not a list",
        "pf/persona/c.json:3: not valid JSON at column 1: Expecting value",
        "pf/persona/d.json:2: not valid UTF-8",
        "pf/persona/e.json: is empty",
        "pf/persona/f.json: Name: contains a lone surrogate (U+D800), which is half a character",
        "pf/general/easy.jsonl:1: chosen: is empty",
    ]


def test_id_and_order_say_nothing_about_the_label(tmp_path: Path) -> None:
    one = published(chosen="x", reject="y")
    other = published(chosen="y", reject="x")
    path = put(tmp_path / "general" / "easy.jsonl", json_lines(one, other))
    first, second = pairs(read(path))
    assert first.pair_id == second.pair_id
    assert (first.response_a, first.response_b) == (second.response_a, second.response_b)
    assert {first.priors[0].label, second.priors[0].label} == {"A", "B"}
    text = '["1","吃什么？",["x","y"]]'
    assert first.pair_id == f"pf-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    swapped = hashlib.sha256(f"s{first.pair_id}".encode()).digest()[-1] & 1
    assert first.response_a == ("y" if swapped else "x")
    assert first.priors[0] == Prior("easy", "B" if swapped else "A", "general/easy")


def test_order_is_drawn_from_the_seed(tmp_path: Path) -> None:
    rows = [published(question=f"q{i}", chosen="x", reject="y") for i in range(400)]
    path = put(tmp_path / "general" / "easy.jsonl", json_lines(*rows))
    first = [r.response_a for r in pairs(read(path, seed="1"))]
    assert first == [r.response_a for r in pairs(read(path, seed="1"))]
    assert first != [r.response_a for r in pairs(read(path, seed="2"))]
    assert 150 < first.count("x") < 250  # five standard deviations around half


def test_pairs_beside_published_rows(tmp_path: Path) -> None:
    put(tmp_path / "s" / "general" / "easy.jsonl", json_lines(published()))
    put(tmp_path / "s" / "pairs.jsonl", json_lines(pair()))
    assert [r.at.file for r in pairs(read(tmp_path / "s"))] == [
        "s/pairs.jsonl",
        "s/general/easy.jsonl",
    ]


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the published rows are not at {REAL.name}")
def test_the_real_rows() -> None:
    items = read(REAL)
    assert problems(items) == []
    assert len(personas(items)) == 1714
    rows = pairs(items)
    assert Counter(row.priors[0].origin for row in rows) == {
        "general/easy": 1510,
        "general/medium": 1321,
        "general/hard": 1010,
    }
    labels: dict[str, list[str | None]] = defaultdict(list)
    content: dict[str, set[bytes]] = defaultdict(set)
    for row in rows:
        labels[row.pair_id].append(row.priors[0].label)
        content[row.pair_id].add(row.digest)
    assert len(labels) == 3304
    assert all(len(digests) == 1 for digests in content.values())
    assert sum(len(seen) == 2 and len(set(seen)) == 1 for seen in labels.values()) == 370
    assert sum(len(set(seen)) == 2 for seen in labels.values()) == 167
    assert max(map(len, labels.values())) == 2
    known = {person.persona_id for person in personas(items)}
    assert all(isinstance(row, PairRecord) and row.persona_id in known for row in rows)
