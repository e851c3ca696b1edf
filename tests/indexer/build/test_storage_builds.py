"""A corpus in a bucket is built as in a folder, through a network with faults, and by several at once."""

import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import CorpusError
from corpus.places import bucket
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from indexer.maintenance.verify import verify
from tests.demo_home import PROJECT
from tests.indexer.build.killable_build import HashEncoder, build, sorted_rows, start
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.s3_server import FaultyS3
from tests.small_corpus import add, make_paper

PAPERS = 8


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    return write_papers(tmp_path / "papers", "animal")


def write_papers(folder: Path, subject: str) -> Path:
    for number in range(PAPERS):
        name = f"{subject} {number}"
        write_tei(folder / f"{number:02}.tei.xml", f"On {name}", f"We watch {name}.", [f"{name} eats."])
    write_paper_pdf(folder / "printed.pdf", f"On printed {subject}")
    return folder


def contents(home: Path | str, log: Path) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of a corpus that is whole, but its builds, in a fixed order."""
    settings = Settings(home=home)
    corpus = Corpus.open(settings.corpus_path, HashEncoder(log))
    assert list(verify(corpus, settings.pdf_path)) == []
    return sorted_rows(home, log)


def test_a_corpus_in_a_bucket_is_the_one_of_a_folder(tmp_path: Path, papers: Path, s3: FaultyS3) -> None:
    log = tmp_path / "log"
    build(tmp_path / "home", papers, log)
    build(s3.home, papers, log)
    assert contents(s3.home, log) == contents(tmp_path / "home", log)
    settings = Settings(home=s3.home)
    assert settings.staging_path.files() == []
    (kept,) = settings.pdf_path.files()
    assert kept.local().read_bytes() == (papers / "printed.pdf").read_bytes()
    assert [path.name for path in (tmp_path / "local").iterdir()] == ["build.lock"]
    encoded = len(log.read_text().split())
    (papers / "00.tei.xml").unlink()
    build(s3.home, papers, log)
    assert len(contents(s3.home, log)["papers"]) == PAPERS
    assert len(log.read_text().split()) == encoded


@pytest.mark.long
def test_builds_killed_on_several_machines_give_the_corpus_of_one_that_was_not(
    tmp_path: Path, papers: Path, s3: FaultyS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    build(tmp_path / "whole", papers, tmp_path / "whole.log")
    log, moments, killed = tmp_path / "log", random.Random(2026), 0
    for number in range(2):
        process = start(s3.home, papers, log, 0.05, PAPER_TRAIL_LOCAL=str(tmp_path / f"machine-{number}"))
        while not any("PUT" in asked and ".papers.arrow" in asked for asked in s3.asked):
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.4))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        s3.asked.clear()
    assert killed
    with pytest.raises(CorpusError, match="There is no corpus"):
        contents(s3.home, log)
    build(s3.home, papers, log)
    assert contents(s3.home, log) == contents(tmp_path / "whole", log)
    encoded, needed = len(log.read_text().split()), len((tmp_path / "whole.log").read_text().split())
    assert encoded <= needed + killed * 5 * 9


@pytest.mark.long
def test_a_build_killed_while_it_commits_leaves_what_was_published(
    tmp_path: Path, papers: Path, s3: FaultyS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    log = tmp_path / "log"
    build(s3.home, papers, log)
    before = contents(s3.home, log)
    write_tei(papers / "00.tei.xml", "On plants", "We watch plants.", ["Plants grow."])
    for place in ("papers.lance/_versions", "manifest.json"):
        held = s3.fault("hold", "PUT", f"corpus/{place}")
        process = start(s3.home, papers, log, 0, PAPER_TRAIL_LOCAL=str(tmp_path / "machine"))
        assert held.met.wait(60)
        process.kill()
        process.wait()
        assert contents(s3.home, log) == before
    build(s3.home, papers, log)
    assert contents(s3.home, log)["papers"][0]["title"] == "On plants"


@pytest.mark.parametrize(
    "faults",
    [
        [("slow down", "PUT", "corpus/", 3), ("slow", "GET", "corpus/papers", 3), ("cut", "GET", "pdf/", 1)],
        [("error", "PUT", "staging/", 3), ("error", "GET", "corpus/", 3), ("cut", "GET", "staging/", 2)],
        [("cut after", "PUT", "manifest.json", 1)],
        [("error after", "PUT", "manifest.json", 1)],
    ],
)
def test_a_passing_fault_is_harmless(tmp_path: Path, papers: Path, s3: FaultyS3, faults: list[Any]) -> None:
    log = tmp_path / "log"
    build(tmp_path / "home", papers, log)
    befell = [s3.fault(*fault) for fault in faults]
    build(s3.home, papers, log)
    assert contents(s3.home, log) == contents(tmp_path / "home", log)
    assert all(fault.met.is_set() for fault in befell)


@pytest.mark.parametrize("kind", ["cut after", "error after"])
def test_a_lost_reply_doubles_nothing(tmp_path: Path, papers: Path, s3: FaultyS3, kind: Any) -> None:
    log = tmp_path / "log"
    build(tmp_path / "home", papers, log)
    fault = s3.fault(kind, "PUT", "corpus/passages.lance/_versions/1844674407370955161")
    fault.times = 2
    for _ in range(3):
        try:
            build(s3.home, papers, log)
            break
        except CorpusError as error:
            assert "run the same command again" in str(error) or "cannot be written" in str(error)
    assert fault.met.is_set()
    assert contents(s3.home, log) == contents(tmp_path / "home", log)


def test_a_storage_that_is_not_there_or_stays_away_is_named(
    tmp_path: Path, papers: Path, s3: FaultyS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CorpusError, match="there is no such bucket"):
        build(f"s3://{s3.bucket}-no/papers", papers, tmp_path / "log")
    monkeypatch.setattr(bucket, "RETRIES", 1)
    s3.fault("slow down", "GET", times=1000)
    with pytest.raises(CorpusError, match=r"asked too often.*doctor"):
        build(s3.home, papers, tmp_path / "log")


def test_of_two_builders_the_later_one_has_the_tables(tmp_path: Path, s3: FaultyS3) -> None:
    encoder = HashEncoder(tmp_path / "log")
    place = Settings(home=s3.home).corpus_path
    first, second = CorpusWriter(place, encoder), CorpusWriter(place, encoder)
    add(first, encoder, {make_paper("letters", "owl"): ["Owls hoot."]})
    add(second, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    with pytest.raises(CorpusError, match="Another build"):
        add(first, encoder, {make_paper("letters", "elk"): ["Elks roar."]})
    second.publish()
    with pytest.raises(CorpusError, match="Another build"):
        first.publish()
    assert [paper.id for paper in Corpus.open(place, encoder).papers()] == ["notes/cat"]
    third, late = CorpusWriter(place, encoder), CorpusWriter(place, encoder)
    add(third, encoder, {make_paper("letters", "owl"): ["Owls hoot."]})
    third.publish()
    with pytest.raises(CorpusError, match="has published there"):
        add(late, encoder, {make_paper("other", "dog"): ["Dogs bark."]})
    assert {paper.id for paper in Corpus.open(place, encoder).papers()} == {"notes/cat", "letters/owl"}


def test_two_builds_at_once_are_safe(tmp_path: Path, s3: FaultyS3, monkeypatch: pytest.MonkeyPatch) -> None:
    log, names = tmp_path / "log", ("animal", "plant")
    folders = {name: write_papers(tmp_path / name, name) for name in names}
    for name, folder in folders.items():
        build(tmp_path / "home", folder, log, collection=name)
    once = len(log.read_text().split())
    done: dict[str, str] = {}
    # Of one machine the lock of its folder lets one build at a time.
    monkeypatch.setattr("indexer.build.run.build_lock", lambda _: threading.Semaphore())

    def run(name: str) -> None:
        try:
            build(s3.home, folders[name], log, 0.01, collection=name)
            done[name] = ""
        except CorpusError as error:
            done[name] = str(error)

    both = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    losers = [name for name, problem in done.items() if problem]
    assert len(losers) < 2
    for name in losers:
        assert "Another build" in done[name]
        build(s3.home, folders[name], log, collection=name)
    assert contents(s3.home, log) == contents(tmp_path / "home", log)
    assert len(log.read_text().split()) == 2 * once
