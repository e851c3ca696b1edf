"""Reads and writes the files of measurements; an error names the file and the line at fault."""

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


class _HasSplit(Protocol):
    @property
    def split(self) -> str: ...


SplitRecord = TypeVar("SplitRecord", bound=_HasSplit)


class EvaluationError(Exception):
    """A measurement that cannot be made; the message gives the reason and, where it helps, a remedy."""


def read_text(path: Path, kind: str = "file", largest: int | None = None) -> str:
    """Read a file of at most `largest` bytes; raises EvaluationError."""
    try:
        if largest is not None and path.stat().st_size > largest:
            raise EvaluationError(f"The {kind} {path} is too large.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"The {kind} {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EvaluationError(f"The {kind} {path} cannot be read: it is not UTF-8 text.") from error


def make_folder(path: Path) -> None:
    """Create a folder if it does not exist; raises EvaluationError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f"The folder {path} cannot be created: {error.strerror}.") from error


def write_text(path: Path, text: str) -> None:
    """Write a file and create its folder if needed; raises EvaluationError."""
    make_folder(path.parent)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"The file {path} cannot be written: {error.strerror}.") from error


def read_trail(path: Path, kind: str, read: Callable[[str], Record]) -> Record:
    """Parse a file that Paper Trail wrote with `read`; raises EvaluationError that names the file."""
    try:
        return read(read_text(path, kind, LARGEST_TRAIL))
    except AssistantError as error:
        raise EvaluationError(f"{path}: {error}") from error


def home_folder(path: Path) -> Path:
    """Return the PAPER_TRAIL_HOME for a path of a home or of the corpus folder in it."""
    return path.parent if (path / "manifest.json").is_file() else path


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def parse_named_folders(named: Sequence[str]) -> dict[str, Path]:
    """Parse NAME=FOLDER into folders by name; raises EvaluationError."""
    pairs = {text: text.partition("=") for text in named}
    if wrong := [text for text, (name, _, folder) in pairs.items() if not (name and folder)]:
        raise EvaluationError(f"{wrong[0]!r} is not NAME=FOLDER.")
    return {name: Path(folder) for name, _, folder in pairs.values()}


def choose_split(path: Path, records: Sequence[SplitRecord], split: str) -> tuple[str, list[SplitRecord]]:
    """Return the name and the records of a split; "" takes the validation split, or all if there is none.

    Raises EvaluationError if the file has no record of the named split.
    """
    names = _VALIDATION if split in {"", *_VALIDATION} else {split}
    chosen = [record for record in records if record.split in names]
    if split and not chosen:
        known = ", ".join(sorted({record.split for record in records if record.split})) or "none"
        raise EvaluationError(f"{path} has no papers of the split {split!r}; its splits are: {known}.")
    return (split or "validation", chosen) if chosen else ("all", list(records))


def read_json_lines(path: Path, form: type[Form], hint: str) -> list[Form]:
    """Read a file of JSON lines; raises EvaluationError that names the line at fault.

    `hint` describes the expected form of a line and ends the error message.
    """
    return [record for _, record in read_numbered_json_lines(path, form, hint)]


def read_numbered_json_lines(path: Path, form: type[Form], hint: str) -> list[tuple[int, Form]]:
    """Read a file of JSON lines with their line numbers; raises EvaluationError."""
    lines = enumerate(read_text(path).split("\n"), start=1)
    records = [
        (number, parse_record(path, number, line, form, hint)) for number, line in lines if line.strip()
    ]
    if not records:
        raise EvaluationError(f"The file {path} is empty. {hint}")
    return records


def parse_record(path: Path, number: int, line: str, form: type[Form], hint: str) -> Form:
    """Parse a line of JSON; raises EvaluationError that names the line."""
    try:
        return form.model_validate_json(line)
    except ValidationError as error:
        raise EvaluationError(f"{path}, line {number}: {first_fault(error)}. {hint}") from None


def first_fault(error: ValidationError, whole: str = "the line") -> str:
    """Return the location and the message of the first validation error; `whole` names the root."""
    first = error.errors(include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {first['msg']}"
