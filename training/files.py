"""Folders of a run, durable files, cards and splits, shared by all trainers; loads no model."""

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
FOLDS = 5  # of papers; one of them measures only
FREE_SINCE = 2016  # abstracts of the Anthology are under a free licence from this year on
Value = TypeVar("Value")
# The content of a model's card, and the function that writes the model.
Trained = tuple[dict[str, Any], Callable[[], None]]


class TrainingError(EvaluationError):
    """Nothing can be learned; the message says why and, where that helps, what to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folders (data, checkpoints, results), its seed, and the fold of five that only measures.

    With `begun`, the folder of a part, the run continues that part with the last stage alone.
    """

    data: Path
    work: Path
    out: Path
    seed: int = 13
    held: int = 0
    begun: Path | None = None


def write_durably(path: Path, content: bytes | str) -> None:
    """Replace a file: after a crash the old content or the new one is there, and whole."""
    temporary = path.with_name(f"{path.name}.part")
    temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    replace_durably(temporary, path)


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Turn failed writes into a TrainingError that says what to do."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        problem = getattr(error, "strerror", None) or error
        raise TrainingError(
            f"{folder} cannot be written: {problem}. Free space and run again: finished work is kept."
        ) from None


def as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def hash_byte(text: str, place: int = 0) -> int:
    """Return a byte of a text's SHA-256: splits by it keep equal texts (papers, dialogues) together."""
    return hashlib.sha256(text.encode()).digest()[place]


def draw(values: Sequence[Value], count: int, seed: str) -> list[Value]:
    """Return at most `count` values, drawn at random."""
    return random.Random(seed).sample(values, min(count, len(values)))


def train_folder(run: Run, parts: object, train: Callable[[str], Trained]) -> dict[str, Any]:
    """Return the card of the model in `run.out`, which is trained unless it is there already.

    `parts` is all that the model depends on; `train` takes their hash. The card is written last and marks the
    folder as complete. Raises TrainingError where another model is in it.
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
