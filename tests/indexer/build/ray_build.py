"""Builds a folder in small blocks on a Ray cluster or in processes, in a process that a test can kill.

Arguments: home, folder of papers, address of the cluster, "" for processes. Prints its failures in the end.
"""

import sys
from pathlib import Path

from corpus.encoder_choice import open_encoder
from corpus.records import Collection
from corpus.settings import Settings
from indexer.build import encode as blocks
from indexer.build.engines import open_engine
from indexer.build.run import BuildOptions, build_collection
from indexer.sources.folder import Folder


def build(home: Path, papers: Path, address: str) -> list[str]:
    """Build a corpus and return the report's lines on papers that could not be read."""
    blocks.PASSAGES_PER_BLOCK = 8
    settings = Settings(home=home)
    source = Folder(papers, Collection("notes", "Notes", source="Folder"), (".tei.xml", ".pdf", ".md"))
    done: list[str] = []
    with open_engine("ray" if address else "process", address, 2 if address else 0) as engine:
        options = BuildOptions(engine=engine)
        built = build_collection(settings, open_encoder(settings), source, done.append, options)
    assert len(done) == len(source)
    return [f"{failure.item}: {failure.reason}" for failure in built.failures]


if __name__ == "__main__":
    print("\n".join(build(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])), flush=True)
