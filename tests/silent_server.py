"""A database server whose system accepts connections, and that never reads any of them."""

import gc
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# The driver leaves sockets open where a server has let it down.
OPEN_SOCKETS = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("no_word_of_sockets"),
]
# Two checks of connections, and what a busy machine adds.
SHORT_SECONDS = 20
SAID = "its server does not answer"


@contextmanager
def silent_server() -> Iterator[str]:
    """Yield the address of a database at such a server."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        yield f"postgresql://tester:secret@127.0.0.1:{server.getsockname()[1]}/name"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail where what is done within takes longer."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


@pytest.fixture(autouse=True)
def no_word_of_sockets() -> Iterator[None]:
    """Collect what the driver leaves open where a server has let it down."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
