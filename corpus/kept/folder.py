"""The folder of a kept library: its lock, and the recovery of interrupted changes.

A library exists if the database has its row. Its folder is marked while it is being made, changed or removed.
A marked folder that is no longer locked is repaired if its library has a row. Without a row it is removed, if
the mark says that it was being made or removed and names this database: another database may have the row.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from corpus.durable import sync
from corpus.errors import CorpusError

PATIENCE_SECONDS = 60.0
_UNDER_WAY = "under-way"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

Work = Literal["making", "changing", "removing"]


class LibraryGoneError(CorpusError):
    """The library has been deleted."""


@dataclass(frozen=True, slots=True)
class LibraryFolder:
    """The folder of a kept library; `database` identifies the database with its row, for marks."""

    path: Path
    database: str = ""

    @classmethod
    def of(cls, libraries: Path, library_id: str, database: str = "") -> "LibraryFolder":
        """Return the folder of the library with that id, which need not exist."""
        if not _ID.fullmatch(library_id):
            raise LibraryGoneError("There is no such library.")
        return cls(libraries / library_id, database)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def corpus(self) -> Path:
        return self.path / "corpus"

    @property
    def new_corpus(self) -> Path:
        """Return the folder of new tables that are to replace those in `corpus`."""
        return self.path / "corpus-new"

    @property
    def pdfs(self) -> Path:
        return self.path / "pdf"

    @property
    def files(self) -> Path:
        """Return the folder of the original files of documents that are not PDFs."""
        return self.path / "files"

    @property
    def is_marked(self) -> bool:
        return (self.path / _UNDER_WAY).exists()

    def may_be_removed(self, database: str) -> bool:
        """Return True if the folder, without a row in this database, was left by an interrupted change."""
        with _on_disk(self.path):
            work, _, marked_with = (self.path / _UNDER_WAY).read_text(encoding="utf-8").partition(" ")
        # A mark of an earlier version, or one truncated by a power loss, names no database.
        return bool(database) and marked_with == database and work in ("making", "removing")

    @contextmanager
    def locked(self, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
        """Lock the folder for all threads and processes; raises CorpusError after `patience` seconds."""
        try:
            lock = FileLock(self._lock, timeout=patience)
            with lock:
                yield
        except Timeout as error:
            raise CorpusError(
                "This library is being changed elsewhere, in another tab perhaps. Try again in a minute."
            ) from error

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Mark the locked folder while it is changed; raises LibraryGoneError.

        The mark stays if this change or an earlier one fails, to be swept later.
        """
        if not self.path.is_dir():
            raise LibraryGoneError("This library has been deleted meanwhile.")
        was_cut_off = self.is_marked
        self.mark("changing")
        yield
        if not was_cut_off:
            self.unmark()

    def swap_corpus(self) -> None:
        """Replace the old tables by complete new ones, also after an interrupted attempt."""
        new, old = self.new_corpus, self.path / "corpus-old"
        if (new / "manifest.json").is_file():
            shutil.rmtree(old, ignore_errors=True)
            if self.corpus.exists():
                self.corpus.replace(old)
            new.replace(self.corpus)
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)

    def mark(self, work: Work) -> None:
        with _on_disk(self.path):
            mark = self.path / _UNDER_WAY
            mark.touch(mode=0o600)
            mark.write_text(f"{work} {self.database}", encoding="utf-8")
            sync(mark)
            sync(self.path)

    def unmark(self) -> None:
        with _on_disk(self.path):
            (self.path / _UNDER_WAY).unlink(missing_ok=True)
            sync(self.path)

    def remove(self) -> None:
        """Remove the locked folder; raises CorpusError if files remain."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists():
            raise CorpusError(
                f"Not all files of the library at {self.path} could be removed. Check its permissions; it "
                "is tried again when the server starts."
            )
        self._lock.unlink(missing_ok=True)
        sync(self.path.parent)

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")


@contextmanager
def begun_folder(libraries: Path, library_id: str, database: str) -> Iterator[LibraryFolder]:
    """Create a marked and locked folder for a new library; it is removed if the block fails."""
    folder = LibraryFolder.of(libraries, library_id, database)
    with _on_disk(libraries):
        libraries.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.locked():
        with _on_disk(folder.path):
            folder.path.mkdir(mode=0o700)
        folder.mark("making")
        try:
            yield folder
        except BaseException:
            with suppress(CorpusError):
                folder.remove()
            raise
        folder.unmark()


def library_folders(libraries: Path) -> tuple[LibraryFolder, ...]:
    """Return the existing folders, whether or not their libraries have rows."""
    folders = (path for path in libraries.glob("*") if path.is_dir() and _ID.fullmatch(path.name))
    return tuple(map(LibraryFolder, sorted(folders)))


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CorpusError(f"The library cannot be kept at {path}: {error.strerror}.") from error
