"""A visit's uploaded documents: a small corpus in a private folder, read in workers, gone when it is closed.

The screens call in from one thread, workers from others. What they tell each other changes under one lock,
held for moments; files change under another, which only who changes them waits for.
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
# With those that could not be read, which do not count towards the fifty.
MOST_LISTED = 80
# A browser whose connection dropped has two minutes to come back (Streamlit's disconnectedSessionTTL).
ABSENT_SECONDS = 180.0

READ_AT_ONCE = 3
MOST_WAITING = 120
_TEXTS_AT_ONCE = 128

State = Literal["waiting", "reading", "summarising", "encoding", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class UploadedDocument:
    """One document as it stands: what it gave, or why it gave nothing (`problem`).

    `share` is how much of it has been encoded, 0..1; `aspects` are the sentences that sum it up.
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
class _Under:
    """The resources of a document in a visit: its folder, its key, and the event that stops it."""

    folder: Path
    known_by: str
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document that waits for a worker, and whose it is."""

    owner: str
    work: Callable[[], None]
    done: "Future[None]" = field(default_factory=Future)


class UploadWorkers:
    """The workers of one server: `at_once` documents are read, `most_waiting` wait, the rest is refused.

    One owner never has all workers, and those of whom least is being read come first: a document that takes
    as long as it may keeps nobody else waiting.
    """

    def __init__(self, at_once: int = READ_AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._workers = ThreadPoolExecutor(at_once, thread_name_prefix="document")
        self._at_once, self._of_one, self._most = at_once, max(1, at_once - 1), most_waiting
        self._waiting: list[_Waiting] = []
        self._reading: Counter[str] = Counter()
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], None], owner: str) -> "Future[None]":
        """Have a worker do something; raises DocumentError where too much is waiting."""
        waiting = _Waiting(owner, work)
        with self._lock:
            if len(self._waiting) + self._reading.total() >= self._most:
                raise DocumentError("Too many documents are being read at the moment. Try again in a minute.")
            self._waiting.append(waiting)
            self._begin()
        return waiting.done

    def _begin(self) -> None:
        """Hand to free workers what may be read now."""
        while self._waiting and self._reading.total() < self._at_once:
            first = min(self._waiting, key=lambda one: self._reading[one.owner])
            if self._reading[first.owner] >= self._of_one:
                return
            self._waiting.remove(first)
            self._reading[first.owner] += 1
            self._workers.submit(self._read, first)

    def _read(self, waiting: _Waiting) -> None:
        try:
            waiting.work()
        except BaseException as error:  # noqa: BLE001 - told to whoever has the future
            waiting.done.set_exception(error)
        else:
            waiting.done.set_result(None)
        finally:
            with self._lock:
                self._reading[waiting.owner] -= 1
                self._begin()


class UploadSession:
    """The documents of one visit; `conversation` is what was asked of them, kept as long as they are.

    `seen` are the files of the field that were handed in, by its ids; `refused` says why some of what was
    handed in is not here; `removing` is the document that is removed once that is confirmed, 0 for all;
    `were_chosen` that they were made what is asked, as soon as the first was ready. `size` is that of the
    passages of all documents, and is chosen before there are any. `summariser` sums up what is brought from
    then on, None for no model.
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

        Without an `owner` the visit is its own.
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
        self._under: dict[int, _Under] = {}
        self._corpus: Corpus | None = None
        self._is_closed = False
        self._leaving: threading.Timer | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        # However the visit ends, and when the server does.
        self._removal = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @property
    def pdf_folder(self) -> Path:
        return self.folder / "pdf"

    @property
    def _files(self) -> Path:
        return self.folder / "files"

    @property
    def corpus(self) -> Corpus | None:
        """Return the documents that are ready as a corpus, None where there are none."""
        return self._corpus

    def documents(self) -> tuple[UploadedDocument, ...]:
        with self._lock:
            return tuple(self._documents.values())

    def ready(self) -> tuple[UploadedDocument, ...]:
        return tuple(one for one in self.documents() if one.state == "ready")

    def to_keep(self) -> tuple[NewDocument, ...]:
        """Return the documents that are ready, with their files where they are no PDFs."""
        files = {path.stem: path for path in self._files.glob("*")}
        return tuple(NewDocument(one.paper_id, files.get(str(one.number))) for one in self.ready())

    def pdf_of(self, document: UploadedDocument) -> Path:
        """Return where the PDF of a document is that is ready; of one that is no PDF there is none."""
        papers = self._corpus.papers_by_id([document.paper_id]) if self._corpus else ()
        return self.pdf_folder / f"{next((paper.pdf_sha256 for paper in papers), '')}.pdf"

    def is_reading(self) -> bool:
        return any(not one.is_over for one in self.documents())

    def add_file(self, name: str, content: bytes) -> None:
        """Begin to read a file, whatever its owner calls it; raises DocumentError."""
        if len(content) > self._limits.most_bytes:
            most = f"{self._limits.most_bytes / 2**20:.0f} MB"
            raise DocumentError(f"{shown_name(name)} is larger than {most}, the most that is read.")
        document, under = self._begin(shown_name(name), hashlib.sha256(content).hexdigest())
        path = under.folder / stored_name(name)
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
        self._submit(document, under, Material(str(path), document.name, size=self.size))

    def add_address(self, address: str) -> None:
        """Begin to read what is at a web address; raises DocumentError."""
        typed = address.strip()
        if not typed:
            raise DocumentError("Type the address of a page first, such as https://arxiv.org/abs/2203.10244")
        try:
            self._room.take(self.folder, 0)
        except NoRoomError as error:
            raise DocumentError(str(error)) from error
        document, under = self._begin(shortened(typed, LONGEST_NAME), typed, is_web=True)
        address = typed.replace("\x00", "")
        self._submit(document, under, Material(address, document.name, is_web=True, size=self.size))

    def remove(self, number: int) -> None:
        """Take one document out, wherever its reading stands; the conversation about the others ends too."""
        with self._lock:
            document, under = self._documents.pop(number, None), self._under.pop(number, None)
            if document and document.state == "ready":
                self.conversation = None
            if under:
                under.stop.set()
        with self._writing:
            if under:
                shutil.rmtree(under.folder, ignore_errors=True)
                self._drop_file(number)
            if document and self._corpus and self._corpus.papers_by_id([document.paper_id]):
                self._take_out(self._corpus, document)
        self._settle()

    def remove_all(self) -> None:
        """Take everything out; nothing of it stays on disk."""
        with self._lock:
            for under in self._under.values():
                under.stop.set()
            self._documents, self._under, self.conversation = {}, {}, None
        with self._writing:
            self._corpus = None
            for part in self.folder.glob("*"):
                shutil.rmtree(part, ignore_errors=True)
        self._settle()

    def leave(self, absent_seconds: float = ABSENT_SECONDS) -> None:
        """End the visit after a while, unless the visitor comes back."""
        self.stay()
        self._leaving = threading.Timer(absent_seconds, self.close)
        self._leaving.daemon = True
        self._leaving.start()

    def stay(self) -> None:
        """Have the visit go on: the visitor is here."""
        if self._leaving:
            self._leaving.cancel()
            self._leaving = None

    def close(self) -> None:
        """End the visit: stop what is being read and remove the folder."""
        with self._lock:
            self._is_closed = True
        self.remove_all()
        with self._taking:
            self._removal()

    def _begin(self, name: str, known_by: str, *, is_web: bool = False) -> tuple[UploadedDocument, _Under]:
        check_sandbox(self._limits)
        with self._lock:
            self._check_place(name, known_by)
            self._begun += 1
            document = UploadedDocument(self._begun, name, is_web=is_web)
            under = _Under(self.folder / f"document-{document.number}", known_by)
            under.folder.mkdir(mode=0o700)
            self._documents[document.number], self._under[document.number] = document, under
            return document, under

    def _check_place(self, name: str, known_by: str) -> None:
        """Raise DocumentError where a document is here already, or there is no place for it.

        One that could not be read makes way for another try.
        """
        for number in [number for number, under in self._under.items() if under.known_by == known_by]:
            same = self._documents[number]
            if same.state != "failed":
                called = "" if same.name == name else f", called {same.name}"
                raise DocumentError(f"{name} is here already{called}. It was taken once.")
            del self._documents[number], self._under[number]
        counted = sum(one.state != "failed" for one in self._documents.values())
        if counted >= MOST_DOCUMENTS or len(self._documents) >= MOST_LISTED or self._is_closed:
            most = f"{MOST_DOCUMENTS} documents are the most, and {MOST_LISTED} with those not readable"
            raise DocumentError(f"{name} was left out: {most}. Remove one first.")

    def _submit(self, document: UploadedDocument, under: _Under, material: Material) -> None:
        number, summariser = document.number, self.summariser
        try:
            future = self._readers.submit(
                lambda: self._read(number, under, material, summariser), self._owner
            )
        except DocumentError:
            self.remove(number)
            raise
        future.add_done_callback(lambda done: self._notice_crash(number, done))

    def _read(
        self, number: int, under: _Under, material: Material, summariser: DocumentSummariser | None
    ) -> None:
        """Read, sum up, encode and take in one document: what a worker does."""
        if under.stop.is_set():
            return
        self._say(number, state="reading")
        try:
            found = read_sandboxed(
                material, under.folder, under.stop, allow_private=self._allow_private, limits=self._limits
            )
            found = self._named(number, found)
            if summariser:
                self._say(number, state="summarising")
                found = summariser.summarise(found)
                self._say(number, state="encoding")
            pairs = ((found.paper, passage) for passage in found.passages)
            encoded = encode_passages(pairs, lambda texts: self._encoded(number, under, texts))
            self._take_in(number, found, under, encoded)
        except StoppedError:
            return
        except (DocumentError, CorpusError) as error:
            self._say(number, state="failed", problem=str(error))
        finally:
            shutil.rmtree(under.folder, ignore_errors=True)
            self._settle()

    def _settle(self) -> None:
        """Note what the visit takes on disk now."""
        with self._taking:
            if not self._is_closed:
                self._room.settle(self.folder)

    def _encoded(self, number: int, under: _Under, texts: Sequence[str]) -> Vectors:
        """Encode a few texts at a time: others ask questions meanwhile, and a removal need not wait."""
        vectors = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            if under.stop.is_set():
                raise StoppedError("It was removed.")
            self._say(number, share=start / len(texts))
            vectors.append(self.encoder.encode_passages(texts[start : start + _TEXTS_AT_ONCE]))
        return np.concatenate(vectors)

    def _named(self, number: int, found: ReadDocument) -> ReadDocument:
        """Give a document an id that no other of this visit has."""
        with self._lock:
            if number not in self._documents:
                raise StoppedError("It was removed.")
            key = unused_key(found.paper.id, {one.paper_id for one in self._documents.values()})
            found = as_upload(found, key, number)
            self._documents[number] = replace(
                self._documents[number], state="encoding", title=found.paper.title, paper_id=found.paper.id
            )
            return found

    def _take_in(self, number: int, found: ReadDocument, under: _Under, encoded: EncodedPassages) -> None:
        """Put a document into the corpus; one that is removed meanwhile waits to take it out again."""
        with self._writing:
            if under.stop.is_set():
                return
            papers = rows.paper_rows([rows.PaperEntry(found.paper, found.references)])
            passages = rows.passage_rows(
                found.passages,
                {found.paper.id: found.paper},
                encoded.indexed,
                encoded.vectors,
                encoded.sentence_vectors,
            )
            with self._taking:
                # The fetched files are complete now.
                self._room.settle(self.folder)
                self._room.take(self.folder, papers.nbytes + passages.nbytes)
            if found.file:
                self.pdf_folder.mkdir(mode=0o700, exist_ok=True)
                (under.folder / found.file).replace(self.pdf_folder / f"{found.paper.pdf_sha256}.pdf")
            else:
                self._keep_file(number, under)
            writer = self._writer()
            writer.put_collections([Collection(UPLOADS, "Your documents", source="This visit only")])
            writer.cut_as(self.size, [UPLOADS])
            writer.add_papers(papers.to_batches(), passages.to_batches())
            writer.publish()
            self._corpus = writer.published()
            self._say(
                number,
                state="ready",
                remarks=found.remarks,
                pages=found.paper.page_count,
                passages=len(found.passages),
                aspects=found.paper.aspects,
            )

    def _keep_file(self, number: int, under: _Under) -> None:
        """Have the file of a document that is no PDF for as long as the document is here: it may be kept."""
        self._files.mkdir(mode=0o700, exist_ok=True)
        for path in under.folder.iterdir():
            if path.is_file() and path.suffix in (*KINDS, ".html"):
                path.replace(self._files / f"{number}{path.suffix}")

    def _drop_file(self, number: int) -> None:
        for path in self._files.glob(f"{number}.*"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # There are others, or there never was one.
            self._files.rmdir()

    def _take_out(self, corpus: Corpus, document: UploadedDocument) -> None:
        """Take a document out of the corpus and off the disk; the last one takes the corpus with it."""
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
        # Older versions of the tables still hold the text; LanceDB warns of no time at all.
        writer.compact(timedelta(milliseconds=1), unverified=True)
        self._corpus = writer.published()

    def _writer(self) -> CorpusWriter:
        return CorpusWriter(self.folder / "corpus", self.encoder, unfinished=True, durable=False)

    def _say(self, number: int, **news: object) -> None:
        with self._lock:
            if number in self._documents:
                self._documents[number] = replace(self._documents[number], **news)  # type: ignore[arg-type]

    def _notice_crash(self, number: int, done: "Future[None]") -> None:
        """Fail a document whose worker died of an error that nobody foresaw."""
        if not done.cancelled() and (error := done.exception()):
            reference = uuid.uuid4().hex[:8]
            logger.error("taking in a document failed, reference %s", reference, exc_info=error)
            problem = f"Paper Trail itself failed on it. Look for {reference} in the log of the server."
            self._say(number, state="failed", problem=problem)
