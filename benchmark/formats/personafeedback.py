"""Rows and folders of the published PersonaFeedback set, in both layouts that are in circulation.

`{general,specific,spedific}/{easy,medium,mid,hard}.jsonl` hold `user_id, question, chosen` and
`reject` or `rejected`; the mirror's flat names (`general_mid.jsonl`) are read too. Personas stand
in `persona/all_personas.jsonl`, whose line i is user_id "i", or in JSON files named by user_id.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmark.formats.canonical import canonical_hexdigest
from benchmark.formats.checks import ID_LIMIT, Flaw, text_of
from benchmark.formats.pairs import checked_persona, persona_body, responses_of
from benchmark.formats.records import Location, PairRecord, PersonaRecord, Prior, QueryKind
from benchmark.formats.rows import Layout, Row

PERSONA_FOLDERS = ("persona", "persona_all", "personas")
PERSONA_LIST = "all_personas.jsonl"
_TRACKS: dict[str, QueryKind] = {
    "general": "general",
    "specific": "specific",
    "spedific": "specific",
}
_TIERS = {"easy": "easy", "medium": "medium", "mid": "medium", "hard": "hard"}
_PLACE = re.compile(rf"(?:^|/)({'|'.join(_TRACKS)})[/_]({'|'.join(_TIERS)})\.[^/]*$")


def layout_for(columns: list[str]) -> Layout:
    """The table's layout, given which of the two names of the rejected response it uses."""
    rejected = "rejected" if "rejected" in columns and "reject" not in columns else "reject"
    return Layout(
        name="PersonaFeedback rows",
        required=("user_id", "question", "chosen", rejected),
        text=frozenset({"question", "chosen", rejected}),
        other=frozenset({"user_id"}),  # a number in some copies
        keeps_unknown=True,
    )


def looks_published(columns: list[str]) -> bool:
    """Whether columns are those of the published rows, at most one of them missing."""
    named = {"reject" if name == "rejected" else name for name in columns}
    return "pair_id" not in named and len(named & {"user_id", "question", "chosen", "reject"}) >= 3


def row_files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """JSON Lines of the tracks below a folder or its `data`, and whether each is named for a tier.

    A file beside the tiers is reported rather than overlooked.
    """
    tracks = [base / track for base in (folder, folder / "data") for track in _TRACKS]
    if folder.resolve().name in _TRACKS:
        tracks.append(folder)
    order = list(_TIERS)
    for track in tracks:
        if track.is_dir():
            files = [path for path in track.iterdir() if path.suffix.lower() == ".jsonl"]
            known = sorted(
                (p for p in files if p.stem in _TIERS), key=lambda p: order.index(p.stem)
            )
            yield from ((path, True) for path in known)
            yield from ((path, False) for path in sorted(files) if path.stem not in _TIERS)


def persona_files(folder: Path) -> Iterator[Path]:
    """`all_personas.jsonl` and JSON files of a persona folder, or of those below a folder."""
    places = [base / name for base in (folder, folder / "data") for name in PERSONA_FOLDERS]
    if folder.resolve().name in PERSONA_FOLDERS:
        places.append(folder)
    elif (folder / PERSONA_LIST).is_file():
        yield folder / PERSONA_LIST
    for place in places:
        if place.is_dir():
            files = [path for path in place.iterdir() if not path.name.startswith(".")]
            yield from (path for path in files if path.name == PERSONA_LIST)
            yield from sorted(path for path in files if path.suffix.lower() == ".json")


def row_parser(
    *, file: str, rejected: str, seed: str
) -> Callable[[Row, Location, list[Flaw]], Iterator[PairRecord]]:
    """A function from rows of one file to pairs; kind and tier come from the file's name."""
    place = _PLACE.search(file)
    kind: QueryKind = _TRACKS[place[1]] if place else ""
    tier = _TIERS[place[2]] if place else None
    origin = f"{kind}/{tier}" if place else Path(file).stem
    columns = {"user_id", "question", "chosen", rejected}

    def parse(row: Row, at: Location, flaws: list[Flaw]) -> Iterator[PairRecord]:
        user_id = _user_id(row.values, flaws)
        question = text_of(row.values, "question", flaws)
        chosen, reject = responses_of(row.values, "chosen", rejected, flaws)
        if flaws:  # text that cannot be encoded has no digest to make an id of
            return
        pair_id = f"pf-{canonical_hexdigest([user_id, question, sorted([chosen, reject])])[:16]}"
        first, second = ordered(pair_id=pair_id, texts=(chosen, reject), seed=seed)
        yield PairRecord(
            pair_id=pair_id,
            persona_id=user_id,
            query=question,
            query_kind=kind,
            response_a=first,
            response_b=second,
            source_a="",
            source_b="",
            priors=(Prior(tier, "A" if first == chosen else "B", origin),),
            meta={name: value for name, value in row.values.items() if name not in columns},
            at=at,
        )

    return parse


def ordered(*, pair_id: str, texts: tuple[str, str], seed: str) -> tuple[str, str]:
    """The two texts in an order drawn from seed and pair, whichever of them was preferred."""
    first, second = sorted(texts)
    swap = hashlib.sha256(f"{seed}{pair_id}".encode()).digest()[-1] & 1
    return (second, first) if swap else (first, second)


def _user_id(values: dict[str, Any], flaws: list[Flaw]) -> str:
    value = values.get("user_id")
    if type(value) is int:
        return str(value)
    return text_of(values, "user_id", flaws, limit=ID_LIMIT)


def listed_persona(row: Row, at: Location, flaws: list[Flaw]) -> Iterator[PersonaRecord]:
    """A line of `all_personas.jsonl`: the line's number is the user_id."""
    body = persona_body(row.values, flaws)
    if body is not None:
        yield from checked_persona(PersonaRecord(str(row.line), body, at), flaws)
