"""Papers in blocks: embedded together, given their fields of study, staged as rows."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from corpus import rows
from corpus.encoder import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.indexed import indexed_text, sentence_texts
from corpus.records import Paper
from indexer.enrich.fields import field_labeller
from indexer.preparing import PreparedPaper
from indexer.staging import Staging

PASSAGES_PER_BLOCK = 512


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """Papers with their fields of study; the rest runs parallel to all their passages.

    `sentence_vectors` are those of the paper's title and of each sentence of the passage.
    """

    papers: tuple[PreparedPaper, ...]
    indexed: tuple[str, ...]
    vectors: Vectors
    sentence_vectors: tuple[Vectors, ...]


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
    """Gives blocks their vectors, and each paper the fields of study that its first vector is near to."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._labeller = field_labeller(encoder)

    def encode(self, block: Sequence[PreparedPaper]) -> EncodedBlock:
        indexed = [indexed_text(item.paper, passage) for item in block for passage in item.passages]
        alone = [sentence_texts(item.paper, passage) for item in block for passage in item.passages]
        # What is the same, such as the title of all passages of a paper, is encoded once.
        texts = list(dict.fromkeys([*indexed, *chain.from_iterable(alone)]))
        encoded = self._encoder.encode_passages(texts)
        row = {text: number for number, text in enumerate(texts)}
        vectors = encoded[[row[text] for text in indexed]]
        fields = self._labeller.label(vectors[_first_passages(block)])
        papers = tuple(
            replace(item, paper=replace(item.paper, topics=(*own, *item.paper.topics)))
            for item, own in zip(block, fields, strict=True)
        )
        sentence_vectors = tuple(encoded[[row[text] for text in passage]] for passage in alone)
        return EncodedBlock(papers, tuple(indexed), vectors, sentence_vectors)


def _first_passages(block: Sequence[PreparedPaper]) -> list[int]:
    """Return where among all passages of a block those of number 0 stand."""
    places, place = [], 0
    for item in block:
        places.append(place)
        place += len(item.passages)
    return places


def stage(staging: Staging, pdf_folder: Path, block: EncodedBlock) -> None:
    """Keep the PDFs of a block and stage its rows; raises CorpusError."""
    for item in block.papers:
        keep_pdf(item.pdf, item.paper.pdf_sha256, pdf_folder)
    papers: dict[str, Paper] = {item.paper.id: item.paper for item in block.papers}
    passages = [passage for item in block.papers for passage in item.passages]
    staging.add(
        rows.paper_rows([rows.PaperEntry(item.paper, item.references, item.listed) for item in block.papers]),
        rows.passage_rows(passages, papers, block.indexed, block.vectors, block.sentence_vectors),
        [item.staged for item in block.papers],
    )


def keep_pdf(pdf: Path | None, sha256: str, folder: Path) -> None:
    """Copy a paper's PDF beside the corpus under its hash, so that page images outlive the original.

    Raises CorpusError.
    """
    target = folder / f"{sha256}.pdf"
    if pdf is None or target.exists():
        return
    temporary = target.with_suffix(".new")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(pdf, temporary)
        temporary.replace(target)
    except OSError as error:
        raise CorpusError(f"{pdf.name} cannot be copied to {folder}: {error.strerror}.") from error
