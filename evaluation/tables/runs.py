"""Tables measured row by row: what was measured before, of the same inputs by the same code, is kept."""

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.records import AssistantError
from corpus.durable import replace_durably
from corpus.errors import CorpusError
from evaluation.input_files import EvaluationError
from evaluation.tables.printed import printed_rows
from evaluation.tables.records import (
    Asked,
    Measured,
    Missing,
    MissingError,
    RowPlan,
    Say,
    SeedTable,
    TableResult,
)
from evaluation.tables.sources import content_hash, find
from indexer.errors import SourceError

_ROOT = Path(__file__).parents[2]
# What can change a figure: our code and its data files.
_CODE_SUFFIXES = frozenset({".py", ".toml", ".md", ".onnx", ".safetensors", ".json", ".jsonl", ".txt"})

_MEASURED = TypeAdapter(Measured)


def measure_table(table: SeedTable, asked: Asked, command: str, say: Say) -> TableResult:
    """Measure all rows of a table that can be measured here; what fails costs its row and is named."""
    rows: list[Measured] = []
    missing: list[Missing] = []
    kept = KeptRows(asked.out / table.name, table.code)
    kept.begin()
    try:
        for planned in table.plan(asked, say):
            outcome = kept.measure(planned, say) if isinstance(planned, RowPlan) else planned
            (rows if isinstance(outcome, Measured) else missing).append(outcome)  # type: ignore[arg-type]
    except MissingError as error:
        missing.append(Missing(error.what, error.advice))
    return TableResult(
        table, command, printed_rows(table.name), tuple(rows), tuple(missing), _stand_ins(table, asked.data)
    )


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The rows of a table that were measured before, each in a file named by what it depends on."""

    folder: Path
    code: tuple[str, ...]

    def begin(self) -> None:
        """Make sure that rows can be kept before any is measured; raises EvaluationError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvaluationError(f"{self.folder} cannot be made: {error.strerror}.") from error

    def measure(self, plan: RowPlan, say: Say) -> Measured | Missing:
        """Return the row that is kept, or measure it and keep it; what went wrong is what is missing."""
        path = self.folder / f"{self._key(plan)}.json"
        if kept := _read(path):
            return replace(kept, is_kept=True)
        say(f"Measuring {plan.system}.")
        clock = time.perf_counter()
        try:
            row = plan.measure()
        except MissingError as error:
            return Missing(f"{plan.system}, {error.what}", error.advice)
        except (AssistantError, CorpusError, EvaluationError, SourceError) as error:
            return Missing(plan.system, str(error))
        date = datetime.now(UTC).date().isoformat()
        measured = Measured(row, date, round(time.perf_counter() - clock, 1), machine())
        if row.is_whole:
            _keep(path, measured, say)
        return measured

    def _key(self, plan: RowPlan) -> str:
        inputs = {name: _told_apart(value) for name, value in plan.inputs.items()}
        told = json.dumps([plan.system, inputs, code_hash(self.code)], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:20]


def machine() -> str:
    """Return what a figure of speed depends on, as people say it: processor, cores, system, Python."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python"
        f" {platform.python_version()}"
    )


def _read(path: Path) -> Measured | None:
    """Return a kept row, None where there is none that can be read whole."""
    try:
        return _MEASURED.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _keep(path: Path, measured: Measured, say: Say) -> None:
    """Keep a row; where it cannot be kept, that is said: what was measured is not lost for it."""
    try:
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(asdict(measured)), encoding="utf-8")
        replace_durably(temporary, path)
    except OSError as error:
        say(f"{path} cannot be written: {error.strerror}. The next run measures {measured.row.system} again.")


def _told_apart(value: object) -> object:
    if isinstance(value, Path):
        return content_hash(value)
    if isinstance(value, Mapping):
        return {str(name): _told_apart(one) for name, one in value.items()}
    return value if isinstance(value, str | int | float | None) else repr(value)


@cache
def code_hash(parts: tuple[str, ...]) -> str:
    """Return a hash of our own code in files and folders: what other code has measured is measured again."""
    digest = hashlib.sha256()
    for path in sorted({file for part in parts for file in _files(_ROOT / part)}):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _files(part: Path) -> Iterator[Path]:
    files = part.rglob("*") if part.is_dir() else [part]
    return (file for file in files if file.suffix in _CODE_SUFFIXES and file.name != "README.md")


def _stand_ins(table: SeedTable, data: Path) -> tuple[str, ...]:
    """Return what stands in for what the paper measured on."""
    said = []
    for name in table.sets:
        try:
            said.append(find(name, data).stand_in)
        except MissingError:
            continue
    return tuple(one for one in said if one)
