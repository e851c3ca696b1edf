"""The interface of places: folders and files of a corpus, on a disk or in a bucket."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from corpus.errors import CorpusError


class ConflictError(CorpusError):
    """Another writer has changed a file since it was read; nothing was written."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The address and options with which LanceDB opens the tables of a folder."""

    uri: str
    options: Mapping[str, str]


class Place(ABC):
    """A folder or a file of a corpus; `str` is its path or address.

    Methods raise FileNotFoundError for a missing file, and OSError with the reason as `strerror` for a file
    that cannot be read or written.
    """

    is_shared: ClassVar[bool]
    """True if builders of several machines may write to it, for whom a lock file does not work."""

    @abstractmethod
    def __truediv__(self, name: str) -> Self: ...

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def exists(self) -> bool: ...

    @abstractmethod
    def is_folder(self) -> bool:
        """Return True if it is a folder; in a bucket, if anything is in it."""

    @abstractmethod
    def make_folder(self) -> None:
        """Make a folder and its parents, if the storage has folders."""

    @abstractmethod
    def size(self) -> int | None:
        """Return the size of a file in bytes, None if it does not exist."""

    @abstractmethod
    def read_bytes(self) -> bytes: ...

    @abstractmethod
    def read_marked(self) -> tuple[bytes, str]:
        """Return the content of a file and a mark of it, for `write_if`."""

    @abstractmethod
    def changed(self) -> float:
        """Return the time of the last write to a file, in seconds since 1970."""

    @abstractmethod
    def stamp(self) -> str:
        """Return a token that changes with the file, without reading it."""

    @abstractmethod
    def write(self, content: bytes) -> None:
        """Write a file atomically and durably, making folders as needed."""

    @abstractmethod
    def write_if(self, content: bytes, mark: str) -> str:
        """Write a file if it still has the mark, or does not exist for ""; return the new mark.

        Raises ConflictError otherwise.
        """

    @abstractmethod
    def copy_from(self, file: Path) -> None:
        """Write the content of a file of this machine, making folders as needed."""

    @abstractmethod
    def files(self, pattern: str = "*") -> list[Self]:
        """Return the files of a folder that match a pattern, sorted; none if the folder does not exist."""

    @abstractmethod
    def files_below(self) -> list[Self]:
        """Return all files of a folder and its subfolders."""

    @abstractmethod
    def total_size(self) -> int:
        """Return the size of all files of a folder and its subfolders in bytes."""

    @abstractmethod
    def delete(self) -> None:
        """Delete a file if it exists."""

    @abstractmethod
    def local(self) -> Path:
        """Return a local file with the same content, for files that never change."""

    @abstractmethod
    def connection(self) -> Connection: ...

    @abstractmethod
    def settle(self, names: list[str]) -> None:
        """Make durable what other libraries wrote into the named subfolders."""
