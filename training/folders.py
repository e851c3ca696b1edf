"""The folder that a trained model goes to: its card is written last, and so says that the rest is whole."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpus.durable import replace_durably
from training.errors import TrainingError

CARD = "card.json"


def finished_card(out: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the card of a run that is complete, None where there is none.

    Raises TrainingError where the folder holds what another run made, or an unreadable card.
    """
    try:
        card: dict[str, Any] = json.loads((out / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise TrainingError(f"{out / CARD} cannot be read. Remove it, or choose another --out.") from None
    if card.get("fingerprint") != fingerprint:
        raise TrainingError(f"{out} holds another model. Choose another --out.")
    return card


def write_durably(path: Path, content: bytes) -> None:
    """Write a file so that the old one or the new one is there at any moment."""
    temporary = path.with_name(f"{path.name}.part")
    temporary.write_bytes(content)
    replace_durably(temporary, path)


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Say what is to be done where a file cannot be written; raises TrainingError."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"{folder} cannot be written: {error.strerror or error}. Free space and run again: it goes on"
            " from the last checkpoint."
        ) from None
