"""Papers in blocks: embedded together, given their fields of study, staged as rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from corpus.encoders import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.places import Place
from corpus.records import Paper, Passage
from corpus.store import indexed_text, rows, sentence_texts
from indexer.build.staging import StagedPaper, Staging
from indexer.enrich import field_labeller
from indexer.prepare import PreparedPaper

PASSAGES_PER_BLOCK = 512


@dataclass(frozen=True, slots=True)
class EncodedPassages:
    """What of each passage is searched, its vector, and those of its paper's title and of its sentences."""

    indexed: tuple[str, ...]
    vectors: Vectors
    sentence_vectors: tuple[Vectors, ...]


def encode_passages(
    passages: Iterable[tuple[Paper, Passage]], encode: Callable[[Sequence[str]], Vectors]
) -> EncodedPassages:
    """Return passages encoded, whole and each sentence alone; what is the same is encoded once."""
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


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """Papers with their fields of study, and what all their passages are searched by."""

    papers: tuple[PreparedPaper, ...]
    encoded: EncodedPassages


def blocks(papers: Iterable[PreparedPaper]) -> Iterator[tuple[PreparedPaper, ...]]:
    """Yield the papers in blocks of at least `PASSAGES_PER_BLOCK` passages, the last one perhaps fewer."""
    block: list[PreparedPaper] = []
    size = 0
    for paper in papers:
        block.append(paper)
        size += len(paper.passages)
        if size >= PASSAGES_PER_BLOCK:
            yield tuple(block)
            block, size = [], 0
    if block:
        yield tuple(block)


class BlockEncoder:
    """Gives blocks their vectors, and each paper the fields of study that its words and first vector tell."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._labeller = field_labeller(encoder)

    def encode(self, block: Sequence[PreparedPaper]) -> EncodedBlock:
        pairs = ((item.paper, passage) for item in block for passage in item.passages)
        encoded = encode_passages(pairs, self._encoder.encode_passages)
        firsts = np.cumsum([0, *(len(item.passages) for item in block[:-1])])
        fields = self._labeller.label([item.paper for item in block], encoded.vectors[firsts])
        papers = tuple(
            replace(item, paper=replace(item.paper, topics=(*own, *item.paper.topics)))
            for item, own in zip(block, fields, strict=True)
        )
        return EncodedBlock(papers, encoded)


def stage(staging: Staging, pdf_folder: Place, block: EncodedBlock) -> None:
    """Keep the PDFs of a block and stage its rows; raises CorpusError."""
    for item in block.papers:
        keep_pdf(item.pdf, item.paper.pdf_sha256, pdf_folder)
    papers: dict[str, Paper] = {item.paper.id: item.paper for item in block.papers}
    passages, encoded = [passage for item in block.papers for passage in item.passages], block.encoded
    staging.add(
        rows.paper_rows([rows.PaperEntry(item.paper, item.references, item.listed) for item in block.papers]),
        rows.passage_rows(passages, papers, encoded.indexed, encoded.vectors, encoded.sentence_vectors),
        [staged(item) for item in block.papers],
    )


def staged(item: PreparedPaper) -> StagedPaper:
    """Return what a build counts of a paper."""
    paper = item.paper
    return StagedPaper(paper.collection_id, paper.fingerprint, paper.parser, len(item.passages), item.notes)


def keep_pdf(pdf: Path | None, sha256: str, folder: Place) -> None:
    """Copy a paper's PDF beside the corpus under its hash, so that page images outlive the original.

    Raises CorpusError.
    """
    if pdf is None:
        return
    target = folder / f"{sha256}.pdf"
    try:
        # A power loss may have left a copy that lacks its end; `verify` looks into the others.
        if target.size() != pdf.stat().st_size:
            target.copy_from(pdf)
    except OSError as error:
        raise CorpusError(f"{pdf.name} cannot be copied to {folder}: {error.strerror}.") from error
