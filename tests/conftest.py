"""What all tests share: a clean environment, the encoder and a demonstration corpus."""

import os

# Read when the libraries are imported, so before everything else.
os.environ["HF_HUB_OFFLINE"] = "1"

import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from corpus.encoder import SentenceEncoder
from corpus.store import Corpus

# A busy machine is no fault of the code under test.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    # Fixtures of a whole session are made before `clean_environment` runs.
    for name in ("PAPER_TRAIL_HOME", "PAPER_TRAIL_ENCODER"):
        os.environ.pop(name, None)


def _settings_in_environment() -> list[str]:
    return [name for name in os.environ if name.startswith("PAPER_TRAIL_") or name == "TOGETHER_API_KEY"]


@pytest.fixture(autouse=True)
def clean_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the settings of whoever runs the tests away, except from tests that ask for them."""
    if request.node.get_closest_marker("live"):
        return
    for name in _settings_in_environment():
        monkeypatch.delenv(name)
    # A fresh home exports the encoder, which takes ten seconds; most tests have a home of their own.
    monkeypatch.setenv("PAPER_TRAIL_ENCODER_RUNTIME", "torch")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("the shared data are not beside the repository")
    return folder


@pytest.fixture(scope="session")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a PAPER_TRAIL_HOME with the demonstration corpus, built once by the indexer's own command."""
    home = tmp_path_factory.getbasetemp() / "demo-home"
    if not (home / "corpus" / "manifest.json").exists():
        environment = {name: os.environ[name] for name in os.environ.keys() - _settings_in_environment()}
        subprocess.run(
            [sys.executable, "-m", "indexer", "demo"],
            cwd=ROOT,
            env=environment | {"PAPER_TRAIL_HOME": str(home), "PAPER_TRAIL_ENCODER_RUNTIME": "torch"},
            check=True,
            capture_output=True,
            timeout=300,
        )
    return home


@pytest.fixture(scope="session")
def demo_corpus(demo_home: Path, encoder: SentenceEncoder) -> Corpus:
    return Corpus.open(demo_home / "corpus", encoder)
