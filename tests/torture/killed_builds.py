"""Builds that are killed at random moments, into a folder and into a bucket, and gone on with by the next."""

import os
import random
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import CorpusError
from corpus.settings import Settings
from corpus.store import rows
from corpus.store.corpus import Corpus
from indexer.maintenance.verify import verify
from tests.indexer.build.killable_build import HashEncoder, build, start
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.s3_server import FaultyS3, s3_server
from tests.torture.counts import Counts

PAPERS = 24
SECONDS_PER_PASSAGE = 0.02
# Kills before a build is left to finish; the next build begins with the papers as they are then.
KILLS_A_BUILD = 5
# Of one whole build, with its commit: moments are drawn up to it.
LONGEST_WAIT = 3.0

Rows = dict[str, dict[str, str]]


def in_a_folder(seed: int, kills: int) -> Counts:
    """Kill builds into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), str(Path(folder, "home")), Counts("builds killed, in a folder"))
        return site.torture(random.Random(seed), kills)


def in_a_bucket(seed: int, kills: int) -> Counts:
    """Kill builds into a bucket, each on a machine of its own."""
    with tempfile.TemporaryDirectory() as folder, s3_server() as server, FaultyS3(server) as s3:
        os.environ.update(s3.environment())
        site = Site(Path(folder), s3.home, Counts("builds killed, in a bucket"))
        return site.torture(random.Random(seed), kills)


@dataclass(frozen=True, slots=True)
class Site:
    """Where is built: the home, and a folder with the papers, what stays local and what was encoded."""

    folder: Path
    home: str
    counts: Counts

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def torture(self, drawn: random.Random, kills: int) -> Counts:
        os.environ["PAPER_TRAIL_LOCAL"] = str(self.folder / "local")
        published: Rows = {}
        while self.counts.tried < kills:
            generation = self.counts.tried
            papers = write_papers(self.folder / "papers", generation)
            whole = self.whole(papers, generation)
            for _ in range(KILLS_A_BUILD):
                self.kill_one(papers, drawn)
                # A build that was quicker than its kill, or was killed after it had published, is whole.
                if (found := self.contents(self.home)) != whole:
                    compare(found, published, self.counts)
            self.go_on(papers)
            compare(self.contents(self.home), whole, self.counts)
            published = whole
        return self.counts

    def whole(self, papers: Path, generation: int) -> Rows:
        """Return the rows of an undisturbed build of papers."""
        reference = self.folder / f"whole-{generation}"
        build(reference, papers, self.folder / "whole.log")
        return self.contents(str(reference))

    def go_on(self, papers: Path) -> None:
        try:
            build(self.home, papers, self.log)
        except CorpusError as error:
            self.counts.note("lost", f"a build that nothing disturbs any more: {error}")

    def kill_one(self, papers: Path, drawn: random.Random) -> None:
        machine = self.folder / f"machine-{self.counts.tried}"
        process = start(self.home, papers, self.log, SECONDS_PER_PASSAGE, PAPER_TRAIL_LOCAL=str(machine))
        time.sleep(drawn.uniform(0.0, LONGEST_WAIT))
        process.send_signal(signal.SIGKILL)
        if process.wait() not in (0, -signal.SIGKILL):
            self.counts.note("unexplained", f"a build ended with {process.returncode}")
        self.counts.tried += 1

    def contents(self, home: str) -> Rows:
        """Return the rows of a corpus, each as a text, by table and id; nothing where none is published."""
        settings = Settings(home=home)
        try:
            corpus = Corpus.open(settings.corpus_path, HashEncoder(self.log))
        except CorpusError as error:
            if "There is no corpus" not in str(error):
                self.counts.note("corrupted", str(error))
            return {}
        for problem in verify(corpus, settings.pdf_path):
            self.counts.note("corrupted", f"{problem.item}: {problem.text}")
        columns = {"papers": rows.PAPERS.names, "passages": [*rows.PASSAGE_COLUMNS, "indexed", "vector"]}
        return {table: self.rows_of(corpus, table, names) for table, names in columns.items()}

    def rows_of(self, corpus: Corpus, table: str, names: list[str]) -> dict[str, str]:
        entries = [row for batch in corpus.scan(table, names) for row in batch.to_pylist()]
        found = {row["id"]: repr(row) for row in entries}
        if doubled := len(entries) - len(found):
            self.counts.note("doubled", f"{doubled} rows of {table}", doubled)
        return found


def write_papers(folder: Path, generation: int) -> Path:
    """Write the papers: with each generation a third is changed, one comes and one goes."""
    for number in range(PAPERS):
        animal = f"animal {number}" if number % 3 else f"animal {number} in year {generation}"
        write_tei(folder / f"{number:02}.tei.xml", f"On {animal}", f"We watch {animal}.", [f"{animal} eats."])
    write_paper_pdf(folder / f"printed-{generation}.pdf", f"On printed animals {generation}")
    for old in folder.glob("printed-*.pdf"):
        if old.name != f"printed-{generation}.pdf":
            old.unlink()
    return folder


def compare(found: Rows, wanted: Rows, counts: Counts) -> None:
    """Count what a corpus lacks, has too much, or has otherwise than it should."""
    for table in found.keys() | wanted.keys():
        held, expected = found.get(table, {}), wanted.get(table, {})
        for identifier in expected.keys() - held.keys():
            counts.note("lost", f"{identifier} of {table}")
        for identifier in held.keys() - expected.keys():
            counts.note("doubled", f"{identifier} of {table} should not be there")
        for identifier in held.keys() & expected.keys():
            if held[identifier] != expected[identifier]:
                counts.note("corrupted", f"{identifier} of {table}")
