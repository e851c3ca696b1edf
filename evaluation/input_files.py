"""The files that are measured on, and errors that name a file and a line that cannot be used."""

import hashlib
from collections.abc import Callable, Sequence
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
    """Nothing can be measured; the message gives the reason and, where that helps, a remedy."""


def read_text(path: Path, kind: str = "file", largest: int | None = None) -> str:
    """Read a file of at most `largest` bytes; raises EvaluationError."""
    try:
        if largest is not None and path.stat().st_size > largest:
            raise EvaluationError(f"The {kind} {path} is too large.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"The {kind} {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EvaluationError(f"The {kind} {path} cannot be read: it is no text in UTF-8.") from error


def make_folder(path: Path) -> None:
    """Make a folder where there is none; raises EvaluationError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f"The folder {path} cannot be made: {error.strerror}.") from error


def write_text(path: Path, text: str) -> None:
    """Write a file, and its folder where there is none; raises EvaluationError."""
    make_folder(path.parent)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"The file {path} cannot be written: {error.strerror}.") from error


def read_trail(path: Path, kind: str, read: Callable[[str], Record]) -> Record:
    """Read a file that Paper Trail wrote; raises EvaluationError that names the file."""
    try:
        return read(read_text(path, kind, LARGEST_TRAIL))
    except AssistantError as error:
        raise EvaluationError(f"{path}: {error}") from error


def home_of(path: Path) -> Path:
    """Return a PAPER_TRAIL_HOME, given by its own path or by that of the corpus folder in it."""
    return path.parent if (path / "manifest.json").is_file() else path


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def named_folders(named: Sequence[str]) -> dict[str, Path]:
    """Parse NAME=FOLDER into folders by name; raises EvaluationError."""
    pairs = {text: text.partition("=") for text in named}
    if wrong := [text for text, (name, _, folder) in pairs.items() if not (name and folder)]:
        raise EvaluationError(f"{wrong[0]!r} is not NAME=FOLDER.")
    return {name: Path(folder) for name, _, folder in pairs.values()}


def part_of(path: Path, records: Sequence[Part], split: str) -> tuple[str, list[Part]]:
    """Choose a split, by default the validation part or else everything, and return its name and records.

    Raises EvaluationError where the file has none of it.
    """
    names = _VALIDATION if split in {"", *_VALIDATION} else {split}
    chosen = [record for record in records if record.split in names]
    if split and not chosen:
        known = ", ".join(sorted({record.split for record in records if record.split})) or "none"
        raise EvaluationError(f"{path} has no papers of the split {split!r}; its splits are: {known}.")
    return (split or "validation", chosen) if chosen else ("all", list(records))


def read_json_lines(path: Path, form: type[Form], hint: str) -> list[Form]:
    """Read a file of JSON lines; raises EvaluationError that names the line at fault.

    `hint` describes the form of a line.
    """
    return [record for _, record in read_numbered_json_lines(path, form, hint)]


def read_numbered_json_lines(path: Path, form: type[Form], hint: str) -> list[tuple[int, Form]]:
    """Read a file of JSON lines with their line numbers; raises EvaluationError."""
    lines = enumerate(read_text(path).split("\n"), start=1)
    records = [(number, record_of(path, number, line, form, hint)) for number, line in lines if line.strip()]
    if not records:
        raise EvaluationError(f"The file {path} is empty. {hint}")
    return records


def record_of(path: Path, number: int, line: str, form: type[Form], hint: str) -> Form:
    """Parse a line of JSON; raises EvaluationError that names the line."""
    try:
        return form.model_validate_json(line)
    except ValidationError as error:
        raise EvaluationError(f"{path}, line {number}: {first_fault(error)}. {hint}") from None


def first_fault(error: ValidationError, whole: str = "the line") -> str:
    """Return the place and the message of the first fault."""
    first = error.errors(include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {first['msg']}"
