"""A learned part on disk that has learned next to nothing, for tests of what is done with one."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from corpus.encoders.base import BUNDLED_SHA256


def write_learned_part(folder: Path, part: str, scales: Mapping[str, Any], **changes: Any) -> Path:
    """Write weights of chance and their card into a folder, with changes to the card; return the folder."""
    folder.mkdir(exist_ok=True)
    chance = np.random.default_rng(1)
    tensors = {
        "encoder.layer.0.attention.self.query.down": chance.normal(size=(2, 384)).astype(np.float16),
        "encoder.layer.0.attention.self.query.up": np.zeros((384, 2), np.float16),
        "head.weight": chance.normal(size=(1, 384)).astype(np.float16),
        "head.bias": np.zeros(1, np.float16),
    }
    weights = folder / f"{part}.safetensors"
    save_file(tensors, weights)
    card = {
        "name": f"{part}-test",
        "trunk_sha256": BUNDLED_SHA256,
        "weights_sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "longest": 64,
        "scales": scales,
        "provenance": {},
    }
    (folder / f"{part}.json").write_text(json.dumps(card | changes), encoding="utf-8")
    return folder
