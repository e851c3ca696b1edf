"""From a source's entries to papers ready for the encoder: parsed, completed, cut into passages, enriched.

Files are read in separate processes with bounded time and memory, so that a crashing parser costs one paper.
Threads wait for these processes and for GROBID.
"""

import json
import logging
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from corpus.bibtex.entry import bibtex
from corpus.encoders.batching import cores
from corpus.errors import CorpusError
from corpus.records import LONGEST_FIELD, USUAL_SIZE, Author, Paper, Passage, PassageSize, Reference
from corpus.sentences import without_repeats
from corpus.text import storable
from corpus.wording import hidden_text
from indexer.enrich.aspects import choose_aspects
from indexer.enrich.languages import language_of
from indexer.enrich.topics import find_topics
from indexer.errors import OutOfTimeError, ParseError, UnreadScanError
from indexer.parsers.document import Document
from indexer.parsers.grobid.answers import GrobidError
from indexer.parsers.ocr.engines import NO_OCR, SECONDS_PER_PAGE, OcrOptions, program_folders
from indexer.parsers.registry import TeiParser, is_pdf, read_document
from indexer.parsers.sandbox import IsolatedProcesses, ParserFaultError
from indexer.prepare.passages import make_passages
from indexer.prepare.soundness import MOST_IN_A_BOOK, is_sound
from indexer.sources.protocol import SourcePaper

MOST_LISTED = 10_000
"""The most authors or keywords of a paper; the largest collaboration has 5,154 authors."""
_LEAST_AHEAD = 32
# Papers without a file are cheap: a whole block is prepared ahead, so that the encoder never waits.
_WITHOUT_FILES_AHEAD = 256
_DESCRIBED = ("title", "venue", "abstract", "keywords", "authors")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A paper to be prepared; `sha256` is the hash of its file, `pdf_sha256` that of the PDF to show.

    A `known` paper is in the corpus already; if it cannot be read it stays as it is. `size` is that of its
    passages, `number` its position in what a build's sources list.
    """

    entry: SourcePaper
    fingerprint: str
    sha256: str = ""
    pdf_sha256: str = ""
    known: bool = False
    size: PassageSize = USUAL_SIZE
    number: int = 0

    @property
    def pdf(self) -> Path | None:
        return self.entry.pdf or (self.entry.file if self.entry.file and is_pdf(self.entry.file) else None)


@dataclass(frozen=True, slots=True)
class PreparedPaper:
    """A paper with everything its rows need, except vectors.

    `name` is the source's name for it; `listed` is the source's metadata as JSON, if there is a PDF that may
    be parsed again.
    """

    name: str
    paper: Paper
    references: tuple[Reference, ...]
    passages: tuple[Passage, ...]
    pdf: Path | None = None
    listed: str = ""
    notes: tuple[str, ...] = ()

    @property
    def passage_count(self) -> int:
        return len(self.passages)


_Prepared = TypeVar("_Prepared")
_Prepared_co = TypeVar("_Prepared_co", covariant=True)


class Workers(Protocol[_Prepared_co]):
    """Workers that prepare `at_once` papers in parallel, called from as many threads."""

    @property
    def at_once(self) -> int: ...

    def prepare(
        self, task: Task, source: Path | bytes | None, notes: tuple[str, ...] = (), ocr: OcrOptions = NO_OCR
    ) -> _Prepared_co:
        """Prepare a paper from a file, from a server's TEI, or from the source's metadata alone.

        Raises ParseError.
        """
        ...


class LocalWorkers:
    """Prepares papers in processes of this machine, which all builds of a program share."""

    def __init__(self, at_once: int = 0) -> None:
        """Start `at_once` processes, by default one fewer than the cores, at most four."""
        self.at_once = at_once or max(1, min(4, cores() - 1))
        self._processes = _processes(self.at_once)

    def prepare(
        self, task: Task, source: Path | bytes | None, notes: tuple[str, ...] = (), ocr: OcrOptions = NO_OCR
    ) -> PreparedPaper:
        if source is None:
            return prepare(task, None, notes)
        reads = ocr if isinstance(source, Path) and is_pdf(source) else NO_OCR
        prepared = self._processes.run(
            task,
            source,
            notes,
            ocr,
            readable=[path for path in (source, task.pdf) if isinstance(path, Path)],
            programs=program_folders(reads),
            granted=reads.most_pages * SECONDS_PER_PAGE if reads.engine else 0,
        )
        return accepted(task, prepared)


class Preparer(Generic[_Prepared]):
    """Prepares several papers at a time; for a `with` block."""

    def __init__(
        self,
        workers: Workers[_Prepared],
        grobid: TeiParser | None = None,
        *,
        fall_back: bool = True,
        ocr: OcrOptions = NO_OCR,
    ) -> None:
        """Read PDFs with `grobid` if given, and with PDFium where that fails and `fall_back` is set."""
        self._workers = workers
        self._grobid = grobid
        self._ocr = ocr
        self._fall_back = fall_back
        at_once = max(workers.at_once, self._grobid.at_once if self._grobid else 0)
        self._ahead = max(_LEAST_AHEAD, 2 * at_once)
        self._threads = ThreadPoolExecutor(at_once)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._grobid:
            self._grobid.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def prepared(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, _Prepared | ParseError]]:
        """Yield the papers in the order of the tasks, preparing some ahead."""
        waiting: deque[tuple[Task, Future[_Prepared]]] = deque()
        for task in tasks:
            waiting.append((task, self._threads.submit(self._prepare, task)))
            files = sum(queued.entry.file is not None for queued, _ in waiting)
            if files >= self._ahead or len(waiting) >= max(_WITHOUT_FILES_AHEAD, self._ahead):
                first, future = waiting.popleft()
                yield first, self._outcome(future)
        for first, future in waiting:
            yield first, self._outcome(future)

    def _outcome(self, future: Future[_Prepared]) -> _Prepared | ParseError:
        try:
            return future.result()
        except ParseError as error:
            return error

    def _prepare(self, task: Task) -> _Prepared:
        if task.entry.problem:
            raise ParseError(task.entry.problem)
        try:
            return self._read(task)
        except ParseError as error:
            if task.known or not task.entry.paper.title:
                raise
            # Index the source's metadata without the text.
            note = f"{error}; only its title and abstract are indexed"
            waits = isinstance(error, (UnreadScanError, OutOfTimeError))
            fingerprint = unread_scan(task.fingerprint) if waits else task.fingerprint
            return self._workers.prepare(replace(task, pdf_sha256="", fingerprint=fingerprint), None, (note,))

    def _read(self, task: Task) -> _Prepared:
        try:
            return self._from_file(task)
        except (ParseError, CorpusError):
            raise
        except Exception as error:
            # A bug in a parser costs one paper, not a build of a hundred thousand.
            logger.exception("reading %s", task.entry.name)
            kind = error.kind if isinstance(error, ParserFaultError) else type(error).__name__
            raise ParseError(f"the parser failed with {kind}; please report it") from error

    def _from_file(self, task: Task) -> _Prepared:
        entry = task.entry
        if entry.file is None:
            return self._workers.prepare(task, None)
        if is_pdf(entry.file):
            return self._from_pdf(task, entry.file, task.sha256)
        try:
            return self._workers.prepare(task, entry.file)
        except ParseError as error:
            if entry.pdf is None:
                raise
            problem = f"{entry.file.name}: {error}"
        try:
            return self._from_pdf(task, entry.pdf, task.pdf_sha256, (f"{problem}; its PDF is read instead",))
        except ParseError as error:
            raise ParseError(f"{problem}; its PDF cannot be read either: {error}") from error

    def _from_pdf(self, task: Task, pdf: Path, sha256: str, notes: tuple[str, ...] = ()) -> _Prepared:
        if self._grobid is None:
            return self._workers.prepare(task, pdf, notes, self._ocr)
        try:
            tei = self._grobid.tei(pdf, sha256)
            return self._workers.prepare(task, tei or pdf, notes, self._ocr)
        except (GrobidError, ParseError) as error:
            if not self._fall_back:
                raise ParseError(str(error)) from error
            return self._workers.prepare(
                task, pdf, (*notes, f"{error}; read with pypdfium2 instead"), self._ocr
            )


def accepted(task: Task, prepared: PreparedPaper) -> PreparedPaper:
    """Check a paper that a worker process prepared and bound its fields; raises ParseError.

    A foreign file may have made that process reply anything: identity, name and PDF are taken from the task.
    """
    paper, expected = prepared.paper, task.entry.paper
    if (
        (paper.id, paper.collection_id) != (expected.id, expected.collection_id)
        or (paper.fingerprint, paper.pdf_sha256) != (task.fingerprint, task.pdf_sha256)
        or not is_sound(paper, prepared.passages, prepared.references, MOST_IN_A_BOOK)
    ):
        raise ParseError("what was read of this file makes no sense")
    bounded, _ = _bounded(paper)
    shown = task.pdf if task.pdf_sha256 else None
    return replace(
        prepared,
        name=task.entry.name,
        paper=replace(bounded, position=expected.position),
        pdf=shown,
        listed=_listed(task.entry) if shown else "",
    )


def unread_scan(fingerprint: str) -> str:
    """Return the fingerprint of an unread scan: a build with OCR reads it again."""
    return f"{fingerprint} unread scan"


def prepare(task: Task, document: Document | None, notes: tuple[str, ...] = ()) -> PreparedPaper:
    """Return the paper, its metadata completed by the parser's, and its passages."""
    entry = task.entry
    paper, cut = _completed(entry, document, task)
    passages = make_passages(paper, document, task.size)
    unrepeated = without_repeats(passages) if task.size.overlap else passages
    paper = replace(
        paper,
        language=language_of(paper, unrepeated),
        aspects=choose_aspects(paper, passages),
        topics=find_topics(paper, unrepeated),
    )
    shown = task.pdf if task.pdf_sha256 else None
    hidden = []
    if paper.hidden_text:
        amount = hidden_text(paper.hidden_text, paper.hidden_pages)
        hidden.append(f"text that cannot be seen is left out ({amount})")
    return PreparedPaper(
        entry.name,
        paper,
        _cleaned(entry.references) or (document.references if document else ()),
        passages,
        shown,
        _listed(entry) if shown else "",
        (*entry.notes, *notes, *hidden, *(document.notes if document else ()), *cut),
    )


def _bounded(paper: Paper) -> tuple[Paper, tuple[str, ...]]:
    """Return a paper with fields of bounded length, and a note for each field that was cut."""
    most = LONGEST_FIELD
    bounded = replace(
        paper,
        title=paper.title[: most["title"]],
        venue=paper.venue[: most["venue"]],
        abstract=paper.abstract[: most["abstract"]],
        keywords=tuple(keyword[: most["keywords"]] for keyword in paper.keywords[:MOST_LISTED]),
        authors=tuple(
            replace(author, given=author.given[: most["given"]], family=author.family[: most["family"]])
            for author in paper.authors[:MOST_LISTED]
        ),
    )
    cut = (name for name in _DESCRIBED if getattr(paper, name) != getattr(bounded, name))
    return bounded, tuple(f"its {name} is longer than any can be; only the beginning is kept" for name in cut)


def _completed(entry: SourcePaper, document: Document | None, task: Task) -> tuple[Paper, tuple[str, ...]]:
    """Return the paper as source and parser describe it, and notes on what was cut."""
    paper = replace(_clean(entry.paper), fingerprint=task.fingerprint, pdf_sha256=task.pdf_sha256)
    if document is not None:
        paper = replace(
            paper,
            title=paper.title or document.title or entry.name,
            authors=paper.authors or document.authors,
            year=paper.year or document.year,
            doi=paper.doi or document.doi,
            arxiv_id=paper.arxiv_id or document.arxiv_id,
            abstract=paper.abstract or "\n\n".join(paragraph.text for paragraph in document.abstract),
            keywords=paper.keywords or document.keywords,
            parser=document.parser,
            parser_version=document.parser_version,
            page_count=document.page_count,
            scanned_pages=document.scanned_pages,
            scan_confidence=document.scan_confidence,
            hidden_text=document.hidden_text,
            hidden_pages=document.hidden_pages,
            full_text=any(section.paragraphs for section in document.sections),
        )
    return _finished(paper)


def describe_paper(paper: Paper) -> tuple[Paper, tuple[str, ...]]:
    """Return a paper as its source lists it, ready to be stored, and notes on what was cut."""
    return _finished(_clean(paper))


def _clean(paper: Paper) -> Paper:
    described = {name: _cleaned(getattr(paper, name)) for name in (*_DESCRIBED, "bibtex")}
    return replace(paper, **described)


def _finished(paper: Paper) -> tuple[Paper, tuple[str, ...]]:
    paper, cut = _bounded(paper)
    return replace(paper, bibtex=paper.bibtex or bibtex(paper)), cut


def _cleaned(value: Any) -> Any:
    """Remove invisible characters from texts, also within tuples, authors and references."""
    match value:
        case str():
            return storable(value)
        case tuple():
            return tuple(map(_cleaned, value))
        case Author() | Reference():
            return replace(
                value, **{field.name: _cleaned(getattr(value, field.name)) for field in fields(value)}
            )
    return value


def _listed(entry: SourcePaper) -> str:
    """Return the source's metadata of a paper as JSON, for `indexer.sources.corpus`."""
    described = {
        "name": entry.name,
        "paper": asdict(entry.paper),
        "references": list(map(asdict, entry.references)),
    }
    return json.dumps(described, ensure_ascii=False)


@cache
def _processes(workers: int) -> IsolatedProcesses[PreparedPaper]:
    """Return the processes that read files, started once per program."""
    return IsolatedProcesses(_read_and_prepare, workers, warm_up=_warm_up)


def _warm_up() -> None:
    """Import and run once what most papers need."""
    from indexer.parsers.pdf import document as _  # noqa: F401, PLC0415
    from indexer.parsers.tei import document as _tei  # noqa: F401, PLC0415

    paper = Paper("warm/up", "warm", "A title", (), None, "", "We propose a method. It works well.")
    prepare(Task(SourcePaper("warm up", paper), ""), None)


def _read_and_prepare(
    task: Task, source: Path | bytes, notes: tuple[str, ...] = (), ocr: OcrOptions = NO_OCR
) -> PreparedPaper:
    """Prepare a paper from a file, or from a server's TEI of it."""
    if isinstance(source, Path) and (is_pdf(source) or task.entry.pdf is None):
        return prepare(task, read_document(source, ocr), notes)
    from indexer.parsers.tei.document import read_tei  # noqa: PLC0415 - most builds need no TEI
    from indexer.parsers.tei.unseen import without_unseen  # noqa: PLC0415

    document = read_tei(source)
    return prepare(task, without_unseen(document, task.pdf) if task.pdf else document, notes)
