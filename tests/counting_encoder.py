"""The real encoder, with a count of what it was asked to do."""

from collections.abc import Sequence

from corpus.encoder import Encoder, Vectors


class CountingEncoder:
    """Passes everything on to `encoder`; `passages` is how many passages it has encoded."""

    def __init__(self, encoder: Encoder, name: str = "", sha256: str = "") -> None:
        self._encoder = encoder
        self.name = name or encoder.name
        self.sha256 = sha256 or encoder.sha256
        self.passages = 0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += len(texts)
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)
