"""Tables of labels: items, raters and the label that a rater gave an item, whoever made them.

Such tables call their columns by many names and write labels as text, numbers or truth values. A
label is its text here: 1, 1.0 and "1" are one label, and true is "true", so that a table means the
same in CSV, which knows text only, in JSON and in Parquet. A number that is given as text stays as
it is written: "007" is not 7, nor is "1.0" 1.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmark.formats.checks import is_blank, kind_of, printable
from benchmark.formats.lines import UnreadableFileError
from benchmark.formats.records import Problem
from benchmark.formats.rows import BrokenTableError, Layout, Row
from benchmark.formats.sources import MANIFEST
from benchmark.formats.tables import EXTENSIONS, column_names, read_table
from benchmark.formats.votes import VOTES

Ints = npt.NDArray[np.int64]
Role = Literal["item", "rater", "label", "truth"]

MISSING: Final = -1
CRITERION: Final = "criterion"

_SHOWN: Final = 500  # characters of a list of columns

# In small letters, words joined by underscores.
_NAMES: Final[Mapping[Role, frozenset[str]]] = {
    "item": frozenset(
        f"{noun}{end}"
        for noun in ("item", "pair", "task", "unit", "example", "case", "document", "question")
        for end in ("", "_id")
    ),
    "rater": frozenset(
        f"{noun}{end}"
        for noun in ("rater", "worker", "annotator", "coder", "user", "labeler", "labeller")
        for end in ("", "_id")
    ),
    "label": frozenset(
        ("label", "choice", "category", "answer", "vote", "rating", "annotation", "response")
    ),
    "truth": frozenset(("truth", "gold", "expected", "label", "answer", "ground_truth")),
}


class LabelsError(Exception):
    """The table cannot be used at all; the message, fit for the user, names the file."""


class ColumnError(LabelsError):
    """The column for ``role`` is not there, or there are several."""

    def __init__(self, message: str, *, role: Role) -> None:
        super().__init__(message)
        self.role = role


class LabelColumns(NamedTuple):
    """Which columns were read. ``criterion`` is None where the table has none."""

    item: str
    rater: str
    label: str
    criterion: str | None

    @property
    def are_votes(self) -> bool:
        """Whether they are those of a votes file, as releases hold it."""
        return self == VOTE_COLUMNS


VOTE_COLUMNS: Final = LabelColumns("pair_id", "rater", "choice", CRITERION)


class Place(NamedTuple):
    """Where a row stands: file and physical line (in Parquet the row), counted from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelTable:
    """Every row that could be taken apart, in the order of the files: arrays of shape (V,).

    ``item``, ``rater``, ``label`` and ``criterion`` are positions in the lists of names, -1 where
    the cell is empty (``criterion`` is -1 throughout where there is no such column). Names stand in
    the order of their first appearance. ``mixed`` are labels that were given both as text and as a
    number or truth value. ``problems`` are the rows that could not be taken apart.
    """

    columns: LabelColumns
    items: list[str]
    raters: list[str]
    labels: list[str]
    criteria: list[str]
    item: Ints
    rater: Ints
    label: Ints
    criterion: Ints
    line: Ints
    files: list[tuple[str, int]]  # label of each file, and the position of its first row
    mixed: list[str]
    problems: list[Problem]

    def __len__(self) -> int:
        return len(self.item)

    def place(self, row: int) -> Place:
        """Where the row at this position stands."""
        file = next(name for name, first in reversed(self.files) if first <= row)
        return Place(file, int(self.line[row]))


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthTable:
    """The true label of each item. Items with two different ones are in ``contradictory`` only."""

    truth: dict[str, str]
    contradictory: list[str]
    problems: list[Problem]


def read_labels(
    path: Path, *, item: str | None = None, rater: str | None = None, label: str | None = None
) -> LabelTable:
    """The labels of a JSON Lines, CSV, TSV or Parquet table, or of a folder's (a release's) votes.

    Columns that are not named are found by what such columns are usually called. Rows are read one
    by one; only codes and distinct names are kept. Raises LabelsError where nothing can be read or
    the rest of a file cannot be told apart into rows, ColumnError for a column.
    """
    coded = _Coded()
    files: list[tuple[str, int]] = []
    columns: LabelColumns | None = None
    for file, name in _files(path):
        found = _label_columns(file, name, item=item, rater=rater, label=label)
        if columns is not None and found != columns:
            raise LabelsError(f"{name}: its columns are not those of {files[0][0]}")
        columns = found
        files.append((name, len(coded.line)))
        coded.read(file, name, columns)
    if columns is None or not coded.line:
        raise _nothing(path, coded.problems)
    return LabelTable(
        columns=columns,
        items=coded.coders[0].names,
        raters=coded.coders[1].names,
        labels=coded.coders[2].names,
        criteria=coded.coders[3].names,
        item=_ints(coded.codes[0]),
        rater=_ints(coded.codes[1]),
        label=_ints(coded.codes[2]),
        criterion=_ints(coded.codes[3]),
        line=_ints(coded.line),
        files=files,
        mixed=coded.coders[2].mixed(),
        problems=coded.problems,
    )


def read_truth(path: Path, *, item: str | None = None, truth: str | None = None) -> TruthTable:
    """True labels from a table with one row an item. Rows without item or label are left out.

    Raises as `read_labels`.
    """
    file, name = _single(path)
    found = _columns(file, name)
    item_column = _column(found, "item", item, name=name)
    label_column = _column(found, "truth", truth, name=name, taken=(item_column,))
    coded = _Coded()
    coded.read(file, name, (item_column, label_column))
    if not coded.line:
        raise _nothing(path, coded.problems)
    items, labels = (coder.names for coder in coded.coders[:2])
    known: dict[str, str] = {}
    contradictory: dict[str, None] = {}
    for code, label_code in zip(coded.codes[0], coded.codes[1], strict=True):
        if MISSING in (code, label_code):
            continue
        if known.setdefault(items[code], labels[label_code]) != labels[label_code]:
            contradictory[items[code]] = None
    for one in contradictory:
        del known[one]
    return TruthTable(truth=known, contradictory=list(contradictory), problems=coded.problems)


def _ints(codes: "array[int]") -> Ints:
    return np.frombuffer(codes, dtype=np.int64) if codes else np.zeros(0, dtype=np.int64)


def _nothing(path: Path, problems: Sequence[Problem]) -> LabelsError:
    if problems:
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        return LabelsError(f"{problems[0]}{more}; no other row can be read either")
    return LabelsError(f"{_name(path)}: is empty: it holds no rows")


@dataclass(slots=True)
class _Coder:
    """Values of a column as small numbers, in the order of their first appearance."""

    names: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    as_text: dict[str, int] = field(default_factory=dict)
    otherwise: dict[str, int] = field(default_factory=dict)

    def code(self, value: Any) -> int:
        """The code of a text, a number or a truth value; TypeError for any other value."""
        if type(value) is str:
            found = self.as_text.get(value)
            return self._first(value, value, self.as_text) if found is None else found
        if value is None:
            return MISSING
        text = _text(value)
        found = self.otherwise.get(text)
        return self._first(text, text, self.otherwise) if found is None else found

    def mixed(self) -> list[str]:
        """Names that came as text and otherwise."""
        return [name for name in self.as_text if name in self.otherwise]

    def _first(self, key: str, name: str, known: dict[str, int]) -> int:
        if is_blank(name):
            code = MISSING
        elif (code := self.codes.get(name, MISSING)) == MISSING:
            code = self.codes[name] = len(self.names)
            self.names.append(name)
        known[key] = code
        return code


def _text(value: Any) -> str:
    # Before int: to Python true is one.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Programs that know a missing number only as NaN write whole numbers so.
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    raise TypeError(f"must be text, a number or true or false, not {kind_of(value)}")


class _Coded:
    """Up to four columns of one or more files as codes, and what could not be read."""

    def __init__(self) -> None:
        self.coders = [_Coder() for _ in range(4)]
        self.codes = [array("q") for _ in range(4)]
        self.line = array("q")
        self.problems: list[Problem] = []

    def read(self, path: Path, file: str, columns: Sequence[str | None]) -> None:
        """Appends the rows of a file. Raises LabelsError."""
        names = [name for name in columns if name is not None]
        layout = Layout("labels", tuple(names), text=frozenset(), other=frozenset(names))
        try:
            for row in read_table(path, layout):
                if row.flaws and (flaws := _flaws(row, names)):
                    self.problems += [Problem(file, row.line, *flaw) for flaw in flaws[:1]]
                else:
                    self._append(file, row, columns)
        except BrokenTableError as stop:
            problem = Problem(file, stop.line, stop.flaw.field, stop.flaw.reason)
            raise LabelsError(str(problem)) from None
        except (OSError, UnreadableFileError) as error:
            raise LabelsError(f"{file}: {_read_error(error)}") from None

    def _append(self, file: str, row: Row, columns: Sequence[str | None]) -> None:
        values = row.values
        for coder, codes, name in zip(self.coders, self.codes, columns, strict=False):
            value = None if name is None else values.get(name)
            # Nearly every cell is a text seen before: no call for those.
            code = coder.as_text.get(value) if type(value) is str else None
            if code is None:
                try:
                    code = coder.code(value)
                except TypeError as error:
                    self.problems.append(Problem(file, row.line, name, str(error)))
                    for begun in self.codes:
                        del begun[len(self.line) :]
                    return
            codes.append(code)
        self.line.append(row.line)


def _flaws(row: Row, names: Sequence[str]) -> list[tuple[str | None, str]]:
    """Flaws of the row as a whole or of the columns that are read."""
    return [
        (name, reason)
        for name, reason in row.flaws
        if name is None
        or any(name == ours or name.startswith((f"{ours}.", f"{ours}[")) for ours in names)
    ]


def _label_columns(
    path: Path, file: str, *, item: str | None, rater: str | None, label: str | None
) -> LabelColumns:
    found = _columns(path, file)
    if (item, rater, label) == (None, None, None) and set(found).issuperset(VOTES.required):
        return VOTE_COLUMNS
    given = tuple(name for name in (item, rater, label) if name is not None)
    item = _column(found, "item", item, name=file, taken=given)
    rater = _column(found, "rater", rater, name=file, taken=(*given, item))
    label = _column(found, "label", label, name=file, taken=(*given, item, rater))
    if len({item, rater, label}) < 3:
        raise LabelsError(f"{file}: item, rater and label must be three different columns")
    is_free = CRITERION in found and CRITERION not in (item, rater, label)
    return LabelColumns(item, rater, label, CRITERION if is_free else None)


def _columns(path: Path, file: str) -> list[str]:
    """The columns of a table; LabelsError where there are none."""
    try:
        found = column_names(path)
        if not found:
            # Whatever hides the header: reading says it, or there is nothing at all.
            for row in read_table(path, Layout("labels", (), frozenset(), frozenset())):
                for flaw in row.flaws[:1]:
                    raise LabelsError(str(Problem(file, row.line, *flaw)))
            raise LabelsError(f"{file}: is empty: it holds no rows")
        for name, times in Counter(found).items():
            if times > 1:
                raise LabelsError(f"{file}: {printable(name)}: stands twice among the columns")
    except BrokenTableError as stop:
        problem = Problem(file, stop.line, stop.flaw.field, stop.flaw.reason)
        raise LabelsError(str(problem)) from None
    except (OSError, UnreadableFileError) as error:
        raise LabelsError(f"{file}: {_read_error(error)}") from None
    return found


def _column(
    found: Sequence[str], role: Role, given: str | None, *, name: str, taken: Sequence[str] = ()
) -> str:
    """The column for ``role``: the given one, or the only one called as such columns are."""
    there = printable(", ".join(found))
    if len(there) > _SHOWN:
        there = f"{there[:_SHOWN]}…"
    if given is not None:
        if given not in found:
            raise ColumnError(f"{name}: has no column {given!r}; there are: {there}.", role=role)
        return given
    usual = [
        column
        for column in found
        if column not in taken
        and "_".join(column.casefold().replace("-", " ").split()) in _NAMES[role]
    ]
    if len(usual) == 1:
        return usual[0]
    problem = (
        f"several columns may hold the {role} ({', '.join(usual)})"
        if usual
        else f"no column for the {role} is found by its name"
    )
    raise ColumnError(f"{name}: {problem}; there are: {there}.", role=role)


def _files(path: Path) -> list[tuple[Path, str]]:
    """The file, or the files of votes in a folder, each with the name that messages carry."""
    try:
        if not path.is_dir():
            return [_single(path)]
        # A release holds the same votes as Parquet, too.
        pattern = "votes/*.jsonl" if (path / MANIFEST).is_file() else "votes*"
        files = [file for file in sorted(path.glob(pattern)) if file.suffix.lower() in EXTENSIONS]
    except OSError as error:
        raise LabelsError(f"{_name(path)}: {_read_error(error)}") from None
    if not files:
        raise LabelsError(f"{_name(path)}: is a folder that holds no file of votes")
    return [
        (file, printable(f"{_name(path)}/{file.relative_to(path).as_posix()}")) for file in files
    ]


def _single(path: Path) -> tuple[Path, str]:
    try:
        if not path.exists():
            raise LabelsError(f"{_name(path)}: does not exist")
        if not path.is_file():
            raise LabelsError(f"{_name(path)}: is not a file")
    except OSError as error:
        raise LabelsError(f"{_name(path)}: {_read_error(error)}") from None
    return path, _name(path)


def _name(path: Path) -> str:
    return printable(path.name if path.name not in ("", "..") else path.resolve().name)


def _read_error(error: OSError | UnreadableFileError) -> str:
    if isinstance(error, UnreadableFileError):
        return str(error)
    return f"cannot be read: {error.strerror or type(error).__name__}"
