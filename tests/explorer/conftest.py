"""A demonstration corpus for the screens, and the screens run without a browser."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config as st_config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from corpus.encoders.base import Encoder
from explorer.app.resources import Library, comparison_jobs, jobs, open_library
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.demo_home import PROJECT
from tests.explorer.asking import QUESTION, ask, choose_the_model
from tests.explorer.studied_corpus import build_studied_home
from tests.standin_chat import Behaviour, StandinChat, reply

# Streamlit has the collector look at all there is after every script; the app itself freezes what stays.
st_config.set_option("runner.postScriptGC", False)
# For every `AppTest` Streamlit reads what all installed packages say of themselves: half the time of a test.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

ANSWER = "BM25 ranks passages by weighted words [1]. Dense retrieval compares vectors [2]."
KEYS = ("TOGETHER_API_KEY", "PAPER_TRAIL_MODEL_URL", "PAPER_TRAIL_MODELS_FILE", "PAPER_TRAIL_ENCODER")


@pytest.fixture
def home(demo_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Make the demonstration corpus the one in use, without a key and with conversations of its own."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    # All tests are visitors of one server.
    monkeypatch.setenv("PAPER_TRAIL_LIMIT_OF_ALL", "0")
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'conversations.sqlite'}")
    yield demo_home
    # An answer is kept for a quarter of an hour, with the library, the stores and the model it came from.
    jobs.clear()
    comparison_jobs.clear()


@pytest.fixture
def library(home: Path) -> Library:
    return open_library()


@pytest.fixture
def model(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[..., StandinChat]]:
    """Put a stand-in model on the menu, which answers with the behaviours it is given, then with its own."""
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "standin"\nlabel = "Stand-in"\ncontext = 8192\n')
    with ExitStack() as stack:

        def put(*behaviours: Behaviour) -> StandinChat:
            server = stack.enter_context(StandinChat(*behaviours, default=reply(ANSWER)))
            monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
            monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
            return server

        yield put


@pytest.fixture
def screen(home: Path) -> Iterator[Callable[..., AppTest]]:
    """Open a screen by its page's name and address."""

    def open_screen(name: str, /, **query: str) -> AppTest:
        test = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180)
        test.switch_page(f"explorer/pages/{name}.py")
        for key, value in query.items():
            test.query_params[key] = value
        return test.run()

    yield open_screen
    st.cache_data.clear()


@pytest.fixture
def asked(screen: Callable[..., AppTest], model: Callable[..., StandinChat]) -> AppTest:
    """Return a conversation of one question, answered by the stand-in: sentences are not chosen anew."""
    model()
    return ask(choose_the_model(screen("ask")), QUESTION)


@pytest.fixture
def writer(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[..., StandinChat]]:
    """Put a stand-in model on the menu, under a name of this test's own: elements are kept under it."""
    models = tmp_path / "models.toml"
    name = f"standin-{tmp_path.name}"
    models.write_text(f'[[models]]\nid = "{name}"\nlabel = "Stand-in"\ncontext = 32768\nprice_in = 1.0\n')
    with ExitStack() as stack:

        def put(behave: object = None) -> StandinChat:
            server = stack.enter_context(StandinChat(default=behave or ComparingModel()))  # type: ignore[arg-type]
            monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
            monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
            return server

        yield put


@pytest.fixture(scope="session")
def studied_home(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    return build_studied_home(tmp_path_factory.getbasetemp() / "studied-home", encoder)


@pytest.fixture
def studied(
    screen: Callable[..., AppTest], studied_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """Open a screen on the corpus of papers with topics."""
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(studied_home))
    return screen
