"""Builds a folder with a light encoder and small blocks, in a process that a test can kill.

Arguments: home, folder of papers, a file that takes one line per passage encoded. The encoder stands in for
the real model, which takes seconds to load: its vectors come from a hash of the text. Says when it begins:
importing everything takes longer than building, and nothing can go wrong in it.
"""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpus.encoders.base import Runtime, Vectors
from corpus.records import Collection
from corpus.settings import Settings
from corpus.store import rows
from corpus.store.corpus import Corpus
from indexer.build import encode as blocks
from indexer.build.run import build_collection
from indexer.sources.folder import Folder

DIMENSION = 8


class HashEncoder:
    """Gives every text its own unit vector, and writes down which passages it was asked to encode.

    These begin with a paper's title and go on; titles and sentences are encoded beside them, and what
    describes fields of study by every process anew.
    """

    name, sha256 = "hash", "0" * 64
    runtime: Runtime = "torch"

    def __init__(self, log: Path, seconds_per_passage: float = 0.0) -> None:
        self._log = log
        self._seconds_per_passage = seconds_per_passage

    def load(self) -> None:
        """Nothing is to be loaded."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        passages = [text for text in texts if text.startswith("On ") and "\n" in text]
        time.sleep(self._seconds_per_passage * len(passages))
        with self._log.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in passages)
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        digest = hashlib.sha256(text.encode()).digest()
        vector = np.frombuffer(digest[:DIMENSION], dtype=np.uint8).astype(np.float32) + 1
        return vector / np.linalg.norm(vector)


def build(
    home: Path | str, papers: Path, log: Path, seconds_per_passage: float = 0.0, collection: str = "notes"
) -> None:
    blocks.PASSAGES_PER_BLOCK = 8
    source = Folder(papers, Collection(collection, "Notes", source="Folder"), (".tei.xml", ".pdf"))
    build_collection(Settings(home=home), HashEncoder(log, seconds_per_passage), source, lambda _: None)


def start(
    home: Path | str, papers: Path, log: Path, seconds: float, **environment: str
) -> "subprocess.Popen[bytes]":
    """Return a build that has just begun, in a process of its own with these settings."""
    arguments = [str(home), str(papers), str(log), str(seconds)]
    command = [sys.executable, "-m", "tests.indexer.build.killable_build", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | environment)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    process.stdout.close()
    return process


def rows_of(corpus: Corpus) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of a corpus but its builds, in their order."""
    columns = {
        "papers": [*rows.PAPERS.names, rows.RECORD.name],
        "passages": [*rows.PASSAGE_COLUMNS, "indexed", "vector", "sentence_vectors", rows.RECORD.name],
        "links": rows.LINKS.names,
        "collections": rows.COLLECTIONS.names,
    }
    return {
        table: [row for batch in corpus.scan(table, names) for row in batch.to_pylist()]
        for table, names in columns.items()
    }


def sorted_rows(home: Path | str, log: Path) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of the corpus of a home but its builds, in a fixed order."""
    corpus = Corpus.open(Settings(home=home).corpus_path, HashEncoder(log))
    return {
        table: sorted(entries, key=lambda row: str(row.get("id", row)))
        for table, entries in rows_of(corpus).items()
    }


if __name__ == "__main__":
    print("begins", flush=True)
    build(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
