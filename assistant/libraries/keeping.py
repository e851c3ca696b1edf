"""Changes of kept libraries, in their folder and their database row together.

The row makes a library exist: it is written last and deleted first. In between, the folder is marked
(corpus/kept/folder.py), and `sweep` repairs interrupted changes.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from assistant.libraries.export import write_export
from assistant.records import Conversation
from assistant.storage.conversations import ConversationStore
from assistant.storage.libraries import LibraryError, LibraryStore, OverLibrary, StoredLibrary
from assistant.storage.owned import new_id, tidy_title
from assistant.trail.transcript import from_json, to_json
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.kept.documents import NewDocument, Parcel, add_documents, pack, put_in_order, take_out
from corpus.kept.encoding import Encode, encode_anew
from corpus.kept.folder import LibraryFolder, begun_folder, library_folders
from corpus.kept.room import OwnerFullError, Room
from corpus.places.disk import MB, check_free_disk
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from corpus.store.manifest import read_manifest
from corpus.wording import counted

NOT_YOURS = "This library is another's: it can be read by its link, and only its owner can change it."
UNNAMED = "Give the library a name first."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LibraryLimits:
    """The limits of one owner's libraries; 0 is no limit.

    `megabytes_of_all` limits the files of all visitors, `free_disk_megabytes` is to stay free.
    """

    libraries: int = 0
    documents: int = 0
    megabytes: int = 0
    megabytes_of_all: int = 0
    free_disk_megabytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> "LibraryLimits":
        return cls(
            settings.libraries_per_person,
            settings.documents_per_library,
            settings.library_megabytes_per_person,
            settings.files_megabytes_of_all,
            settings.free_disk_megabytes,
        )


@dataclass(frozen=True, slots=True)
class Brought:
    """A visit's documents: their corpus, the folder of PDFs, and those to keep."""

    corpus: Corpus
    pdfs: Path
    documents: tuple[NewDocument, ...]


@dataclass(frozen=True, slots=True)
class Grown:
    """The result of keeping documents: the new ids of added ones and of those already there, by old id."""

    library_id: str
    added: dict[str, str]
    there: dict[str, str]


@dataclass(frozen=True, slots=True)
class Gone:
    """The records deleted with a library."""

    documents: int
    over: OverLibrary


class Libraries:
    """All kept libraries; methods raise LibraryError and CorpusError.

    `owners` are the names of a user, of their browser or person; None is the operator.
    """

    def __init__(self, place: Path, store: LibraryStore, limits: LibraryLimits) -> None:
        self.place = place
        self.store = store
        self.limits = limits
        self.room = Room(place.parent, limits.megabytes_of_all, limits.free_disk_megabytes)

    def folder(self, library_id: str) -> LibraryFolder:
        return LibraryFolder.of(self.place, library_id, self.store.database)

    def keep(self, owner: str, title: str, brought: Brought, encoder: Encoder) -> Grown:
        """Keep documents of a visit as a new library, completely or not at all."""
        name = _named(title)
        identifier = new_id()
        with begun_folder(self.place, identifier, self.store.database) as folder:
            parcel = pack(brought.corpus, brought.pdfs, brought.documents, identifier)
            self._take_room(folder, owner, parcel, held=0)
            add_documents(folder, name, parcel, encoder)
            self.room.settle(folder.path)
            self.store.keep(identifier, owner, name, self.limits.libraries)
        return Grown(identifier, dict(parcel.ids), dict(parcel.there))

    def grow(self, library_id: str, owners: Sequence[str], brought: Brought, encoder: Encoder) -> Grown:
        """Add documents of a visit to a library, except those that it has."""
        with self._locked(library_id, owners) as (folder, stored):
            corpus = Corpus.open(folder.corpus, encoder)
            held = corpus.papers()
            parcel = pack(brought.corpus, brought.pdfs, brought.documents, library_id, held)
            if parcel.ids:
                _check_cut(parcel, corpus)
                self._take_room(folder, stored.owner, parcel, len(held))
                with folder.changing():
                    add_documents(folder, stored.title, parcel, encoder)
                self.store.touch(library_id)
        return Grown(library_id, dict(parcel.ids), dict(parcel.there))

    def take_out(
        self, library_id: str, owners: Sequence[str] | None, paper_ids: Sequence[str], encoder: Encoder
    ) -> int:
        """Remove documents completely, and return how many there were."""
        with self._locked(library_id, owners) as (folder, _):
            held = {paper.id for paper in Corpus.open(folder.corpus, encoder).papers()}
            there = [identifier for identifier in paper_ids if identifier in held]
            if there:
                with folder.changing():
                    take_out(folder, there, encoder)
                self.store.touch(library_id)
            return len(there)

    def rename(self, library_id: str, owners: Sequence[str] | None, before: str, title: str) -> str:
        """Rename a library whose title is `before`, and return its new title."""
        self.own(library_id, owners)
        self.store.rename_from(library_id, before, _named(title))
        return tidy_title(title)

    def share(self, library_id: str, owners: Sequence[str] | None) -> str:
        """Return the secret of the library's link."""
        self.own(library_id, owners)
        return self.store.share(library_id)

    def unshare(self, library_id: str, owners: Sequence[str] | None) -> None:
        self.own(library_id, owners)
        self.store.unshare(library_id)

    def delete(self, library_id: str, owners: Sequence[str] | None) -> Gone:
        """Delete a library with its files, tables, and the records over it."""
        self.own(library_id, owners)
        folder = self.folder(library_id)
        if not folder.path.exists():
            return Gone(0, self.store.delete_with_all(library_id))
        with folder.locked():
            documents = self.count_documents(library_id)
            folder.mark("removing")
            over = self.store.delete_with_all(library_id)
            folder.remove()
        return Gone(documents, over)

    def encode_anew(
        self, library_id: str, owners: Sequence[str] | None, encoder: Encoder, encode: Encode
    ) -> None:
        """Encode a library again with the current encoder."""
        with self._locked(library_id, owners) as (folder, _), folder.changing():
            # Old and new tables exist together for a while.
            check_free_disk(folder.path, self.limits.free_disk_megabytes, self.room.size_of(folder.path))
            encode_anew(folder, encoder, encode)

    def export(self, library_id: str, owners: Sequence[str] | None, target: IO[bytes]) -> None:
        """Write a library as a zip, locked meanwhile; raises OSError."""
        with self._locked(library_id, owners) as (folder, stored):
            write_export(folder, stored.title, self.as_kept(library_id), target)

    def own(self, library_id: str, owners: Sequence[str] | None) -> StoredLibrary:
        """Return a library that may be changed; raises LibraryError for another's and one that is gone."""
        stored = self.store.get(library_id)
        if stored is None:
            raise LibraryError("This library has been deleted, in another tab perhaps.")
        if owners is not None and stored.owner not in owners:
            raise LibraryError(NOT_YOURS)
        return stored

    def opened(self, library_id: str, encoder: Encoder) -> Corpus:
        """Open the corpus of a library; raises CorpusError, also for another encoder."""
        return Corpus.open(self.folder(library_id).corpus, encoder)

    def as_kept(self, library_id: str) -> Corpus:
        """Open the corpus of a library for reading, whatever its encoder; raises CorpusError."""
        path = self.folder(library_id).corpus
        return Corpus(path, read_manifest(path))

    def count_documents(self, library_id: str) -> int:
        """Count the documents of a library, 0 if it cannot be read."""
        try:
            return self.as_kept(library_id).count_papers()
        except CorpusError:
            return 0

    def put_conversation(
        self, owner: str, conversation: Conversation, grown: Grown, conversations: ConversationStore
    ) -> Conversation:
        """Store a visit's conversation over the library that its documents were added to."""
        text = to_json(conversation)
        for before, after in (grown.added | grown.there).items():
            for end in ('"', "#"):
                text = text.replace(json.dumps(before)[:-1] + end, json.dumps(after)[:-1] + end)
        return conversations.put(owner, from_json(text), grown.library_id, from_file=False)

    def sweep(self, encoder: Encoder) -> None:
        """Repair interrupted changes: tidy the folder of a library with a row, remove one without.

        Folders of another database are not touched, nor those that lost their row in another way.
        """
        for folder in library_folders(self.place):
            if not folder.is_marked:
                continue
            try:
                with folder.locked(patience=0):
                    self._put_right(folder, encoder)
            except (CorpusError, LibraryError, OSError) as error:
                logger.warning("The library %s is left as it is: %s", folder.id, error)

    def _put_right(self, folder: LibraryFolder, encoder: Encoder) -> None:
        if not folder.is_marked:
            return
        if self.store.get(folder.id) is not None:
            put_in_order(folder, encoder)
            self.room.settle(folder.path)
            folder.unmark()
        elif folder.may_be_removed(self.store.database):
            folder.remove()
        else:
            logger.warning(
                "The folder %s is left as it is: its library is not in this database, and may be in another. "
                "If PAPER_TRAIL_CONVERSATIONS names the right one, the folder can be deleted.",
                folder.path,
            )

    @contextmanager
    def _locked(
        self, library_id: str, owners: Sequence[str] | None
    ) -> Iterator[tuple[LibraryFolder, StoredLibrary]]:
        """Lock a library for a change; raises LibraryError if it is gone."""
        self.own(library_id, owners)
        folder = self.folder(library_id)
        with folder.locked():
            # It may have been deleted before the lock was taken.
            stored = self.own(library_id, owners)
            folder.swap_corpus()
            try:
                yield folder, stored
            finally:
                self.room.settle(folder.path, stored.owner)

    def _take_room(self, folder: LibraryFolder, owner: str, parcel: Parcel, held: int) -> None:
        """Reserve disk space for documents.

        Raises LibraryError if the library or its owner would exceed their limit, NoRoomError if all libraries
        and visits would.
        """
        limits = self.limits
        documents = held + len(parcel.ids)
        if 0 < limits.documents < documents:
            raise LibraryError(
                f"A library holds {limits.documents} documents at most; this would be {documents:,}. Keep "
                "fewer, or begin another library."
            )
        for summary in self.store.list(owner, limit=10_000):
            self.room.know(self.folder(summary.id).path, owner)
        try:
            self.room.take(folder.path, parcel.size, owner, limits.megabytes)
        except OwnerFullError as error:
            raise LibraryError(
                f"{limits.megabytes} MB are the most that is kept for one person; with "
                f"{counted(len(parcel.ids), 'document')} more it would be {error.size / MB:,.0f} MB. Delete "
                "documents or libraries that are not needed."
            ) from error


def _check_cut(parcel: Parcel, corpus: Corpus) -> None:
    """Raise LibraryError if the documents' passages have another size than the library's."""
    for size in corpus.passage_sizes().values():
        if size != parcel.cut:
            raise LibraryError(
                f"The passages of this library have {size}, those of these documents {parcel.cut}. Bring the "
                "documents again with the library's size, or keep them as another library."
            )


def _named(title: str) -> str:
    if not (name := tidy_title(title)):
        raise LibraryError(UNNAMED)
    return name
