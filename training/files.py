"""Folders of a run, durable files, cards and splits for all trainers; imports no model library."""

import hashlib
import json
import random
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError

from corpus.durable import replace_durably, sync_tree
from evaluation.harness import say
from evaluation.input_files import EvaluationError

CARD, CHECKPOINT, CURVE = "card.json", "checkpoint.pt", "curve.jsonl"
SETS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("sets.toml").read_text(encoding="utf-8"))
FOLDS = 5  # of papers; one of them is held out for measuring
FREE_SINCE = 2016  # the Anthology's abstracts have a free licence from this year on
Value = TypeVar("Value")
# The content of a model's card, and the function that writes the model.
Trained = tuple[dict[str, Any], Callable[[], None]]


class TrainingError(EvaluationError):
    """A training run that is not possible; the message gives the reason and, where it helps, a remedy."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folders (data, checkpoints, results), its seed, and the fold that is held out for measuring.

    `start` is the folder of an existing part: the run continues the part, with the last stage only.
    """

    data: Path
    work: Path
    out: Path
    seed: int = 13
    held_fold: int = 0
    start: Path | None = None


def write_durably(path: Path, content: bytes | str) -> None:
    """Replace a file atomically: after a crash it has either the old or the new content."""
    temporary = path.with_name(f"{path.name}.part")
    temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    replace_durably(temporary, path)


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Convert errors of writing into a TrainingError with a remedy."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        problem = getattr(error, "strerror", None) or error
        raise TrainingError(
            f"{folder} cannot be written: {problem}. Free space and run again; finished steps are saved."
        ) from None


def as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def hash_byte(text: str, index: int = 0) -> int:
    """Return a byte of a text's SHA-256, for splits that keep equal keys (papers, dialogues) together."""
    return hashlib.sha256(text.encode()).digest()[index]


def draw(values: Sequence[Value], count: int, seed: str) -> list[Value]:
    """Draw at most `count` values at random, the same for the same seed."""
    return random.Random(seed).sample(values, min(count, len(values)))


def train_folder(run: Run, parts: object, train: Callable[[str], Trained]) -> dict[str, Any]:
    """Train a model into `run.out` and return its card; an already trained model is not trained again.

    `parts` is everything that the model depends on; `train` gets its hash. The card is written last and marks
    the folder as complete. Raises TrainingError if the folder has another model.
    """
    fingerprint = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    path = run.out / CARD
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        card = {}
    except (OSError, ValueError):
        raise TrainingError(f"{path} cannot be read. Remove it, or choose another --out.") from None
    if card and card.get("fingerprint") != fingerprint:
        raise TrainingError(f"{run.out} holds another model. Choose another --out.")
    if card:
        say(f"{run.out} holds this model already.")
        return card
    trained, write = train(fingerprint)
    versions = {package: version(package) for package in ("torch", "transformers", "peft")}
    card = {"fingerprint": fingerprint, **trained, "versions": versions}
    with saving(run.out):
        run.out.mkdir(parents=True, exist_ok=True)
        write()
        sync_tree(run.out)
        write_durably(path, as_json(card))
        for name in (CHECKPOINT, CURVE):
            (run.work / name).unlink(missing_ok=True)
    return card
