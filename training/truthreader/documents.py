"""Documents to ask about: a PAPER_TRAIL_HOME, or JSON lines."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from corpus.records import Paper, Passage, paper_id
from corpus.sentences import sentence_spans
from corpus.text import storable
from evaluation.input_files import read_numbered_json_lines
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.prepare.passages import make_passages
from training.files import TrainingError

COLLECTION = "documents"
MANIFEST = "manifest.json"

SourceDocument = tuple[Paper, tuple[Passage, ...]]


class TextRecord(BaseModel):
    """A line of a file of documents."""

    id: str = Field(min_length=1, max_length=200)
    title: str = Field(min_length=1, max_length=2_000)
    text: str = Field(min_length=1, max_length=2_000_000)


def read_documents(path: Path) -> list[SourceDocument]:
    """Return the documents at `path`; raises TrainingError or EvaluationError where there are none."""
    if path.is_file():
        return list(_lines(path))
    for folder in (path / "corpus", path):
        if (folder / MANIFEST).is_file():
            from corpus.store.corpus import Corpus  # noqa: PLC0415 - half a second
            from corpus.store.manifest import read_manifest  # noqa: PLC0415 - half a second

            corpus = Corpus(folder, read_manifest(folder))  # without an encoder: nothing is searched
            return [(paper, corpus.passages(paper.id)) for paper in corpus.papers()]
    raise TrainingError(f"There are no documents at {path}: name a PAPER_TRAIL_HOME or JSON lines.")


def _lines(path: Path) -> Iterator[SourceDocument]:
    seen: set[str] = set()
    for number, record in read_numbered_json_lines(path, TextRecord, "Each line has id, title and text."):
        if record.id in seen:
            raise TrainingError(f"{path}, line {number}: the id {record.id!r} is there twice.")
        seen.add(record.id)
        yield make_document(COLLECTION, record.id, record.title, record.text)


def make_document(collection: str, identifier: str, title: str, text: str) -> SourceDocument:
    """Return a text as a paper with passages; an empty line ends a paragraph."""
    title = storable(title).strip()
    paper = Paper(paper_id(collection, identifier), collection, title, (), None, "", "")
    blocks = [" ".join(block.split()) for block in storable(text).split("\n\n") if block.strip()]
    paragraphs = tuple(
        Paragraph(tuple(Piece(block[start:end].strip()) for start, end in sentence_spans(block)))
        for block in blocks
    )
    document = Document(title=title, sections=(DocumentSection((), paragraphs),))
    return paper, make_passages(paper, document)
