"""Papers in blocks: embed their passages, label fields of study, stage the rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from corpus.encoders.base import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.places.place import Place
from corpus.records import Paper, Passage
from corpus.store import rows
from corpus.store.rows import indexed_text, sentence_texts
from indexer.build.staging import StagedPaper, write_part
from indexer.enrich.fields import field_labeller
from indexer.prepare.preparer import PreparedPaper, Task

PASSAGES_PER_BLOCK = 256


@dataclass(frozen=True, slots=True)
class EncodedPassages:
    """The indexed texts of passages, their vectors, and per passage those of its title and sentences."""

    indexed: tuple[str, ...]
    vectors: Vectors
    sentence_vectors: tuple[Vectors, ...]


def encode_passages(
    passages: Iterable[tuple[Paper, Passage]], encode: Callable[[Sequence[str]], Vectors]
) -> EncodedPassages:
    """Encode passages, each whole and by sentence; equal texts are encoded once."""
    pairs = list(passages)
    indexed = tuple(indexed_text(*pair) for pair in pairs)
    alone = [sentence_texts(*pair) for pair in pairs]
    texts = list(dict.fromkeys([*indexed, *chain.from_iterable(alone)]))
    encoded, row = encode(texts), {text: number for number, text in enumerate(texts)}
    return EncodedPassages(
        indexed,
        encoded[[row[text] for text in indexed]],
        tuple(encoded[[row[text] for text in passage]] for passage in alone),
    )


class Prepared(Protocol):
    """A prepared paper, in this process or with a remote worker."""

    @property
    def passage_count(self) -> int: ...


_Paper = TypeVar("_Paper", bound=Prepared)


@dataclass(frozen=True, slots=True)
class Block(Generic[_Paper]):
    """Papers that are encoded together; `number` is the position of the first in what the sources list."""

    number: int
    papers: tuple[_Paper, ...]


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """Papers with their fields of study, and the encoded passages of all of them."""

    number: int
    papers: tuple[PreparedPaper, ...]
    encoded: EncodedPassages


def blocks(papers: Iterable[tuple[Task, _Paper]]) -> Iterator[Block[_Paper]]:
    """Yield the papers in blocks of at least `PASSAGES_PER_BLOCK` passages, except perhaps the last.

    Which passages are encoded together changes the rounding of vectors: blocks are therefore the same for
    every engine and in a resumed build, where only whole blocks are staged.
    """
    block: list[_Paper] = []
    first = size = 0
    for task, paper in papers:
        first = first if block else task.number
        block.append(paper)
        size += paper.passage_count
        if size >= PASSAGES_PER_BLOCK:
            yield Block(first, tuple(block))
            block, size = [], 0
    if block:
        yield Block(first, tuple(block))


class BlockEncoder:
    """Encodes blocks and labels each paper with fields of study, from its text and first vector."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._labeller = field_labeller(encoder)

    def encode(self, block: Block[PreparedPaper]) -> EncodedBlock:
        pairs = ((item.paper, passage) for item in block.papers for passage in item.passages)
        encoded = encode_passages(pairs, self._encoder.encode_passages)
        firsts = np.cumsum([0, *(item.passage_count for item in block.papers[:-1])])
        fields = self._labeller.label([item.paper for item in block.papers], encoded.vectors[firsts])
        papers = tuple(
            replace(item, paper=replace(item.paper, topics=(*labels, *item.paper.topics)))
            for item, labels in zip(block.papers, fields, strict=True)
        )
        return EncodedBlock(block.number, papers, encoded)


def stage(folder: Place, key: str, block: EncodedBlock) -> str:
    """Write the rows of a block into the staging folder and return the part's name.

    Raises CorpusError.
    """
    papers = {item.paper.id: item.paper for item in block.papers}
    passages = [passage for item in block.papers for passage in item.passages]
    encoded = block.encoded
    entries = [rows.PaperEntry(item.paper, item.references, item.listed) for item in block.papers]
    vectors = (encoded.indexed, encoded.vectors, encoded.sentence_vectors)
    return write_part(
        folder,
        key,
        number=block.number,
        papers=rows.paper_rows(entries),
        passages=rows.passage_rows(passages, papers, *vectors),
        staged=[staged(item) for item in block.papers],
    )


def staged(item: PreparedPaper) -> StagedPaper:
    """Return the counts of a paper that a build reports."""
    paper = item.paper
    counts = (paper.collection_id, paper.fingerprint, paper.parser, item.passage_count)
    return StagedPaper(paper.id, *counts, item.notes)


def keep_pdf(pdf: Path | None, sha256: str, folder: Place) -> None:
    """Copy a paper's PDF beside the corpus under its hash, so that page images outlive the original.

    Raises CorpusError.
    """
    if pdf is None:
        return
    target = folder / f"{sha256}.pdf"
    try:
        # A power loss may have truncated the copy; `verify` also compares hashes.
        if target.size() != pdf.stat().st_size:
            target.copy_from(pdf)
    except OSError as error:
        raise CorpusError(f"{pdf.name} cannot be copied to {folder}: {error.strerror}.") from error
