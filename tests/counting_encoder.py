"""The real encoder, with a count of what it was asked to do."""

from collections.abc import Sequence

from corpus.encoders.base import Encoder, Vectors


class CountingEncoder:
    """Passes everything on to `encoder`; `texts` are those it has encoded as passages."""

    def __init__(self, encoder: Encoder, name: str = "", sha256: str = "") -> None:
        self._encoder = encoder
        self.name = name or encoder.name
        self.sha256 = sha256 or encoder.sha256
        self.runtime = encoder.runtime
        self.texts: list[str] = []

    def load(self) -> None:
        self._encoder.load()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)
