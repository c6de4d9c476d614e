"""Finds out what the given paths hold, and reads it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from benchmark.formats import personafeedback
from benchmark.formats.checks import Flaw, character_flaw, printable
from benchmark.formats.jsontext import BadJsonError, parse_json
from benchmark.formats.lines import MAX_LINE, UnreadableFileError, detect_encoding
from benchmark.formats.pairs import (
    PAIRS,
    PERSONAS,
    RELEASE_PAIRS,
    PairReader,
    checked_persona,
    persona_body,
    persona_row,
)
from benchmark.formats.records import Location, PairRecord, PersonaRecord, Problem, VoteRecord
from benchmark.formats.rows import BrokenTableError, Layout, Row
from benchmark.formats.tables import EXTENSIONS, column_names, read_table
from benchmark.formats.votes import VOTES, vote_row

MANIFEST = "MANIFEST.json"

_Record = TypeVar("_Record")
_Parser = Callable[[Row, Location, list[Flaw]], Iterable[_Record]]
_Kind = Literal["pairs", "personas", "published rows", "persona list", "persona file", "votes"]


@dataclass(frozen=True, slots=True)
class _Source:
    path: Path
    file: str  # the name that locations and problems carry
    kind: _Kind
    columns: tuple[str, ...] = ()


def read_pairs(
    paths: Sequence[Path], *, seed: str
) -> Iterator[PersonaRecord | PairRecord | Problem]:
    """Personas, pairs and problems of files and folders, one by one.

    Understood are JSON Lines, CSV, TSV and Parquet tables of pairs or personas, PersonaFeedback
    folders and files, folders with `pairs*` and `personas*` tables, and releases. Files of personas
    come before files of pairs, otherwise the order of `paths` and of names holds. A persona inside
    a pair's row comes just before the pair, and only once. Every row is given, repeats included.
    `seed` decides which response of a PersonaFeedback row is A. A bad row gives its problems and no
    record; nothing that a file holds raises.
    """
    sources: list[_Source] = []
    for path, label in zip(paths, _labels(paths), strict=True):
        for found in _pair_sources(path, label):
            if isinstance(found, Problem):
                yield found
            else:
                sources.append(found)
    reader = PairReader()
    sources.sort(key=lambda source: source.kind not in ("personas", "persona list", "persona file"))
    for source in sources:
        yield from _read_pair_source(source, reader, seed)


def read_votes(path: Path) -> Iterator[VoteRecord | Problem]:
    """Votes and problems of a table (JSON Lines, CSV, TSV, Parquet) or of a folder with votes."""
    (label,) = _labels([path])
    for source in _vote_sources(path, label):
        if isinstance(source, Problem):
            yield source
        else:
            yield from _read_rows(source, VOTES, vote_row)


def _labels(paths: Sequence[Path]) -> list[str]:
    """The last part of each path, or the whole path where two end alike."""
    names = [path.name if path.name not in ("", "..") else path.resolve().name for path in paths]
    return [
        printable(str(path) if names.count(name) > 1 else name)
        for path, name in zip(paths, names, strict=True)
    ]


def _pair_sources(path: Path, label: str) -> Iterator[_Source | Problem]:
    try:
        if path.is_dir():
            yield from _folder_sources(path, label)
        elif (reason := _no_file(path)) is not None:
            yield Problem(label, None, None, reason)
        else:
            yield _table_source(path, label)
    except OSError as error:
        yield Problem(label, None, None, _read_error(error))


def _vote_sources(path: Path, label: str) -> Iterator[_Source | Problem]:
    try:
        if path.is_dir():
            base = path / "votes" if (path / MANIFEST).is_file() else path
            pattern = "*.jsonl" if base != path else "votes*"
            files = [
                found for found in sorted(base.glob(pattern)) if found.suffix.lower() in EXTENSIONS
            ]
            if not files:
                yield Problem(label, None, None, "holds no file of votes")
            for file in files:
                yield _Source(file, _label(file, path, label), "votes", _columns(file))
        elif (reason := _no_file(path)) is not None:
            yield Problem(label, None, None, reason)
        else:
            yield _Source(path, label, "votes", _columns(path))
    except OSError as error:
        yield Problem(label, None, None, _read_error(error))


def _no_file(path: Path) -> str | None:
    if not path.exists():
        return "does not exist"
    return None if path.is_file() else "is neither a file nor a folder"


def _read_error(error: OSError | UnreadableFileError) -> str:
    if isinstance(error, UnreadableFileError):
        return str(error)
    return f"cannot be read: {error.strerror or type(error).__name__}"


def _label(file: Path, folder: Path, label: str) -> str:
    return printable(f"{label}/{file.relative_to(folder).as_posix()}")


def _columns(path: Path) -> tuple[str, ...]:
    try:
        return tuple(column_names(path))
    except (OSError, UnreadableFileError, BrokenTableError):
        return ()  # the reading proper meets the same obstacle and reports it


def _folder_sources(folder: Path, label: str) -> Iterator[_Source | Problem]:
    if (folder / MANIFEST).is_file():
        patterns, kinds = ("personas/*.jsonl", "pairs/*.jsonl"), ("personas", "pairs")
    else:
        patterns, kinds = ("personas*", "pairs*"), ("personas", "pairs")
    tables: list[_Source] = []
    for pattern, kind in zip(patterns, kinds, strict=True):
        for file in sorted(folder.glob(pattern)):
            if file.is_file() and file.suffix.lower() in EXTENSIONS:
                named: _Kind = "personas" if kind == "personas" else "pairs"
                tables.append(_Source(file, _label(file, folder, label), named, _columns(file)))
    yield from tables
    if (folder / MANIFEST).is_file():
        if not any(table.kind == "pairs" for table in tables):
            yield Problem(label, None, None, "is a release without pairs/*.jsonl")
        return
    found = bool(tables)
    for file in personafeedback.persona_files(folder):
        found = True
        named = "persona list" if file.name == personafeedback.PERSONA_LIST else "persona file"
        yield _Source(file, _label(file, folder, label), named)
    for file, is_tier in personafeedback.row_files(folder):
        found = True
        name = _label(file, folder, label)
        if is_tier:
            yield _Source(file, name, "published rows", _columns(file))
        else:
            yield Problem(name, None, None, "is not named easy, medium, mid or hard")
    if not found:
        yield Problem(
            label,
            None,
            None,
            "holds nothing that can be read: expected pairs.* and personas.*, a release with "
            "MANIFEST.json, or PersonaFeedback's general/ and specific/ with persona/",
        )


def _table_source(path: Path, label: str) -> _Source:
    if (
        path.suffix.lower() == ".json"
        and path.resolve().parent.name in personafeedback.PERSONA_FOLDERS
    ):
        return _Source(path, label, "persona file")
    columns = _columns(path)
    names = set(columns)
    if names.issuperset(PERSONAS.required):
        kind: _Kind = "pairs" if names & (set(PAIRS.required) - {"persona_id"}) else "personas"
    elif path.name == personafeedback.PERSONA_LIST:
        kind = "persona list"
    else:
        kind = "published rows" if personafeedback.looks_published(list(columns)) else "pairs"
    return _Source(path, label, kind, columns)


def _read_pair_source(
    source: _Source, reader: PairReader, seed: str
) -> Iterator[PersonaRecord | PairRecord | Problem]:
    if source.kind == "persona file":
        yield from _read_persona_file(source)
    elif source.kind == "persona list":
        yield from _read_rows(source, PERSONAS, personafeedback.listed_persona, any_columns=True)
    elif source.kind == "personas":
        yield from _read_rows(source, PERSONAS, persona_row)
    elif source.kind == "published rows":
        layout = personafeedback.layout_for(list(source.columns))
        # The track is the folder's name, which the label of a single file lacks.
        place = f"{source.path.resolve().parent.name}/{source.path.name}"
        parse = personafeedback.row_parser(file=place, rejected=layout.required[-1], seed=seed)
        yield from _read_rows(source, layout, parse)
    elif "priors" in source.columns:
        yield from _read_rows(source, RELEASE_PAIRS, reader.release)
    else:
        yield from _read_rows(source, PAIRS, reader.generic)


def _read_rows(
    source: _Source, layout: Layout, parse: _Parser[_Record], *, any_columns: bool = False
) -> Iterator[_Record | Problem]:
    """Records and problems of a table; the columns that the file lacks are one problem."""
    file = source.file
    missing = [] if any_columns or not source.columns else _missing(source.columns, layout)
    if missing:
        found = printable(", ".join(source.columns))
        reason = (
            f"missing column{'s' if len(missing) > 1 else ''} for {layout.name}; found: {found}"
        )
        yield Problem(file, None, ", ".join(missing), reason)
        return
    empty = True
    try:
        for row in read_table(source.path, layout):
            empty = False
            flaws = list(row.flaws)
            if row.values:
                yield from parse(row, Location(file, row.line), flaws)
            elif not flaws:
                flaws.append(Flaw(None, "is an empty object"))
            if flaws:
                # What is said first about a field is the cause; the rest follows from it.
                first: dict[str | None, str] = {}
                for field, reason in flaws:
                    first.setdefault(field, reason)
                for field, reason in first.items():
                    yield Problem(file, row.line, field, reason)
    except BrokenTableError as stop:
        empty = False
        yield Problem(file, stop.line, stop.flaw.field, stop.flaw.reason)
    except (OSError, UnreadableFileError) as error:
        empty = False
        yield Problem(file, None, None, _read_error(error))
    if empty:
        yield Problem(file, None, None, "is empty: it holds no rows")


def _missing(columns: Sequence[str], layout: Layout) -> list[str]:
    return [name for name in layout.required if name not in columns]


def _read_persona_file(source: _Source) -> Iterator[PersonaRecord | Problem]:
    """One JSON object, over as many lines as it likes; the file's stem is the persona's id."""
    file, path = source.file, source.path
    try:
        encoding = detect_encoding(path)
        if path.stat().st_size > MAX_LINE:
            raise UnreadableFileError(f"is longer than {MAX_LINE // 1024**2} MiB")
        data = path.read_bytes()[encoding.mark :]
        text = data.decode(encoding.name)
        if not text or text.isspace():
            raise UnreadableFileError("is empty")
        value, found = parse_json(text)
    except (OSError, UnreadableFileError) as error:
        yield Problem(file, None, None, _read_error(error))
        return
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Problem(file, line, None, f"not valid {encoding.name.upper()}")
        return
    except BadJsonError as error:
        yield Problem(file, error.line, error.field, error.reason)
        return
    flaws = list(found)
    body = persona_body(value, flaws)
    if reason := character_flaw(path.stem):
        flaws.append(Flaw("user_id", f"(the file's name) {reason}"))
    if body is not None:
        yield from checked_persona(PersonaRecord(path.stem, body, Location(file, None)), flaws)
    for field, reason in flaws:
        yield Problem(file, None, field, reason)
