"""What trainers share before any model is loaded: a run's folders, durable files, cards and splits."""

import hashlib
import json
import random
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError

from corpus.durable import replace_durably, sync_tree

CARD = "card.json"
SETS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("sets.toml").read_text(encoding="utf-8"))
Say = Callable[[str], None]
Value = TypeVar("Value")


class TrainingError(Exception):
    """Nothing can be learned; the message says why and, where that helps, what to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folders (data, checkpoints, results), its seed, and the fold of five that only measures."""

    data: Path
    work: Path
    out: Path
    say: Say
    seed: int = 13
    held: int = 0


def finished_card(out: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the card of a complete run, None where there is none; raises TrainingError for another run's."""
    try:
        card: dict[str, Any] = json.loads((out / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise TrainingError(f"{out / CARD} cannot be read. Remove it, or choose another --out.") from None
    if card.get("fingerprint") != fingerprint:
        raise TrainingError(f"{out} holds another model. Choose another --out.")
    return card


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


def grouped(rows: Iterable[Value], attribute: str) -> dict[str, list[Value]]:
    """Return rows by the value of an attribute, in their order."""
    found: dict[str, list[Value]] = {}
    for row in rows:
        found.setdefault(getattr(row, attribute), []).append(row)
    return found


def write_model(
    out: Path, card: dict[str, Any], write: Callable[[], None], leftovers: Iterable[Path]
) -> dict[str, Any]:
    """Write a model, then its card, which marks the folder as complete, and remove leftovers of the run."""
    with saving(out):
        out.mkdir(parents=True, exist_ok=True)
        write()
        sync_tree(out)
        write_durably(out / CARD, as_json(card))
        for path in leftovers:
            path.unlink(missing_ok=True)
    return card
