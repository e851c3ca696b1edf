"""What is asked: SciRIFF's instances in their own form, from Parquet or JSON lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow
import pyarrow.parquet
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.input_files import EvaluationError, read_text, record_of
from evaluation.instructions.tasks import TASKS, Task

LONGEST_TEXT = 2**20
_COLUMNS = ("input", "output", "_instance_id")
_HINT = 'Each line is an instance of SciRIFF: {"input", "output", "metadata", "_instance_id"}.'


class Instance(BaseModel):
    """An instance as it lies in a file; what else is said of it is not needed here."""

    model_config = ConfigDict(frozen=True, strict=True)

    input: str = Field(min_length=1, max_length=LONGEST_TEXT)
    output: str = Field(min_length=1, max_length=LONGEST_TEXT)
    instance_id: str = Field(alias="_instance_id", pattern=r"^[^:]+:[^:]+:.+$", max_length=200)


@dataclass(frozen=True, slots=True)
class Item:
    """An instruction that a model is given, and what is `wanted` in reply."""

    id: str
    task: Task
    instruction: str
    wanted: object


def parse_instance_id(instance_id: str) -> tuple[str, str, str]:
    """Return the task, the split and the id in it."""
    task, split, own = instance_id.split(":", 2)
    return task, split, own


def read_items(path: Path, limit: int | None = None) -> list[Item]:
    """Return the items of all tasks there are, of each the first so many; raises EvaluationError."""
    rows = _parquet_instances(path) if path.suffix == ".parquet" else _line_instances(path)
    found: dict[str, list[Item]] = {name: [] for name in TASKS}
    for instance in rows:
        of_task = found[parse_instance_id(instance.instance_id)[0]]
        if limit is None or len(of_task) < limit:
            of_task.append(item_of(instance, path))
    items = [item for of_task in found.values() for item in of_task]
    if not items:
        raise EvaluationError(f"{path} has no instance of the tasks {', '.join(TASKS)}.")
    return items


def item_of(instance: Instance, path: Path) -> Item:
    """Return an instance as an item; raises EvaluationError where its output is not of the task's form."""
    task = TASKS[parse_instance_id(instance.instance_id)[0]]
    try:
        read = task.wanted.validate_json if task.form else task.wanted.validate_python
        wanted = task.wanted.dump_python(read(instance.output))
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]["msg"]
        raise EvaluationError(
            f"{path}, {instance.instance_id}: the output is not usable: {problem}."
        ) from None
    return Item(instance.instance_id, task, instance.input, wanted)


def counts_of(items: Sequence[Item]) -> dict[str, int]:
    """Return how many items each task has."""
    counts = {name: sum(item.task.name == name for item in items) for name in TASKS}
    return {name: count for name, count in counts.items() if count}


def _line_instances(path: Path) -> Iterator[Instance]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            instance = record_of(path, number, line, Instance, _HINT)
            if parse_instance_id(instance.instance_id)[0] in TASKS:
                yield instance


def _parquet_instances(path: Path) -> Iterator[Instance]:
    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(256, columns=list(_COLUMNS)):
            for row in batch.to_pylist():
                if str(row.get("_instance_id")).partition(":")[0] in TASKS:
                    yield Instance.model_validate(row)
    except (OSError, pyarrow.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise EvaluationError(f"The file {path} cannot be read: {reason}") from error
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise EvaluationError(f"{path}: {place}: {first['msg']}. {_HINT}") from None
