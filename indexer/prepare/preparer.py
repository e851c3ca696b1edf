"""From what a source lists to papers ready for the encoder: parsed, completed, cut into passages, enriched.

Files of every kind are read in processes of their own, bounded in time and memory: what breaks a parser must
cost one paper, not the build. Threads wait for them and for GROBID.
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
"""How many authors or keywords a paper has at most; of the largest collaborations there are 5,154."""
_LEAST_AHEAD = 32
# Of what needs no reading a block is ready before it is wanted, so that no encoder waits.
_WITHOUT_FILES_AHEAD = 256
_DESCRIBED = ("title", "venue", "abstract", "keywords", "authors")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A paper to be prepared; `sha256` is the hash of its file, `pdf_sha256` that of the PDF to show.

    `known` papers are in the corpus already: one that cannot be read stays as it is. Its passages are to be
    of a `size`. `number` is its place among all that a build's sources list.
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
        """Prepare a paper from a file, from TEI that a server made, or from what its source says.

        Raises ParseError.
        """
        ...


class LocalWorkers:
    """Processes of this machine, started once for all builds of this program."""

    def __init__(self, at_once: int = 0) -> None:
        """Start `at_once` processes, by default one less than the cores, four at most."""
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
    """Has papers prepared several at a time; for a `with` block."""

    def __init__(
        self,
        workers: Workers[_Prepared],
        grobid: TeiParser | None = None,
        *,
        fall_back: bool = True,
        ocr: OcrOptions = NO_OCR,
    ) -> None:
        """Read PDFs with `grobid` where it is given, and with PDFium where it fails, if `fall_back`.

        Scans are read as `ocr` says.
        """
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
        """Yield the papers in the order of the tasks, a few being worked on ahead of the one wanted."""
        waiting: deque[tuple[Task, Future[_Prepared]]] = deque()
        for task in tasks:
            waiting.append((task, self._threads.submit(self._prepare, task)))
            if self._are_enough(len(waiting), sum(one.entry.file is not None for one, _ in waiting)):
                first, future = waiting.popleft()
                yield first, self._outcome(future)
        for first, future in waiting:
            yield first, self._outcome(future)

    def _are_enough(self, papers: int, files: int) -> bool:
        """Return True if `papers` papers with `files` files keep all workers and the encoder busy."""
        return files >= self._ahead or papers >= max(_WITHOUT_FILES_AHEAD, self._ahead)

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
            # The source's metadata of the paper is worth having without its text.
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
            # A fault of ours costs one paper, not the night that a build of a hundred thousand takes.
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
            return self._from_pdf_instead(task, entry.pdf, f"{entry.file.name}: {error}")

    def _from_pdf_instead(self, task: Task, pdf: Path, problem: str) -> _Prepared:
        """Return the paper as its PDF has it, where the TEI beside it cannot be read."""
        try:
            return self._from_pdf(task, pdf, task.pdf_sha256, (f"{problem}; its PDF is read instead",))
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
    """Return a paper that a process apart prepared, as it may be stored; raises ParseError.

    That process read a foreign file, which may have made it reply anything: who the paper is, and which file
    is kept as its PDF, the task says.
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
    """Return the fingerprint of a paper that is to be read again by the next build that can read its scan."""
    return f"{fingerprint} unread scan"


def prepare(task: Task, document: Document | None, notes: tuple[str, ...] = ()) -> PreparedPaper:
    """Return the paper with the source's metadata completed by what the parser found, and its passages."""
    entry = task.entry
    paper, cut = _completed(entry, document, task)
    passages = make_passages(paper, document, task.size)
    said_once = without_repeats(passages) if task.size.overlap else passages
    paper = replace(
        paper,
        language=language_of(paper, said_once),
        aspects=choose_aspects(paper, passages),
        topics=find_topics(paper, said_once),
    )
    shown = task.pdf if task.pdf_sha256 else None
    return PreparedPaper(
        entry.name,
        paper,
        _cleaned(entry.references) or (document.references if document else ()),
        passages,
        shown,
        _listed(entry) if shown else "",
        (*entry.notes, *notes, *_hidden(paper), *(document.notes if document else ()), *cut),
    )


def _hidden(paper: Paper) -> tuple[str, ...]:
    """Return the report's remark on hidden text, none without it."""
    if not paper.hidden_text:
        return ()
    return (f"text that cannot be seen is left out ({hidden_text(paper.hidden_text, paper.hidden_pages)})",)


def _bounded(paper: Paper) -> tuple[Paper, tuple[str, ...]]:
    """Return a paper with a description of bounded length, and a note of each field that was cut."""
    most = LONGEST_FIELD
    bounded = replace(
        paper,
        title=paper.title[: most["title"]],
        venue=paper.venue[: most["venue"]],
        abstract=paper.abstract[: most["abstract"]],
        keywords=tuple(one[: most["keywords"]] for one in paper.keywords[:MOST_LISTED]),
        authors=tuple(
            replace(one, given=one.given[: most["given"]], family=one.family[: most["family"]])
            for one in paper.authors[:MOST_LISTED]
        ),
    )
    cut = (name for name in _DESCRIBED if getattr(paper, name) != getattr(bounded, name))
    return bounded, tuple(f"its {name} is longer than any can be; only the beginning is kept" for name in cut)


def _completed(entry: SourcePaper, document: Document | None, task: Task) -> tuple[Paper, tuple[str, ...]]:
    """Return the paper as source and parser describe it, and what was cut off."""
    paper = replace(_clean(entry.paper), fingerprint=task.fingerprint, pdf_sha256=task.pdf_sha256)
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
            scanned_pages=document.scanned_pages,
            scan_confidence=document.scan_confidence,
            hidden_text=document.hidden_text,
            hidden_pages=document.hidden_pages,
            full_text=any(section.paragraphs for section in document.sections),
        )
    return _finished(paper)


def describe_paper(paper: Paper) -> tuple[Paper, tuple[str, ...]]:
    """Return a listed paper as it is stored without its file, and what was cut off."""
    return _finished(_clean(paper))


def _clean(paper: Paper) -> Paper:
    described = {name: _cleaned(getattr(paper, name)) for name in (*_DESCRIBED, "bibtex")}
    return replace(paper, **described)


def _finished(paper: Paper) -> tuple[Paper, tuple[str, ...]]:
    paper, cut = _bounded(paper)
    return replace(paper, bibtex=paper.bibtex or bibtex(paper)), cut


def _cleaned(value: Any) -> Any:
    """Return texts, also those of authors, of references and in tuples, without invisible characters."""
    match value:
        case str():
            return storable(value)
        case tuple():
            return tuple(map(_cleaned, value))
        case Author() | Reference():
            return replace(value, **{one.name: _cleaned(getattr(value, one.name)) for one in fields(value)})
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
    """Return the processes that read files, started once for all builds of this program."""
    return IsolatedProcesses(_read_and_prepare, workers, warm_up=_warm_up)


def _warm_up() -> None:
    """Load what reading most papers takes."""
    from indexer.parsers.pdf import document as _  # noqa: F401, PLC0415
    from indexer.parsers.tei import document as _tei  # noqa: F401, PLC0415

    paper = Paper("warm/up", "warm", "A title", (), None, "", "We propose a method. It works well.")
    prepare(Task(SourcePaper("warm up", paper), ""), None)


def _read_and_prepare(
    task: Task, source: Path | bytes, notes: tuple[str, ...] = (), ocr: OcrOptions = NO_OCR
) -> PreparedPaper:
    """Prepare a paper from a file, or from the TEI that a server made of it."""
    if isinstance(source, Path) and (is_pdf(source) or task.entry.pdf is None):
        return prepare(task, read_document(source, ocr), notes)
    from indexer.parsers.tei.document import read_tei  # noqa: PLC0415 - most builds need no TEI
    from indexer.parsers.tei.unseen import without_unseen  # noqa: PLC0415

    document = read_tei(source)
    return prepare(task, without_unseen(document, task.pdf) if task.pdf else document, notes)
