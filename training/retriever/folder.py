"""The fine-tuned encoder as a folder that PAPER_TRAIL_ENCODER names: the bundled one with merged weights."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save

from corpus.durable import sync_tree
from corpus.encoders import bundled_path
from training.folders import CARD, saving, write_durably
from training.retriever.task import SentenceReader

WEIGHTS = "model.safetensors"
# What the bundled folder says of itself, which is not true of these weights.
LEFT_OUT = frozenset({WEIGHTS, "README.md", "data_config.json", ".gitattributes"})


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
        write_durably(out / WEIGHTS, save(weights, metadata={"format": "pt"}))
        sync_tree(out)
        write_durably(out / CARD, (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode())


def merged_weights(reader: SentenceReader) -> dict[str, torch.Tensor]:
    """Return the bundled encoder's tensors by name, with what was learned added; the reader is used up."""
    merged = reader.trunk.merge_and_unload().state_dict()
    held = load_file(bundled_path() / WEIGHTS)
    return {
        name: merged[name].detach().cpu().contiguous() if name in merged else weight
        for name, weight in held.items()
    }
