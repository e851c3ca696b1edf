"""The program that builds a Zotero library slowly, to be killed."""

import sys
from pathlib import Path

from corpus.records import Collection
from corpus.settings import Settings
from indexer.build import encode as blocks
from indexer.build.run import build_collection
from indexer.sources.library import LibraryPapers
from indexer.sources.zotero import read_zotero
from tests.indexer.build.killable_build import HashEncoder

if __name__ == "__main__":
    blocks.PASSAGES_PER_BLOCK = 4
    print("begins", flush=True)
    folder, home, log = map(Path, sys.argv[1:])
    source = LibraryPapers(Collection("zotero", "Zotero"), read_zotero(folder).items)
    build_collection(Settings(home=home), HashEncoder(log, 0.02), source, lambda _: None)
