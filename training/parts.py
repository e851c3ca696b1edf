"""Writing a learned part: weights as small as they can be, and the card beside them."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from assistant.learned import Card
from corpus.encoders import BUNDLED_SHA256
from training.errors import TrainingError
from training.folders import write_durably

# "trunk.base_model.model.encoder.layer.0.attention.self.query.lora_A.default.weight"
_ADAPTER = re.compile(r"^trunk\.base_model\.model\.(?P<matrix>.+)\.lora_(?P<side>[AB])\.default\.weight$")
_SIDES = {"A": "down", "B": "up"}


def part_tensors(learned: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return what was learned under the product's names: two small matrices for each, and the head.

    Raises TrainingError of a parameter that the product would not know.
    """
    found = {}
    for name, weight in learned.items():
        adapter = _ADAPTER.match(name)
        if not adapter and not name.startswith("head."):
            raise TrainingError(f"The product has no place for the parameter {name}.")
        own = f"{adapter['matrix']}.{_SIDES[adapter['side']]}" if adapter else name
        found[own] = weight.detach().cpu().half().contiguous()
    return found


def adapters_of(
    part: str, folder: Path, learned: Mapping[str, torch.Tensor], *, head: bool = False
) -> dict[str, torch.Tensor]:
    """Return what was learned with the adapters of a part that was written before in place of its own.

    The head stays, unless `head` says that it is the part's too. Raises TrainingError where the part is not
    there or its adapters are of another rank.
    """
    path = folder / f"{part}.safetensors"
    try:
        held = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"The part {path}, which is gone on from, cannot be read: {error}") from error
    begun = dict(learned)
    for name, weight in learned.items():
        adapter = _ADAPTER.match(name)
        if adapter or head:
            own = held.get(f"{adapter['matrix']}.{_SIDES[adapter['side']]}" if adapter else name)
            if own is None or own.shape != weight.shape:
                raise TrainingError(f"The part {path} has other adapters than those that are to be fitted.")
            begun[name] = own.to(weight.dtype)
    return begun


def write_part(
    folder: Path,
    part: str,
    learned: Mapping[str, torch.Tensor],
    *,
    longest: int,
    scales: Mapping[str, Mapping[str, float]],
    provenance: Mapping[str, object],
) -> Card:
    """Write weights and card of a part into a folder and return the card."""
    held = save(part_tensors(learned))
    digest = hashlib.sha256(held).hexdigest()
    card = Card(
        name=f"{part}-{digest[:8]}",
        trunk_sha256=BUNDLED_SHA256,
        weights_sha256=digest,
        longest=longest,
        scales=scales,
        provenance=provenance,
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_durably(folder / f"{part}.safetensors", held)
    write_card(folder, part, card)
    return card


def write_card(folder: Path, part: str, card: Card) -> None:
    """Write the card of a part, beside the weights that lie in the folder."""
    write_durably(folder / f"{part}.json", (json.dumps(card.model_dump(), indent=2) + "\n").encode())
