"""The folder of a kept library: who may change it, and what becomes of a change that was cut off.

Whether a library exists its row in the database says, so that it is there as a whole or not at all. A folder
that is being made, changed or removed is marked until that is done. A marked folder that nobody works on any
more is brought in order where its library has a row. Without one it is removed, if the mark says that it was
being made or removed, and names this very database: another one knows nothing of the library.
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
    """Where a kept library is; `database` is the identity of the one that has its row, for marks."""

    path: Path
    database: str = ""

    @classmethod
    def of(cls, libraries: Path, library_id: str, database: str = "") -> "LibraryFolder":
        """Return the folder of the library with that id, which may not be there."""
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
        """Return where tables are that are to take the place of those in `corpus`."""
        return self.path / "corpus-new"

    @property
    def pdfs(self) -> Path:
        return self.path / "pdf"

    @property
    def files(self) -> Path:
        """Return where files are kept as they were brought, of documents that are no PDFs."""
        return self.path / "files"

    @property
    def is_marked(self) -> bool:
        return (self.path / _UNDER_WAY).exists()

    def may_be_removed(self, database: str) -> bool:
        """Return True if the mark says that a folder without a row in this database is a left-over."""
        with _on_disk(self.path):
            work, _, marked_with = (self.path / _UNDER_WAY).read_text(encoding="utf-8").partition(" ")
        # A mark of an earlier version, or one cut off by a power loss, names no database.
        return bool(database) and marked_with == database and work in ("making", "removing")

    @contextmanager
    def locked(self, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
        """Have the folder for oneself, of all threads and processes; raises CorpusError after a while."""
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
        """Mark the folder while it is changed, by who has it locked; raises LibraryGoneError.

        The mark stays where the change fails, or one before it did: what is left of that is swept later.
        """
        if not self.path.is_dir():
            raise LibraryGoneError("This library has been deleted meanwhile.")
        was_cut_off = self.is_marked
        self.mark("changing")
        yield
        if not was_cut_off:
            self.unmark()

    def swap_corpus(self) -> None:
        """Put new tables, once complete, in the place of the old ones, wherever a try was cut off."""
        new, old = self.new_corpus, self.path / "corpus-old"
        if (new / "manifest.json").is_file():
            shutil.rmtree(old, ignore_errors=True)
            if self.corpus.exists():
                self.corpus.replace(old)
            new.replace(self.corpus)
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)

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
        """Remove everything, by who has it locked; raises CorpusError where something stays."""
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
    """Make a marked folder for a new library, locked while it is filled, and removed where that fails."""
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
    """Return the folders that are there, whatever their libraries' rows say."""
    found = (path for path in libraries.glob("*") if path.is_dir() and _ID.fullmatch(path.name))
    return tuple(map(LibraryFolder, sorted(found)))


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CorpusError(f"The library cannot be kept at {path}: {error.strerror}.") from error
