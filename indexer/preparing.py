"""From what a source lists to papers ready for the encoder: parsed, completed, cut into passages, enriched.

PDFs are read in processes of their own: PDFium is native code, and a file that breaks it must cost one
paper, not the build. Everything else is read in threads, which also wait for GROBID.
"""

import json
import logging
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from corpus.batches import cores
from corpus.bibtex import bibtex
from corpus.records import Author, Paper, Passage, Reference
from indexer.document import Document, ParseError
from indexer.enrich.aspects import choose_aspects
from indexer.enrich.topics import find_topics
from indexer.grobid_answers import GrobidError
from indexer.isolation import IsolatedProcesses
from indexer.passages import make_passages
from indexer.reading import is_pdf, read_document
from indexer.sources.protocol import SourcePaper
from indexer.staging import StagedPaper

ParserChoice = Literal["auto", "grobid", "pypdfium2"]

_LEAST_AHEAD = 32

logger = logging.getLogger(__name__)


class TeiParser(Protocol):
    """What has TEI of PDFs (indexer.grobid, or what was kept from it); it takes `at_once` PDFs at a time."""

    @property
    def at_once(self) -> int: ...

    def tei(self, pdf: Path, sha256: str) -> bytes | None:
        """Return the TEI of a PDF, None where there is none to be had; raises GrobidError."""
        ...

    def stop(self) -> None:
        """Let nobody wait any longer."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """A paper to be prepared; `sha256` is the hash of its file, `pdf_sha256` that of the PDF to show.

    `known` papers are in the corpus already: one that cannot be read stays as it is.
    """

    entry: SourcePaper
    fingerprint: str
    sha256: str = ""
    pdf_sha256: str = ""
    known: bool = False

    @property
    def pdf(self) -> Path | None:
        return self.entry.pdf or (self.entry.file if self.entry.file and is_pdf(self.entry.file) else None)


@dataclass(frozen=True, slots=True)
class PreparedPaper:
    """A paper with all that its row and its passages' rows need but the vectors.

    `name` is what its source calls it; `listed` is the source's own description as JSON, where there is a
    PDF to be parsed again.
    """

    name: str
    paper: Paper
    references: tuple[Reference, ...]
    passages: tuple[Passage, ...]
    pdf: Path | None = None
    listed: str = ""
    notes: tuple[str, ...] = ()

    @property
    def staged(self) -> StagedPaper:
        return StagedPaper(
            self.paper.collection_id,
            self.paper.fingerprint,
            self.paper.parser,
            len(self.passages),
            self.notes,
        )


class Preparer:
    """Prepares papers several at a time; for a `with` block."""

    def __init__(self, grobid: TeiParser | None = None, *, fall_back: bool = True) -> None:
        """Read PDFs with `grobid` where it is given, and with PDFium where it fails, if `fall_back`."""
        self._grobid = grobid
        self._fall_back = fall_back
        workers = max(1, min(4, cores() - 1))
        at_once = max(workers, self._grobid.at_once if self._grobid else 0)
        self._ahead = max(_LEAST_AHEAD, 2 * at_once)
        self._threads = ThreadPoolExecutor(at_once)
        self._processes = IsolatedProcesses(_read_and_prepare, workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._grobid:
            self._grobid.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._processes.close()

    def prepared(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, PreparedPaper | ParseError]]:
        """Yield the papers in the order of the tasks, a few being worked on ahead of the one wanted."""
        waiting: deque[tuple[Task, Future[PreparedPaper]]] = deque()
        for task in tasks:
            waiting.append((task, self._threads.submit(self._prepare, task)))
            if len(waiting) >= self._ahead:
                yield _outcome(*waiting.popleft())
        while waiting:
            yield _outcome(*waiting.popleft())

    def _prepare(self, task: Task) -> PreparedPaper:
        if task.entry.problem:
            raise ParseError(task.entry.problem)
        try:
            return self._read(task)
        except ParseError as error:
            if task.known or not task.entry.paper.title:
                raise
            # What the source says of the paper is worth having without its text.
            note = f"{error}; only its title and abstract are indexed"
            return prepare(replace(task, pdf_sha256=""), None, (note,))

    def _read(self, task: Task) -> PreparedPaper:
        try:
            return self._from_file(task)
        except ParseError:
            raise
        except Exception as error:
            # A fault of ours costs one paper, not the night that a build of a hundred thousand takes.
            logger.exception("reading %s", task.entry.name)
            raise ParseError(f"the parser failed with {type(error).__name__}; please report it") from error

    def _from_file(self, task: Task) -> PreparedPaper:
        entry = task.entry
        if entry.file is None:
            return prepare(task, None)
        if is_pdf(entry.file):
            return self._from_pdf(task, entry.file, task.sha256)
        try:
            return prepare(task, read_document(entry.file))
        except ParseError as error:
            if entry.pdf is None:
                raise
            return self._from_pdf_instead(task, entry.pdf, f"{entry.file.name}: {error}")

    def _from_pdf_instead(self, task: Task, pdf: Path, problem: str) -> PreparedPaper:
        """Return the paper as its PDF has it, where the TEI beside it cannot be read."""
        try:
            return self._from_pdf(task, pdf, task.pdf_sha256, (f"{problem}; its PDF is read instead",))
        except ParseError as error:
            raise ParseError(f"{problem}; its PDF cannot be read either: {error}") from error

    def _from_pdf(self, task: Task, pdf: Path, sha256: str, notes: tuple[str, ...] = ()) -> PreparedPaper:
        if self._grobid is None:
            return self._processes.run(task, pdf, notes)
        try:
            tei = self._grobid.tei(pdf, sha256)
            return prepare(task, _read_tei(tei), notes) if tei else self._processes.run(task, pdf, notes)
        except (GrobidError, ParseError) as error:
            if not self._fall_back:
                raise ParseError(str(error)) from error
            return self._processes.run(task, pdf, (*notes, f"{error}; read with pypdfium2 instead"))


def _read_tei(source: bytes) -> Document:
    from indexer.tei import read_tei  # noqa: PLC0415 - metadata-only builds need no parser

    return read_tei(source)


def _outcome(task: Task, future: Future[PreparedPaper]) -> tuple[Task, PreparedPaper | ParseError]:
    try:
        return task, future.result()
    except ParseError as error:
        return task, error


def prepare(task: Task, document: Document | None, notes: tuple[str, ...] = ()) -> PreparedPaper:
    """Return the paper with the source's metadata completed by what the parser found, and its passages."""
    entry = task.entry
    paper = _completed(entry, document, task)
    passages = make_passages(paper, document)
    paper = replace(paper, aspects=choose_aspects(paper, passages), topics=find_topics(paper, passages))
    shown = task.pdf if task.pdf_sha256 else None
    return PreparedPaper(
        entry.name,
        paper,
        entry.references or (document.references if document else ()),
        passages,
        shown,
        _listed(entry) if shown else "",
        (*entry.notes, *notes, *(document.notes if document else ())),
    )


def _completed(entry: SourcePaper, document: Document | None, task: Task) -> Paper:
    paper = replace(entry.paper, fingerprint=task.fingerprint, pdf_sha256=task.pdf_sha256)
    if document is not None:
        authors: tuple[Author, ...] = paper.authors or document.authors
        paper = replace(
            paper,
            title=paper.title or document.title or entry.name,
            authors=authors,
            year=paper.year or document.year,
            doi=paper.doi or document.doi,
            arxiv_id=paper.arxiv_id or document.arxiv_id,
            abstract=paper.abstract or "\n\n".join(paragraph.text for paragraph in document.abstract),
            keywords=paper.keywords or document.keywords,
            parser=document.parser,
            parser_version=document.parser_version,
            page_count=document.page_count,
            full_text=any(section.paragraphs for section in document.sections),
        )
    return replace(paper, bibtex=paper.bibtex or bibtex(paper))


def _listed(entry: SourcePaper) -> str:
    """Return what the source said of a paper as JSON, for `indexer.sources.kept`."""
    described = {
        "name": entry.name,
        "paper": asdict(entry.paper),
        "references": list(map(asdict, entry.references)),
    }
    return json.dumps(described, ensure_ascii=False)


def _read_and_prepare(task: Task, pdf: Path, notes: tuple[str, ...]) -> PreparedPaper:
    return prepare(task, read_document(pdf), notes)
