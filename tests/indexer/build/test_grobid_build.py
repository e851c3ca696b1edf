"""Builds with a GROBID server: what it parses, what falls back, what is kept, and what is read again."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.records import Build, Collection, Paper
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from deployment.site import free_ports
from indexer.__main__ import app
from indexer.build.run import DEFAULT_OPTIONS, BuildOptions, build_collection
from indexer.maintenance.verify import verify
from indexer.sources.folder import PDF_SUFFIXES, Folder
from tests.indexer.build.small_papers import write_paper_pdf
from tests.standin_grobid import StandinGrobid, failure, understood_nothing

PRINTS = Collection("prints", "Prints", source="Folder of PDFs")


@pytest.fixture
def standin() -> Iterator[StandinGrobid]:
    with StandinGrobid(pool_wait=0.05) as server:
        yield server


@pytest.fixture
def settings(standin: StandinGrobid, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", grobid_url=standin.url)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    for name in ("cats", "dogs", "owls"):
        write_paper_pdf(tmp_path / "papers" / f"{name}.pdf", f"On {name.title()}", [f"All {name} sleep."])
    return tmp_path / "papers"


def _build(
    settings: Settings, encoder: Encoder, papers: Path, options: BuildOptions = DEFAULT_OPTIONS
) -> Build:
    source = Folder(papers, PRINTS, PDF_SUFFIXES)
    return build_collection(settings, encoder, source, lambda _: None, options)


def _read(settings: Settings, encoder: Encoder) -> dict[str, Paper]:
    corpus = Corpus.open(settings.corpus_path, encoder)
    assert list(verify(corpus, settings.pdf_path)) == []
    return {paper.id.partition("/")[2]: paper for paper in corpus.papers()}


def _parsers(settings: Settings, encoder: Encoder) -> dict[str, str]:
    return {name: paper.parser for name, paper in _read(settings, encoder).items()}


def _md5(file: Path) -> str:
    return hashlib.md5(file.read_bytes()).hexdigest().upper()


def test_the_server_parses_and_its_tei_is_kept(
    standin: StandinGrobid, settings: Settings, encoder: Encoder, papers: Path
) -> None:
    build = _build(settings, encoder, papers)
    assert [(count.parser, count.papers) for count in build.parsers] == [("grobid", 3)]
    cats = _read(settings, encoder)["cats"]
    assert (cats.parser, cats.parser_version) == ("grobid", "0.9.1")
    assert (settings.pdf_path / f"{cats.pdf_sha256}.pdf").exists()
    asked = len(standin.requests)
    assert asked == 3
    (papers / "cats.pdf").rename(papers / "lions.pdf")
    build = _build(settings, encoder, papers)
    assert (build.added, build.removed, len(standin.requests)) == (1, 1, asked)
    alone = settings.model_copy(update={"grobid_url": "", "home": settings.home})
    (papers / "lions.pdf").rename(papers / "tigers.pdf")
    _build(alone, encoder, papers)
    assert _parsers(settings, encoder)["tigers"] == "grobid", "what was kept serves without a server"


def test_what_the_server_refuses_or_does_not_understand_is_read_without_it(
    standin: StandinGrobid, settings: Settings, encoder: Encoder, papers: Path
) -> None:
    for name, behaviour in (("cats", failure("NO_BLOCKS")), ("dogs", understood_nothing())):
        standin.scripts[_md5(papers / f"{name}.pdf")].append(behaviour)
    build = _build(settings, encoder, papers)
    assert _parsers(settings, encoder) == {"cats": "pypdfium2", "dogs": "pypdfium2", "owls": "grobid"}
    remarks = {remark.item: remark.text for remark in build.remarks}
    assert "[NO_BLOCKS]" in remarks["cats.pdf"]
    assert remarks["cats.pdf"].endswith("read with pypdfium2 instead")
    assert "GROBID found no text in this paper" in remarks["dogs.pdf"]


def test_without_the_server_papers_are_read_at_once_and_upgraded_later(
    standin: StandinGrobid, settings: Settings, encoder: Encoder, papers: Path
) -> None:
    absent = settings.model_copy(update={"grobid_url": f"http://127.0.0.1:{free_ports(1)[0]}"})
    build = _build(absent, encoder, papers)
    assert set(_parsers(absent, encoder).values()) == {"pypdfium2"}
    (remark,) = build.remarks
    assert "reparse --parser grobid" in remark.text
    with pytest.raises(CorpusError, match="GROBID"):
        _build(absent, encoder, papers, BuildOptions("grobid"))
    before = _read(settings, encoder)
    standin.scripts[_md5(papers / "cats.pdf")].append(failure("NO_BLOCKS"))
    done = _reparse(settings, "--parser", "grobid")
    assert done.exit_code == 0, done.output
    (build_made,) = json.loads(done.stdout)["builds"]
    assert (build_made["changed"], build_made["removed"]) == (2, 0)
    assert [failed["item"] for failed in build_made["failures"]] == ["cats.pdf"]
    after = _read(settings, encoder)
    assert {name: paper.parser for name, paper in after.items()} == {
        "cats": "pypdfium2",
        "dogs": "grobid",
        "owls": "grobid",
    }
    assert after["cats"] == before["cats"]
    assert [paper.fingerprint for paper in after.values()] == [paper.fingerprint for paper in before.values()]
    assert _build(settings, encoder, papers).unchanged == 3
    done = _reparse(settings, "--parser", "grobid")
    assert json.loads(done.stdout)["builds"][0]["changed"] == 1, "only what GROBID has not read is asked for"
    assert "grobid" in _reparse(settings, "prints", "--parser", "grobid", as_json=False).stdout


def _reparse(settings: Settings, *arguments: str, as_json: bool = True) -> Result:
    environment = {"PAPER_TRAIL_HOME": str(settings.home), "PAPER_TRAIL_GROBID_URL": settings.grobid_url}
    given = ["reparse", *arguments, *(["--json"] if as_json else [])]
    return CliRunner().invoke(app, given, env=environment)


def test_a_server_that_is_wanted_but_not_set_is_asked_for(tmp_path: Path) -> None:
    write_paper_pdf(tmp_path / "papers" / "cats.pdf")
    home = {"PAPER_TRAIL_HOME": str(tmp_path / "home")}
    named = ["--collection", "prints", "--title", "Prints", "--parser", "grobid"]
    done = CliRunner().invoke(app, ["pdfs", str(tmp_path / "papers"), *named], env=home)
    assert done.exit_code == 2
    assert "PAPER_TRAIL_GROBID_URL" in done.stderr
