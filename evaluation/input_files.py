"""The files that are measured on, and what is said of a file that cannot be used."""

import csv
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from assistant.records import AssistantError

Form = TypeVar("Form", bound=BaseModel)
Record = TypeVar("Record")
LARGEST_TRAIL = 256 * 2**20
DATA = Path(__file__).parent / "data"
PROMPTS = Path(__file__).parent / "prompts"
# Data sets use short and long names for this split.
_VALIDATION = frozenset({"validation", "val", "valid", "dev"})


class _OfSplit(Protocol):
    @property
    def split(self) -> str: ...


Part = TypeVar("Part", bound=_OfSplit)


class EvaluationError(Exception):
    """Nothing can be measured; the message says why and, where that helps, what to do."""


def read_text(path: Path, what: str = "file", largest: int | None = None) -> str:
    """Return the text of a file of at most `largest` bytes; raises EvaluationError."""
    try:
        if largest is not None and path.stat().st_size > largest:
            raise EvaluationError(f"The {what} {path} is too large.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"The {what} {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EvaluationError(f"The {what} {path} cannot be read: it is no text in UTF-8.") from error


def read_trail(path: Path, what: str, read: Callable[[str], Record]) -> Record:
    """Return what a file that Paper Trail wrote holds; raises EvaluationError that names the file."""
    try:
        return read(read_text(path, what, LARGEST_TRAIL))
    except AssistantError as error:
        raise EvaluationError(f"{path}: {error}") from error


def home_of(path: Path) -> Path:
    """Return the PAPER_TRAIL_HOME that is meant by its own path or by that of the corpus folder in it."""
    return path.parent if (path / "manifest.json").is_file() else path


def named_folders(named: Sequence[str]) -> dict[str, Path]:
    """Return folders by name; raises EvaluationError for what is not NAME=FOLDER."""
    pairs = {text: text.partition("=") for text in named}
    if wrong := [text for text, (name, _, folder) in pairs.items() if not (name and folder)]:
        raise EvaluationError(f"{wrong[0]!r} is not NAME=FOLDER.")
    return {name: Path(folder) for name, _, folder in pairs.values()}


def part_of(path: Path, records: Sequence[Part], split: str) -> tuple[str, list[Part]]:
    """Return a split's name and records; raises EvaluationError where the file has none of them.

    Without a split, the validation part is taken where there is one, else everything.
    """
    names = _VALIDATION if split in {"", *_VALIDATION} else {split}
    chosen = [record for record in records if record.split in names]
    if split and not chosen:
        known = ", ".join(sorted({record.split for record in records if record.split})) or "none"
        raise EvaluationError(f"{path} has no papers of the split {split!r}; its splits are: {known}.")
    return (split or "validation", chosen) if chosen else ("all", list(records))


def read_json_lines(path: Path, form: type[Form], hint: str) -> list[Form]:
    """Return the records of a file of JSON lines; raises EvaluationError that names the line at fault.

    `hint` says what each line should be.
    """
    return [record for _, record in read_numbered_json_lines(path, form, hint)]


def read_numbered_json_lines(path: Path, form: type[Form], hint: str) -> list[tuple[int, Form]]:
    """Return the records with their line numbers."""
    lines = enumerate(read_text(path).split("\n"), start=1)
    records = [(number, record_of(path, number, line, form, hint)) for number, line in lines if line.strip()]
    if not records:
        raise EvaluationError(f"The file {path} is empty. {hint}")
    return records


def record_of(path: Path, number: int, line: str, form: type[Form], hint: str) -> Form:
    """Return the record of a line of JSON; raises EvaluationError that names the line."""
    try:
        return form.model_validate_json(line)
    except ValidationError as error:
        raise EvaluationError(f"{path}, line {number}: {first_fault(error)}. {hint}") from None


def first_fault(error: ValidationError, whole: str = "the line") -> str:
    """Return the place and the message of the first fault."""
    first = error.errors(include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {first['msg']}"


def read_numbered_rows(path: Path, form: type[Form], hint: str) -> list[tuple[int, Form]]:
    """Return the records of a CSV file with their line numbers; empty cells are left out."""
    # Spreadsheets begin a file with a byte order mark.
    lines = csv.DictReader(StringIO(read_text(path).removeprefix("\ufeff"), newline=""), strict=True)
    records = []
    for number, row in _csv_rows(path, lines, hint):
        try:
            records.append((number, form.model_validate_strings(row)))
        except ValidationError as error:
            raise EvaluationError(f"{path}, line {number}: {first_fault(error)}. {hint}") from None
    if not records:
        raise EvaluationError(f"The file {path} is empty. {hint}")
    return records


def _csv_rows(path: Path, lines: "csv.DictReader[str]", hint: str) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        for row in lines:
            # Cells beyond the last column have the key None.
            yield lines.line_num, {name or "": value for name, value in row.items() if value}
    except csv.Error as error:
        raise EvaluationError(f"{path}, line {lines.line_num}: {error}. {hint}") from None
