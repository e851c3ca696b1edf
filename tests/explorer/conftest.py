"""A demonstration corpus for the screens, and the screens run without a browser."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.resources import Library, open_library
from tests.explorer.demo_home import PROJECT, build_demo_home

KEYS = ("TOGETHER_API_KEY", "PAPER_TRAIL_MODEL_URL", "PAPER_TRAIL_MODELS_FILE", "PAPER_TRAIL_ENCODER")


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo_home(tmp_path_factory.getbasetemp())


@pytest.fixture
def home(demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the demonstration corpus the one in use, without a key."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    return demo_home


@pytest.fixture
def library(home: Path) -> Library:
    return open_library()


@pytest.fixture
def screen(home: Path) -> Iterator[Callable[..., AppTest]]:
    """Open a screen by its page's name and address."""

    def open_screen(name: str, /, **query: str) -> AppTest:
        test = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=60)
        test.switch_page(f"explorer/pages/{name}.py")
        for key, value in query.items():
            test.query_params[key] = value
        return test.run()

    yield open_screen
    st.cache_data.clear()
