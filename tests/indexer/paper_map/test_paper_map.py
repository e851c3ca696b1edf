"""The map in a build: it follows what comes and goes, and no mistake in drawing it ends a build."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.encoders.base import Encoder
from corpus.records import Collection
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.__main__ import app
from indexer.build.run import build_collection
from indexer.maintenance.verify import verify
from indexer.sources.folder import TEI_SUFFIXES, Folder
from tests.indexer.build.small_papers import write_tei

SUBJECTS = ("owls", "cats", "bats", "rivers", "lakes", "seas", "trees", "ferns", "mosses")


def _write(folder: Path, subjects: tuple[str, ...] = SUBJECTS) -> None:
    for subject in subjects:
        write_tei(folder / f"{subject}.tei.xml", f"On {subject}", f"We watch {subject} all day.")


def _build(tmp_path: Path, encoder: Encoder, collection: str = "notes") -> tuple[Corpus, list[str]]:
    settings = Settings(home=tmp_path / "home")
    source = Folder(tmp_path / collection, Collection(collection, collection), TEI_SUFFIXES)
    build = build_collection(settings, encoder, source, lambda _: None)
    return Corpus.open(settings.corpus_path, encoder), [remark.text for remark in build.remarks]


def _places(corpus: Corpus) -> dict[str, tuple[float, float]]:
    return {row["id"]: (row["x"], row["y"]) for row in corpus.statistics.places().to_pylist()}


def test_the_map_follows_papers(tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path / "notes")
    corpus, remarks = _build(tmp_path, encoder)
    assert remarks == []
    assert set(_places(corpus)) == {f"notes/{subject}" for subject in SUBJECTS}
    assert sum(cluster.papers for cluster in corpus.statistics.clusters()) == len(SUBJECTS)
    assert {row["cluster"] for row in corpus.statistics.places().to_pylist()} == {
        cluster.number for cluster in corpus.statistics.clusters()
    }
    again, _ = _build(tmp_path, encoder)
    assert again.manifest == corpus.manifest
    # Another collection is put on the same map.
    _write(tmp_path / "more", ("stars", "moons"))
    grown, _ = _build(tmp_path, encoder, "more")
    assert len(_places(grown)) == len(SUBJECTS) + 2
    assert _places(corpus).keys() < _places(grown).keys()
    assert _places(Corpus.open(corpus.path, encoder)) == _places(grown)
    # A deleted paper leaves the map, whichever command removed it.
    (tmp_path / "notes" / "owls.tei.xml").unlink()
    shrunk, _ = _build(tmp_path, encoder)
    assert _places(grown).keys() - _places(shrunk).keys() == {"notes/owls"}
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "home"))
    result = CliRunner().invoke(app, ["remove", "notes", "--json"])
    assert json.loads(result.stdout) == {"removed": "notes", "papers": len(SUBJECTS) - 1}
    left = Corpus.open(corpus.path, encoder)
    assert _places(left).keys() == {"more/stars", "more/moons"}
    assert [cluster.papers for cluster in left.statistics.clusters()] == [2]
    assert list(verify(left, tmp_path)) == []
    CliRunner().invoke(app, ["remove", "more"])
    assert (
        _places(Corpus.open(corpus.path, encoder)),
        Corpus.open(corpus.path, encoder).statistics.clusters(),
    ) == (
        {},
        (),
    )


def test_an_undrawable_map_is_told(tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path / "notes")
    drawn, _ = _build(tmp_path, encoder)
    write_tei(tmp_path / "notes" / "cats.tei.xml", "On cats", "We no longer watch cats.")
    with monkeypatch.context() as broken:
        broken.setitem(sys.modules, "sklearn.manifold", None)
        corpus, remarks = _build(tmp_path, encoder)
    assert len(remarks) == 1
    assert remarks[0].startswith("The map of the papers could not be drawn (ModuleNotFoundError: ")
    assert corpus.count_papers() == len(SUBJECTS)
    assert (_places(corpus), corpus.statistics.clusters()) == ({}, ())
    assert _places(drawn), "a reader keeps the version it opened"
    write_tei(tmp_path / "notes" / "cats.tei.xml")
    assert len(_places(_build(tmp_path, encoder)[0])) == len(SUBJECTS)
