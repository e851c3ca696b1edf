"""Fixtures of all tests: a clean environment, the encoder and a demonstration corpus."""

import os

# Read when the libraries are imported, so before everything else.
os.environ["HF_HUB_OFFLINE"] = "1"
# The texts of tests are short: a second thread of the encoder's mostly waits, and takes a core for it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

from assistant.models.server import server_facts
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from tests import remembering
from tests.demo_home import PROJECT, build_demo_home, exported_encoder
from tests.s3_server import FaultyS3, S3Server, s3_server

# A busy machine is no fault of the code under test. `pytest --hypothesis-profile=thorough` looks harder.
# The usual profile draws the same examples each time, so that what passes once passes again.
hypothesis.settings.register_profile("unhurried", deadline=None, max_examples=40, derandomize=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("unhurried")

BROWSER = "tests/browser/"


def pytest_configure() -> None:
    # Fixtures of a whole session are made before `clean_environment` runs.
    for name in ("PAPER_TRAIL_HOME", "PAPER_TRAIL_ENCODER"):
        os.environ.pop(name, None)


class _OneBrowser(LoadFileScheduling):  # type: ignore[misc]
    """Gives each process the tests of whole files, and one of them all that look at the app in a browser."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER if nodeid.startswith(BROWSER) else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _OneBrowser:
    """Start the app once for them: two browsers at a time keep each other waiting."""
    return _OneBrowser(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose files take longest: no process is left with one of them at the end."""
    longest = ("browser", "evaluation", "explorer", "indexer")
    places = {PROJECT / "tests" / folder: place for place, folder in enumerate(longest)}

    def place(item: pytest.Item) -> int:
        return next((places[parent] for parent in item.path.parents if parent in places), len(places))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end: after every script of a screen it looks at all there is."""
    gc.collect()
    gc.freeze()


def _settings_in_environment() -> list[str]:
    return [name for name in os.environ if name.startswith("PAPER_TRAIL_") or name == "TOGETHER_API_KEY"]


@pytest.fixture(autouse=True)
def clean_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the settings of whoever runs the tests away, except from tests that ask for them."""
    if request.node.get_closest_marker("live"):
        return
    for name in _settings_in_environment():
        monkeypatch.delenv(name)
    # A server of one test may get the port of an earlier one.
    server_facts.cache_clear()


@pytest.fixture(scope="session")
def root() -> Path:
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = PROJECT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("the shared data are not beside the repository")
    return folder


@pytest.fixture(scope="session", autouse=True)
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encoder]:
    """Have nothing in this process read a text twice; what tests start reads as it does elsewhere."""
    encoder = remembering.RememberingEncoder(exported_encoder(tmp_path_factory.getbasetemp()))
    with pytest.MonkeyPatch.context() as patch:
        remembering.share(encoder, patch)
        remembering.remember_pairs(patch)
        yield encoder


@pytest.fixture(scope="session")
def encoder(remembered: Encoder) -> Encoder:
    return remembered


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a PAPER_TRAIL_HOME with the demonstration corpus, built once by the indexer's own command."""
    return build_demo_home(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def demo_corpus(demo_home: Path, remembered: Encoder) -> Corpus:
    # Not `encoder`: some folders have another one, and the corpus is the same for all.
    return Corpus.open(demo_home / "corpus", remembered)


@pytest.fixture(scope="session")
def storage() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def s3(
    storage: S3Server, clean_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FaultyS3]:
    """Return a bucket of this test's own, with the environment that leads to it."""
    with FaultyS3(storage) as server:
        places = {"PAPER_TRAIL_LOCAL": str(tmp_path / "local"), "PAPER_TRAIL_CACHE": str(tmp_path / "cache")}
        for name, value in {**server.environment(), **places}.items():
            monkeypatch.setenv(name, value)
        yield server
