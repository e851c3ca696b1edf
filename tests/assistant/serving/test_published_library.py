"""The corpus as it is published: what a first search needs is read before anybody searches."""

import time
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest

from assistant.serving.library import PublishedLibrary
from corpus.errors import CorpusError
from corpus.settings import Settings
from corpus.store import tables

PATIENCE = 60.0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the tables that are read as a whole with their rows' numbers, as that ends."""
    names: list[str] = []
    scan = tables.scan_numbered

    def noted(table: Any, columns: list[str]) -> Any:
        yield from scan(table, columns)
        names.append(table.name)

    monkeypatch.setattr(tables, "scan_numbered", noted)
    return names


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not until() and time.monotonic() < end:
        time.sleep(0.02)
    assert until()


def test_what_a_first_search_needs_is_read_before_anybody_searches(demo_home: Path, read: list[str]) -> None:
    library = PublishedLibrary(Settings(home=demo_home))
    opened = library.now()
    _wait(lambda: {"passages", "papers"} <= set(read))
    assert library.now() is opened
    assert sorted(read) == ["papers", "passages"]


def test_a_corpus_that_cannot_be_read_is_told_to_whoever_searches(
    demo_home: Path, tmp_path: Path, read: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    copytree(demo_home / "corpus", tmp_path / "corpus")
    rmtree(tmp_path / "corpus" / "passages.lance" / "data")
    corpus = PublishedLibrary(Settings(home=tmp_path)).now().corpus
    _wait(lambda: "cannot be read" in caplog.text)
    with pytest.raises(CorpusError, match="cannot be read"):
        corpus.load()
