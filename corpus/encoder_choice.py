"""The choice of a corpus's encoder: the one that the settings name, in the runtime that built the corpus."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory

from corpus.encoders.base import BUNDLED_SHA256, Encoder, Runtime, SentenceEncoder, Vectors
from corpus.encoders.onnx import OnnxEncoder
from corpus.errors import CorpusError
from corpus.places.place import Place
from corpus.settings import BUNDLED_ENCODER, Settings
from corpus.store.manifest import Manifest, find_manifest

logger = logging.getLogger(__name__)


def open_encoder(settings: Settings, runtime: Runtime | None = None) -> Encoder:
    """Return the encoder that the settings name; it is loaded or prepared when first used.

    A published corpus is read with the runtime that built it. A new corpus gets the accelerated runtime if
    the model can be exported, else torch. `runtime` overrides the setting. An encoder in a runtime chosen by
    name raises CorpusError when first used, if it is not available.
    """
    wanted = runtime or settings.encoder_runtime
    manifest, _ = find_manifest(settings.corpus_path)
    if wanted == "auto" and manifest:
        # If the name differs, opening the corpus says so: nothing need be prepared for that.
        is_same = manifest.encoder == settings.encoder
        wanted = "onnx-int8" if is_same and manifest.runtime == "onnx-int8" else "torch"
    if wanted == "torch":
        return SentenceEncoder(settings.encoder)
    known = _known_hash(settings.encoder, manifest)
    path = exported_path(settings, known) if known else None
    if path and path.is_file():
        return OnnxEncoder(settings.encoder, known, path)
    return _UnpreparedEncoder(settings.encoder, lambda: _prepared(settings, fall_back=wanted == "auto"))


@dataclass(frozen=True, slots=True)
class SharedEncoder:
    """An encoder for other machines; `file` holds the exported network of an accelerated one."""

    name: str
    sha256: str
    runtime: Runtime
    file: Place

    def open(self) -> Encoder:
        """Return the loaded encoder; raises CorpusError if it is not available on this machine."""
        try:
            network = self.file.read_bytes()
        except FileNotFoundError as error:
            raise CorpusError(
                f"The machine {gethostname()} does not find {self.file}, which is there for the one that "
                "builds. PAPER_TRAIL_HOME has to be one folder that all machines share."
            ) from error
        if self.runtime == "onnx-int8":
            with TemporaryDirectory() as folder:
                path = Path(folder, "encoder.onnx")
                path.write_bytes(network)
                accelerated = OnnxEncoder(self.name, self.sha256, path)
                accelerated.load()
            return accelerated
        encoder = SentenceEncoder(self.name)
        encoder.load()
        if encoder.sha256 != self.sha256:
            raise CorpusError(f"The weights of the encoder {self.name!r} are others on {gethostname()}.")
        return encoder


def share_encoder(settings: Settings, encoder: Encoder, file: Place) -> SharedEncoder:
    """Write the encoder to a file for other machines; raises CorpusError if it is not available here."""
    encoder.load()
    if encoder.runtime == "onnx-int8":
        file.copy_from(exported_path(settings, encoder.sha256))
    else:
        file.write(b"")
    return SharedEncoder(encoder.name, encoder.sha256, encoder.runtime, file)


class _UnpreparedEncoder:
    """An encoder that is exported when first used, not when a command only checks for a corpus."""

    def __init__(self, name: str, prepare: Callable[[], Encoder]) -> None:
        self.name = name
        self._prepare = prepare
        self._lock = threading.Lock()

    @property
    def runtime(self) -> Runtime:
        return self._encoder.runtime

    @property
    def sha256(self) -> str:
        return self._encoder.sha256

    def load(self) -> None:
        self._encoder.load()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)

    @property
    def _encoder(self) -> Encoder:
        with self._lock:
            return self._prepared

    @cached_property
    def _prepared(self) -> Encoder:
        return self._prepare()


def _prepared(settings: Settings, *, fall_back: bool) -> Encoder:
    """Export the encoder and return it; if that fails, return it in torch or raise CorpusError."""
    from corpus.encoders.export import ExportError, export  # noqa: PLC0415 - needed once per home

    encoder = SentenceEncoder(settings.encoder)
    path = exported_path(settings, encoder.sha256)
    try:
        export(encoder, path)
    except ExportError as error:
        if fall_back:
            logger.warning("the encoder %r stays in torch: %s", settings.encoder, error)
            return encoder
        raise CorpusError(
            f"{error} Set PAPER_TRAIL_ENCODER_RUNTIME=torch, and build the corpus anew in a fresh "
            "PAPER_TRAIL_HOME if it was built otherwise."
        ) from error
    return OnnxEncoder(encoder.name, encoder.sha256, path)


def _known_hash(name: str, manifest: Manifest | None) -> str:
    """Return the hash of an encoder's weights if it is known without loading them, else ""."""
    if name == BUNDLED_ENCODER:
        return BUNDLED_SHA256
    return manifest.encoder_sha256 if manifest and manifest.encoder == name else ""


def exported_path(settings: Settings, sha256: str) -> Path:
    return settings.encoder_path / f"{sha256}.int8.onnx"
