from pathlib import Path

import pytest

from corpus import encoder_choice
from corpus.encoders.base import SentenceEncoder
from corpus.settings import Settings


@pytest.fixture(scope="session")
def encoder() -> SentenceEncoder:
    """Return the encoder as it is, which remembers nothing."""
    return SentenceEncoder()


@pytest.fixture(autouse=True)
def files_of_each_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each home have an exported encoder of its own, as outside the tests."""

    def path_of(settings: Settings, sha256: str) -> Path:
        return settings.encoder_path / f"{sha256}.int8.onnx"

    monkeypatch.setattr(encoder_choice, "exported_path", path_of)
