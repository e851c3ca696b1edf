"""The fine-tuned encoder as a folder that PAPER_TRAIL_ENCODER names: the bundled one with merged weights."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save

from corpus.durable import replace_durably, sync_tree
from corpus.encoders import bundled_path
from training.errors import TrainingError
from training.retriever.task import SentenceReader

WEIGHTS, CARD = "model.safetensors", "card.json"
# What the bundled folder says of itself, which is not true of these weights.
LEFT_OUT = frozenset({WEIGHTS, "README.md", "data_config.json", ".gitattributes"})


def finished_card(out: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the card of an encoder that is complete, None where there is none; raises TrainingError."""
    try:
        card: dict[str, Any] = json.loads((out / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise TrainingError(f"{out / CARD} cannot be read. Remove it, or choose another --out.") from None
    if card.get("fingerprint") != fingerprint:
        raise TrainingError(f"{out} holds another encoder. Choose another --out.")
    return card


def write_encoder(reader: SentenceReader, card: Mapping[str, object], out: Path) -> None:
    """Merge the adapters and write the folder, the card last: it says that the rest is whole."""
    weights = merged_weights(reader)
    with saving(out):
        out.mkdir(parents=True, exist_ok=True)
        for path in bundled_path().iterdir():
            if path.is_dir():
                shutil.copytree(path, out / path.name, dirs_exist_ok=True)
            elif path.name not in LEFT_OUT:
                shutil.copyfile(path, out / path.name)
        made = out / f"{WEIGHTS}.new"
        made.write_bytes(save(weights, metadata={"format": "pt"}))
        replace_durably(made, out / WEIGHTS)
        sync_tree(out)
        written = out / f"{CARD}.new"
        written.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        replace_durably(written, out / CARD)


def merged_weights(reader: SentenceReader) -> dict[str, torch.Tensor]:
    """Return the bundled encoder's tensors by name, with what was learned added; the reader is used up."""
    merged = reader.trunk.merge_and_unload().state_dict()
    held = load_file(bundled_path() / WEIGHTS)
    return {
        name: merged[name].detach().cpu().contiguous() if name in merged else weight
        for name, weight in held.items()
    }


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Say what is to be done where something cannot be written; raises TrainingError."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"{folder} cannot be written: {error}. Free space and run again: it goes on from the last"
            " checkpoint."
        ) from None
