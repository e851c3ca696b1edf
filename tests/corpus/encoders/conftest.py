import pytest

from corpus.encoders.base import SentenceEncoder


@pytest.fixture(scope="session")
def encoder() -> SentenceEncoder:
    """Return the encoder as it is, which remembers nothing."""
    return SentenceEncoder()
