"""Documents to make questions of: a PAPER_TRAIL_HOME, a folder of files, or JSON lines."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpus.records import Collection, Paper, paper_id
from corpus.sentences import sentence_spans
from corpus.text import storable
from indexer.errors import ParseError, SourceError
from indexer.parsers import Document, DocumentSection, Paragraph, Piece
from indexer.prepare import make_passages
from training.files import TrainingError
from training.truthreader.records import Dropped, SourceDocument

COLLECTION = "documents"
LONGEST_TEXT = 2_000_000
MANIFEST = "manifest.json"


class TextRecord(BaseModel):
    """A line of a file of documents."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1, max_length=200)
    title: str = Field(min_length=1, max_length=2_000)
    text: str = Field(min_length=1, max_length=LONGEST_TEXT)


def read_documents(path: Path) -> tuple[tuple[SourceDocument, ...], tuple[Dropped, ...]]:
    """Return the documents at `path` and those that could not be read; raises TrainingError without any."""
    if path.is_file():
        return tuple(_lines(path)), ()
    if (path / "corpus" / MANIFEST).is_file():
        return tuple(_corpus(path / "corpus")), ()
    if (path / MANIFEST).is_file():
        return tuple(_corpus(path)), ()
    if path.is_dir():
        return _folder(path)
    raise TrainingError(f"There are no documents at {path}: name a PAPER_TRAIL_HOME, a folder or JSON lines.")


def _corpus(path: Path) -> Iterator[SourceDocument]:
    from corpus.store import Corpus, read_manifest  # noqa: PLC0415 - half a second, for corpora alone

    # Nothing is searched, so no encoder is needed.
    corpus = Corpus(path, read_manifest(path))
    for paper in corpus.papers():
        yield SourceDocument(paper, corpus.passages(paper.id))


def _folder(path: Path) -> tuple[tuple[SourceDocument, ...], tuple[Dropped, ...]]:
    from indexer.sources.folder import Folder  # noqa: PLC0415 - with what reads files
    from indexer.uploads.document import KINDS  # noqa: PLC0415
    from indexer.uploads.paper import ReadLimits, read_file  # noqa: PLC0415

    try:
        listed = Folder(path, Collection(COLLECTION, "Documents"), KINDS)
    except SourceError as error:
        raise TrainingError(str(error)) from None
    read: list[SourceDocument] = []
    dropped: list[Dropped] = []
    for entry in listed.papers():
        try:
            found = read_file(entry.file or path, entry.name, COLLECTION, ReadLimits())
        except ParseError as error:
            dropped.append(Dropped(entry.name, "documents", "unreadable document", detail=str(error)))
        else:
            read.append(SourceDocument(found.paper, found.passages))
    return tuple(read), tuple(dropped)


def _lines(path: Path) -> Iterator[SourceDocument]:
    seen: set[str] = set()
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _document(_record(path, number, line, seen))
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"The documents {path} cannot be read: {error}.") from None
    if not seen:
        raise TrainingError(f"The file {path} holds no documents: a line is {{id, title, text}}.")


def _record(path: Path, number: int, line: str, seen: set[str]) -> TextRecord:
    try:
        record = TextRecord.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise TrainingError(f"{path}, line {number}: {place}: {first['msg']}.") from None
    if record.id in seen:
        raise TrainingError(f"{path}, line {number}: the id {record.id!r} is there twice.")
    seen.add(record.id)
    return record


def _document(record: TextRecord) -> SourceDocument:
    paper = Paper(
        id=paper_id(COLLECTION, record.id),
        collection_id=COLLECTION,
        title=storable(record.title).strip(),
        authors=(),
        year=None,
        venue="",
        abstract="",
    )
    return SourceDocument(paper, make_passages(paper, _read(record)))


def _read(record: TextRecord) -> Document:
    blocks = [block for block in storable(record.text).split("\n\n") if block.strip()]
    paragraphs = tuple(Paragraph(tuple(_pieces(" ".join(block.split())))) for block in blocks)
    return Document(title=record.title, sections=(DocumentSection((), paragraphs),))


def _pieces(text: str) -> Iterator[Piece]:
    for start, end in sentence_spans(text):
        yield Piece(text[start:end].strip())
