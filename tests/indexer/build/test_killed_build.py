"""A build that is killed at any moment loses nothing and does nothing twice."""

import random
import signal
import time
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.maintenance.verify import verify
from tests.indexer.build.killable_build import HashEncoder, build, sorted_rows, start
from tests.indexer.build.small_papers import write_paper_pdf, write_tei

KILLS = 6
PAPERS = 40
SECONDS_PER_PASSAGE = 0.02
# A killed build loses the block it encodes and those that wait for the disk, of about eight passages each.
PASSAGES_IN_FLIGHT = 5 * 9


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    for number in range(PAPERS):
        animal = f"animal {number}"
        write_tei(folder / f"{number:02}.tei.xml", f"On {animal}", f"We watch {animal}.", [f"{animal} eats."])
    write_paper_pdf(folder / "printed.pdf")
    (folder / "broken.tei.xml").write_text("<TEI")
    return folder


def _is_readable(home: Path, log: Path) -> bool:
    try:
        Corpus.open(Settings(home=home).corpus_path, HashEncoder(log))
    except CorpusError as error:
        assert "There is no corpus" in str(error)
        return False
    return True


@pytest.mark.long
def test_a_build_killed_at_random_moments_gives_the_corpus_of_one_that_was_not(
    tmp_path: Path, papers: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    whole, whole_log = tmp_path / "whole", tmp_path / "whole.log"
    process = start(whole, papers, whole_log, SECONDS_PER_PASSAGE)
    began = time.monotonic()
    assert process.wait() == 0
    seconds = time.monotonic() - began
    home, log = tmp_path / "home", tmp_path / "log"
    moments = random.Random(2026)
    killed = 0
    for _ in range(KILLS):
        process = start(home, papers, log, SECONDS_PER_PASSAGE)
        # Each goes on where the one before was, so that the moments add up to the whole build and its end.
        time.sleep(seconds * moments.uniform(0.05, 0.4))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        _is_readable(home, log)
    assert killed >= 2
    build(home, papers, log)
    assert sorted_rows(home, log) == sorted_rows(whole, whole_log)
    corpus = Corpus.open(Settings(home=home).corpus_path, HashEncoder(log))
    assert list(verify(corpus, Settings(home=home).pdf_path)) == []
    assert [failure.item for failure in corpus.builds()[-1].failures] == ["broken.tei.xml"]
    assert not list((home / "staging").glob("*.arrow*"))
    encoded, needed = len(log.read_text().split()), len(whole_log.read_text().split())
    assert needed <= encoded <= needed + killed * PASSAGES_IN_FLIGHT


def test_a_killed_rebuild_leaves_the_published_corpus_as_it_was(
    tmp_path: Path, papers: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    home, log = tmp_path / "home", tmp_path / "log"
    build(home, papers, log)
    before = sorted_rows(home, log)
    for number in range(PAPERS):
        write_tei(papers / f"{number:02}.tei.xml", f"On plant {number}", "We watch plants.", ["Plants grow."])
    process = start(home, papers, log, SECONDS_PER_PASSAGE)
    while not list((home / "staging").glob("*.papers.arrow")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert sorted_rows(home, log) == before
    build(home, papers, log)
    assert sorted_rows(home, log)["papers"][0]["title"] == "On plant 0"
