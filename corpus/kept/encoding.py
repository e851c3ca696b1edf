"""Encoding of a kept library with another encoder than before."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from corpus.encoders.base import Encoder, Vectors
from corpus.kept.folder import LibraryFolder
from corpus.records import Paper, Passage
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.manifest import read_manifest
from corpus.store.writer import CorpusWriter


class Encoded(Protocol):
    """The encoded passages of a paper: searched texts, their vectors, and those of title and sentences."""

    @property
    def indexed(self) -> Sequence[str]: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def sentence_vectors(self) -> Sequence[Vectors]: ...


Encode = Callable[[Iterable[tuple[Paper, Passage]]], Encoded]


def encode_anew(folder: LibraryFolder, encoder: Encoder, encode: Encode) -> None:
    """Encode a locked and marked library with `encoder`, and replace its tables."""
    corpus = Corpus(folder.corpus, read_manifest(folder.corpus))
    shutil.rmtree(folder.new_corpus, ignore_errors=True)
    writer = CorpusWriter(folder.new_corpus, encoder)
    writer.put_collections([summary.collection for summary in corpus.collections()])
    for collection, size in corpus.passage_sizes().items():
        writer.cut_as(size, [collection])
    papers = corpus.papers()
    entries = [rows.PaperEntry(paper, corpus.references(paper.id)) for paper in papers]
    pairs = [(paper, passage) for paper in papers for passage in corpus.passages(paper.id)]
    encoded = encode(pairs)
    passages = rows.passage_rows(
        [passage for _, passage in pairs],
        {paper.id: paper for paper in papers},
        encoded.indexed,
        encoded.vectors,
        encoded.sentence_vectors,
    )
    writer.add_papers(rows.paper_rows(entries).to_batches(), passages.to_batches())
    writer.publish()
    folder.swap_corpus()
