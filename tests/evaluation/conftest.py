"""Models of a stand-in server, as all commands find them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.standin_chat import Behaviour, Received, StandinChat

Serve = Callable[..., StandinChat]
_MODEL = '[[models]]\nid = "{}"\nstructured = true\ncontext = 32768\n'


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Return a function that starts a stand-in server with the models "writer" and "judge"."""
    models = tmp_path / "models.toml"
    models.write_text(_MODEL.format("writer") + _MODEL.format("judge"), encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    with ExitStack() as servers:

        def start(
            default: Callable[[Received], Behaviour] | None, *first: Behaviour, calls: int = 2
        ) -> StandinChat:
            server = servers.enter_context(StandinChat(*first, default=default))
            monkeypatch.setenv("PAPER_TRAIL_MODEL_CALLS", str(calls))
            monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
            return server

        yield start
