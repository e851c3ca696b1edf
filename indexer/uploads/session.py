"""A visit's uploaded documents: a small corpus in a private folder, removed when the visit ends.

Screens call from one thread, workers from others. `_lock` guards the state in memory and is held briefly;
`_writing` guards the files of the corpus.
"""

import contextlib
import hashlib
import logging
import shutil
import threading
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

import numpy as np

from assistant.records import Conversation
from corpus.encoders.base import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.kept.documents import NewDocument
from corpus.kept.room import Room
from corpus.places.disk import NoRoomError
from corpus.records import UPLOADS, Aspect, Collection, PassageSize
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from corpus.text import shortened
from indexer.build.encode import EncodedPassages, encode_passages
from indexer.uploads.document import (
    KINDS,
    LONGEST_NAME,
    DocumentError,
    ReadDocument,
    as_upload,
    shown_name,
    stored_name,
    unused_key,
)
from indexer.uploads.folders import new_visit_folder
from indexer.uploads.sandbox import LIMITS, Limits, Material, StoppedError, check_sandbox, read_sandboxed
from indexer.uploads.summary import DocumentSummariser

logger = logging.getLogger(__name__)

MOST_DOCUMENTS = 50
# Including documents that could not be read, which do not count towards MOST_DOCUMENTS.
MOST_LISTED = 80
# A browser whose connection dropped has two minutes to come back (Streamlit's disconnectedSessionTTL).
ABSENT_SECONDS = 180.0

READ_AT_ONCE = 3
MOST_WAITING = 120
_TEXTS_AT_ONCE = 128

State = Literal["waiting", "reading", "summarising", "encoding", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class UploadedDocument:
    """The state of one document, with its results, or the reason it failed (`problem`).

    `share` is how much of it has been encoded, 0..1.
    """

    number: int
    name: str
    state: State = "waiting"
    paper_id: str = ""
    title: str = ""
    pages: int = 0
    passages: int = 0
    remarks: tuple[str, ...] = ()
    problem: str = ""
    share: float = 0.0
    is_web: bool = False
    aspects: tuple[Aspect, ...] = ()

    @property
    def is_over(self) -> bool:
        return self.state in ("ready", "failed")


@dataclass(slots=True)
class _Reading:
    """The resources of a document in a visit: its folder, its key, and the event that stops it."""

    folder: Path
    known_by: str
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document that waits for a worker."""

    owner: str
    work: Callable[[], None]
    done: "Future[None]" = field(default_factory=Future)


class UploadWorkers:
    """The workers of one server: `at_once` documents are read, `most_waiting` wait, others are refused.

    No owner has all workers, and owners with the fewest documents being read come first, so that a slow
    document does not keep others waiting.
    """

    def __init__(self, at_once: int = READ_AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._workers = ThreadPoolExecutor(at_once, thread_name_prefix="document")
        self._at_once, self._of_one, self._most = at_once, max(1, at_once - 1), most_waiting
        self._waiting: list[_Waiting] = []
        self._reading: Counter[str] = Counter()
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], None], owner: str) -> "Future[None]":
        """Queue `work` for a worker; raises DocumentError if the queue is full."""
        waiting = _Waiting(owner, work)
        with self._lock:
            if len(self._waiting) + self._reading.total() >= self._most:
                raise DocumentError("Too many documents are being read at the moment. Try again in a minute.")
            self._waiting.append(waiting)
            self._begin()
        return waiting.done

    def _begin(self) -> None:
        """Start waiting documents while workers are free."""
        while self._waiting and self._reading.total() < self._at_once:
            first = min(self._waiting, key=lambda waiting: self._reading[waiting.owner])
            if self._reading[first.owner] >= self._of_one:
                return
            self._waiting.remove(first)
            self._reading[first.owner] += 1
            self._workers.submit(self._read, first)

    def _read(self, waiting: _Waiting) -> None:
        try:
            waiting.work()
        except BaseException as error:  # noqa: BLE001 - raised by the future
            waiting.done.set_exception(error)
        else:
            waiting.done.set_result(None)
        finally:
            with self._lock:
                self._reading[waiting.owner] -= 1
                self._begin()


class UploadSession:
    """The documents of one visit; `conversation` holds the questions about them.

    `seen` are the upload field's ids of files already added; `refused` are reasons why files were not added;
    `removing` is the document whose removal awaits confirmation, 0 for all; `were_chosen` is set once they
    became the scope of questions, when the first was ready. `size` is that of the passages of all documents,
    chosen before the first is added. `summariser` summarises documents added from now on, None for no model.
    """

    def __init__(
        self,
        home: Path,
        encoder: Encoder,
        readers: UploadWorkers,
        *,
        owner: str = "",
        allow_private: bool = False,
        limits: Limits = LIMITS,
        room: Room | None = None,
    ) -> None:
        """Make the folder, in a `room` that may be limited; raises DocumentError when it cannot be made.

        Without an `owner` the visit counts as an owner of its own.
        """
        self.folder = new_visit_folder(home)
        self._owner = owner or self.folder.name
        self._room = room or Room(home)
        self._taking = threading.Lock()
        self.encoder = encoder
        self.conversation: Conversation | None = None
        self.refused: tuple[str, ...] = ()
        self.seen: set[str] = set()
        self.removing: int | None = None
        self.were_chosen = False
        self.size = PassageSize()
        self.summariser: DocumentSummariser | None = None
        self._begun = 0
        self._readers, self._limits, self._allow_private = readers, limits, allow_private
        self._documents: dict[int, UploadedDocument] = {}
        self._tasks: dict[int, _Reading] = {}
        self._corpus: Corpus | None = None
        self._is_closed = False
        self._leaving: threading.Timer | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        # Also when the server exits.
        self._removal = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @property
    def pdf_folder(self) -> Path:
        return self.folder / "pdf"

    @property
    def _files(self) -> Path:
        return self.folder / "files"

    @property
    def corpus(self) -> Corpus | None:
        """The corpus of the documents that are ready, None without any."""
        return self._corpus

    def documents(self) -> tuple[UploadedDocument, ...]:
        with self._lock:
            return tuple(self._documents.values())

    def ready(self) -> tuple[UploadedDocument, ...]:
        return tuple(document for document in self.documents() if document.state == "ready")

    def to_keep(self) -> tuple[NewDocument, ...]:
        """Return the documents that are ready, with their files unless they are PDFs."""
        files = {path.stem: path for path in self._files.glob("*")}
        return tuple(
            NewDocument(document.paper_id, files.get(str(document.number))) for document in self.ready()
        )

    def pdf_of(self, document: UploadedDocument) -> Path:
        """Return the path of a ready document's PDF; no file is there for other kinds."""
        papers = self._corpus.papers_by_id([document.paper_id]) if self._corpus else ()
        return self.pdf_folder / f"{next((paper.pdf_sha256 for paper in papers), '')}.pdf"

    def is_reading(self) -> bool:
        return any(not document.is_over for document in self.documents())

    def add_file(self, name: str, content: bytes) -> None:
        """Begin to read a file; raises DocumentError."""
        if len(content) > self._limits.most_bytes:
            most = f"{self._limits.most_bytes / 2**20:.0f} MB"
            raise DocumentError(f"{shown_name(name)} is larger than {most}, the most that is read.")
        document, task = self._begin(shown_name(name), hashlib.sha256(content).hexdigest())
        path = task.folder / stored_name(name)
        try:
            with self._taking:
                self._room.take(self.folder, len(content))
                path.write_bytes(content)
        except OSError as error:
            self.remove(document.number)
            raise DocumentError(f"{document.name} cannot be kept on the server: {error.strerror}.") from error
        except NoRoomError as error:
            self.remove(document.number)
            raise DocumentError(f"{document.name} was left out. {error}") from error
        self._submit(document, task, Material(str(path), document.name, size=self.size))

    def add_address(self, address: str) -> None:
        """Begin to read a web page; raises DocumentError."""
        typed = address.strip()
        if not typed:
            raise DocumentError("Type the address of a page first, such as https://arxiv.org/abs/2203.10244")
        try:
            self._room.take(self.folder, 0)
        except NoRoomError as error:
            raise DocumentError(str(error)) from error
        document, task = self._begin(shortened(typed, LONGEST_NAME), typed, is_web=True)
        address = typed.replace("\x00", "")
        self._submit(document, task, Material(address, document.name, is_web=True, size=self.size))

    def remove(self, number: int) -> None:
        """Remove a document in any state; if it was ready, the conversation ends."""
        with self._lock:
            document, task = self._documents.pop(number, None), self._tasks.pop(number, None)
            if document and document.state == "ready":
                self.conversation = None
            if task:
                task.stop.set()
        with self._writing:
            if task:
                shutil.rmtree(task.folder, ignore_errors=True)
                for path in self._files.glob(f"{number}.*"):
                    path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # not empty, or never made
                    self._files.rmdir()
            if document and self._corpus and self._corpus.papers_by_id([document.paper_id]):
                self._take_out(self._corpus, document)
        self._settle()

    def remove_all(self) -> None:
        """Remove all documents and their files."""
        with self._lock:
            for task in self._tasks.values():
                task.stop.set()
            self._documents, self._tasks, self.conversation = {}, {}, None
        with self._writing:
            self._corpus = None
            for part in self.folder.glob("*"):
                shutil.rmtree(part, ignore_errors=True)
        self._settle()

    def leave(self, absent_seconds: float = ABSENT_SECONDS) -> None:
        """End the visit after `absent_seconds`, unless `stay` is called."""
        self.stay()
        self._leaving = threading.Timer(absent_seconds, self.close)
        self._leaving.daemon = True
        self._leaving.start()

    def stay(self) -> None:
        """Cancel the end of the visit: the visitor is back."""
        if self._leaving:
            self._leaving.cancel()
            self._leaving = None

    def close(self) -> None:
        """End the visit: stop reading and remove the folder."""
        with self._lock:
            self._is_closed = True
        self.remove_all()
        with self._taking:
            self._removal()

    def _begin(self, name: str, known_by: str, *, is_web: bool = False) -> tuple[UploadedDocument, _Reading]:
        check_sandbox(self._limits)
        with self._lock:
            self._check_place(name, known_by)
            self._begun += 1
            document = UploadedDocument(self._begun, name, is_web=is_web)
            task = _Reading(self.folder / f"document-{document.number}", known_by)
            task.folder.mkdir(mode=0o700)
            self._documents[document.number], self._tasks[document.number] = document, task
            return document, task

    def _check_place(self, name: str, known_by: str) -> None:
        """Raise DocumentError for a document that is here already, or one too many.

        An earlier failed attempt is removed.
        """
        for number in [number for number, task in self._tasks.items() if task.known_by == known_by]:
            earlier = self._documents[number]
            if earlier.state != "failed":
                called = "" if earlier.name == name else f", called {earlier.name}"
                raise DocumentError(f"{name} is here already{called}. It was taken once.")
            del self._documents[number], self._tasks[number]
        counted = sum(document.state != "failed" for document in self._documents.values())
        if counted >= MOST_DOCUMENTS or len(self._documents) >= MOST_LISTED or self._is_closed:
            most = f"{MOST_DOCUMENTS} documents are the most, and {MOST_LISTED} with those not readable"
            raise DocumentError(f"{name} was left out: {most}. Remove one first.")

    def _submit(self, document: UploadedDocument, task: _Reading, material: Material) -> None:
        number, summariser = document.number, self.summariser
        try:
            future = self._readers.submit(lambda: self._read(number, task, material, summariser), self._owner)
        except DocumentError:
            self.remove(number)
            raise
        future.add_done_callback(lambda done: self._notice_crash(number, done))

    def _read(
        self, number: int, task: _Reading, material: Material, summariser: DocumentSummariser | None
    ) -> None:
        """Read, summarise, encode and add one document, in a worker."""
        if task.stop.is_set():
            return
        self._update(number, state="reading")
        try:
            content = read_sandboxed(
                material, task.folder, task.stop, allow_private=self._allow_private, limits=self._limits
            )
            content = self._assign_id(number, content)
            if summariser:
                self._update(number, state="summarising")
                content = summariser.summarise(content)
                self._update(number, state="encoding")
            pairs = ((content.paper, passage) for passage in content.passages)
            encoded = encode_passages(pairs, lambda texts: self._encode(number, task, texts))
            self._take_in(number, content, task, encoded)
        except StoppedError:
            return
        except (DocumentError, CorpusError) as error:
            self._update(number, state="failed", problem=str(error))
        finally:
            shutil.rmtree(task.folder, ignore_errors=True)
            self._settle()

    def _settle(self) -> None:
        """Record the disk space that the visit takes."""
        with self._taking:
            if not self._is_closed:
                self._room.settle(self.folder)

    def _encode(self, number: int, task: _Reading, texts: Sequence[str]) -> Vectors:
        """Encode texts in batches, so that questions and removals do not wait."""
        vectors = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            if task.stop.is_set():
                raise StoppedError("It was removed.")
            self._update(number, share=start / len(texts))
            vectors.append(self.encoder.encode_passages(texts[start : start + _TEXTS_AT_ONCE]))
        return np.concatenate(vectors)

    def _assign_id(self, number: int, content: ReadDocument) -> ReadDocument:
        """Give a document an id that is unique in this visit."""
        with self._lock:
            if number not in self._documents:
                raise StoppedError("It was removed.")
            key = unused_key(content.paper.id, {document.paper_id for document in self._documents.values()})
            content = as_upload(content, key, number)
            self._documents[number] = replace(
                self._documents[number],
                state="encoding",
                title=content.paper.title,
                paper_id=content.paper.id,
            )
            return content

    def _take_in(self, number: int, content: ReadDocument, task: _Reading, encoded: EncodedPassages) -> None:
        """Add a document to the corpus, unless it was removed; a later removal waits for `_writing`."""
        with self._writing:
            if task.stop.is_set():
                return
            papers = rows.paper_rows([rows.PaperEntry(content.paper, content.references)])
            passages = rows.passage_rows(
                content.passages,
                {content.paper.id: content.paper},
                encoded.indexed,
                encoded.vectors,
                encoded.sentence_vectors,
            )
            with self._taking:
                # By now the fetched files are complete.
                self._room.settle(self.folder)
                self._room.take(self.folder, papers.nbytes + passages.nbytes)
            if content.file:
                self.pdf_folder.mkdir(mode=0o700, exist_ok=True)
                (task.folder / content.file).replace(self.pdf_folder / f"{content.paper.pdf_sha256}.pdf")
            else:
                # A library that the visitor keeps stores the original file.
                self._files.mkdir(mode=0o700, exist_ok=True)
                for path in task.folder.iterdir():
                    if path.is_file() and path.suffix in (*KINDS, ".html"):
                        path.replace(self._files / f"{number}{path.suffix}")
            writer = self._writer()
            writer.put_collections([Collection(UPLOADS, "Your documents", source="This visit only")])
            writer.cut_as(self.size, [UPLOADS])
            writer.add_papers(papers.to_batches(), passages.to_batches())
            writer.publish()
            self._corpus = writer.published()
            self._update(
                number,
                state="ready",
                remarks=content.remarks,
                pages=content.paper.page_count,
                passages=len(content.passages),
                aspects=content.paper.aspects,
            )

    def _take_out(self, corpus: Corpus, document: UploadedDocument) -> None:
        """Remove a document from corpus and disk; with the last one the corpus goes."""
        sha256 = corpus.paper(document.paper_id).pdf_sha256
        others = [paper for paper in corpus.papers() if paper.id != document.paper_id]
        if sha256 and all(paper.pdf_sha256 != sha256 for paper in others):
            (self.pdf_folder / f"{sha256}.pdf").unlink(missing_ok=True)
        if not others:
            self._corpus = None
            shutil.rmtree(self.folder / "corpus", ignore_errors=True)
            return
        writer = self._writer()
        writer.remove_papers([document.paper_id])
        writer.publish()
        # Older table versions still hold the text; LanceDB warns of a retention of zero.
        writer.compact(timedelta(milliseconds=1), unverified=True)
        self._corpus = writer.published()

    def _writer(self) -> CorpusWriter:
        return CorpusWriter(self.folder / "corpus", self.encoder, unfinished=True, durable=False)

    def _update(self, number: int, **news: object) -> None:
        with self._lock:
            if number in self._documents:
                self._documents[number] = replace(self._documents[number], **news)  # type: ignore[arg-type]

    def _notice_crash(self, number: int, done: "Future[None]") -> None:
        """Mark a document as failed whose worker raised an unexpected error."""
        if not done.cancelled() and (error := done.exception()):
            reference = uuid.uuid4().hex[:8]
            logger.error("taking in a document failed, reference %s", reference, exc_info=error)
            problem = f"Paper Trail itself failed on it. Look for {reference} in the log of the server."
            self._update(number, state="failed", problem=problem)
